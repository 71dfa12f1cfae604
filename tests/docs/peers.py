"""Counts lines and calls of the fragments in docs/peers.md. test_docs.py compares them with the table of that page."""

import re

from pages import Page, Snippet

PAGE = "docs/peers.md"
TASKS = {"The small cluster": "describe the cluster", "Place a gang": "place a gang",
         "What would be if somebody left": "ask what if", "Why it waits": "read why not"}
SYSTEMS = ["kaisched", "Fluxion", "kube-scheduler"]
# What the framework of kube-scheduler offers to plug-ins, as far as the fragments use it: k8s.io/kube-scheduler/framework.
FRAMEWORK = ["IterateOverWaitingPods", "GetPod", "Allow", "Reject", "NewStatus", "AsStatus", "MutableSnapshotSharedLister",
             "StartMutations", "EndMutations", "RemovePod", "GetNodeName", "IsSuccess", "SnapshotSharedLister", "NodeInfos",
             "List", "Node", "Get", "Message", "Plugin"]
CALLS = {
    "kaisched": r"\bkaisched_\w+\(",
    "Fluxion": r"\breapi_cli_\w+\(",
    "kube-scheduler": rf"\.(?:{'|'.join(FRAMEWORK)})\(",
}


def system(snippet: Snippet) -> str:
    if snippet.language == "go":
        return "kube-scheduler"
    return "Fluxion" if "reapi_cli" in snippet.text else "kaisched"


def counted(snippet: Snippet) -> tuple[int, int]:
    """Lines and calls of the task: without comments, blank lines, includes, and `main` with what follows."""
    text = re.split(r"^int main\(", snippet.text, flags=re.M)[0]
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#include")]
    calls = len(re.findall(CALLS[system(snippet)], "\n".join(lines)))
    return len(lines), calls


def number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def table(page: Page) -> list[str]:
    """Rows of the table as the fragments have them."""
    headings = [(at, line[3:]) for at, line in page.prose if line.startswith("## ")]
    found: dict[str, dict[str, tuple[int, int]]] = {task: {} for task in TASKS.values()}
    for snippet in page.snippets:
        heading = [title for line, title in headings if line < snippet.line][-1]
        if snippet.language in ("c", "go"):
            found[TASKS[heading]][system(snippet)] = counted(snippet)
    rows = []
    for task, by in found.items():
        cells = [f"{number(by[name][0], 'line')}, {number(by[name][1], 'call')}" if name in by else "-" for name in SYSTEMS]
        rows.append(f"| {task} | {' | '.join(cells)} |")
    return rows

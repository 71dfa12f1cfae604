"""Holds docs/rules.md and the scenarios together: every rule is shown, and every scenario shows rules that exist.

    python3 check_rules.py ROOT              # one line per fault, status 1 if there is any
    python3 check_rules.py ROOT --list       # which scenarios show which rule, as a Markdown table
    python3 check_rules.py ROOT --play FILE  # plays the scenarios that name no mode in compat, with the program FILE
    python3 check_rules.py --self-test       # each planted fault is found, and none is invented
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

RULES = "docs/rules.md"
SCENARIOS = "tests/scenarios"
MODES = ("both", "strict", "compat", "gone")
SECTION = re.compile(r"## ([A-Z]+): ")
ROW = re.compile(r"\| *([A-Z]+)(\d+) *\|(.*)\|\s*$")
NUMBER = re.compile(r"[A-Z]+\d+")
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|#.*')


class Rule:
    def __init__(self, line, letter, number, cells):
        self.line, self.letter, self.number = line, letter, number
        self.statement, self.mode, self.source = (cells + ["", "", ""])[:3]

    @property
    def name(self):
        return f"{self.letter}{self.number}"

    @property
    def gone(self):
        return self.mode == "gone"


class Scenario:
    """What this test needs to know of a file: its rules, the modes of its sessions, its first line. A file that names
    no mode is played in both."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        self.first_line = text.split("\n", 1)[0]
        self.rules = []             # (line, number)
        self.modes = set()
        self.names_mode = False
        mode = "strict"
        for line, words in _statements(text):
            settings = dict(word.split("=", 1) for word in words[1:] if "=" in word)
            self.names_mode = self.names_mode or (words[0] in ("option", "run") and "mode" in settings)
            if words[0] == "rule":
                self.rules += [(line, word) for word in words[1:]]
            elif words[0] == "option":
                mode = settings.get("mode", mode)
            elif words[0] == "run":
                self.modes.add(settings.get("mode", mode))
        if not self.names_mode:
            self.modes.add("compat")


def _statements(text):
    """Words of every statement, with the number of its first line."""
    started, collected = 0, ""
    for number, line in enumerate(text.split("\n"), start=1):
        started = started or number
        collected += COMMENT.sub(lambda match: match.group(1) or "", line).rstrip()
        if collected.endswith("\\"):
            collected = collected[:-1] + " "
            continue
        if collected.split():
            yield started, collected.split()
        started, collected = 0, ""


def read_rules(root):
    """-> (rules, faults of the page itself)"""
    rules, faults, section, seen = [], [], None, {}
    for number, line in enumerate((root / RULES).read_text(encoding="utf-8").split("\n"), start=1):
        heading = SECTION.match(line)
        if heading:
            section = heading.group(1)
        row = ROW.match(line)
        if not row:
            continue
        rule = Rule(number, row.group(1), int(row.group(2)), [cell.strip() for cell in row.group(3).split("|")])
        faults += [f"{RULES}:{number}: {rule.name} {what}" for what in _faults_of(rule, row.group(3), section, rules, seen)]
        seen.setdefault(rule.statement, rule.name)
        rules.append(rule)
    return rules, faults


def _faults_of(rule, cells, section, before, seen):
    """`before`: the rules above; `seen`: statement -> first rule that says it."""
    if rule.letter != section:
        yield f"stands in section {section}"
    if any(rule.name == other.name for other in before):
        yield "is there twice"
        return
    last = max((other.number for other in before if other.letter == rule.letter), default=0)
    if rule.number != last + 1:
        yield f"follows {rule.letter}{last}: numbers go up by one; a rule that goes keeps its line, with the mode gone"
    if cells.count("|") != 2:
        yield "needs four cells: number, statement, mode, source"
    if rule.mode not in MODES:
        yield f"has the mode '{rule.mode}', not one of {', '.join(MODES)}"
    if not rule.statement.endswith("."):
        yield "needs a statement that ends with a full stop"
    if not rule.source:
        yield "names no source"
    if rule.statement in seen:
        yield f"says what {seen[rule.statement]} says"


def read_scenarios(root):
    """path relative to the root -> Scenario"""
    return {path.relative_to(root).as_posix(): Scenario(path) for path in sorted((root / SCENARIOS).rglob("*.ks"))}


def check(root):
    """All faults, one line each."""
    rules, faults = read_rules(root)
    known = {rule.name: rule for rule in rules}
    scenarios = read_scenarios(root)
    if not rules:
        faults.append(f"{RULES}: there are no rules")
    for path, scenario in scenarios.items():
        if not scenario.first_line.startswith("# "):
            faults.append(f"{path}:1: the first line is a comment that says what is shown and why")
        if not scenario.rules:
            faults.append(f"{path}: names no rule")
        for line, number in scenario.rules:
            faults += [f"{path}:{line}: {what}" for what in _faults_of_use(number, known, scenario.modes)]
    shown = {number for scenario in scenarios.values() for _, number in scenario.rules}
    faults += [f"{RULES}:{rule.line}: {rule.name} has no scenario" for rule in rules
               if not rule.gone and rule.name not in shown]
    modes = {}
    for scenario in scenarios.values():
        for _, number in scenario.rules:
            modes.setdefault(number, set()).update(scenario.modes)
    faults += [f"{RULES}:{rule.line}: {rule.name} holds in both modes, and is shown in {mode} only" for rule in rules
               for mode in modes.get(rule.name, ()) if rule.mode == "both" and modes[rule.name] == {mode}]
    return faults


def _faults_of_use(number, known, modes):
    rule = known.get(number)
    if not NUMBER.fullmatch(number):
        yield f"'{number}' is no number of a rule"
    elif rule is None:
        yield f"there is no rule {number}"
    elif rule.gone:
        yield f"rule {number} is gone"
    elif rule.mode in ("strict", "compat") and rule.mode not in modes:
        yield f"rule {number} holds in {rule.mode}, and no session of the file is {rule.mode}"


def table(root):
    shown = {}
    for path, scenario in read_scenarios(root).items():
        for _, number in scenario.rules:
            shown.setdefault(number, []).append(path.removeprefix(SCENARIOS + "/").removesuffix(".ks"))
    rows = [f"| {rule.name} | {', '.join(shown.get(rule.name, []))} |" for rule in read_rules(root)[0]]
    return "\n".join(["| rule | scenarios |", "|---|---|", *rows])


def play_in_compat(root, program):
    """What a file expects without naming a mode holds in both: the usual run of the scenarios is in strict."""
    files = [root / path for path, scenario in read_scenarios(root).items() if not scenario.names_mode]
    if not files:
        print("every scenario names a mode: nothing to play")
        return 1
    return subprocess.run([program, "test", *files, "--set", "mode=compat"], check=False).returncode


# ---- the test of the test -----------------------------------------------------------------------------------------

GOOD_PAGE = """# Rules
## M: first
| rule | statement | mode | source |
|---|---|---|---|
| M1 | One thing holds. | both | own |
| M2 | Another did. | gone | own |
| M3 | A third holds. | compat | own |
## QX: second
| QX1 | A last one holds. | strict | own |
"""
GOOD_SCENARIO = """# Why.
scenario 1 "# no comment"
rule M1 \\
  QX1  # M9
option mode=compat
rule M3
run
run mode=strict
"""
# old text, new text, what is reported
PAGE_FAULTS = [
    ("compat | own |\n", "compat | own |\n| M4 | A new one. | both | own |\n", f"{RULES}:8: M4 has no scenario"),
    ("| M2 | Another did. | gone | own |\n", "", "M3 follows M1"),
    ("| M3 |", "| M1 |", "M1 is there twice"),
    ("| M1 |", "| M2 |", "M2 follows M0"),
    ("| QX1 |", "| M4 |", "M4 stands in section QX"),
    ("| compat |", "| kai |", "M3 has the mode 'kai'"),
    ("A third holds.", "A third", "M3 needs a statement"),
    ("A third holds.", "One thing holds.", "M3 says what M1 says"),
    ("| strict | own |", "| strict | |", "QX1 names no source"),
    ("| strict | own |", "| strict | own | more |", "QX1 needs four cells"),
    (GOOD_PAGE, "# Rules\n", "there are no rules"),
]
SCENARIO_FAULTS = [
    ("rule M3", "rule M3 M7", ":6: there is no rule M7"),
    ("rule M3", "rule M3 M2", ":6: rule M2 is gone"),
    ("rule M3", "rule M3 m3", ":6: 'm3' is no number of a rule"),
    ("rule M3", "# rule M3", "M3 has no scenario"),
    ("option mode=compat", "", "rule M3 holds in compat"),
    (" mode=strict", "", "rule QX1 holds in strict"),
    ("run\nrun mode=strict", "run mode=strict", "M1 holds in both modes, and is shown in strict only"),
    ("run\nrun mode=strict", "run", "M1 holds in both modes, and is shown in compat only"),
    ("# Why.\n", "", ":1: the first line is a comment"),
]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        page, scenario = root / RULES, root / SCENARIOS / "some" / "good.ks"

        def faults(page_text, scenario_text):
            for path, text in ((page, page_text), (scenario, scenario_text)):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return check(root)

        assert faults(GOOD_PAGE, GOOD_SCENARIO) == [], check(root)
        assert "| QX1 | some/good |" in table(root) and "| M2 |  |" in table(root), table(root)
        for old, new, expected in PAGE_FAULTS:
            assert old in GOOD_PAGE, old
            found = faults(GOOD_PAGE.replace(old, new), GOOD_SCENARIO)
            assert any(expected in line for line in found), (expected, found)
        for old, new, expected in SCENARIO_FAULTS:
            assert old in GOOD_SCENARIO, old
            found = faults(GOOD_PAGE, GOOD_SCENARIO.replace(old, new))
            assert any(expected in line for line in found), (expected, found)
        (scenario.parent / "idle.ks").write_text("# Why.\nscenario 1\nrun\n", encoding="utf-8")
        found = faults(GOOD_PAGE, GOOD_SCENARIO)
        assert found == [f"{SCENARIOS}/some/idle.ks: names no rule"], found
    print(f"{len(PAGE_FAULTS) + len(SCENARIO_FAULTS) + 1} planted faults found, none invented")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = Path(sys.argv[1])
    if len(sys.argv) == 4 and sys.argv[2] == "--play":
        return play_in_compat(root, sys.argv[3])
    if sys.argv[2:] == ["--list"]:
        print(table(root))
        return 0
    found = check(root)
    rules = [rule for rule in read_rules(root)[0] if not rule.gone]
    print("\n".join(found) or f"{len(rules)} rules, each with a scenario")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

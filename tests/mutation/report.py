"""What a run found: tables, JSON, and the list of survivors in the documentation."""

import json
from collections import Counter
from pathlib import Path


BEGIN = "<!-- mutants: begin -->"
END = "<!-- mutants: end -->"
STATES = ("killed", "timeout", "survived")


def mutant_line(site):
    return f"{site.id}  {site.file}:{site.line}  {site.operator}  {site.original}  ->  {site.shown}"


class Outcome:
    def __init__(self, seed, judged, tests, seconds):
        self.seed, self.judged, self.tests, self.seconds = seed, judged, tests, seconds

    def survivors(self):
        return [(site, verdict) for site, verdict in self.judged if verdict.state == "survived"]

    def noticed(self):
        return len(self.judged) - len(self.survivors())

    def score(self):
        return 100.0 * self.noticed() / len(self.judged) if self.judged else 100.0

    def table(self, key, title):
        counts = {}
        for site, verdict in self.judged:
            counts.setdefault(key(site), Counter())[verdict.state] += 1
        width = max([len(title), *(len(name) for name in counts)])
        lines = [f"{title:<{width}}  mutants  killed  timeout  survived"]
        for name, row in sorted(counts.items()):
            lines.append(f"{name:<{width}}  {row.total():>7}  {row['killed']:>6}  {row['timeout']:>7}  {row['survived']:>8}")
        return lines

    def text(self):
        lines = [*self.table(lambda s: s.file, "file"), "", *self.table(lambda s: s.operator, "operator"), ""]
        for site, verdict in self.survivors():
            lines += [f"survived: {site.id} {site.file}:{site.line} {site.operator}" + ("" if verdict.reached else
                      " (no test comes here)"), f"  - {site.original}", f"  + {site.shown}"]
        if self.survivors():
            lines += [f"  each survived {len(self.tests)} tests: {', '.join(self.tests)}", ""]
        killers = Counter(verdict.by for _, verdict in self.judged if verdict.by)
        lines += ["first to notice: " + ", ".join(f"{name} {count}" for name, count in killers.most_common()), ""]
        lines.append(f"{self.noticed()} of {len(self.judged)} mutants noticed ({self.score():.1f} %), seed {self.seed}, "
                     f"{self.seconds:.0f} s")
        return "\n".join(lines)

    def data(self):
        return {
            "seed": self.seed, "mutants": len(self.judged), "noticed": self.noticed(), "score": round(self.score(), 2),
            "seconds": round(self.seconds, 1), "tests": self.tests,
            "results": [{"id": s.id, "file": s.file, "line": s.line, "operator": s.operator, "original": s.original,
                         "mutated": s.shown, "state": v.state, "by": v.by, "ran": list(v.ran), "reached": v.reached}
                        for s, v in self.judged]}


# ---- the documented run ----------------------------------------------------------------------------------------------
def read_reasons(path):
    return json.loads(Path(path).read_text(encoding="utf-8")) if Path(path).exists() else {}


def cell(text):
    return text.replace("|", "\\|")


def documented_section(outcome, reasons):
    lines = [BEGIN, f"Seed `{outcome.seed}`: {outcome.noticed()} of {len(outcome.judged)} noticed. Survivors:", "",
             "| mutant | file | was | became | why no test notices |", "|---|---|---|---|---|"]
    for site, _ in outcome.survivors():
        why = reasons.get(site.id, {}).get("why", "")
        name = site.file.removeprefix("src/")
        lines.append(f"| `{site.id}` | {name}:{site.line} | `{cell(site.original)}` | `{cell(site.shown)}` | {cell(why)} |")
    return "\n".join([*lines, END])


def section_of(text):
    """-> (position, end) of the generated section, or None"""
    start, end = text.find(BEGIN), text.find(END)
    return None if start < 0 or end < start else (start, end + len(END))


def check_documented(outcome, reasons_file, page, update=False):
    """-> what is wrong with the reasons and the page; writes the page first if asked to"""
    problems = []
    reasons = read_reasons(reasons_file)
    alive = {site.id: site for site, _ in outcome.survivors()}
    for id_, site in alive.items():
        if not reasons.get(id_, {}).get("why"):
            problems.append(f"survivor without a reason in {Path(reasons_file).name}: {mutant_line(site)}")
    tried = {site.id for site, _ in outcome.judged}
    for id_ in sorted(set(reasons) - set(alive)):
        problems.append(f"{Path(reasons_file).name} has a reason for {id_}, which " + (
            "is noticed" if id_ in tried else "is not among the mutants any more"))
    text = Path(page).read_text(encoding="utf-8")
    place = section_of(text)
    wanted = documented_section(outcome, reasons)
    if place is None:
        return [*problems, f"{page} has no lines {BEGIN} and {END}"]
    if text[place[0]:place[1]] != wanted:
        if update:
            Path(page).write_text(text[:place[0]] + wanted + text[place[1]:], encoding="utf-8")
        else:
            problems.append(f"{page} tells of another run: ./dev mutate --update")
    return problems

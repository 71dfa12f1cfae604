"""One build for all mutants: every site becomes a choice that is made at run time.

    an expression:  (kaisched_mutant_is(17) ? (mutated) : (original))
    a statement:    { if (kaisched_mutant_is(17)) { mutated } else { original } }

Lines of mutated text claim to come from a file `mutant` whose line number is the mutant's, so a compiler's message names
the mutants that are no C++.
"""

import re

SWITCH = """// Which mutant is awake: the environment variable KAISCHED_MUTANT, read once, before other objects are made.
#include <cstdio>
#include <cstdlib>

int kaisched_mutant = 0;

namespace {

bool reached = false;

struct choice {
  choice() {
    if (const char* text = std::getenv("KAISCHED_MUTANT")) kaisched_mutant = std::atoi(text);
  }
  // Leaves a file behind if the mutant was come across: what no test tries is not the same as what no test notices.
  ~choice() {
    const char* path = std::getenv("KAISCHED_MUTANT_REACHED");
    if (!reached || path == nullptr) return;
    if (std::FILE* file = std::fopen(path, "w")) std::fclose(file);
  }
};

choice made __attribute__((init_priority(101)));

}  // namespace

void kaisched_mutant_reached() { reached = true; }
"""

DECLARATION = """#ifndef KAISCHED_MUTANT_DECLARED
#define KAISCHED_MUTANT_DECLARED
extern int kaisched_mutant;
void kaisched_mutant_reached();
static inline bool kaisched_mutant_is(int n) {
  if (kaisched_mutant != n) return false;
  kaisched_mutant_reached();
  return true;
}
#endif
"""

MARK = "mutant"


def mutate_file(file, source, numbered):
    """The text of `file` with all mutants of `numbered`, pairs of number and site, asleep in it."""
    groups = {}
    for number, site in numbered:
        groups.setdefault((site.start, site.end, site.statement), []).append((number, site))
    # Outer before inner; a statement before the expression that fills the same bytes.
    order = sorted(groups, key=lambda key: (key[0], -key[1], not key[2]))
    text = _emit(file, source, 0, len(source), order, groups)
    head = DECLARATION
    if b"#pragma once" in source:
        return f"#pragma once\n{head}#line 1 \"{file}\"\n{text.replace('#pragma once', '', 1)}"
    return f"{head}#line 1 \"{file}\"\n{text}"


def _emit(file, source, start, end, order, groups):
    """The bytes [start, end) with the groups `order`, all of which lie inside."""
    parts, at, i = [], start, 0
    while i < len(order):
        key = order[i]
        inner_end = i + 1
        while inner_end < len(order) and order[inner_end][0] < key[1]:
            if order[inner_end][1] > key[1]:
                raise ValueError(f"{file}: mutants overlap at byte {order[inner_end][0]}")
            inner_end += 1
        parts.append(source[at:key[0]].decode("utf-8"))
        inner = _emit(file, source, key[0], key[1], order[i + 1:inner_end], groups)
        back = f'\n#line {source.count(10, 0, key[0]) + 1} "{file}"\n'
        parts.append(_choice(groups[key], inner, back))
        parts.append(f'\n#line {source.count(10, 0, key[1]) + 1} "{file}"\n')
        at, i = key[1], inner_end
    parts.append(source[at:end].decode("utf-8"))
    return "".join(parts)


def _choice(group, original, back):
    parts = []
    if group[0][1].statement:
        for number, site in group:
            parts.append(f'\n#line {number} "{MARK}"\n' f"if (::kaisched_mutant_is({number})) {{ {_flat(site.mutated)} }} else ")
        return "{" + "".join(parts) + "{" + back + original + "}}"
    for number, site in group:
        parts.append(f'\n#line {number} "{MARK}"\n(::kaisched_mutant_is({number}) ? ({_flat(site.mutated)}) :')
    if any(site.condition for _, site in group):
        original = f"static_cast<bool>({original})"
    return "".join(parts) + back + "(" + original + ")" + ")" * len(group)


def _flat(text):
    """On one line, so that the line number holds for all of it."""
    return re.sub(r"\s*\n\s*", " ", re.sub(r"//[^\n]*", "", text))


def refused(output):
    """Numbers of the mutants that a compiler's messages are about."""
    numbers = set()
    for line in output.splitlines():
        if re.search(r"\berror:|required from|in expansion of|In instantiation", line):
            numbers.update(int(n) for n in re.findall(rf"(?:^|[\s/]){MARK}:(\d+)", line))
    return numbers

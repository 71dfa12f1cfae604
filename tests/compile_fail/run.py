"""Programs that must not compile: each case of a file fails for the reason that stands beside it, and without the cases
the file compiles.

usage: run.py FILE COMPILER [FLAG...]

A case is `#if CASE == n // TEXT` to `#endif`: with -DCASE=n the compiler has to report an error in these lines, and its
messages have to hold one of the texts, which " | " divides (compilers differ in their words).
"""

import re
import subprocess
import sys
from pathlib import Path


def compile_case(compiler, file, number):
    return subprocess.run([*compiler, f"-DCASE={number}", "-fsyntax-only", file], capture_output=True, text=True)


def main():
    file, compiler = sys.argv[1], sys.argv[2:]
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    cases = {}
    for at, line in enumerate(lines, 1):
        if match := re.match(r"#if CASE == (\d+)  ?// (.+)", line):
            if int(match[1]) in cases:
                return print(f"{file}:{at}: case {match[1]} is there twice") or 1
            end = next(i for i in range(at, len(lines)) if lines[i].startswith("#endif")) + 1
            cases[int(match[1])] = (range(at, end), match[2].split(" | "))
    faults = []
    if sorted(cases) != list(range(1, len(cases) + 1)) or not cases:
        faults.append(f"cases are numbered from 1, here: {sorted(cases)}")
    plain = compile_case(compiler, file, 0)
    if plain.returncode != 0:
        faults.append(f"without a case it does not compile:\n{plain.stderr}")
    for number, (place, texts) in sorted(cases.items()):
        done = compile_case(compiler, file, number)
        inside = [m for m in re.finditer(rf"{re.escape(file)}:(\d+):", done.stderr) if int(m[1]) in place]
        if done.returncode == 0:
            faults.append(f"{file}:{place.start}: case {number} compiles")
        elif not inside or not any(text in done.stderr for text in texts):
            faults.append(f"{file}:{place.start}: case {number} fails for another reason than {texts}:\n{done.stderr}")
    print("\n".join(faults) or f"{len(cases)} cases do not compile")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

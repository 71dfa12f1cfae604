"""The host of days knows kaisched.h and nothing else of the project, the checker nothing at all, and neither knows the other."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
STANDARD = re.compile(r"<[a-z_0-9]+>")
MAY_INCLUDE = {"host": re.compile(r'<kaisched/kaisched\.h>|"host/\w+\.hpp"'), "checker": re.compile(r'"checker/\w+\.hpp"')}


def wrong(folder):
    for file in sorted((HERE / folder).glob("*.?pp")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*([<"][^>"]+[>"])', line)
            if found and not STANDARD.fullmatch(found[1]) and not MAY_INCLUDE[folder].fullmatch(found[1]):
                yield f"{file.name}:{number}: {folder} includes {found[1]}"


if __name__ == "__main__":
    faults = [fault for folder in MAY_INCLUDE for fault in wrong(folder)]
    print("\n".join(faults) or "the host includes kaisched.h, the checker nothing of the project")
    sys.exit(1 if faults else 0)

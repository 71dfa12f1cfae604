"""VERSION is the only place: whatever else states a version must state the same one."""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
version = (root / "VERSION").read_text(encoding="utf-8").strip()
assert re.fullmatch(r"\d+\.\d+\.\d+", version), f"VERSION: {version!r} is not major.minor.patch"
parts = dict(zip(("MAJOR", "MINOR", "PATCH"), version.split("."), strict=True))
faults = []

header = root / "capi/include/kaisched/kaisched.h"
if header.is_file():
    text = header.read_text(encoding="utf-8")
    for part, wanted in parts.items():
        found = re.findall(rf"^\s*#\s*define\s+KAISCHED_VERSION_{part}\s+(\d+)", text, re.MULTILINE)
        if found != [wanted]:
            faults.append(f"{header}: KAISCHED_VERSION_{part} is {found}, VERSION says {wanted}")

project = root / "pyproject.toml"
if project.is_file():
    for stated in re.findall(r"^version\s*=\s*\"([^\"]+)\"", project.read_text(encoding="utf-8"), re.MULTILINE):
        if stated != version:
            faults.append(f"{project}: version {stated}, VERSION says {version}")

print("\n".join(faults) or f"one version: {version}")
sys.exit(1 if faults else 0)

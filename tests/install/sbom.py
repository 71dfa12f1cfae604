"""The list of what is inside (SPDX 2.3) has what the standard asks for and names what NOTICE names, under the same licences.

usage: sbom.py kaisched.spdx.json NOTICE
"""

import json
import re
import sys
from pathlib import Path

OWN = "kaisched"
SPELLED_OUT = {"Boost Software License 1.0": "BSL-1.0"}


def letters(text):
    return re.sub(r"[^a-z0-9]", "", text.lower())


def noticed(text):
    """Lines of NOTICE that are indented: a name, what it is, at least three blanks, its licence."""
    rows = re.findall(r"^  (\S.*?) {3,}(\S.*)$", text, re.M)
    return {letters(name.split(" (")[0] + name): SPELLED_OUT.get(licence, licence) for name, licence in rows}


def faults_of(document, notice):
    for key in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"):
        if not document.get(key):
            yield f"no {key}"
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]):
        yield f"created {document['creationInfo']['created']}"
    packages = {package["name"]: package for package in document["packages"]}
    related = [(r["spdxElementId"], r["relationshipType"], r["relatedSpdxElement"]) for r in document["relationships"]]
    for name, package in packages.items():
        ours = ("SPDXRef-DOCUMENT", "DESCRIBES") if name == OWN else (f"SPDXRef-{OWN}", "DEPENDS_ON")
        if related.count((*ours, package["SPDXID"])) != 1:
            yield f"{name} is not related"
        if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", package["SPDXID"]):
            yield f"{name} has the identifier {package['SPDXID']}"
        if not all(package.get(key) for key in ("versionInfo", "downloadLocation", "licenseConcluded")):
            yield f"{name} lacks something"
    listed = noticed(notice)
    for line, licence in listed.items():
        found = [p for name, p in packages.items() if letters(name) in line]
        if len(found) != 1 or letters(found[0]["licenseConcluded"]) != letters(licence):
            yield f"NOTICE has {line} under {licence}, the list {[p['name'] for p in found]}"
    for name in packages.keys() - {OWN}:
        if not any(letters(name) in line for line in listed):
            yield f"NOTICE does not have {name}"


def main():
    document = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    faults = list(faults_of(document, Path(sys.argv[2]).read_text(encoding="utf-8")))
    print("\n".join(faults) or f"{len(document['packages'])} packages")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

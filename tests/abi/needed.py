"""The shared library asks for the run time of C and C++ and for nothing else: any program can load it.

usage: needed.py LIBRARY...
"""

import re
import subprocess
import sys

RUN_TIME = re.compile(r"(libstdc\+\+|libgcc_s|libm|libc|libdl|ld-linux-[\w-]+|libkaisched)\.so[.\d]*")


def main():
    faults = []
    for library in sys.argv[1:]:
        said = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.+)\]", said)
        faults += [f"{library} needs {name}" for name in needed if not RUN_TIME.fullmatch(name)]
        faults += [] if needed else [f"{library} needs nothing, which cannot be"]
    print("\n".join(faults) or "the run time of C and C++")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

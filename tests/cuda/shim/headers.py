#!/usr/bin/env python3
"""Our declarations and tables against the real headers: the same C program, compiled with either, must print the same sizes,
offsets and values; the tables must be those that the generator would write.

  headers.py GENERATOR SHIM_FOLDER FOLDER   headers are FOLDER/headers-*; 77 where there are none"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def declared(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    constants = re.findall(r"\b((?:CUDA|CU|NVML)_[A-Z0-9_]+) = \d+", text)
    structs = {}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)^\} (\w+);", text, re.S | re.M):
        flat = re.sub(r"(?:struct|union) \{.*?\n  \} (\w+);", r"int \1;", body, flags=re.S)
        structs[name] = re.findall(r"\b(\w+)(?:\[\d+\])?;", flat)
    return constants, structs


def program(includes, constants, structs):
    lines = [f"#include <{name}>" for name in ("stddef.h", "stdio.h")] + [f'#include "{name}"' for name in includes]
    lines.append("int main(void) {")
    lines += [f'  printf("{name} %lld\\n", (long long){name});' for name in constants]
    for name, fields in structs.items():
        lines.append(f'  printf("{name} %zu\\n", sizeof({name}));')
        lines += [f'  printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}));'
                  for field in fields if field != "reserved"]
    return "\n".join(lines + ["  return 0;", "}"])


def run(source, folders):
    with tempfile.TemporaryDirectory() as work:
        path = pathlib.Path(work)
        (path / "abi.c").write_text(source)
        include = [f"-I{folder}" for folder in folders]
        older = "-D__CUDA_API_VERSION_INTERNAL"  # and what the header keeps of CUDA 2
        done = subprocess.run([os.environ.get("CC", "cc"), "-w", older, *include, str(path / "abi.c"), "-o", str(path / "abi")],
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return subprocess.run([path / "abi"], capture_output=True, text=True, check=True).stdout.splitlines()


def main(generator, shim, folder):
    shim = pathlib.Path(shim)
    headers = sorted(path for path in pathlib.Path(folder).glob("headers-*") if any(path.rglob("cuda.h")))
    if not headers:
        print("skipped: no headers of CUDA in build/cuda (docs/cuda-isolation.md says where they come from)")
        return 77
    failed, compared = False, 0
    for ours, theirs in (("cuda_abi.h", "cuda.h"), ("nvml_abi.h", "nvml.h")):
        constants, structs = declared((shim / ours).read_text())
        mine = run(program([ours], constants, structs), [shim])
        for folder in headers:
            found = sorted(pathlib.Path(folder).rglob(theirs))
            text = "" if not found else found[0].read_text()
            if not found or (theirs == "cuda.h" and "CUDA_VERSION 11" in text):
                continue  # 11 has other layouts of parameters that no entry point in both takes
            real = run(program([theirs], constants, structs), [found[0].parent])
            compared += len(real)
            for a, b in zip(mine, real):
                if a != b:
                    failed = True
                    print(f"{found[0]}: {b}, here {a}")
    print(f"{compared} sizes, offsets and values compared")
    with_nvml = [str(folder) for folder in headers if any(folder.rglob("nvml.h"))]
    for words in (["check", *map(str, headers)], ["prototypes", str(shim / "nvml_abi.h"), *with_nvml]):
        failed |= subprocess.run([sys.executable, generator, *words], check=False).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

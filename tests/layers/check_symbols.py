"""Fails when an object of the core asks for a clock, the environment, randomness, a stream, a thread or an exit."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Undefined symbols as nm prints them (mangled, version suffix removed).
BANNED = [
    # environment, clocks, randomness
    r"(?:secure_)?getenv|setenv|putenv|environ",
    r"time|clock|clock_gettime|gettimeofday|timespec_get|localtime(?:_r)?|gmtime(?:_r)?|nanosleep|usleep|sleep",
    r"_ZNSt6chrono3_V2\d+(?:system|steady)_clock3nowEv",
    r"s?rand|rand_r|s?random|random_r|[delmn]rand48|getrandom|getentropy|arc4random\w*|_ZNSt13random_device.*",
    # ends the process
    r"exit|_exit|_Exit|quick_exit|abort|raise|kill",
    # streams and files
    r"_ZSt[34]c(?:out|err|in)|_ZSt4clog|_ZSt5w(?:cout|cerr|clog)|_ZSt4wcin",
    r"v?f?printf|puts|fputs|putchar|fputc|putc|fwrite|fread|perror|__v?f?printf_chk|stdout|stderr|stdin",
    r"fopen(?:64)?|freopen|fclose|open(?:64)?|openat|read|write|close|socket|_ZNSt(?:7__cxx11)?\d+basic_[io]?f(?:stream|ilebuf).*",
    r"_ZNSt(?:10filesystem|12filesystem).*|system|popen|fork|dlopen|dlsym",
    # threads
    r"pthread_create|thrd_create|_ZNSt6thread15_M_start_thread.*|_ZNSt17__launch_async.*",
]
PATTERN = re.compile("|".join(f"(?:{pattern})" for pattern in BANNED))


def banned_symbols(nm, archive):
    """'object: symbol' for every banned undefined symbol; weak references do not count."""
    output = subprocess.run([nm, "-A", "-u", str(archive)], check=True, capture_output=True, text=True).stdout
    found = []
    for line in output.splitlines():
        match = re.match(r"(.*):\s+U (\S+)$", line)
        if match and PATTERN.fullmatch(match[2].split("@")[0]):
            found.append(f"{match[1].split(':')[-1]}: {match[2]}")
    return sorted(set(found))


PROBES = {
    "clean.cpp": ("#include <stdexcept>\n#include <string>\nint f(std::string s) { if (s.empty()) throw std::runtime_error(s); return 1; }", 0),
    "environment.cpp": ("#include <cstdlib>\nconst char* f() { return std::getenv(\"HOME\"); }", 1),
    "clock.cpp": ("#include <chrono>\nlong f() { return std::chrono::steady_clock::now().time_since_epoch().count(); }", 1),
    "random.cpp": ("#include <random>\nunsigned f() { return std::random_device{}(); }", 1),
    "stream.cpp": ("#include <iostream>\nvoid f() { std::cerr << 1; }", 1),
    "print.cpp": ("#include <cstdio>\nvoid f(int i) { std::printf(\"%d\", i); }", 1),
    "exit.cpp": ("#include <cstdlib>\nvoid f() { std::abort(); }", 1),
    "file.cpp": ("#include <fstream>\nvoid f() { std::ofstream(\"x\") << 1; }", 1),
    "thread.cpp": ("#include <thread>\nvoid f() { std::thread([] {}).join(); }", 1),
}  # fmt: skip


def self_test(nm, compiler):
    """Compiles one object per kind of fault and expects the scan to see it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, faulty) in PROBES.items():
            source, target = Path(folder) / name, Path(folder) / f"{name}.o"
            source.write_text(text + "\n", encoding="utf-8")
            subprocess.run([compiler, "-std=c++20", "-fPIC", "-c", str(source), "-o", str(target)], check=True)
            found = banned_symbols(nm, target)
            assert bool(found) == bool(faulty), f"{name}: {found}"
    print(f"{len(PROBES)} probes judged rightly")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--self-test", metavar="COMPILER")
    parser.add_argument("archives", nargs="*")
    args = parser.parse_args()
    if args.self_test:
        return self_test(args.nm, args.self_test)
    found = [line for archive in args.archives for line in banned_symbols(args.nm, archive)]
    print("\n".join(found) or "no banned symbol")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Scans the #include lines of the tree: an arrow may only point down. See docs/style.md for the reasons."""

import re
import sys
import tempfile
from pathlib import Path

# layer -> what it may include besides itself, the standard library and the public headers under include/
CORE = ["base", "model", "policy", "framework", "actions", "schedulers", "session", "engine", "federation"]
MAY_INCLUDE = {layer: set(CORE[:rank]) for rank, layer in enumerate(CORE)}
MAY_INCLUDE["io"] = set(CORE)
MAY_INCLUDE["files"] = {*CORE, "io"}
MAY_INCLUDE["simulation"] = {*CORE, "io"}
MAY_INCLUDE["capi"] = {*CORE, "io", "simulation"}
MAY_INCLUDE["http"] = set()  # the server of the programs knows nothing of clusters
MAY_INCLUDE["cli"] = {*CORE, "io", "files", "simulation", "capi", "http"}
MAY_INCLUDE["bindings"] = {*CORE, "io", "files", "simulation", "capi"}
MAY_INCLUDE["include"] = set()
MAY_INCLUDE["examples"] = set()

# Headers that CMake writes; only their own layer includes them.
GENERATED = {"engine/preset_choices.hpp"}

# What another scheduler decides is a function of its own view: no session in it.
RULES = re.compile(r"src/schedulers/(\w+)/rules/")
RULES_MAY_INCLUDE = {"base", "model", "policy"}
# Schedulers know nothing of each other, but for what they share.
SCHEDULER = re.compile(r"src/schedulers/(\w+)/")
SHARED_RULES = "src/schedulers/common/rules/"

# What the core must not even name: streams, files, threads. It gets time as an argument and memory from its caller.
NOT_IN_CORE = {
    "condition_variable", "ctime", "filesystem", "fstream", "future", "iostream", "semaphore", "syncstream", "thread",
    "sys/time.h", "time.h", "unistd.h",
}  # fmt: skip
UNORDERED = re.compile(r"\b(?:unordered_(?:flat_|node_)?(?:multi)?(?:map|set)|concurrent_flat_(?:map|set))\b")

C_HEADERS = set(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype".split()
)
# An adapter talks to the system it adapts. Of kaisched it knows kaisched.h.
SYSTEM_HEADERS = re.compile(
    r"(?:sys|net|netinet|arpa|linux|bits)/.*|(?:dlfcn|fcntl|poll|pthread|sched|semaphore|unistd|link|elf|getopt|dirent)\.h"
    r"|cuda\w*\.h|nvml\.h|nvrtc\.h|nvToolsExt\.h|jni\.h"
)
# The program for Kubernetes is of some size: of kaisched it knows the C interface alone, the rest it leaves to libraries.
KUBERNETES_PROGRAM = "examples/kubernetes"
KUBERNETES_LIBRARIES = re.compile(r"(?:boost|CLI|fmt|grpcpp|nlohmann|openssl|yaml-cpp)/.*|\w+(?:\.grpc)?\.pb\.h|signal\.h")
KUBERNETES_DOORS = {"capi/include/kaisched/kaisched.h", "capi/include/kaisched/abi.hpp", "src/http/server.hpp"}
# What examples may include of kaisched, by the suffix of their files: those in C++ may use the C++ interface, whole.
C_HEADERS_FOLDER = "capi/include"
C_DOORS = {"capi/include/kaisched/kaisched.h", "capi/include/kaisched/loader.h"}
EXAMPLE_DOORS = {suffix: C_DOORS | {"include/kaisched/kaisched.hpp", "capi/include/kaisched/abi.hpp"} for suffix in (".cpp", ".hpp")}
# Libraries that programs among the examples stand on, as a host's programs would.
EXAMPLE_LIBRARIES = {"CLI/CLI.hpp", "nlohmann/json.hpp"}
# The public header that its includers choose together with Eigen.
EIGEN_HEADER = "eigen.hpp"
INCLUDE = re.compile(r"^\s*#\s*(?:include|include_next|import)\s*([<\"])([^>\"]+)[>\"]")
COMMENT_OR_STRING = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
SUFFIXES = {".h", ".hh", ".hpp", ".ipp", ".c", ".cc", ".cpp", ".cu", ".cuh"}


def layer_of(path):
    """The layer of a path relative to the root, or None for what no rule covers."""
    first, *rest = path.parts
    if first == "src" and len(rest) > 1:
        return rest[0]
    return first if first in ("include", "capi", "bindings", "examples") else None


def is_standard(name):
    """C++ headers have no suffix and no folder; C headers are listed."""
    return re.fullmatch(r"[a-z_0-9]+", name) is not None or (name.endswith(".h") and name[:-2] in C_HEADERS)


def resolve(root, source, quote, name):
    """The file of the tree that an include means, relative to the root, or None for the world outside."""
    places = [source.parent] if quote == '"' else []
    places += [root / "src", root / "include", root / "capi" / "include", root]
    for place in places:
        target = place / name
        if target.is_file() and target.resolve().is_relative_to(root):
            return target.resolve().relative_to(root)
    return None


def check_include(root, source, quote, name):
    """One sentence about what is wrong with an include, or None."""
    here = layer_of(source.relative_to(root))
    if name == "kaisched/version.hpp":  # written by CMake into the build folder
        return "examples include only kaisched/kaisched.h or kaisched.hpp" if here == "examples" else None
    target = resolve(root, source, quote, name)
    in_c_headers = source.relative_to(root).is_relative_to(C_HEADERS_FOLDER)

    if here == "examples":
        in_kubernetes = source.relative_to(root).is_relative_to(KUBERNETES_PROGRAM)
        if target is None:
            example = root.joinpath(*source.relative_to(root).parts[:2])
            own = any(path.as_posix().endswith("/" + name) for path in example.rglob(Path(name).name))
            ok = own or is_standard(name) or SYSTEM_HEADERS.fullmatch(name) or name in EXAMPLE_LIBRARIES
            ok = ok or (in_kubernetes and KUBERNETES_LIBRARIES.fullmatch(name) is not None)
            return None if ok else "examples include only kaisched, the standard library and system headers"
        own = target.parts[:2] == source.relative_to(root).parts[:2]
        if in_kubernetes:
            ok = own or target.as_posix() in KUBERNETES_DOORS
            return None if ok else "of kaisched, the program for Kubernetes includes only kaisched/kaisched.h, abi.hpp and http/server.hpp"
        ok = own or target.as_posix() in EXAMPLE_DOORS.get(source.suffix, C_DOORS)
        return None if ok else "of kaisched, examples include only kaisched/kaisched.h and kaisched/loader.h, those in C++ also kaisched.hpp or abi.hpp"

    if target is None:
        if quote == '"' and name in GENERATED and source.relative_to(root).parts[1] == name.split("/")[0]:
            return None
        if quote == '"' or name.startswith("kaisched/"):
            return "no such file in the tree"
        opted_in = source.name == EIGEN_HEADER and name.startswith("Eigen/")
        if in_c_headers and not is_standard(name):
            return "headers of the C interface include only the standard library and each other"
        if here == "include" and not is_standard(name) and not opted_in:
            return "public headers include only the standard library and kaisched/"
        if here in CORE and name in NOT_IN_CORE:
            return "the core has no clock, no streams, no files and no threads of its own"
        return None

    there = layer_of(target)
    if there is None:
        return "outside the layers"
    if in_c_headers and not target.is_relative_to(C_HEADERS_FOLDER):
        return "headers of the C interface include only the standard library and each other"
    if here in ("include", "capi", *CORE) and target.as_posix() == f"include/kaisched/{EIGEN_HEADER}":
        return f"{EIGEN_HEADER} is for those who choose it: a header or library that includes it asks all for Eigen"
    mine, other = SCHEDULER.match(source.relative_to(root).as_posix()), SCHEDULER.match(target.as_posix())
    if mine and other and other[1] not in (mine[1], "common"):
        return f"{mine[1]} may not include {target.parent.relative_to('src')}"
    if rules := RULES.match(source.relative_to(root).as_posix()):
        ok = there == "include" or there in RULES_MAY_INCLUDE or target.as_posix().startswith((rules[0], SHARED_RULES))
        return None if ok else f"the rules of {rules[1]} may not include {target.parent.relative_to('src') if target.parts[0] == 'src' else there}"
    if there in (here, "include"):
        return None
    return None if there in MAY_INCLUDE[here] else f"{here} may not include {there}"


def scan(root):
    """All violations below root, as 'file:line: sentence'."""
    root = root.resolve()
    found = []
    sources = [p for top in ("include", "src", "capi", "bindings", "examples") for p in (root / top).rglob("*")]
    for source in sorted(p for p in sources if p.suffix in SUFFIXES and p.is_file()):
        path = source.relative_to(root)
        layer = layer_of(path)
        text = source.read_text(encoding="utf-8")
        if layer not in MAY_INCLUDE:
            found.append(f"{path}:1: a folder that no layer rule knows; add it to check_layers.py")
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if match := INCLUDE.match(line):
                if problem := check_include(root, source, *match.groups()):
                    found.append(f"{path}:{number}: {match[2]}: {problem}")
        if path.parts[0] == "src" and layer != "base":
            code = COMMENT_OR_STRING.sub(lambda m: "\n" * m[0].count("\n"), text)
            for number, line in enumerate(code.splitlines(), 1):
                if UNORDERED.search(line):
                    found.append(f"{path}:{number}: unordered containers live in src/base/ behind a lookup-only type")
    return found


GOOD = {
    "include/kaisched/kaisched.hpp": "#include <cstdint>\n#include <kaisched/version.hpp>\n",
    "include/kaisched/eigen.hpp": "#include <Eigen/Core>\n#include <kaisched/kaisched.hpp>\n",
    "capi/include/kaisched/kaisched.h": "#include <stdint.h>\n",
    "capi/include/kaisched/abi.hpp": "#include <string>\n#include <kaisched/kaisched.h>\n",
    "src/base/arena.hpp": "#include <unordered_map>\n#include <boost/container/small_vector.hpp>\n",
    "src/model/columns.hpp": '#include "base/arena.hpp"\n#include <kaisched/kaisched.hpp>\n// no unordered_map here\n',
    "src/model/columns.cpp": '#include "columns.hpp"\n#include "model/columns.hpp"\n',
    "src/engine/engine.cpp": '#include "model/columns.hpp"\n',
    "src/schedulers/common/rules/settings.hpp": '#include "model/columns.hpp"\n',
    "src/schedulers/yunikorn/rules/shares.hpp": '#include "model/columns.hpp"\n#include "schedulers/common/rules/settings.hpp"\n',
    "src/schedulers/yunikorn/cycle/driver.cpp": '#include "schedulers/yunikorn/rules/shares.hpp"\n',
    "src/io/json.hpp": '#include <iostream>\n#include "model/columns.hpp"\n',
    "src/files/cluster_file.hpp": '#include "io/json.hpp"\n',
    "src/simulation/simulation.cpp": '#include "io/json.hpp"\n',
    "src/cli/main.cpp": '#include "io/json.hpp"\n#include <CLI/CLI.hpp>\n#include <kaisched/eigen.hpp>\n',
    "examples/embed_c/main.c": '#include <kaisched/kaisched.h>\n#include <stdio.h>\n#include "own.h"\n',
    "examples/embed_c/own.h": "#include <sys/types.h>\n",
    "examples/embed_cpp/main.cpp": "#include <kaisched/kaisched.hpp>\n#include <bit>\n",
    "examples/embed_cpp_abi/main.cpp": "#include <kaisched/abi.hpp>\n",
    "examples/kubernetes/scheduler/main.cpp": '#include "watch/own.hpp"\n#include <boost/version.hpp>\n#include <kaisched/abi.hpp>\n#include <openssl/evp.h>\n',
    "examples/kubernetes/scheduler/watch/own.hpp": "#include <string>\n",
}
BAD = {
    "include/kaisched/a.hpp": "#include <boost/version.hpp>\n",
    "include/kaisched/b.hpp": "#include <fmt/core.h>\n",
    "include/kaisched/c.hpp": '#include "../../src/base/arena.hpp"\n',
    "include/kaisched/d.hpp": "#include <kaisched/missing.hpp>\n",
    "include/kaisched/e.hpp": "#include <kaisched/eigen.hpp>\n",
    "include/kaisched/f.hpp": "#include <Eigen/Core>\n",
    "capi/include/kaisched/g.hpp": "#include <kaisched/kaisched.hpp>\n",
    "capi/include/kaisched/h.hpp": "#include <boost/version.hpp>\n",
    "src/engine/matrix.cpp": "#include <kaisched/eigen.hpp>\n",
    "src/base/up.cpp": '#include "model/columns.hpp"\n',
    "src/model/up.cpp": '#  include   "../engine/up.hpp"\n',
    "src/engine/up.hpp": '#include "io/json.hpp"\n',
    "src/policy/up.cpp": "#include <kaisched/kaisched.h>\n",
    "src/schedulers/hived/rules/a.cpp": '#include "schedulers/yunikorn/rules/shares.hpp"\n',
    "src/schedulers/hived/rules/b.cpp": '#include "framework/session_state.hpp"\n',
    "src/schedulers/hived/cycle/c.cpp": '#include "schedulers/yunikorn/rules/shares.hpp"\n',
    "src/schedulers/common/cycle/d.cpp": '#include "schedulers/yunikorn/rules/shares.hpp"\n',
    "src/framework/session_state.hpp": '#include "engine/up.hpp"\n',
    "src/io/files.cpp": '#include "files/cluster_file.hpp"\n',
    "src/io/up.cpp": '#include "simulation/s.hpp"\n',
    "src/simulation/s.hpp": '#include "nowhere.hpp"\n',
    "src/policy/stream.cpp": "#include <iostream>\n",
    "src/policy/hash.cpp": "std::unordered_map<int, int> m;\n",
    "src/framework/hash.cpp": "/* one\ntwo */ boost::unordered_flat_set<int> s;\n",
    "src/strange/x.cpp": "\n",
    "examples/embed_c/a.c": "#include <kaisched/kaisched.hpp>\n",
    "examples/embed_c/b.c": "#include <kaisched/abi.hpp>\n",
    "examples/embed_cpp/b.cpp": '#include "../../src/base/arena.hpp"\n',
    "examples/embed_cpp/c.cpp": "#include <boost/version.hpp>\n",
    "examples/embed_cpp/d.cpp": '#include "../embed_c/own.h"\n',
    "examples/embed_cpp/e.cpp": "#include <kaisched/version.hpp>\n",
    "examples/embed_cpp/f.cpp": "#include <kaisched/eigen.hpp>\n",
    "examples/kubernetes/scheduler/g.cpp": "#include <kaisched/kaisched.hpp>\n",
    "examples/kubernetes/scheduler/h.cpp": '#include "io/json.hpp"\n',
    "examples/kubernetes/scheduler/i.cpp": "#include <Eigen/Core>\n",
}


def self_test():
    """A tree without fault passes, and each fault planted into it is reported, once and where it is."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)

        def plant(files):
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")

        plant(GOOD)
        assert scan(root) == [], scan(root)
        plant(BAD)
        reported = [line.split(":")[0] for line in scan(root)]
        assert sorted(reported) == sorted(BAD), sorted(set(BAD) ^ set(reported))
    print(f"{len(BAD)} planted violations found, none invented")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = scan(Path(sys.argv[1]))
    print("\n".join(found) or "includes point down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

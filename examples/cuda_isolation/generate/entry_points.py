#!/usr/bin/env python3
"""Reads cuda.h, cudaTypedefs.h and nvml.h and writes the table of the entry points of the driver.

  entry_points.py write DIR...            renews the tables beside this file from the headers found under each DIR
  entry_points.py check DIR...            the committed tables are those of the headers; every entry point of a class that is
                                          accounted is wrapped, or not_wrapped.txt says why not
  entry_points.py prototypes FILE DIR...  the prototypes of FILE are those of the headers

A table has facts only: names, the version since which cuGetProcAddress answers with them, the variant of the default
stream. Headers come from the wheels of NVIDIA and are not part of the project. The C preprocessor ($CC, else cc) reads them.
"""
import hashlib
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FAKE = HERE.parent / "fake"
PROTOTYPES = HERE.parent / "shim" / "cuda_prototypes.inc"
CUDA_TABLE = HERE / "cuda_entry_points.inc"
NVML_TABLE = HERE / "nvml_entry_points.inc"
WRAPPED = HERE.parent / "shim" / "wrapped.inc"
NOT_WRAPPED = HERE / "not_wrapped.txt"

# What takes or gives back memory of a device, starts work on it, makes a context, or says how much memory there is.
ACCOUNTED = re.compile(
    r"cu(Mem(Alloc|Host(Alloc|Register|Unregister)|Free|Create|Release|Retain|Map|Unmap|Pool|GetInfo|Import|GetMemPool|GetDefaultMemPool|SetMemPool)"
    r"|Device(TotalMem|PrimaryCtx|GetMemPool|SetMemPool|GetDefaultMemPool|GraphMemTrim|SetGraphMem)"
    r"|(Array|Array3D|MipmappedArray)(Create|Destroy)|Ctx(Create|Destroy|SetLimit)|GreenCtx(Create|Destroy)"
    r"|Graph(Instantiate|Launch|ExecDestroy|AddMem(Alloc|Free)Node|Upload|ExecUpdate)|Launch|Ipc(Open|Close)MemHandle"
    r"|(Import|Destroy)ExternalMemory|Multicast|GetProcAddress|Init$|Module(Load|Unload)|Library(Load|Unload)|Coredump$)")

VARIANT = re.compile(r"_(ptsz|ptds)$")
NUMBER = re.compile(r"_v(\d+)$")


def fail(message):
    sys.exit(f"entry_points.py: {message}")


def preprocess(include, header, *defines):
    command = [os.environ.get("CC", "cc"), "-E", "-P", "-x", "c", "-I", str(include), *defines, str(include / header)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        fail(f"{include / header}: {done.stderr.strip()}")
    return done.stdout


def aliases(text):
    """What plain names stand for: CUdeviceptr is CUdeviceptr_v2 in a header of today."""
    return {new: old for old, new in re.findall(r"typedef\s+(\w+_v\d+)\s+(\w+)\s*;", text)}


def parameters(text, names):
    """Types of parameters without their names, so that headers which call them otherwise are equal."""
    out = []
    for part in re.sub(r"\s+", " ", text).strip().split(","):
        part = part.strip()
        array = part.endswith("]")
        part = re.sub(r"\[.*\]$", "", part).strip()
        words = re.findall(r"\w+|\*", part)
        known = {"void", "char", "int", "size_t", "unsigned", "long", "float", "double", "short", "const", "struct", "enum"}
        if len(words) > 1 and words[-1] not in known | {"*"}:
            words.pop()
        words = [names.get(word, word) for word in words if word not in ("struct", "enum")]
        words = [re.sub(r"_(st|enum)$", "", word) for word in words]
        if array:
            words.append("*")
        out.append(" ".join(words))
    return ", ".join(out)


FUNCTION = re.compile(r"\b(?:CUresult|nvmlReturn_t)\s+(?:\w+\s+)?(cu[A-Z]\w*|nvml[A-Z]\w*)\s*\(([^()]*)\)\s*;")


def functions(text, names):
    return {name: parameters(inside, names) for name, inside in FUNCTION.findall(text)}


def typedefs(text, names):
    found = {}
    pattern = r"typedef\s+CUresult\s*\(\s*\*\s*PFN_(cu\w+?)_v(\d+)((?:_ptsz|_ptds)?)\s*\)\s*\(([^()]*)\)\s*;"
    for base, version, variant, inside in re.findall(pattern, text):
        found[base, int(version), variant[1:]] = parameters(inside, names)
    return found


class Headers:
    def __init__(self, folder):
        def find(name):
            paths = sorted(pathlib.Path(folder).rglob(name))
            return paths[0].parent if paths else None

        include = find("cuda.h")
        if include is None:
            fail(f"{folder}: no cuda.h")
        every = ((), ("-D__CUDA_API_VERSION_INTERNAL",), ("-DCUDA_API_PER_THREAD_DEFAULT_STREAM",))
        text = preprocess(include, "cuda.h")
        self.names = aliases(text)
        self.version = int(re.search(r"#define CUDA_VERSION (\d+)", (include / "cuda.h").read_text())[1])
        self.functions, self.typedefs, self.nvml, self.plain = {}, {}, {}, {}
        for defines in every:
            text = preprocess(include, "cuda.h", *defines)
            self.functions.update(functions(text, self.names))
            for name, signature in functions(text, {}).items():
                self.plain.setdefault(name, signature)
            self.renamed = renames((include / "cudaTypedefs.h").read_text(), self.version)
            self.typedefs.update(typedefs(preprocess(include, "cudaTypedefs.h", *defines), self.names))
        nvml = find("nvml.h")
        if nvml is not None:
            for defines in ((), ("-DNVML_NO_UNVERSIONED_FUNC_DEFS",)):
                self.nvml.update(functions(preprocess(nvml, "nvml.h", *defines), {}))


def renames(text, version):
    """Names that answer with a function of another name, such as cuGraphInstantiate since 12.0."""
    pairs = re.findall(r"#define PFN_(cu\w+)\s+PFN_(cu\w+?)_v\d+\s", text)
    return {(name, symbol): version // 1000 * 1000 for name, symbol in pairs
            if name != symbol and not NUMBER.search(name) and not NUMBER.search(symbol)}


def symbols_of(base, variant, names):
    """The symbols of one name, oldest first."""
    suffix = f"_{variant}" if variant else ""
    pattern = re.compile(re.escape(base) + r"(?:_v(\d+))?" + suffix + "$")
    numbered = sorted((int(m[1] or 1), name) for name in names if (m := pattern.match(name)))
    return [name for _, name in numbered]


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def assign(headers):
    """(symbol) -> (base, since, variant, signature) over all headers: same signature, else same place in the order."""
    every, wanted = {}, {}
    for one in headers:
        for name, signature in one.functions.items():
            every.setdefault(name, signature)
        wanted.update(one.typedefs)
    rows, by_name = {}, {}
    for (base, version, variant), signature in sorted(wanted.items()):
        by_name.setdefault((base, variant), []).append((version, signature))
    for (base, variant), versions in sorted(by_name.items()):
        free = symbols_of(base, variant, every)
        for place, (version, signature) in enumerate(versions):
            same = [symbol for symbol in free if every.get(symbol) == signature]
            choice = same[0] if same else free[0] if len(free) == len(versions) - place else None
            if choice is None:
                fail(f"no symbol for {base} since {version} {variant}: {signature}")
            free.remove(choice)
            rows[choice, base] = (version, variant, digest(signature))
    answered = {symbol for symbol, _ in rows}
    for name, signature in sorted(every.items()):  # exported, and never the answer of cuGetProcAddress
        if name not in answered:
            variant = VARIANT.search(name)
            plain = VARIANT.sub("", name)
            rows[name, NUMBER.sub("", plain)] = (0, variant[1] if variant else "", digest(signature))
    return rows


def render(headers):
    rows = assign(headers)
    newest = max(one.version for one in headers)
    seen = " ".join(str(one.version) for one in sorted(headers, key=lambda h: h.version))
    lines = [
        "/* Written by entry_points.py from headers of CUDA " + seen + ". One line per symbol that the driver exports:",
        " * symbol, name for cuGetProcAddress, first version that it answers with the symbol (0: never), stream variant",
        " * (0 legacy, 1 per thread), digest of the types of its parameters. */",
        f"#ifdef ENTRY_POINTS_NEWEST\nENTRY_POINTS_NEWEST({newest})\n#endif",
    ]
    for (symbol, base), (since, variant, signature) in sorted(rows.items()):
        lines.append(f"ENTRY_POINT({symbol}, {base}, {since}, {1 if variant else 0}, 0x{signature})")
    renamed = {}
    for one in headers:
        for pair, since in one.renamed.items():
            renamed[pair] = min(since, renamed.get(pair, since))
    for (base, symbol), since in sorted(renamed.items()):
        lines.append(f"RENAMED_ENTRY_POINT({symbol}, {base}, {since}, 0)")
    cuda = "\n".join(lines) + "\n"
    nvml = sorted(set().union(*(one.nvml for one in headers)))
    text = "/* Written by entry_points.py: the symbols of NVML in the same headers. */\n"
    text += "".join(f"ENTRY_POINT({name})\n" for name in nvml)
    return cuda, text


def declared():
    """What the guard wraps and the fake driver defines: those need prototypes."""
    names = {name for name in wrapped() | used() if name.startswith("cu")}
    for source in sorted(FAKE.glob("*.c")):
        names |= set(re.findall(r"^(?:FAKE_EXPORT CUresult |COPY\(|PER_THREAD\()(cu\w+)", source.read_text(), re.M))
    return names


def render_prototypes(headers):
    plain = {}
    for one in sorted(headers, key=lambda h: -h.version):
        for name, signature in one.plain.items():
            plain.setdefault(name, signature)
    lines = ["/* Written by entry_points.py: types of the entry points that the guard wraps or the fake driver has. */",
             "#ifndef CU_PROTOTYPES_FOLLOW", "#error cuda_abi.h includes this file", "#endif"]
    for name in sorted(declared()):
        if name not in plain:
            fail(f"{name} is in no header")
        signature = re.sub(r" \*", "*", plain[name])
        lines.append(f"CUresult {name}({signature});")
    return "\n".join(lines) + "\n"


def used():
    return set(re.findall(r"^USED\((cu\w+)", WRAPPED.read_text(), re.M))


def wrapped():
    names = re.findall(r"^WRAP(?:_\w+)?\((cu\w+|nvml\w+)", WRAPPED.read_text(), re.M) if WRAPPED.exists() else []
    return set(names)


def excused():
    if not NOT_WRAPPED.exists():
        return {}
    lines = [line.split("#")[0].split(None, 1) for line in NOT_WRAPPED.read_text().splitlines()]
    return {words[0]: words[1].strip() for words in lines if len(words) == 2}


def unwrapped(rows):
    have, reasons = wrapped(), excused()
    missing = sorted(s for s, base in rows if ACCOUNTED.match(s) and s not in have and s not in reasons)
    stale = sorted(set(reasons) - {s for s, _ in rows}) + sorted(set(reasons) & have)
    return missing, stale


def committed_rows():
    text = CUDA_TABLE.read_text()
    return {(s, b): True for s, b in re.findall(r"^ENTRY_POINT\((\w+), (\w+),", text, re.M)}


def check(folders):
    faults = []
    if folders:
        headers = [Headers(folder) for folder in folders]
        for path, text in zip((CUDA_TABLE, NVML_TABLE, PROTOTYPES), (*render(headers), render_prototypes(headers))):
            if path.read_text() != text:
                faults.append(f"{path.name} is not what the headers say: entry_points.py write {' '.join(folders)}")
        rows = assign(headers)
    else:
        rows = committed_rows()
    missing, stale = unwrapped(rows)
    faults += [f"{name}: of a class that is accounted, neither in wrapped.inc nor in not_wrapped.txt" for name in missing]
    faults += [f"not_wrapped.txt: {name} is wrapped, or unknown" for name in stale]
    return faults


def check_prototypes(path, folders):
    """Our own declarations against those of the headers that know the name."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", pathlib.Path(path).read_text(), flags=re.S)
    faults, compared = [], 0
    every = [Headers(folder) for folder in folders]
    for one in every:
        for name, signature in functions(text, one.names).items():
            theirs = one.functions.get(name) or one.nvml.get(name)
            if theirs is None:
                continue
            compared += 1
            if theirs != signature:
                faults.append(f"{name} in {one.version}: ({theirs}), declared as ({signature})")
    if not compared:
        faults.append(f"{path}: no prototype that the headers know")
    print(f"{compared} prototypes compared")
    return faults


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "write":
        headers = [Headers(folder) for folder in arguments[1:]]
        for path, text in zip((CUDA_TABLE, NVML_TABLE, PROTOTYPES), (*render(headers), render_prototypes(headers))):
            path.write_text(text)
        return []
    if arguments and arguments[0] == "check":
        return check(arguments[1:])
    if len(arguments) >= 3 and arguments[0] == "prototypes":
        return check_prototypes(arguments[1], arguments[2:])
    fail(__doc__.strip())


if __name__ == "__main__":
    found = main(sys.argv[1:])
    if found:
        print("\n".join(found))
    sys.exit(1 if found else 0)

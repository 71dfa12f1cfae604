#!/usr/bin/env python3
"""Runs programs on the fake driver, with the guard and without, and compares.

  shim.py CASE --bin FOLDER --fake FOLDER --guard FOLDER"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MIB = 1 << 20
HERE = pathlib.Path(__file__).resolve().parent


class Bench:
    def __init__(self, options, work):
        self.bin, self.fake, self.guard, self.work = (pathlib.Path(p) for p in (options.bin, options.fake, options.guard, work))
        self.faults = []

    def environment(self, guard=None, before="", after="", **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "GPU_", "KAISCHED"))}
        kept.pop("LD_PRELOAD", None)
        kept["LD_LIBRARY_PATH"] = str(self.fake)
        if guard:
            libraries = [before, str(self.guard / f"lib{guard}.so"), after]
            kept["LD_PRELOAD"] = ":".join(library for library in libraries if library)
        return kept | more

    def run(self, program, *words, timeout=120, environment=None):
        done = subprocess.run([self.bin / program, *map(str, words)], env=environment or self.environment(),
                              capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stdout, done.stderr

    def start(self, program, *words, environment):
        return subprocess.Popen([self.bin / program, *map(str, words)], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def expect(self, what, found, wanted):
        if found != wanted:
            self.faults.append(f"{what}: {found!r}, expected {wanted!r}")

    def peaks(self, state):
        code, out, _ = self.run("kaisched_shim_machine", state)
        self.expect("machine", code, 0)
        return [tuple(map(int, line.split())) for line in out.splitlines()]


PRELOAD, HOOK = "kaisched_guard", "kaisched_guard_dlsym"


def transparency(bench):
    """With a limit that is never reached nothing differs, call by call; without one neither."""
    for seed in range(1, 7):
        for way in ("link", "dlsym", "proc", "proc-ptsz"):
            wanted = bench.run("kaisched_shim_trace", way, seed, 1500)
            bench.expect("trace", (wanted[0], wanted[1].count("\n") > 1500), (0, True))
            for limits in ({"CUDA_DEVICE_MEMORY_LIMIT": "100000g"}, {}, {"CUDA_DEVICE_SM_LIMIT": "99"}):
                found = bench.run("kaisched_shim_trace", way, seed, 1500, environment=bench.environment(HOOK, **limits))
                if found[:2] != wanted[:2]:
                    pairs = zip(found[1].splitlines(), wanted[1].splitlines())
                    first = next(((i, a, b) for i, (a, b) in enumerate(pairs) if a != b), found)
                    bench.faults.append(f"seed {seed}, {way}, {limits}: {first}")


def versions(bench):
    """Every name leads to the symbol that it leads to without a guard, whatever the version of the driver."""
    for version in ("11080", "12020", "12080", "13000", "13050"):
        wanted = bench.run("kaisched_shim_lookups", environment=bench.environment(KAISCHED_FAKE_CUDA=version))
        limits = {"CUDA_DEVICE_MEMORY_LIMIT": "1g", "KAISCHED_FAKE_CUDA": version}
        found = bench.run("kaisched_shim_lookups", environment=bench.environment(HOOK, **limits))
        bench.expect(f"lookups of {version}", found[0], wanted[0])
        bad = [(a, b) for a, b in zip(found[1].splitlines(), wanted[1].splitlines()) if a != b]
        bench.expect(f"lookups of {version}", (bad[:3], wanted[1].count("\n") > 10000), ([], True))


def lacking(bench):
    """What the driver below does not export nobody finds; what it answers with all the same has the right wrapper."""
    older = str(bench.fake.parent / "older")
    wrapped = set(re.findall(r"^WRAP\((\w+)\)", (HERE / "../../../examples/cuda_isolation/shim/wrapped.inc").read_text(), re.M))
    for version in ("11000", "12020", "13050"):
        limits = {"CUDA_DEVICE_MEMORY_LIMIT": "1g", "KAISCHED_FAKE_CUDA": version}
        whole = bench.run("kaisched_shim_lookups", environment=bench.environment(KAISCHED_FAKE_CUDA=version))[1].splitlines()
        plain = bench.run("kaisched_shim_lookups", environment=bench.environment(KAISCHED_FAKE_CUDA=version) | {"LD_LIBRARY_PATH": older})
        found = bench.run("kaisched_shim_lookups", environment=bench.environment(HOOK, **limits) | {"LD_LIBRARY_PATH": older})
        bench.expect(f"lookups of {version}", (plain[0], found[0]), (0, 0))
        bad, hidden = [], 0
        for ours, theirs, full in zip(found[1].splitlines(), plain[1].splitlines(), whole, strict=True):
            how, _, symbol, _ = full.split()
            exported = how in ("before", "dlsym", "default", "program")
            hidden += exported and ours != full
            if exported and ours != theirs or not exported and symbol in wrapped and ours != full:
                bad.append((ours, theirs, full))
        bench.expect(f"lookups of {version}", (bad[:3], hidden > 300), ([], True))
    # Functions that the driver does not export, and hands out: what goes through their wrappers is counted.
    environment = bench.environment(HOOK, CUDA_DEVICE_MEMORY_LIMIT="1g", KAISCHED_GUARD_CONTEXT="64m") | {"LD_LIBRARY_PATH": older}
    bench.expect("used", bench.run("kaisched_shim_lookups", "use", environment=environment)[1].splitlines()[-1:], ["0 796"])


def limit(bench):
    """Processes and threads at the edge: what the driver gave never passes the limit, and all of it comes back."""
    limit_bytes = 400 * MIB
    for classes in ("p", "l", "m", "v", "a", "q", "g", "plmvaqg"):
        state, shared = bench.work / f"machine-{classes}", bench.work / f"shared-{classes}"
        environment = bench.environment(HOOK, CUDA_DEVICE_MEMORY_LIMIT="400m", CUDA_DEVICE_MEMORY_SHARED_CACHE=str(shared),
                                        KAISCHED_FAKE_STATE=str(state), KAISCHED_GUARD_CONTEXT="64m")
        running = [bench.start("kaisched_shim_stress", "dlsym", 3, 2500, seed, classes, environment=environment)
                   for seed in (1, 2, 3)]
        outputs = [(one.communicate(timeout=120), one.returncode) for one in running]
        for (out, error), code in outputs:
            bench.expect(f"stress {classes}", (code, error), (0, ""))
        refused = sum(int(out.split()[3]) for (out, _), _ in outputs)
        peaks = bench.peaks(state)
        bench.expect(f"tenants {classes}", len(peaks), 1)
        bench.expect(f"{classes}: used at the end", peaks[0][2], 0)
        bench.expect(f"{classes}: peak {peaks[0][3]} within the limit", peaks[0][3] <= limit_bytes, True)
        bench.expect(f"{classes}: reached the limit", refused > 0 or classes in "pg", True)
        # One after the others finds everything free again.
        code, out, _ = bench.run("kaisched_shim_stress", "dlsym", 1, 50, 9, classes, environment=environment)
        bench.expect(f"{classes}: alone afterwards", (code, out.split()[5]), (0, str(limit_bytes - 64 * MIB)))


def legacy(bench):
    """The entry points of CUDA 2 are held to the limit like those of today, and otherwise as without a guard."""
    for way in ("link", "dlsym", "proc"):
        wanted = bench.run("kaisched_shim_legacy", way)
        bench.expect(f"{way} without", wanted[1].splitlines()[:3], ["start 0", "plain 24 0", "info 0 4095 4095"])
        wide = bench.environment(HOOK, CUDA_DEVICE_MEMORY_LIMIT="100000g")
        bench.expect(f"{way} without a limit that matters", bench.run("kaisched_shim_legacy", way, environment=wide), wanted)
        state = bench.work / f"machine-{way}"
        narrow = bench.environment(HOOK, CUDA_DEVICE_MEMORY_LIMIT="400m", KAISCHED_GUARD_CONTEXT="64m",
                                   KAISCHED_FAKE_STATE=str(state))
        code, out, error = bench.run("kaisched_shim_legacy", way, environment=narrow)
        bench.expect(f"{way} at the limit", (code, out.splitlines(), error),
                     (0, ["start 0", "plain 5 2", "info 0 16 400", "pitch 5 2", "info 0 16 400", "array 5 2", "info 0 16 400",
                          "volume 5 2", "info 0 16 400", "total 0 400", "info 0 336 400"], ""))
        bench.expect(f"{way}: peak", [row[3] for row in bench.peaks(state)], [384 * MIB])


def life(bench):
    """fork, exec, kills, and other libraries in the chain."""
    state = bench.work / "machine"
    base = {"CUDA_DEVICE_MEMORY_LIMIT": "500m", "KAISCHED_FAKE_STATE": str(state), "KAISCHED_GUARD_CONTEXT": "64m"}

    def case(name, wanted, guard=HOOK, own=False, **chain):
        shutil.rmtree(f"{bench.work}/{name}.kaisched", ignore_errors=True)
        cache = {} if own else {"CUDA_DEVICE_MEMORY_SHARED_CACHE": f"{bench.work}/{name}"}
        environment = bench.environment(guard, **chain, **base, **cache)
        code, out, error = bench.run("kaisched_shim_life", name, environment=environment)
        bench.expect(name, (code, out.split("\n")[:-1], error), (0, wanted, ""))

    case("plain", ["start 0", "first 0", "second 2"])
    case("plain", ["start 0", "first 0", "second 2"], own=True)
    case("direct", ["start 0", "first 0", "second 2"], guard=PRELOAD)
    case("fork-before", ["start 0", "in child 0", "child 0", "start 0", "in parent 0"])
    case("fork-after", ["start 0", "first 0", "child 6", "second 2"])
    case("exec", ["start 0", "first 0", "start 0", "first 0", "second 2"])
    # The parent holds its 300 MiB; children find no room and are killed; it can still allocate afterwards as before.
    case("crowd", ["start 0", "first 0"] + ["start 0", "first 2"] * 20 + ["second 2"])
    hook = str(bench.bin / "libkaisched_shim_next_hook.so")
    case("plain", ["start 0", "first 0", "second 2"], after=hook)
    # One in front that asks for glibc's own version goes round the guard; the page says to put the guard first.
    case("plain", ["start 0", "first 0", "second 0"], before=hook)


def escapes(bench):
    """What docs/cuda-isolation.md says a hostile tenant can do: each of them works, or the page has to be changed."""
    base = {"CUDA_DEVICE_MEMORY_LIMIT": "500m", "KAISCHED_GUARD_CONTEXT": "64m"}
    copy = bench.work / "libother.so"
    shutil.copy(bench.fake / "libcuda.so.1", copy)
    for name, words, guard, wanted in (
            ("namespace", [], HOOK, "second 0"), ("path", [copy], HOOK, "second 0"), ("unset", [], HOOK, "second 0"),
            ("plain", [], PRELOAD, "second 0"),  # opens the driver, and the library without a hook was chosen
            ("plain", [], HOOK, "second 2")):
        code, out, _ = bench.run("kaisched_shim_life", name, *words, environment=bench.environment(guard, **base))
        bench.expect(f"{name} under {guard}", (code, out.split("\n")[-2]), (0, wanted))


def views(bench):
    """A tenant sees its own memory and processes; without a limit, the card and everybody."""
    state = bench.work / "machine"
    common = {"KAISCHED_FAKE_STATE": str(state), "KAISCHED_FAKE_DEVICES": "16g;8g", "KAISCHED_GUARD_CONTEXT": "64m"}
    first = bench.environment(HOOK, CUDA_DEVICE_MEMORY_LIMIT="1g", VIEWS_WAIT="1",
                              CUDA_DEVICE_MEMORY_SHARED_CACHE=str(bench.work / "one"), **common)
    other = subprocess.Popen([bench.bin / "kaisched_shim_views", "100"], env=first, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True)
    while not (line := other.stdout.readline()).startswith("processes"):
        bench.expect("the first tenant", line != "", True)
    second = bench.environment(HOOK, CUDA_DEVICE_MEMORY_LIMIT="2g",
                               CUDA_DEVICE_MEMORY_SHARED_CACHE=str(bench.work / "two"), **common)
    bench.expect("with a limit", bench.run("kaisched_shim_views", 200, environment=second)[1].splitlines(),
                 ["start 0", "devices 2", "cuda 0 1784 2048", "total 0 2048", "nvml 0 1784 264 2048", "nvml_v2 0 1784 264 2048",
                  "processes 0 1"])
    bench.expect("without", bench.run("kaisched_shim_views", 200, environment=bench.environment(HOOK, **common))[1].splitlines(),
                 ["start 0", "devices 2", "cuda 0 15956 16384", "total 0 16384", "nvml 0 15956 428 16384",
                  "nvml_v2 0 15956 428 16384", "processes 0 2"])
    third = bench.environment(HOOK, CUDA_DEVICE_MEMORY_LIMIT="1g",
                              CUDA_DEVICE_MEMORY_SHARED_CACHE=str(bench.work / "one"), **common)
    bench.expect("the same container", bench.run("kaisched_shim_views", 200, environment=third)[1].splitlines()[2:],
                 ["cuda 0 596 1024", "total 0 1024", "nvml 0 596 428 1024", "nvml_v2 0 596 428 1024", "processes 0 2"])
    other.communicate("\n")


def imports(bench):
    """Memory of others costs its maker until it is freed, whoever opens it; that it was opened is counted."""
    def tenant(name):
        cache = str(bench.work / name)
        return cache + ".kaisched", bench.environment(
            HOOK, KAISCHED_FAKE_STATE=str(bench.work / "machine"), CUDA_DEVICE_MEMORY_LIMIT="300m", KAISCHED_GUARD_CONTEXT="64m",
            CUDA_DEVICE_MEMORY_SHARED_CACHE=cache)
    (first, maker), (second, user) = tenant("maker"), tenant("user")
    exporting = subprocess.Popen([bench.bin / "kaisched_shim_imports", first, "export"], env=maker, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
    lines = [exporting.stdout.readline().strip() for _ in range(3)]
    handle = lines[2].split()[1]
    bench.expect("made", (lines[:2], lines[2].split()[2]), (["start 0 64 0 0", "alloc 0 164 0 0"], "0"))
    code, out, error = bench.run("kaisched_shim_imports", second, "import", handle, environment=user)
    bench.expect("used", (code, out.splitlines(), error), (0, [
        "start 0 64 0 0", "open 0 64 1 100", "close 0 64 1 100", "create 0 128 1 100", "export 0 128 1 100", "import 0 128 2 100",
        "release it 0 128 2 100", "release 0 64 2 100", "external 0 64 3 132", "mapped 0 64 3 132", "destroy 0 64 3 132"], ""))
    exporting.stdin.write("\n")
    exporting.stdin.flush()
    bench.expect("made, after", [exporting.stdout.readline().strip() for _ in range(2)], ["opened 0 164 0 0", "free 0 64 0 0"])
    exporting.communicate("\n")
    bench.expect("its status", exporting.returncode, 0)


def contexts(bench):
    """A context is asked for before it is made; what it costs is known afterwards, and comes back with it."""
    def found(limit, folder=None, **more):
        state = bench.work / f"machine{len(list(bench.work.iterdir()))}"
        environment = bench.environment(HOOK, CUDA_DEVICE_MEMORY_LIMIT=limit, KAISCHED_FAKE_STATE=str(state), **more)
        if folder:
            environment["LD_LIBRARY_PATH"] = str(folder)
        code, out, error = bench.run("kaisched_shim_contexts", environment=environment)
        bench.expect(f"contexts {limit} {more}", (code, error), (0, ""))
        return out.splitlines()
    # 512 MiB are expected of the first, and 64 of the others, since that is what the first one took.
    bench.expect("enough", found("550m"), ["first 0 486", "second 0 422", "destroyed 0 486", "again 0 486"])
    bench.expect("not enough", found("500m"), ["first 2 -1"])
    bench.expect("not enough, open", found("500m", KAISCHED_GUARD_MODE="open"),
                 ["first 0 436", "second 0 372", "destroyed 0 436", "again 0 436"])
    bench.expect("told what one costs", found("150m", KAISCHED_GUARD_CONTEXT="80m"),
                 ["first 0 86", "second 0 22", "destroyed 0 86", "again 0 86"])
    bench.expect("and too little for two", found("130m", KAISCHED_GUARD_CONTEXT="80m"),
                 ["first 0 66", "second 2 66", "destroyed 2 66", "again 0 66"])
    bench.expect("told that they cost nothing", found("50m", KAISCHED_GUARD_CONTEXT="0")[0], "first 0 0")
    alone = bench.work / "only-cuda"
    alone.mkdir()
    shutil.copy(bench.fake / "libcuda.so.1", alone / "libcuda.so.1")
    bench.expect("without NVML", found("550m", alone), ["first 0 38", "second 2 38", "destroyed 2 38", "again 0 38"])


def modes(bench):
    """Settings that are none: strict starts nothing, open starts without limits and says so."""
    for setting in ({"CUDA_DEVICE_MEMORY_LIMIT": "many"}, {"CUDA_DEVICE_SM_LIMIT": "101"}, {"KAISCHED_LEDGER": "/nowhere"},
                    {"KAISCHED_GUARD_CONTEXT": "-1", "GPU_MEMORY_LIMIT": "1"}, {"CUDA_TASK_PRIORITY": "x"}):
        for mode, wanted in (("strict", ["start 802", "first 3"]), ("open", ["start 0", "first 0"])):
            environment = bench.environment(HOOK, KAISCHED_GUARD_MODE=mode, **setting)
            _, out, error = bench.run("kaisched_shim_life", "plain", environment=environment)
            found = out.split("\n")[:2]
            if mode == "strict":
                found[1] = "first 3" if found[1] != "first 0" else found[1]
            bench.expect(f"{setting} {mode}", (found, next(iter(setting)) in error or "/nowhere" in error), (wanted, True))
    _, out, error = bench.run("kaisched_shim_life", "plain", environment=bench.environment(HOOK, KAISCHED_GUARD_MODE="loose"))
    bench.expect("mode loose", (out.split("\n")[0], "neither strict nor open" in error), ("start 802", True))


def kills(bench):
    """A process that dies within the k-th call of the driver leaves nothing behind."""
    for k in range(1, 40, 3):
        for name in ("cuMemAlloc_v2", "cuMemCreate", "cuMemAllocAsync", "cuMemFree_v2"):
            state, shared = bench.work / f"machine-{k}-{name}", bench.work / f"shared-{k}-{name}"
            base = dict(CUDA_DEVICE_MEMORY_LIMIT="400m", CUDA_DEVICE_MEMORY_SHARED_CACHE=str(shared),
                        KAISCHED_FAKE_STATE=str(state), KAISCHED_GUARD_CONTEXT="64m")
            dying = bench.environment(HOOK, KAISCHED_FAKE_FAIL=f"{name}:{k}:kill", **base)
            code, _, _ = bench.run("kaisched_shim_stress", "dlsym", 2, 400, k, "pvq", environment=dying)
            bench.expect(f"{name} {k}", code, -9)
            code, out, error = bench.run("kaisched_shim_stress", "dlsym", 1, 60, 9, "plm",
                                         environment=bench.environment(HOOK, **base))
            words = out.split()
            bench.expect(f"after {name} {k}", (code, words[5:6], error), (0, [str(336 * MIB)], ""))


def failures(bench):
    """Calls that the driver refuses leave the books as they were."""
    names = ("cuMemAlloc_v2", "cuMemAllocPitch_v2", "cuMemAllocManaged", "cuMemCreate", "cuMemMap", "cuMemFree_v2",
             "cuMemUnmap", "cuMemRelease", "cuMemAllocAsync", "cuMemPoolGetAttribute", "cuArrayCreate_v2", "cuArrayDestroy",
             "cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuCtxGetDevice", "cuCtxGetCurrent")
    for name in names:
        environment = bench.environment(HOOK, CUDA_DEVICE_MEMORY_LIMIT="100000g", KAISCHED_FAKE_FAIL=f"{name}:5:999")
        wanted = bench.run("kaisched_shim_trace", "proc", 3, 800, environment=bench.environment(
            KAISCHED_FAKE_FAIL=f"{name}:5:999"))
        found = bench.run("kaisched_shim_trace", "proc", 3, 800, environment=environment)
        inner = name in ("cuMemPoolGetAttribute", "cuCtxGetDevice", "cuCtxGetCurrent")  # the guard asks them itself
        bench.expect(f"{name} fails", found[0] if inner else found[1] == wanted[1], 0 if inner else True)


def shares(bench, tenants, seconds=20, note=""):
    """Busy permille of each tenant: (percent, microseconds of a kernel, how)."""
    state = bench.work / f"machine{len(list(bench.work.iterdir()))}"
    running = []
    for number, (percent, length, how) in enumerate(tenants):
        guard = HOOK if percent else None
        limits = {"CUDA_DEVICE_SM_LIMIT": str(percent)} if percent else {}
        running.append(bench.start("kaisched_shim_tenant", length, seconds, how, environment=bench.environment(
            guard, KAISCHED_FAKE_STATE=str(state), KAISCHED_FAKE_TENANT=str(number),
            KAISCHED_FAKE_PARTICIPANTS=str(len(tenants)), **limits)))
    times = []
    for one in running:
        out, error = one.communicate(timeout=100)
        bench.expect("tenant", (one.returncode, error), (0, ""))
        times.append(int(out or 1))
    found = {tenant: busy for tenant, _, _, _, busy in bench.peaks(state)}
    return [found.get(i, 0) * 1000 // times[i] for i in range(len(tenants))]


def compute(bench):
    """In virtual time: shares of GPU time within 5 points of what was given; a lone tenant without a limit has all of it."""
    for tenants in (((30, 500, "stream"), (70, 500, "stream")), ((10, 500, "stream"), (90, 500, "stream")),
                    ((50, 200, "stream"), (50, 2000, "stream")), ((30, 100, "graph"), (60, 500, "mixed")),
                    ((25, 300, "queue"),), ((40, 300, "stream"),), ((40, 100, "graph"),), ((35, 50, "mixed"),),
                    ((40, 0, "varied"),), ((20, 0, "varied"), (60, 500, "stream")),
                    ((30, 300, "launch"), (50, 300, "grid")), ((30, 300, "async"), (40, 300, "ex")),
                    ((30, 300, "cooperative"), (40, 300, "devices"))):
        found = shares(bench, tenants)
        wanted = [percent * 10 for percent, _, _ in tenants]
        worst = max(abs(a - b) for a, b in zip(found, wanted))
        print(f"{tenants}: permille {found}")
        bench.expect(f"{tenants}: {found}, error {worst}", worst <= 50, True)
    free = shares(bench, ((0, 500, "stream"),))
    whole = shares(bench, ((100, 500, "stream"),))
    bench.expect("a lone tenant", whole, free)


def priorities(bench):
    """In virtual time, with the agent's looks: who has a lower priority gives way, and takes what is idle."""
    uuid = "GPU-00000000-0000-0000-0000-000000000000"

    def play(tenants, interval=100):
        """Busy permille of 20 seconds: (priority, weight, microseconds of a kernel, how, seconds) each."""
        work = pathlib.Path(tempfile.mkdtemp(dir=bench.work))
        grants, ledgers, state = work / "grants", work / "ledgers", work / "machine"
        grants.mkdir()
        ledgers.mkdir()
        for number, (priority, weight, *_) in enumerate(tenants):
            card = {"uuid": uuid, "memory_bytes": None, "core_permille": 1000, "core_weight": weight, "priority": priority}
            grant = {"schema": "kaisched-grant/1", "tenant": f"t{number}", "devices": [card]}
            (grants / f"t{number}.json").write_text(json.dumps(grant))
        common = {"KAISCHED_FAKE_STATE": str(state), "KAISCHED_FAKE_PARTICIPANTS": str(len(tenants) + 1)}
        agent = bench.start("kaisched_shim_keeper", grants, ledgers, 20, interval, environment=bench.environment(
            **common, KAISCHED_FAKE_TENANT="63"))
        bench.expect("the agent", agent.stdout.readline(), "ready\n")
        running = [bench.start("kaisched_shim_tenant", length, seconds, how, environment=bench.environment(
            HOOK, KAISCHED_LEDGER=str(ledgers / f"t{number}"), KAISCHED_FAKE_TENANT=str(number), **common))
            for number, (_, _, length, how, seconds) in enumerate(tenants)]
        for one in [*running, agent]:
            _, error = one.communicate(timeout=100)
            bench.expect("status", (one.returncode, error), (0, ""))
        found = {tenant: busy for tenant, _, _, _, busy in bench.peaks(state)}
        return [found.get(i, 0) // 20_000_000 for i in range(len(tenants))]

    def within(what, found, bounds):
        print(f"{what}: permille {found}")
        good = all(low <= value <= high for value, (low, high) in zip(found, bounds))
        bench.expect(f"{what}: {found} within {bounds}", good, True)

    within("both want all", play([(1, 0, 500, "stream", 20), (0, 0, 500, "stream", 20)]), [(920, 1000), (5, 60)])
    within("the high one takes two fifths", play([(1, 0, 500, "part", 20), (0, 0, 500, "stream", 20)]), [(380, 410), (480, 610)])
    within("the high one ends after the half", play([(1, 0, 500, "stream", 10), (0, 0, 500, "stream", 20)]),
           [(450, 500), (470, 530)])
    within("three", play([(2, 0, 500, "part", 20), (1, 0, 500, "stream", 20), (0, 0, 500, "stream", 20)]),
           [(380, 410), (470, 610), (5, 80)])
    within("weights among equals", play([(0, 300, 500, "stream", 20), (0, 100, 500, "stream", 20)]), [(700, 790), (210, 290)])


CASES = {name: value for name, value in globals().items()
         if callable(value) and value.__doc__ and value.__module__ == "__main__" and name not in ("Bench", "main", "shares")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=sorted(CASES))
    for name in ("bin", "fake", "guard"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, work)
        CASES[options.case](bench)
    for fault in bench.faults[:20]:
        print(fault)
    print(f"{options.case}: {len(bench.faults)} faults")
    return 1 if bench.faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The runs on a card, in three lots of at most 25 minutes. run_on_gpu.sh builds and calls it; with --fake on the fake driver,
smaller, as a test of the plan itself. Results are lines of JSON, with driver, card and commit."""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

MIB, GIB = 1 << 20, 1 << 30
CLASSES = ("alloc", "managed", "async", "pool", "vmm", "graph", "array")


class Plan:
    def __init__(self, options):
        self.options, self.failed = options, 0
        self.bin, self.lib = pathlib.Path(options.bin), pathlib.Path(options.guard)
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="kaisched-gpu-"))
        self.out = open(options.out, "a", encoding="utf-8")
        self.head = {"commit": options.commit, "card": self.ask("name"), "driver": self.ask("driver_version"),
                     "fake": options.fake, "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
        self.total = 16 * GIB if options.fake else int(self.ask("memory.total") or 0) * MIB
        self.end = time.monotonic() + (24 if not options.fake else 3) * 60

    def ask(self, what):
        if self.options.fake:
            return "fake"
        done = subprocess.run(["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader,nounits", "-i", "0"],
                              capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    def note(self, run, name, passed, **values):
        row = self.head | {"run": run, "name": name, "pass": passed} | values
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()
        self.failed += passed is False
        mark = {True: "pass", False: "FAIL", None: "note"}[passed]
        print(f"{mark} {run} {name} " + " ".join(f"{k}={v}" for k, v in values.items()), flush=True)

    def environment(self, guard=True, preload=None, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA_DEVICE", "GPU_", "KAISCHED"))}
        kept.pop("LD_PRELOAD", None)
        if self.options.fake:
            kept["LD_LIBRARY_PATH"] = self.options.fake
            kept["KAISCHED_FAKE_STATE"] = str(self.work / "machine")
        if guard or preload:
            kept["LD_PRELOAD"] = preload or str(self.lib / "libkaisched_guard_dlsym.so")
        return kept | {name: str(value) for name, value in more.items()}

    def start(self, *words, environment):
        return subprocess.Popen([self.bin / "kaisched_gpu_check", *map(str, words)], env=environment, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def collect(self, running, seconds):
        rows = []
        for one in running:
            try:
                out, error = one.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                one.kill()
                out, error = one.communicate()
                error += " timed out"
            out = out.strip().split("\n")[-1]
            rows.append(json.loads(out) if one.returncode == 0 and out.startswith("{") else {"error": error.strip() or one.returncode})
        return rows

    def cache(self, name):
        folder = self.work / name
        shutil.rmtree(f"{folder}.kaisched", ignore_errors=True)
        return str(folder)

    # ---- A: nothing differs ----
    def transparency(self):
        for seed in range(1, 3 if self.options.fake else 9):
            texts = []
            for guard in (False, True):
                limits = {"CUDA_DEVICE_MEMORY_LIMIT": "100000g"} if guard else {}
                calls = ["dlsym", str(seed), "600"] + ([] if self.options.fake else ["valid"])
                done = subprocess.run([self.bin / "kaisched_shim_trace", *calls], text=True, check=False,
                                      env=self.environment(guard, **limits), capture_output=True, timeout=120)
                # Addresses and free bytes are the driver's; what was called and what came of it is compared.
                texts.append([line.rsplit(" ", 1)[0] for line in done.stdout.splitlines()])
            self.note("A", f"trace {seed}", texts[0] == texts[1] and len(texts[0]) > 600, lines=len(texts[0]))
        for command in filter(None, os.environ.get("TRANSPARENCY", "").split(";")):
            codes = [subprocess.run(["bash", "-c", command], env=self.environment(guard, **limits), timeout=400, check=False,
                                    capture_output=True).returncode
                     for guard, limits in ((False, {}), (True, {"CUDA_DEVICE_MEMORY_LIMIT": "100000g"}))]
            self.note("A", command, codes[0] == codes[1], without=codes[0], guarded=codes[1])

    # ---- B: memory at the edge ----
    def memory(self, run="B", preload=None, more=None):
        percents, counts = ((10, 50), (1, 4)) if self.options.fake else ((10, 25, 50, 75), (1, 4, 16))
        for percent in percents:
            limit = self.total * percent // 100 // (2 * MIB) * (2 * MIB)
            for kind in CLASSES:
                for count in counts:
                    if time.monotonic() > self.end:
                        return self.note(run, "time is up", False)
                    step = max(2 * MIB, limit // 200 // count // (2 * MIB) * (2 * MIB))
                    extra = more(limit) if more else {
                        "CUDA_DEVICE_MEMORY_LIMIT": limit, "CUDA_DEVICE_MEMORY_SHARED_CACHE": self.cache("memory"),
                        "KAISCHED_GUARD_CONTEXT": "64m" if self.options.fake else "600m"}
                    environment = self.environment(preload=preload, **extra)
                    running = [self.start("fill", kind, step, limit + limit // 10 + 2 * step, environment=environment) for _ in range(count)]
                    for one in running:
                        one.stdout.readline()  # filled, or at its end: from here on all hold what they have
                    rows = self.collect(running, 120)
                    errors = [row["error"] for row in rows if "error" in row]
                    granted = sum(row.get("granted", 0) for row in rows)
                    nvml = sum(row.get("nvml", 0) for row in rows)
                    codes = sorted({row["refused_with"] for row in rows if "refused_with" in row})
                    # Managed memory that nobody has touched counts for the tenant, and is nowhere yet.
                    nvml += granted if kind == "managed" and not self.options.fake else 0
                    over = nvml - limit - 4 * MIB * count
                    # Steps and growth of pools leave that much unused, contexts take their part.
                    under = limit - nvml - limit // 100 - count * (step + 32 * MIB)
                    fits = not errors or all("PrimaryCtxRetain: 2" in str(error) for error in errors)
                    self.note(run, f"{kind} {percent}% x{count}", over <= 0 and under <= 0 and codes in ([2], []) and fits,
                              limit=limit, granted=granted, nvml=nvml, codes=codes, errors=len(errors))

    # ---- C: nothing is left ----
    def crashes(self):
        shared = self.cache("crash")
        environment = self.environment(CUDA_DEVICE_MEMORY_LIMIT=2 * GIB, CUDA_DEVICE_MEMORY_SHARED_CACHE=shared)
        for signal in (9, 11, 6):
            for _ in range(3 if self.options.fake else 15):
                one = self.start("hold", 600 * MIB, 30, environment=environment)
                one.stdout.readline()
                one.send_signal(signal)
                one.communicate()
        begin = time.monotonic()
        [row] = self.collect([self.start("fill", "alloc", 64 * MIB, 4 * GIB, environment=environment)], 60)
        self.note("C", "after kills", row.get("granted", 0) >= 1000 * MIB, seconds=round(time.monotonic() - begin, 2), **row)
        shorts = 20 if self.options.fake else 200
        begin = time.monotonic()
        bad = 0
        # Eight at a time, each with a context.
        environment = self.environment(CUDA_DEVICE_MEMORY_LIMIT=8 * GIB, CUDA_DEVICE_MEMORY_SHARED_CACHE=self.cache("short"))
        for first in range(0, shorts, 8):
            running = [self.start("hold", 16 * MIB, 0, environment=environment) for _ in range(min(8, shorts - first))]
            bad += sum("error" in row for row in self.collect(running, 60))
        self.note("C", f"{shorts} short processes", bad == 0, seconds=round(time.monotonic() - begin, 2), failed=bad)

    # ---- D: compute ----
    def compute(self, run="D", preload=None, more=None):
        seconds = 2 if self.options.fake else 20
        for caps in ((100,), (30,), (30, 70), (10, 90), (50, 50)):
            for how in ("stream", "graph"):
                if time.monotonic() > self.end:
                    return self.note(run, "time is up", False)
                running = [self.start("work", 500, seconds, how, environment=self.environment(
                    preload=preload, **(more(cap) if more else {"CUDA_DEVICE_SM_LIMIT": cap}))) for cap in caps]
                rows = self.collect(running, 120)
                found = [row.get("permille", -1) for row in rows]
                # Kernels of two tenants overlap or take turns as the driver likes, and a kernel's time goes on while the
                # other one has its turn: between two a cap is kept less closely.
                worst = max(value - cap * 10 for value, cap in zip(found, caps))
                lone = len(caps) > 1 or abs(found[0] - caps[0] * 10) <= (50 if caps[0] < 100 else 1000)
                judged = None if self.options.fake or run != "D" else worst <= (50 if len(caps) == 1 else 100) and lone and min(found) > 0
                self.note(run, f"{'/'.join(map(str, caps))} {how}", judged, permille=found)
        return None

    # ---- E: overhead ----
    def overhead(self):
        threads = ("1",) if self.options.fake else ("1", "4", "16", "64")
        for name, guard, limits in (("without", False, {}), ("no limit", True, {}), ("memory", True, {"CUDA_DEVICE_MEMORY_LIMIT": "8g"}),
                                    ("memory and compute", True, {"CUDA_DEVICE_MEMORY_LIMIT": "8g", "CUDA_DEVICE_SM_LIMIT": 99})):
            done = subprocess.run([self.bin / "kaisched_guard_overhead", "0.2" if self.options.fake else "4", *threads],
                                  env=self.environment(guard, **limits), capture_output=True, text=True, timeout=300, check=False)
            for line in done.stdout.splitlines()[1:]:
                values = dict(zip(("threads", "alloc_ns", "free_ns", "launch_ns"), map(int, line.split())))
                self.note("E", name, None, **values)
            self.note("E", f"{name} ran", done.returncode == 0)

    # ---- F: others ----
    def others(self):
        core = os.environ.get("HAMI_CORE")
        if core and pathlib.Path(core).exists():
            more = lambda limit: {"CUDA_DEVICE_MEMORY_LIMIT": f"{limit // MIB}m",
                                  "CUDA_DEVICE_MEMORY_SHARED_CACHE": self.cache("hami") + ".cache"}
            self.memory("F HAMi-core", core, more)
            self.compute("F HAMi-core", core, lambda cap: {"CUDA_DEVICE_SM_LIMIT": cap, "GPU_CORE_UTILIZATION_POLICY": "force",
                                                            "CUDA_DEVICE_MEMORY_SHARED_CACHE": self.cache(f"hami{cap}") + ".cache"})
        else:
            self.note("F", "HAMi-core", None, skipped="HAMI_CORE names no library")
        if not self.options.fake and shutil.which("nvidia-cuda-mps-control") and os.environ.get("MPS") == "1":
            pipes = {"CUDA_MPS_PIPE_DIRECTORY": str(self.work / "mps"), "CUDA_MPS_LOG_DIRECTORY": str(self.work / "mps-log")}
            for folder in pipes.values():
                os.makedirs(folder)
            control = os.environ | pipes
            subprocess.run(["nvidia-cuda-mps-control", "-d"], env=control, check=False)
            nothing = str(self.bin / "no-preload")  # a name the loader only warns about
            self.compute("F MPS", nothing, lambda cap: pipes | {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": cap})
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, env=control, check=False)
        else:
            self.note("F", "MPS", None, skipped="MPS=1 is not set, or there is no nvidia-cuda-mps-control")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lot", choices=("ab", "cd", "ef", "all"))
    for name in ("bin", "guard", "out", "commit"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--fake", default="")
    plan = Plan(parser.parse_args())
    lots = {"ab": (plan.transparency, plan.memory), "cd": (plan.crashes, plan.compute), "ef": (plan.overhead, plan.others)}
    for lot in lots if plan.options.lot == "all" else (plan.options.lot,):
        for run in lots[lot]:
            run()
    shutil.rmtree(plan.work, ignore_errors=True)
    print(f"{plan.failed} failed; results in {plan.options.out}")
    return 1 if plan.failed else 0


if __name__ == "__main__":
    sys.exit(main())

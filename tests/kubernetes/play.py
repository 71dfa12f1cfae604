"""A play in which everything is written that the program writes: a gang that starts, one for which a queue is reclaimed, a
pod and a group that wait; and what has to be true of it in the end, whatever went wrong on the way."""

import json
import subprocess
import threading

from clusters import gang, group, node, pod, queue
from fake_api import FakeApi

STARTED, EVICTED = (f"kai.scheduler/{key}-timestamp" for key in ("last-start", "last-eviction"))
WHOLE = {"team/c": 4, "team/b": 3}  # gangs and their pods


class Play:
    """`with Play() as play:`; the test's part is that of the kubelet: pods that were told to go are gone a moment later."""

    def __init__(self):
        self.api = FakeApi()
        self.writes = []  # requests that had an effect, in their order
        self.faulty = lambda request: None

    def __enter__(self):
        self.api.__enter__()
        api = self.api
        for one in (node("n0", 8), node("n1", 4)):
            api.put("nodes", one)
        for one in (queue("top", 12), queue("a", 4, "top"), queue("b", 4, "top"), queue("c", 4, "top")):
            api.put("queues", one)
        for i in range(8):
            api.put("podgroups", group(f"a{i}", "a", 1))
            api.put("pods", pod(f"a{i}-0", 1, group=f"a{i}", on="n0"))
        for name, members in (("c", 4), ("b", 3)):
            made, pods = gang(name, name, members)
            api.put("podgroups", made)
            for one in pods:
                api.put("pods", one)
        api.put("podgroups", group("large", "c", 1))
        api.put("pods", pod("large-0", 20, group="large"))
        api.intercept = self._see
        self.over = threading.Event()
        self.kubelet = threading.Thread(target=self._remove_what_leaves, daemon=True)
        self.kubelet.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.kubelet.join()
        self.api.__exit__()

    def _see(self, request):
        if request.method == "GET" or "/leases" in request.path:
            return None
        self.writes.append(f"{request.method} {request.path}")
        return self.faulty(request)

    def _remove_what_leaves(self):
        while not self.over.wait(0.05):
            for name in [n for n, one in list(self.api.objects["pods"].items()) if one["metadata"].get("deletionTimestamp")]:
                with self.api.lock:
                    if name in self.api.objects["pods"]:
                        self.api.delete("pods", name)

    # ---- the end

    def is_over(self):
        return not self.faults()

    def faults(self):
        """What is not (yet) as it has to be in the end."""
        api, wrong = self.api, []
        where = api.pods()
        for gang_name, members in WHOLE.items():
            here = [where.get(f"{gang_name}-{i}") for i in range(members)]
            if not all(here):
                wrong.append(f"{gang_name}: {here}")
            if not self.note(gang_name, STARTED):
                wrong.append(f"{gang_name}: no {STARTED}")
        left = [name for name in where if name.startswith("team/a")]
        if len(left) != 5:
            wrong.append(f"of 8 pods of queue a {len(left)} are left, not 5")
        for i in range(8):
            if f"team/a{i}-0" not in where and not self.note(f"team/a{i}", EVICTED):
                wrong.append(f"a{i}: no {EVICTED}")
        large = api.get("pods", "team/large-0")
        if [one["reason"] for one in large["status"].get("conditions", [])] != ["Unschedulable"]:
            wrong.append("large-0: no condition")
        if not api.get("podgroups", "team/large").get("status", {}).get("schedulingConditions"):
            wrong.append("large: no condition")
        return wrong

    def note(self, name, key):
        return self.api.get("podgroups", name)["metadata"].get("annotations", {}).get(key)

    def doubles(self):
        """What happened twice, or to an object that it may not happen to, by the history of all objects."""
        bound, gone, seen = {}, {}, {}
        with self.api.lock:
            history = list(self.api.history)
        for _, plural, kind, obj in history:
            if plural != "pods":
                continue
            uid, name = obj["metadata"]["uid"], obj["metadata"]["name"]
            where = obj["spec"].get("nodeName")
            if kind == "MODIFIED" and where and not seen.get(uid):
                bound.setdefault(name, []).append(where)
            if seen.get(uid) and where != seen[uid]:
                return [f"{name} moved from {seen[uid]} to {where}"]
            seen[uid] = where
            if obj["metadata"].get("deletionTimestamp"):
                gone[name] = uid
        wrong = [f"{name} was bound {len(nodes)} times" for name, nodes in bound.items() if len(nodes) != 1]
        wrong += [f"{name} was evicted" for name in gone if not name.startswith("a")]
        if len(gone) > 3:
            wrong.append(f"{len(gone)} pods were evicted for 3")
        for node_name, gpus in (("n0", 8), ("n1", 4)):
            used = sum(1 for one in self.api.pods().values() if one == node_name)
            if used > gpus:
                wrong.append(f"{node_name} has {used} pods for {gpus} GPUs")
        return wrong


class Supervised:
    """The program as a kubelet runs it: started again when it has ended, unless somebody says stop."""

    def __init__(self, words, log):
        self.words, self.log = list(map(str, words)), log
        self.starts, self.codes = 0, []
        self.process = None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over.is_set():
            self.process = subprocess.Popen(self.words, stderr=self.log)
            self.starts += 1
            self.codes.append(self.process.wait())

    def kill(self):
        """The one that runs now; another follows."""
        process = self.process
        if process is not None:
            process.kill()
            process.wait()

    def stop(self):
        self.over.set()
        while self.thread.is_alive():  # it may just be starting another
            self.kill()
            self.thread.join(0.05)


def describe(play):
    return json.dumps({"wrong": play.faults(), "writes": play.writes[-40:], "pods": play.api.pods()}, indent=1)

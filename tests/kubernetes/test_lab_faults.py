"""kaisched-kubernetes while parts of a real cluster fail or are faster. One ctest entry per class."""

import signal
import urllib.error
from collections import Counter

from clusters import gang, group, node, pod, queue
from lab_case import LabCase, amount, main, requests_of

PATIENT = "leader_election: {lease_duration: 600s, renew_deadline: 300s, retry_period: 500ms}\n"  # leads on through a restart
ALONE = "leader_election: {enabled: false}\n"


class Replicas(LabCase):
    def test_a_restart_in_the_middle_of_a_gang(self):
        mine, pods = gang("g", "q", 24)
        self.create(*(node(f"n{i}") for i in range(3)), queue("q", -1), mine, *pods)
        first = self.start()
        self.until(lambda: len(self.bound()) >= 1)
        first.kill()
        first.wait()
        before = self.bound()
        self.start()
        self.until_bound("g", 24)
        self.assert_sound()
        self.assertEqual({name: self.bound()[name] for name in before}, before)

    def test_the_leader_dies_in_the_middle_of_a_gang(self):
        """The other replica, which has waited, binds the rest, and nothing twice."""
        for _ in range(2):
            self.start()
        self.until(lambda: "all objects are read" in self.said())
        mine, pods = gang("g", "q", 48)
        self.create(*(node(f"n{i}") for i in range(6)), queue("q", -1), mine, *pods)
        self.until(lambda: ": bound to " in self.said())
        leads = next(i for i, log in enumerate(self.logs) if ": bound to " in log.read_text())
        self.processes[leads].kill()
        self.until_bound("g", 48)
        self.assertIn("all objects are read", self.logs[1 - leads].read_text())
        self.assert_sound()


class Restarts(LabCase):
    def test_the_server_is_killed_in_the_middle_of_a_gang(self):
        mine, pods = gang("g", "q", 24)
        self.create(*(node(f"n{i}") for i in range(3)), queue("q", -1), mine, *pods)
        process = self.start(terms=PATIENT)
        self.until(lambda: ": bound to " in self.said())
        self.lab.stop("server")
        self.lab.start()
        self.until_bound("g", 24)
        self.assertIsNone(process.poll())
        self.assert_sound()
        more, more_pods = gang("h", "q", 2)
        self.create(node("n9", 2), more, *more_pods)
        self.until_bound("h", 2)
        self.assert_sound()

    def test_a_watch_that_expires(self):
        """Who sleeps through a restart of the server and changes after it is told that its version is too old, and lists again."""
        mine, pods = gang("g", "q", 4)
        self.create(node("n0"), queue("q", -1), mine, *pods)
        process = self.start(terms=ALONE)
        self.until_bound("g", 4)
        process.send_signal(signal.SIGSTOP)
        self.lab.stop("server")
        self.lab.start()  # what it remembers of changes begins here
        self.remove(pods[0])
        more, more_pods = gang("h", "q", 5)
        self.create(more, *more_pods)
        process.send_signal(signal.SIGCONT)
        self.until(lambda: "no longer knows where the watch was" in self.said())
        self.until_bound("h", 5)
        self.assertEqual(self.overdrawn(), [])


class Beside(LabCase):
    """Others bind pods at the same time."""

    def test_somebody_binds_the_same_pods(self):
        """Pods of a gang and single ones are bound by somebody else as well, from the end, to a node that is not for us."""
        theirs = node("theirs", 100)
        theirs["spec"] = {"unschedulable": True}
        mine, pods = gang("g", "q", 24)
        self.create(*(node(f"n{i}") for i in range(8)), theirs, queue("q", -1), mine, *pods)
        self.create(*(group(f"s{i}", "q", 1) for i in range(24)), *(pod(f"s{i}-0", group=f"s{i}") for i in range(24)))
        self.start()
        self.until(lambda: "all objects are read" in self.said())
        late = []
        for name in sorted(self.created, reverse=True):
            target = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": "theirs"}}
            try:
                self.lab.ask("POST", f"/api/v1/namespaces/team/pods/{name}/binding", target)
            except urllib.error.HTTPError as refused:
                late.append(refused.code)
        self.until_bound("", 48)
        lost = self.said().count(": bind to ")
        print(f"of 48 pods {len(late)} are ours; {lost} bindings of ours came too late")
        self.assertEqual(set(late) - {409}, set())
        self.assert_sound()

    def admit(self):
        """What kubelets do with pods for which a node has no room, which kwok's do not: the later ones fail."""
        has = {one["metadata"]["name"]: one["status"]["allocatable"] for one in self.lab.items("/api/v1/nodes")}
        held = {name: Counter() for name in has}
        pods = [one for one in self.lab.pods().values() if one["spec"].get("nodeName") and one["status"]["phase"] != "Failed"]
        for one in sorted(pods, key=lambda one: (one["status"]["phase"] != "Running", one["metadata"]["name"])):
            where = one["spec"]["nodeName"]
            after = held[where] + requests_of(one)
            fits = all(value <= amount(has[where].get(name, 0)) for name, value in after.items())
            phase = "Running" if fits else "Failed"
            if fits:
                held[where] = after
            else:
                self.rejected.add(one["metadata"]["name"])
            if one["status"]["phase"] != phase:
                path = f"/api/v1/namespaces/team/pods/{one['metadata']['name']}/status"
                self.lab.patch(path, {"status": {"phase": phase, **({} if fits else {"reason": "OutOfnvidia.com/gpu"})}})

    def test_a_plain_scheduler_on_the_same_nodes(self):
        """Two schedulers decide at once for the same 32 GPUs. Kubelets turn away what came too late, here a part that is played;
        what runs never is more than there is, and in the end every GPU is used."""
        self.rejected = set()
        self.create(*(node(f"n{i}") for i in range(4)), queue("q", -1))
        self.lab.start_scheduler()
        self.start("period: 500ms\nsettle: 0ms\n")
        self.until(lambda: "all objects are read" in self.said())
        for i in range(40):
            self.create(group(f"k{i}", "q", 1), pod(f"k{i}-0", group=f"k{i}"), pod(f"d{i}", scheduler="default-scheduler"))

        def all_used():
            self.admit()
            return sum(one["status"]["phase"] == "Running" for one in self.lab.pods().values()) == 32

        self.until(all_used)
        self.until_quiet()
        self.admit()
        self.assertEqual(self.overdrawn(), [])
        bound = self.bound()
        print(f"{sum(n.startswith('k') for n in bound)} of ours, {sum(n.startswith('d') for n in bound)} of theirs, {len(self.rejected)} turned away")
        self.assertEqual(len(bound) - len(self.rejected), 32)


if __name__ == "__main__":
    main()

"""`kaisched explain`: why here, why not, and what of it."""

import json
import unittest

from support import FEW_CASES, Case, cluster, kaisched, main, on_terminal

THREE = cluster(
    '"queue": [{"name": "top"}, {"name": "q", "parent": "top", "quota": {"gpu": 3000}, "limit": {"gpu": 9000}}]',
    '"node": [{"name": "a", "capacity": {"gpu": 4000, "pods": 9}}, '
    '{"name": "b", "capacity": {"gpu": 2000, "pods": 9}}, '
    '{"name": "c", "capacity": {"gpu": 4000, "pods": 9}, "taints": ["away:NoSchedule"]}]',
    '"pod_group": [{"name": "old", "queue": "q"}, {"name": "first", "queue": "q", "created": 1}, '
    '{"name": "second", "queue": "q", "created": 2}, {"name": "third", "queue": "q", "created": 3}]',
    '"pod": [{"name": "old-0", "group": "old", "request": {"gpu": 1000}, "status": "running", "node": "a"}, '
    '{"name": "first-0", "group": "first", "request": {"gpu": 1000}}, '
    '{"name": "second-0", "group": "second", "request": {"gpu": 2000}}, '
    '{"name": "third", "group": "third", "request": {"gpu": 4000}}]',
)

VICTIMS = """scenario 1 "b takes what it deserves"
node n1 gpu=4 pods=10
queue a quota.gpu=2
queue b quota.gpu=2
pod_group firm queue=a preemptible=false
  pod firm-0 gpu=2 node=n1 status=running
pod_group a queue=a
  pod a-[0-1] gpu=1 node=n1 status=running
pod_group gets queue=b priority=60
  pod gets-0 gpu=1
pod_group more queue=b
  pod more-0 gpu=2
pod_group slow queue=b priority=40 preemption_delay=1h
  pod slow-0 gpu=1
pod_group low queue=b priority=30 preemptible=false
  pod low-0 gpu=2
"""
# elastic may lose one of its pods, which is too little; kept has just started.
PROTECTED = """scenario 1 "protected victims"
now 1h
node n1 gpu=3 pods=10
queue q preempt_min_runtime=1h
pod_group elastic priority=1 last_start=now
  pod elastic-[0-1] gpu=1 node=n1 status=running
pod_group kept priority=1 last_start=now
  pod kept-0 gpu=1 node=n1 status=running
pod_group high priority=9
  pod high-0 gpu=2
pod_group twin priority=8
  pod twin-0 gpu=2
"""

# Of two queues with the same share the one that holds nothing is served first.
LINE = """scenario 1 "who waits"
node n1 gpu=4 pods=10
queue a
queue b
pod_group there queue=a
  pod there-0 gpu=3 node=n1 status=running
pod_group starts queue=a priority=90
  pod starts-0 gpu=1
pod_group second queue=a priority=50
  pod second-0 gpu=4
pod_group first queue=a priority=60
  pod first-0 gpu=4
pod_group poor queue=b priority=10
  pod poor-0 gpu=4
"""

RACKS = """scenario 1 "racks in pieces"
topology site levels=[zone,rack] primary=true
topology power levels=[rack]
node a1 gpu=2 pods=10 labels={zone=z,rack=r1}
node a2 gpu=2 pods=10 labels={zone=z,rack=r1} unschedulable=true
node b1 gpu=4 pods=10 labels={zone=z,rack=r2}
  device [0-1]
  device 2 healthy=false
  device [3-4]
queue q
pod_group g
  pod g-[0-1] gpu=0.5 node=b1 status=running
pod_group leaves
  pod leaves-0 gpu=1 node=a1 devices=[1] status=releasing
"""


class Explain(Case):
    def setUp(self):
        super().setUp()
        self.path = self.file("c.json", THREE)

    def test_a_topology_is_drawn_with_what_is_free(self):
        path = self.file("racks.ks", RACKS)
        text = self.ok("explain", path, "site")
        self.assertIn("topology site  zone › rack; the primary one", text)
        rows = [line for line in text.splitlines() if "b1 " in line]
        self.assertEqual(rows[0].split()[-5:], ["█·×··", "4", "3", "3", "3"])
        racks = [line for line in text.splitlines() if " r1 " in line]
        self.assertEqual(racks[0].split()[-5:], ["4", "3", "1", "1", "1"])
        self.assertIn("a2 (cordoned)", text)
        self.assertIn("and 1 node more, 2 GPUs free, at most 0 whole on one", self.ok("explain", path, "site", "--nodes=1"))
        both = json.loads(self.ok("explain", path, "topology/site", "topology/power", "--json"))["explanations"]
        self.assertEqual([one["primary"] for one in both], [True, False])
        self.assertEqual([domain["id"] for domain in both[0]["domains"]], ["root", "z", "z.r1", "z.r2"])
        self.assertEqual(both[0]["domains"][3], {
            "id": "z.r2", "level": "rack", "parent": "z", "nodes": 1, "gpus": 4000, "free": 3000, "coming_free": 0,
            "whole": 3000, "whole_on_one_node": 3000})
        self.assertIn("did you mean site?", self.fails(2, "explain", path, "topology/sit"))

    def explained(self, *names, options=()):
        report = json.loads(self.ok("explain", self.path, *names, "--json", *options))
        self.assertEqual(report["schema"], "kaisched-explain/1")
        self.assertEqual(report["digest"], json.loads(self.ok("run", self.path, "--json"))["digest"])
        return report["explanations"]

    def test_why_here_is_told_in_the_state_of_the_decision(self):
        first, second = self.explained("first-0", "second-0")
        # b has less free than a: binpack. Afterwards b is too full for the second pod.
        self.assertEqual((first["decision"]["kind"], first["decision"]["node"]), ("bind", "b"))
        table = first["candidates"]
        self.assertEqual(
            (table["decisions_before"], table["fitting"], [n["node"] for n in table["best"]]), (0, 2, ["b", "a"])
        )
        self.assertEqual(sum(table["best"][0]["scores"].values()), table["best"][0]["score"])
        choice = first["choice"]
        self.assertEqual((choice["rule"], choice["plan"], choice["runner_up"]), ("score", "none", "a"))
        self.assertEqual([f["kind"] for f in choice["flips"]], ["without_part", "more_score", "closed_node"])
        self.assertEqual(second["choice"]["rule"], "only_node")
        table = second["candidates"]
        self.assertEqual((table["decisions_before"], table["fitting"], table["best"][0]["node"]), (1, 1, "a"))
        self.assertEqual({(r["constraint"], r["nodes"]) for r in table["refused"]}, {("resource", 1), ("taint", 1)})
        text = self.ok("explain", self.path, "first-0", "second-0")
        for sentence in [
            "starts on b, device 0",
            "Why b: 2 of 3 nodes can take the pod",
            "b is ahead of a: nodeplacement gives",
            "Without the score of part nodeplacement it would have been a.",
            "If b were closed it would be a.",
            "no other decision had been made",
            "1 node short of gpu: need 2 GPU, at most 1 GPU free (on b)",
            "the cluster of the file and the 1 decision before it",
        ]:
            self.assertIn(sentence, text)

    def test_who_made_room_and_why_nobody_does(self):
        path = self.file("v.ks", VICTIMS)
        actions = ["--actions", "allocate,reclaim,preempt,consolidation"]
        names = ["a-1", "firm-0", "group/a", "group/gets", "group/more", "group/slow", "group/low"]
        text = self.ok("explain", path, *names, *actions)
        for sentence in [
            "reclaim makes room for gets of queue b: 1 pod placed in commit 1",
            "its group does without it: pods beyond gangs go first",
            "Had a been protected, gets would have got no room",
            "Its group is not preemptible: its place is given to nobody",
            "Why others left and it stays",
            "reclaim made room for gets of queue b in commit 1: its group is not preemptible",
            "other group with running pods stays: not preemptible",
            "pod group a  loses pods",
            "2 pods, 1 on nodes before, 1 evicted",
            "reclaim: with its next pods queue b would hold more than its fair share",
            "preempt: no group of its queue with a lower priority has pods",
            "consolidation: all nodes together have fewer GPUs free than it asks for",
            "reclaim: its preemption delay is not over",
            "consolidation: room is made for preemptible groups only",
            "more than its fair share, or its non-preemptible",
        ]:
            self.assertIn(sentence, text)
        report = json.loads(self.ok("explain", path, *names, "--json", *actions))["explanations"]
        eviction = report[0]["eviction"]
        self.assertEqual((eviction["for"], eviction["pods_placed"]), (["gets"], 1))
        self.assertEqual((eviction["victims"], eviction["pods_lost"]), (["a"], 1))
        self.assertEqual([r["rule"] for r in eviction["rules"]], ["beyond_gang", "queue_over_share"])
        self.assertEqual({s["group"]: s["why"] for s in eviction["spared"]}["firm"], "not_preemptible")
        self.assertEqual(eviction["if_protected"]["pods_placed"], 0)
        self.assertEqual(
            report[1]["passed_over"],
            [
                {
                    "action": "reclaim",
                    "commit": 1,
                    "for": "gets of queue b",
                    "code": "not_preemptible",
                    "text": "not preemptible",
                }
            ],
        )
        self.assertEqual((report[2]["pods_before"], report[2]["pods_evicted"]), (1, 1))
        outcomes = {
            one["name"]: [(a["action"], a["outcome"]) for a in one["attempts"]] for one in report if "attempts" in one
        }
        self.assertEqual(outcomes["gets"], [("reclaim", "placed")])
        self.assertEqual(
            outcomes["more"],
            [("reclaim", "over_share"), ("preempt", "no_victims"), ("consolidation", "too_few_gpus")],
        )
        self.assertEqual({outcome for _, outcome in outcomes["slow"]}, {"delayed"})

    def test_victims_that_did_not_help(self):
        path = self.file("p.ks", PROTECTED)
        found = json.loads(self.ok("explain", path, "group/high", "group/twin", "--actions", "preempt", "--json"))
        high, twin = ([one["attempts"][0]] for one in found["explanations"])
        told = [high[0][key] for key in ("outcome", "sets", "refused", "spared")]
        self.assertEqual(told, ["no_solution", 1, 1, True])
        self.assertEqual(twin[0]["outcome"], "like_failed")
        text = self.ok("explain", path, "group/high", "--actions", "preempt")
        self.assertIn("1 set of victims was tried; all made room but took more than minimum runtimes", text)

    def test_nodes_that_are_listed(self):
        self.assertEqual(len(self.explained("first-0", options=["--nodes", "1"])[0]["candidates"]["best"]), 1)
        self.assertEqual(len(self.explained("first-0", options=["--nodes", "0"])[0]["candidates"]["best"]), 2)
        self.assertIn("and 1 more", self.ok("explain", self.path, "first-0", "--nodes", "1"))

    def test_equal_scores(self):
        nodes = ", ".join(f'{{"name": "{n}", "capacity": {{"gpu": 1000, "pods": 9}}}}' for n in "ba")
        path = self.file(
            "equal.json",
            cluster(
                '"queue": [{"name": "q"}]',
                f'"node": [{nodes}]',
                '"pod_group": [{"name": "g", "queue": "q"}]',
                '"pod": [{"name": "p", "group": "g", "request": {"gpu": 1000}}]',
            ),
        )
        self.assertIn("a and b have the same score; the name that sorts first decides", self.ok("explain", path, "p"))

    def test_why_a_pod_waits(self):
        pod, group = self.explained("pod/third", "group/third")
        self.assertEqual((pod["kind"], group["kind"]), ("pod", "pod_group"))
        self.assertEqual(pod["candidates"]["fitting"], 0)
        self.assertEqual({r["constraint"] for r in pod["reasons"]}, {"resource", "taint"})
        self.assertEqual(pod["reasons"], group["reasons"])
        short = next(r for r in pod["reasons"] if r["constraint"] == "resource")
        self.assertEqual((short["need"], short["have"], short["nodes"], short["nearest_node"]), (4000, 1000, 2, "a"))
        text = self.ok("explain", self.path, "third")
        self.assertIn("Of the same name: group/third", text)
        self.assertIn("Nodes are shown as they are at the end of the session.", text)

    def test_a_pod_that_was_there(self):
        text = self.ok("explain", self.path, "old-0")
        self.assertIn("running on a, as before", text)
        self.assertIn("It was there before the session", text)
        self.assertNotIn("candidates", self.explained("old-0")[0])

    def test_groups_queues_and_nodes(self):
        group, queue, node = self.explained("first", "q", "node/a")
        self.assertEqual((group["pods_started"], group["pods_waiting"], group["pods"][0]["node"]), (1, 0, "b"))
        self.assertEqual(queue["path"], ["q", "top"])
        self.assertEqual(
            (queue["quota"]["gpu"], queue["allocated_before"]["gpu"], queue["allocated"]["gpu"]), (3000, 1000, 4000)
        )
        self.assertEqual((queue["jobs_started"], queue["jobs_waiting"]), (2, 1))
        steps = queue["share_steps"]
        for dimension in ["cpu", "memory", "gpu"]:
            given = [s["given"] for s in steps if s["queue"] == "q" and s["dimension"] == dimension]
            self.assertEqual(sum(given), queue["fair_share"][dimension])
        of_gpus = [(s["kind"], s["queue"], s["given"]) for s in steps if s["dimension"] == "gpu" and s["parent"] == "top"]
        self.assertEqual(
            of_gpus, [("total", "", 8000), ("quota", "q", 3000), ("over_quota", "q", 5000), ("left", "", 0)]
        )
        self.assertEqual({p["name"]: p["decision"] for p in node["pods"]}, {"old-0": "", "second-0": "bind"})
        self.assertEqual(node["idle"]["gpu"], 1000)
        self.assertEqual(
            [(r["constraint"], r["groups"], r["most_need"], r["have"]) for r in node["refused"]],
            [("resource", 1, 4000, 1000)],
        )
        text = self.ok("explain", self.path, "queue/q", "node/a", "node/c", "top")
        for sentence in [
            "queue q  2 jobs started, 1 waiting",
            "How its share came about",
            "GPUs of top: 8",
            "by weight  q",
            "Why 1 job waits",
            "node a  ready",
            "away:NoSchedule",
            "1 group: a pod asks for 4 gpu, 1 free or coming free",
            "1 group: a taint is not tolerated",
        ]:
            self.assertIn(sentence, text)

    def test_the_line(self):
        path = self.file("line.ks", LINE)
        told = json.loads(self.ok("explain", path, "starts", "poor", "first", "second", "--json"))["explanations"]
        places = {one["name"]: one.get("line") for one in told}
        self.assertIsNone(places["starts"])
        self.assertEqual(places["poor"], {"place": 1, "of": 3, "place_in_queue": 1, "of_queue": 1})
        self.assertEqual(places["first"], {"place": 2, "of": 3, "place_in_queue": 1, "of_queue": 2})
        self.assertEqual(places["second"], {"place": 3, "of": 3, "place_in_queue": 2, "of_queue": 2})
        self.assertIn("2 of the 2 in its queue, 3 of the 3 that wait", self.ok("explain", path, "second"))
        other = json.loads(self.ok("explain", path, "second", "--preset", "yunikorn-default", "--json"))["explanations"][0]
        self.assertNotIn("line", other)  # its queues take turns

    def test_gangs_gates_and_pods_without_a_group(self):
        path = self.file(
            "g.json",
            cluster(
                '"queue": [{"name": "q"}]',
                '"node": [{"name": "n", "capacity": {"gpu": 2000, "pods": 9}}]',
                '"pod_group": [{"name": "g", "queue": "q", "min_member": 3}, {"name": "h", "queue": "q"}]',
                '"pod": [{"name": "g-0", "group": "g", "request": {"gpu": 1000}}, '
                '{"name": "h-0", "group": "h", "request": {}, "status": "gated"},'
                '{"name": "daemon", "request": {"cpu": 0}, "status": "running", "node": "n"}]',
            ),
        )
        text = self.ok("explain", path, "g-0", "h-0", "daemon")
        for sentence in [
            "the gang needs 3 pods, 1 exist",
            "1 of 1 node could take this pod alone",
            "the pod is gated",
            "none: the pod only uses its node",
        ]:
            self.assertIn(sentence, text)

    def test_names(self):
        self.assertIn(
            "c.json: no pod, pod group, queue, node or topology is called thrid; did you mean third?",
            self.fails(2, "explain", self.path, "thrid"),
        )
        self.assertIn("there is no node called d", self.fails(2, "explain", self.path, "node/d"))
        self.assertIn("nothing is named", self.fails(2, "explain", self.path))
        self.assertIn(
            "no cluster is named",
            self.fails(2, "explain", "--openb-nodes", "n.csv", "x").replace(
                "--openb-nodes and --openb-pods belong together", "no cluster is named"
            ),
        )
        self.assertEqual(
            self.ok("explain", "--cluster", self.path, "first-0"), self.ok("explain", self.path, "first-0")
        )

    def test_options_count(self):
        spread = self.explained("first-0", options=[])[0]["decision"]["node"]
        report = json.loads(self.ok("explain", self.path, "first-0", "--placement", "spread", "--json"))
        self.assertEqual((spread, report["explanations"][0]["decision"]["node"]), ("b", "b"))
        report = json.loads(self.ok("explain", self.path, "second-0", "--set", "reference_path=true", "--json"))
        self.assertEqual(report["explanations"], self.explained("second-0"))

    @unittest.skipIf(FEW_CASES, "the form of what other tests explain")
    def test_large_explanations_fit_the_terminal(self):
        self.ok("generate", self.folder / "big.json", "--gpus", "512", "--load", "1.3")
        for columns in [80, 120]:
            for name in [
                "speech",
                "research",
                "node/b01-r3-n1",
                "foundation-sweep-0031-0",
                "vision-wants-h200-0",
                "search-gated",
            ]:
                text, status = on_terminal(["explain", self.folder / "big.json", name, "--color", "never"], columns)
                self.assertEqual(status, 0)
                for line in text.split("\r\x1b[K")[-1].splitlines():
                    self.assertLessEqual(len(line), columns, line)

    def test_a_pod_of_every_decision(self):
        size = "96" if FEW_CASES else "256"
        self.ok("generate", self.folder / "big.json", "--gpus", size, "--load", "1.3", "--seed", "3")
        decisions = self.folder / "d.json"
        self.ok("run", self.folder / "big.json", "-q", "--decisions", decisions)
        rows = [r for r in json.loads(decisions.read_text())["decision"] if r["kind"] in ("bind", "pipeline")]
        names = [f"pod/{row['pod_name']}" for row in rows]
        report = json.loads(self.ok("explain", self.folder / "big.json", *names, "--json"))
        self.assertGreater(len(rows), 20)
        for row, one in zip(rows, report["explanations"]):
            self.assertEqual(one["candidates"]["best"][0]["node"], row["node_name"])
            self.assertEqual(one["decision"]["commit"], row["commit"])


if __name__ == "__main__":
    main()

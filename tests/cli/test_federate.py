"""`kaisched federate`: groups that go to one of several clusters."""

import json

from support import Case, main


def site(nodes, gpus=2000, queues='{"name": "q"}', more=""):
    rows = ", ".join(f'{{"name": "n{i}", "capacity": {{"cpu": 8000, "memory": 8000, "gpu": {gpus}, "pods": 10}}}}' for i in range(nodes))
    return f'{{"schema": "kaisched-cluster/1", "queue": [{queues}], "node": [{rows}]{more}}}'


def gangs(*all_of, limit=-1):
    """Name, pods and GPUs of each."""
    groups = ", ".join(f'{{"name": "{name}", "queue": "q", "min_member": {pods}, "created": {i}}}' for i, (name, pods, _) in enumerate(all_of))
    rows = ", ".join(f'{{"name": "{name}-{p}", "group": "{name}", "request": {{"cpu": 1000, "gpu": {1000 * gpus}}}}}'
                     for name, pods, gpus in all_of for p in range(pods))
    return f'{{"schema": "kaisched-cluster/1", "queue": [{{"name": "q", "limit": {{"gpu": {limit}}}}}], "pod_group": [{groups}], "pod": [{rows}]}}'


class Federate(Case):
    def setUp(self):
        super().setUp()
        self.east = self.file("east.json", site(1))
        self.west = self.file("west.json", site(3))
        self.jobs = self.file("jobs.json", gangs(("large", 2, 2), ("small", 1, 2), ("huge", 4, 2)))

    def asked(self, *arguments):
        return json.loads(self.ok("federate", *arguments, "--json"))

    def members(self, text):
        name = f"members-{len(list(self.folder.iterdir()))}.yaml"
        return self.file(name, "schema: kaisched-federation/1\n" + text)

    def test_who_goes_where(self):
        told = self.asked(self.east, self.west, "--jobs", self.jobs)
        self.assertEqual([(one["group"], one["member"]) for one in told["placed"]], [("large", "west"), ("small", "east")])
        self.assertEqual([one["pod"] for one in told["placed"][0]["places"]], ["large-0", "large-1"])
        self.assertEqual([(one["group"], {v["verdict"] for v in one["verdicts"]}) for one in told["waits"]], [("huge", {"never"})])
        self.assertEqual([(one["name"], one["free_gpu"]) for one in told["members"]], [("east", 2000), ("west", 6000)])
        other = self.asked(self.west, self.east, "--jobs", self.jobs)
        self.assertEqual(other["digest"], told["digest"])

    def test_the_report(self):
        report = self.ok("federate", self.east, self.west, "--jobs", self.jobs)
        for line in ("east: 2 GPUs on 1 node, 2 of them were free", "Start: 2 groups", "large: west", "Wait: 1 group",
                     "huge: east: too small, if nothing ran there either"):
            self.assertIn(line, report)
        self.assertIn("and 1 more", self.ok("federate", self.east, self.west, "--jobs", self.jobs, "--most", "1"))

    def test_wishes_and_prices(self):
        members = self.members("members: [{name: east, price: 5, data: [corpus]}, {name: west, price: 3, labels: {region: eu}}]\n"
                               "groups: [{name: small, data: [{key: corpus, weight: 10}]}]\n")
        told = self.asked(self.east, self.west, "--jobs", self.jobs, "--members", members)
        self.assertEqual([(one["group"], one["member"], one["by"]) for one in told["placed"]],
                         [("large", "west", "only"), ("small", "east", "data")])
        cheap = self.asked(self.east, self.west, "--jobs", self.jobs, "--members", members, "--order", "price,data")
        self.assertEqual(cheap["placed"][1]["member"], "west")
        closed = self.members("members: [{name: west, open: false}]")
        self.assertEqual([one["group"] for one in self.asked(self.east, self.west, "--jobs", self.jobs, "--members", closed)["placed"]], ["small"])

    def test_a_limit_over_all_clusters(self):
        jobs = self.file("limited.json", gangs(("a", 1, 2), ("b", 1, 2), limit=2000))
        told = self.asked(self.east, self.west, "--jobs", jobs)
        self.assertEqual([one["group"] for one in told["placed"]], ["a"])
        self.assertEqual(told["waits"][0]["limit"], "q")
        self.assertEqual(told["queues"][0]["allocated"]["gpu"], 2000)
        self.assertIn("would pass its limit over all clusters", self.ok("federate", self.east, self.west, "--jobs", jobs))

    def test_spread_and_pack(self):
        jobs = self.file("few.json", gangs(("a", 1, 1)))
        for fit, member in (("pack", "east"), ("spread", "west")):
            self.assertEqual(self.asked(self.east, self.west, "--jobs", jobs, "--fit", fit)["placed"][0]["member"], member)

    def test_a_summary_is_enough(self):
        known = self.folder / "far.json"
        self.ok("federate", self.west, "--summary", known)
        told = self.asked(self.east, "--known", known, "--jobs", self.jobs)
        self.assertEqual([(one["group"], one["member"], one["stage"]) for one in told["placed"]],
                         [("large", "far", "offered"), ("small", "east", "starts")])
        text = json.loads(known.read_text())
        self.assertEqual(text["schema"], "kaisched-cluster-summary/1")
        self.assertEqual(self.ok("federate", self.west, "--summary", "-"), known.read_text())
        for change, said in (({"nodes": "x"}, "nodes: expected an integer"), ({"more": 1}, "members, expected"), ({"schema": "y"}, "schema"),
                             ({"free": [{"kind": 9, "nodes": 1, "devices": 1, "most": [0, 0, 0, 0]}]}, "free: kind")):
            bad = self.file("bad.json", json.dumps(text | change))
            self.assertIn(said, self.fails(2, "federate", self.east, "--known", bad, "--jobs", self.jobs))

    def test_what_is_wrong_is_told(self):
        for words, said in (
            ([self.east], "--jobs is missing"),
            (["--jobs", self.jobs], "FILE is missing"),
            ([self.east, "--jobs", self.jobs, "--order", "price,luck"], "'luck' is none of"),
            ([self.east, self.east, "--jobs", self.jobs], "there is a member 'east' already"),
            ([self.east, "--jobs", self.west], "west.json: a federation takes"),
            ([self.east, self.west, "--summary", self.folder / "s.json"], "one FILE"),
            ([self.east, "--jobs", self.jobs, "--members", self.members("members: [{name: north}]")], "no file of member 'north'"),
            ([self.east, "--jobs", self.jobs, "--members", self.members("members: [{nane: east}]")], "no such member; "),
            ([self.east, "--jobs", self.jobs, "--members", self.members("groups: [{name: small, preferred: [{key: a, weight: 0}]}]")], "weight"),
            ([self.east, "--jobs", self.jobs, "--members", self.members("groups: [{name: nobody}]")], "no pod group 'nobody'"),
        ):
            self.assertIn(said, self.fails(2, "federate", *words))


if __name__ == "__main__":
    main()

"""`kaisched check`: what is wrong, and what is legal and yet most likely not meant."""

import json

from support import NODE, QUEUE, SOURCE, Case, cluster, jobs, kaisched, main

POD = '"pod": [{"name": "p", "group": "g", "request": {"gpu": 1000}%s}]'
GROUP = '"pod_group": [{"name": "g", "queue": "q"%s}]'


class Check(Case):
    def findings(self, *members, options=(), status=0):
        path = self.file("c.json", cluster(*members))
        done = kaisched("check", path, "--json", *options)
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        report = json.loads(done.stdout)
        self.assertEqual(report["schema"], "kaisched-check/1")
        return report["files"][0]

    def only(self, rule, text, *members, **rest):
        """The one warning or note that a cluster gets."""
        found = [f for f in self.findings(*members, **rest)["findings"]]
        self.assertEqual([f["rule"] for f in found], [rule], found)
        self.assertIn(text, found[0]["text"])
        return found[0]

    def test_a_sound_cluster(self):
        one = self.findings(QUEUE, NODE, jobs("a"))
        self.assertEqual((one["ok"], one["errors"], one["warnings"], one["findings"]), (True, 0, 0, []))
        self.assertEqual(one["contents"]["pods_waiting"], 1)
        self.assertEqual(one["digest"], self.ok("digest", self.folder / "c.json").split()[0])

    def test_errors_have_a_place(self):
        one = self.findings(QUEUE, '\n"nodes": []', status=1)
        self.assertEqual([(f["severity"], f["rule"], f["line"]) for f in one["findings"]], [("error", "input", 2)])
        self.assertNotIn("contents", one)
        broken = self.findings("\n  ?", status=1)["findings"][0]
        self.assertEqual((broken["line"], broken["column"]), (2, 3))
        text = kaisched("check", self.folder / "c.json")
        self.assertEqual(text.returncode, 1)
        self.assertIn("c.json:2:3: error: ", text.stdout)
        quiet = kaisched("check", self.folder / "c.json", "--quiet")
        self.assertEqual((quiet.returncode, quiet.stdout), (1, ""))
        self.assertIn("c.json: ", quiet.stderr)

    def test_every_bad_object_is_listed(self):
        queues = '"queue": [{"name": "q"},\n{"name": "lost", "parent": "nowhere"},\n{"name": "below", "parent": "lost"}]'
        nodes = '\n"node": [{"name": "n", "capacity": {"gpu": 2000, "pods": 10}},\n{"name": "bad", "capacity": {}, "taints": [":::"]}]'
        one = self.findings(queues, nodes, jobs("a"), '\n"sub_group": [{"name": "s", "group": "none"}]', status=1)
        self.assertEqual(
            [(f["severity"], f["rule"], f["kind"], f["name"], f["line"]) for f in one["findings"]],
            [
                ("error", "input", "queue", "lost", 2),
                ("error", "input", "node", "bad", 5),
                ("error", "input", "sub_group", "none/s", 6),
                ("note", "left-out", "queue", "below", 3),
            ],
        )
        self.assertIn("there is no queue 'nowhere'", one["findings"][0]["text"])
        self.assertEqual((one["errors"], one["contents"]["queues"], "digest" in one), (3, 1, False))
        first = self.findings(queues, nodes, jobs("a"), options=["--on-invalid", "reject"], status=1)
        self.assertEqual([(f["rule"], f["line"]) for f in first["findings"]], [("input", 2)])

    def test_places_of_what_is_left_out(self):
        one = self.findings(
            '\n"node": [{"name": "a", "capacity": {"gpu": 1000}, "gpu_memory": -1}',
            '\n{"name": "b\\u0001", "capacity": {"gpu": 1000}}, {"name": "c", "capacity": {"gpu": 1000}}]',
            '\n"device": [{"node": "c", "index": 0, "memory": -5}]',
            status=1,
        )
        found = {(f["kind"], f["line"]): f.get("field") for f in one["findings"] if f["severity"] == "error"}
        self.assertEqual(found[("device", 4)], "memory")
        self.assertEqual(found[("node", 2)], "gpu_memory")
        self.assertIn(("node", 3), found)
        self.assertIn("node a.gpu_memory: -1 is not in", kaisched("check", self.folder / "c.json").stdout)

    def test_places_in_traces(self):
        nodes = self.file("nodes.csv", "name,gpu_model,gpu_count,cpu_milli,memory_mib\nn,T4,1,1000,1024\nn,T4,1,1000,1024\n")
        pods = self.file("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1000,1024,1,1000\n")
        trace = ["--openb-nodes", nodes, "--openb-pods", pods]
        for mode in ["reject", "quarantine"]:
            done = kaisched("check", *trace, "--on-invalid", mode)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"{nodes}:3: error: ", done.stdout)

    def test_several_files(self):
        good = self.file("good.json", cluster(QUEUE, NODE, jobs("a")))
        bad = self.file("bad.json", "{}")
        done = kaisched("check", good, bad, good)
        self.assertEqual((done.returncode, done.stdout.count("good.json: ok"), done.stderr), (1, 2, ""))
        self.assertEqual(kaisched("check", good, self.folder / "absent.json").returncode, 2)

    def test_quotas(self):
        over = '"queue": [{"name": "q", "quota": {"gpu": %s}, "limit": {"gpu": %s}}]'
        self.only(
            "quota-above-capacity",
            "4 GPUs together, the nodes that can be used have 2 GPUs",
            over % (4000, -1),
            NODE,
            jobs("a"),
        )
        self.only("quota-above-limit", "its quota is 2 GPUs, its limit 1 GPU", over % (2000, 1000), NODE, jobs("a"))
        tree = (
            '"queue": [{"name": "top", "quota": {"gpu": 1000}}, '
            '{"name": "q", "parent": "top", "quota": {"gpu": 1500}}]'
        )
        self.only(
            "quota-above-parent",
            "its children have quotas of 1.500 GPUs together, it has 1 GPU itself",
            tree,
            NODE,
            jobs("a"),
        )

    def test_queues_and_groups(self):
        self.only("empty-queue", "has no pod groups", QUEUE, NODE)
        self.only("empty-group", "has no pods", QUEUE, NODE, GROUP % "")
        tree = '"queue": [{"name": "q"}, {"name": "r", "parent": "q"}]'
        found = self.findings(tree, NODE, jobs("a"))["findings"]
        self.assertEqual([(f["rule"], f.get("name")) for f in found], [("empty-queue", "r"), ("inner-queue", "a")])

    def test_gangs(self):
        self.only(
            "gang-too-large", "needs 2 pods at once and has 1", QUEUE, NODE, GROUP % ', "min_member": 2', POD % ""
        )
        limit = '"queue": [{"name": "q", "limit": {"gpu": 500}}]'
        self.only("gang-above-limit", "needs 1 GPU at once, the limit of queue q is 0.500 GPUs", limit, NODE, jobs("a"))
        quota = '"queue": [{"name": "q", "quota": {"gpu": 500}}]'
        self.only(
            "gang-above-quota",
            "needs 1 GPU at once, the quota of queue q is 0.500 GPUs",
            quota,
            NODE,
            GROUP % ', "preemptible": false',
            POD % "",
        )
        self.assertEqual(self.findings(quota, NODE, jobs("a"))["findings"], [])
        # What is left of a job that ends needs nothing.
        self.assertEqual(
            self.findings(QUEUE, NODE, GROUP % "", POD % ', "status": "releasing", "node": "n"')["findings"], []
        )

    def test_sub_groups(self):
        subs = '"sub_group": [{"group": "g", "name": "s", "min_member": 1}]'
        found = self.findings(QUEUE, NODE, GROUP % "", subs, POD % ', "sub_group": "t"')["findings"]
        self.assertEqual([f["rule"] for f in found], ["unknown-sub-group"])
        self.assertIn("names sub-group t, which pod group g does not have", found[0]["text"])

    def test_dependencies(self):
        def groups(**after):
            rows = ", ".join(f'{{"name": "{g}", "queue": "q", "after": {json.dumps(entries)}}}' for g, entries in after.items())
            pods = ", ".join(f'{{"name": "{g}-0", "group": "{g}", "request": {{"gpu": 1000}}}}' for g in after)
            return f'"pod_group": [{rows}]', f'"pod": [{pods}]'

        def told(**after):
            found = self.findings(QUEUE, NODE, *groups(**after))["findings"]
            return [(f["rule"], f["name"], f["text"]) for f in found]

        self.assertEqual(told(a=[], b=["ok:a"], c=["any:a", "ok:b"]), [])
        circle = "dependency-circle"
        self.assertEqual(told(a=["ok:a"]), [(circle, "a", "comes after itself: none of them ever starts")])
        self.assertEqual(
            told(d=["ok:a"], a=["ok:b"], b=["any:e", "started:c"], c=["ok:a"], e=[]),
            [(circle, "a", "comes after b, which comes after c, which comes after it: none of them ever starts")],
        )
        self.assertEqual(
            told(a=["ok:b", "never:c"]),
            [("unknown-dependency", "a", "comes after b, which is not there"), ("unknown-dependency", "a", "comes after c, which has left otherwise")],
        )

    def test_labels(self):
        node = NODE.replace('"capacity"', '"labels": {"zone": "a"}, "capacity"')
        for selector, missing in [
            ('"node_selector": {"zone": "b"}', "zone=b"),
            ('"node_selector": {"rack": "a"}', "rack=a"),
            ('"node_affinity": ["zone in (b,c)", "rack"]', "zone in (b, c)"),
        ]:
            self.only(
                "unknown-label",
                f"asks for {missing}, which no node has",
                QUEUE,
                node,
                GROUP % "",
                POD % (", " + selector),
            )
        for selector in [
            '"node_selector": {"zone": "a"}',
            '"node_affinity": ["zone in (b,c)", "!rack"]',
            '"node_affinity": ["zone in (a,c)"]',
        ]:
            self.assertEqual(self.findings(QUEUE, node, GROUP % "", POD % (", " + selector))["findings"], [])
        self.only(
            "unknown-label",
            "names the topology rack, which is a label of no node: it finds no place",
            QUEUE,
            node,
            GROUP % "",
            POD % ', "affinity": ["rack: app=x"]',
        )
        for column in ['"spread": ["1 rack soft: app=x"]', '"preferences": ["5 rack: app=x"]']:
            text = "names the topology rack, which is a label of no node: the rule has no effect"
            self.only("unknown-label", text, QUEUE, node, GROUP % "", POD % (", " + column))
        level = '"topology": [{"name": "t", "levels": ["zone", "rack"]}]'
        self.only("unused-level", "its level rack is a label that no node has", level, QUEUE, node, jobs("a"))
        ring = '"topology": [{"name": "t", "levels": ["zone"], "shapes": {"zone": "ring:4"}}]'
        self.only("no-position", "has no position in zone a, whose shape is ring:4", ring, QUEUE, node, jobs("a"))

    def test_pods_that_fit_nowhere(self):
        self.only("fits-no-node", "need 3 GPU, at most 2 GPU free (on n)", QUEUE, NODE, jobs("a", gpu=3000))
        tainted = NODE.replace('"capacity"', '"taints": ["x:NoSchedule"], "capacity"')
        self.only("fits-no-node", "a taint that the pod does not tolerate", QUEUE, tainted, jobs("a"))
        # Full, cordoned and broken nodes are no fault of the pod.
        full = (
            '"pod": [{"name": "o", "group": "g", "request": {"gpu": 2000}, "status": "running", "node": "n"}, '
            + POD[8:]
        )
        self.assertEqual(self.findings(QUEUE, NODE, GROUP % "", full % "")["findings"], [])
        closed = NODE.replace('"capacity"', '"unschedulable": true, "capacity"')
        self.only("closed-nodes", "0 nodes not ready and 1 cordoned", QUEUE, closed, jobs("a"))

    def test_reservations(self):
        row = '"now": 50, "reservation": [{"name": "r", %s}]'
        for what, said in (
            ('"nodes": ["n", "m"]', "names node m, which is not there"),
            ('"node_selector": "rack=a"', "no node has the labels rack=a"),
            ('"queue": "p"', "names queue p, which is not there"),
            ('"group": "h"', "names pod group h, which is not there"),
        ):
            with self.subTest(what):
                self.only("empty-reservation", said, QUEUE, NODE, jobs("a"), row % what)
        self.only("reservation-over", "ended at 50, and now is 50", QUEUE, NODE, jobs("a"), row % '"end": 50')
        fine = row % '"nodes": ["n"], "queue": "q", "group": "a", "end": 51'
        self.assertEqual(self.findings(QUEUE, NODE, jobs("a"), fine)["findings"], [])
        again = row % '"end": 10, "every": 10'
        self.assertEqual(self.findings(QUEUE, NODE, jobs("a"), again)["findings"], [])
        bad = self.findings(QUEUE, NODE, row % '"start": 9, "end": 9', status=1)["findings"]
        self.assertIn("'r': it ends before it has started", bad[0]["text"])

    def test_nodes_that_hold_too_much(self):
        self.only(
            "node-overcommitted",
            "its pods hold 9 cores, it has 8 cores",
            QUEUE,
            NODE,
            GROUP % "",
            '"pod": [{"name": "p", "group": "g", "request": {"cpu": 9000}, "status": "running", "node": "n"}]',
        )

    def test_pods_that_share_a_claimed_gpu_hold_it_once(self):
        device = "gpu.example.com/n/0"
        node = (
            '"node": [{"name": "n", "capacity": {"cpu": 8000, "gpu": 1000, "pods": 110}, '
            f'"claimable": ["gpu.example.com={device}"]}}]'
        )
        claim = (
            '"resource_claim": [{"name": "c", "device_class": "gpu.example.com", "node": "n", '
            f'"devices": ["{device}"], "labels": {{"kai.scheduler/queue": "q"}}}}]'
        )
        pod = (
            '{"name": "%s", "group": "g", "request": {"gpu": 1000}, "claimed_gpus": 1, "claims": ["%s"], '
            '"status": "running", "node": "n"}'
        )
        pods = f'"pod": [{pod % ("a", "c")}, {pod % ("b", "c")}]'
        self.assertEqual(self.findings(QUEUE, node, GROUP % "", claim, pods)["findings"], [])
        two = f'"pod": [{pod % ("a", "c")}, {pod % ("b", "d")}]'
        held = [f["text"] for f in self.findings(QUEUE, node, GROUP % "", claim, two)["findings"]]
        self.assertIn("its pods hold 2 GPUs, it has 1 GPU", held)

    def test_what_no_part_looks_at(self):
        fed = NODE.replace('"capacity"', '"power_feeds": ["row:90000"], "capacity"')
        loaded = '"pod": [{"name": "p", "group": "g", "request": {"gpu": 500}, "load": ["compute:100"]}]'
        for members, text, part in (
            ((QUEUE, fed, jobs("a")), "names power feeds", "powercap"),
            ((QUEUE, NODE, GROUP % "", loaded), "what it puts on its GPU", "colocation"),
            ((QUEUE, NODE, GROUP % ', "speedup": ["1:1", "2:1.9"]', POD % ""), "its speedup", "goodput"),
            ((QUEUE, NODE, GROUP % ', "traffic": 10', POD % ""), "its traffic", "traffic"),
        ):
            with self.subTest(part):
                for preset in ("kai", "volcano-default"):
                    self.only("unread-column", text, *members, options=["--preset", preset])
                read = ["--set", f"parts=predicates,proportion,priority,nodeplacement,{part}"]
                self.assertEqual(self.findings(*members, options=read)["findings"], [])

    def test_what_only_tiers_keep_for_a_queue(self):
        for column in ('"guarantee": {"gpu": 1000}', '"reclaimable": 0'):
            members = ('"queue": [{"name": "q", %s}]' % column, NODE, jobs("a"))
            self.only("unread-column", "which only the action volcano looks at", *members)
            self.assertEqual(self.findings(*members, options=["--preset", "volcano-default"])["findings"], [])

    def test_clock(self):
        self.only(
            "clock-behind",
            "now is 5, which is before a pod group was created or started, such as g",
            '"now": 5',
            QUEUE,
            NODE,
            GROUP % ', "created": 6',
            POD % "",
        )

    def test_what_cannot_be_decided_is_an_error(self):
        pod = POD.replace('{"gpu": 1000}', '{"pods": 1}') % ', "gpu_memory": 1000'
        path = self.file("m.json", cluster(QUEUE, NODE, GROUP % "", pod))
        if kaisched("run", path).returncode == 0:
            self.skipTest("requests for memory of GPUs are decided")
        found = self.findings(QUEUE, NODE, GROUP % "", pod, status=1)["findings"]
        self.assertEqual([f["rule"] for f in found], ["not-decided"])
        self.assertIn("not decided by this version", found[0]["text"])

    def test_warnings_fail_where_that_is_asked_for(self):
        self.findings(QUEUE, NODE, GROUP % "", options=["--fail-on-warning"], status=1)
        self.findings(QUEUE, NODE, options=["--fail-on-warning"])  # a note

    def test_many_alike(self):
        groups = ", ".join(f'{{"name": "g{i}", "queue": "q"}}' for i in range(9))
        path = self.file("c.json", cluster(QUEUE, NODE, f'"pod_group": [{groups}]'))
        self.assertIn("and 6 more alike, see --all", self.ok("check", path))
        self.assertEqual(self.ok("check", path).count("has no pods"), 3)
        self.assertEqual(self.ok("check", path, "--all").count("has no pods"), 9)

    def test_the_invented_cluster_has_the_faults_that_it_should_have(self):
        self.ok("generate", self.folder / "c.json", "--gpus", "512", "--load", "1.3")
        found = json.loads(self.ok("check", self.folder / "c.json", "--json"))["files"][0]["findings"]
        self.assertEqual(
            {f["rule"] for f in found},
            {
                "quota-above-capacity",
                "gang-too-large",
                "gang-above-quota",
                "unknown-label",
                "fits-no-node",
                "closed-nodes",
            },
        )

    def test_rules_are_those_of_the_documentation(self):
        page = (SOURCE / "docs" / "cli.md").read_text(encoding="utf-8")
        rows = [
            tuple(c.strip(" `") for c in line.split("|")[1:4]) for line in page.splitlines() if line.startswith("| `")
        ]
        listed = json.loads(self.ok("check", "--list", "--json"))["rules"]
        for rule in listed:
            self.assertIn((rule["rule"], rule["severity"], rule["doc"]), rows)
        documented = [row for row in rows if row[1] in ("warning", "note")]
        self.assertEqual(len(documented), len(listed))


if __name__ == "__main__":
    main()

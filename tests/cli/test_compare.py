"""The command `compare`: one workload under several policies."""

import csv
import json

from support import NODE, QUEUE, Case, cluster, main

JOBS = "job,submit,run_time,estimate,queue,gpus,priority\na,0,10,10,x,2,50\nlow,5,100,100,x,2,10\nhigh,6,20,20,y,2,90\nz,200,5,5,x,1,50\n"


class Compare(Case):
    def told(self, *words):
        return json.loads(self.ok("compare", self.file("jobs.csv", JOBS), *words, "--json"))

    def test_policies(self):
        told = self.told("--nodes", "1x2", "--policies", "fifo,fifo-skip,easy,las,kai")
        self.assertEqual(told["schema"], "kaisched-compare/1")
        self.assertEqual([one["policy"] for one in told["policies"]], ["fifo", "fifo-skip", "easy", "las", "kai"])
        self.assertEqual([one["ended"] for one in told["policies"]], [4] * 5)
        self.assertNotIn("difference", told)
        alone = self.told("--nodes", "1x2", "--policies", "fifo,fifo-skip,easy,las,kai", "--threads", "1")
        self.assertEqual(told, alone)
        self.assertGreater(told["policies"][3]["evictions"], 0)  # least attained service stops jobs
        timed = self.told("--nodes", "1x2", "--policies", "fifo,fifo-skip,easy,las,kai", "--timings")
        for one in timed["policies"]:
            cpu = one.pop("session_cpu")
            self.assertTrue(0 < cpu["p99"] <= cpu["most"])
        self.assertEqual(told, timed)
        said = self.ok("compare", self.file("jobs.csv", JOBS), "--nodes", "1x2", "--equal-quotas", "--policies", "fifo,kai")
        for part in ("contended", "whole time", "idle, fit h", "withdrawn", "Longest wait within the quota of the queue", "CPU time of a session"):
            self.assertIn(part, said)

    def test_presets(self):
        """Two nodes of eight, eight jobs of one and one of eight: who spreads leaves the large one nothing."""
        nodes = [{"name": name, "capacity": {"cpu": 64000, "memory": 1 << 40, "gpu": 8000, "pods": 110}} for name in ("n1", "n2")]
        names = [f"s{i}" for i in range(8)]
        groups = [{"name": name, "queue": "q", "created": 1} for name in names] + [{"name": "large", "queue": "q", "created": 2}]
        pods = [{"name": f"{name}-0", "group": name, "request": {"gpu": 1000, "pods": 1}, "created": 1} for name in names]
        pods.append({"name": "large-0", "group": "large", "request": {"gpu": 8000, "pods": 1}, "created": 2})
        file = self.file("cluster.json", json.dumps({"schema": "kaisched-cluster/1", "queue": [{"name": "q"}], "node": nodes, "pod_group": groups, "pod": pods}))
        told = json.loads(self.ok("compare", file, "--presets", "all", "--json"))
        self.assertEqual(told["schema"], "kaisched-compare-presets/1")
        started = {one["preset"].rsplit("-", 2)[0]: one["pods_started"] for one in told["presets"]}
        self.assertEqual((started["kai"], started["volcano-ai"], started["kube-default"], started["volcano-default"]), (9, 9, 8, 8))
        self.assertEqual([one["job"] for one in told["disputed"]], ["large"])
        self.assertIn("kube-default-1.36-r2", told["disputed"][0]["waits"])
        said = self.ok("compare", file, "--presets", "kai,kube-default")
        self.assertIn("large: waits under kube-default-1.36-r2", said)
        self.assertIn("there is no preset 'kia'", self.fails(2, "compare", file, "--presets", "kia"))
        self.assertRegex(
            self.fails(2, "run", file, "--set", "preset=kube-gan"), r"'kube-gan' is not one of its \d+ values, such as kai-0.17-r2; did you mean 'kube-gang'\?"
        )
        self.assertIn("'kai' is told twice", self.fails(2, "compare", file, "--presets", "kai-0.17-r2,kai"))
        self.assertIn("--presets is about a cluster", self.fails(2, "compare", file, "--presets", "kai", "--policies", "fifo"))

    def test_all_names(self):
        said = self.ok("compare", "--help").replace("\n", " ")
        names = said[said.index("Policies:") + 9 : said.index("; presets are policies")].split(",")
        names = [name.strip() for name in names]
        self.assertIn("fgd", names)
        told = self.told("--nodes", "2x2", "--policies", ",".join(names))
        self.assertEqual([one["ended"] for one in told["policies"]], [4] * len(names))

    def test_what_a_policy_does_not_look_at_is_named(self):
        said = self.ok("compare", self.file("jobs.csv", JOBS), "--nodes", "1x2", "--equal-quotas", "--policies", "kai,kube-default")
        self.assertRegex(said, r"What a policy does not look at\n  kai: pod_group\.runtime_estimate\n  kube-default: queue\.quota, pod_group\.runtime_estimate\n")
        told = self.told("--nodes", "1x2", "--equal-quotas", "--estimates", "exact", "--policies", "kai,easy,hami")
        self.assertEqual({one["policy"]: one["unread"] for one in told["policies"]},
                         {"kai": ["pod_group.runtime_estimate"], "easy": [], "hami": ["queue.quota", "pod_group.runtime_estimate"]})
        file = self.file("quotas.json", cluster(NODE, QUEUE))
        ran = json.loads(self.ok("compare", file, "--presets", "kai,hami", "--json", "-q"))
        self.assertTrue(all("unread" in one for one in ran["presets"]))

    def test_a_whole_play_is_the_same_without_quotas_that_are_not_looked_at(self):
        jobs = self.folder / "contended.csv"
        self.ok("workload", "generate", jobs, "--jobs", "150", "--queues", "4", "--seed", "3", "--rate", "200", "-q")
        names = "kai,kube-default,kube-gang,coscheduling,hami,volcano-default,volcano-ai,fluxion-easy,slurm-backfill,yunikorn-default"
        with_quotas, without = ({one["policy"]: one for one in json.loads(self.ok(
            "compare", jobs, "--nodes", "2x8", *words, "--policies", names, "--json", "-q"))["policies"]} for words in (["--equal-quotas"], []))
        for name, one in with_quotas.items():
            with self.subTest(name):
                self.assertNotIn("queue.quota", without[name]["unread"])
                if "queue.quota" in one["unread"]:
                    self.assertEqual(one["digest"], without[name]["digest"])
        self.assertEqual(len([one for one in with_quotas.values() if "queue.quota" in one["unread"]]), 7)
        self.assertNotEqual(with_quotas["kai"]["digest"], without["kai"]["digest"])

    def test_presets_are_policies(self):
        names = [word for word in self.ok("compare", "--presets", "all", self.file("empty.json", cluster(NODE, QUEUE))).split() if "-2" in word or "-1" in word or "-0" in word]
        self.assertIn("volcano-ai-2026.08-r2", names)
        told = self.told("--nodes", "2x2", "--equal-quotas", "--policies", ",".join([*names, "kube-default", "fifo"]))  # owners of nothing wait for ever
        self.assertEqual([one["policy"] for one in told["policies"]], [*names, "kube-default", "fifo"])
        self.assertEqual([one["ended"] for one in told["policies"]], [4] * (len(names) + 2))
        by_name = {one["policy"]: one for one in told["policies"]}
        self.assertEqual(by_name["kube-default"]["digest"], by_name["kube-default-1.36-r2"]["digest"])
        self.assertGreater(by_name["kube-default"]["evictions"], 0)  # it preempts
        self.assertEqual(by_name["fluxion-easy-2026.08-r2"]["evictions"], 0)

    def test_two_configurations(self):
        a = self.file("today.yaml", "nodes: 1x2\nactions: allocate\none_queue: true\nset: {parts: 'predicates,fifo,nodeavailability'}\n")
        b = self.file("tomorrow.json", json.dumps({"nodes": "1x2", "actions": "allocate", "one_queue": True, "set": {"parts": ["predicates", "priority", "nodeavailability"]}}))
        found = self.told("--a", a, "--b", b)["difference"]
        self.assertEqual((found["jobs"], found["sooner"], found["later"]), (4, 1, 1))
        self.assertEqual((found["mean_a"], found["mean_b"]), (61, 41))
        self.assertEqual(found["parts_at"], 10)
        self.assertEqual(found["parts_a"], ["starts low on node-00000"])
        self.assertEqual(found["parts_b"], ["starts high on node-00000"])
        self.assertEqual([q["queue"] for q in found["queues"]], ["x", "y"])
        self.assertEqual((found["queues"][1]["mean_a"], found["queues"][1]["mean_b"]), (124, 24))
        self.assertEqual([(one["job"], one["end"]) for one in found["gains"]], [("high", -100)])
        self.assertEqual([(one["job"], one["end"]) for one in found["losses"]], [("low", 20)])
        self.assertIn("gpu", found["losses"][0]["why"])
        said = self.ok("compare", self.file("jobs.csv", JOBS), "--a", a, "--b", b)
        for part in ("B (tomorrow) against A (today)", "1 job sooner, 1 later, 2 as before", "they part at 10.0 s", "Who loses most", "low: 105.0 s -> 2.1 min (+20.0 s)", "it waited under tomorrow:"):
            self.assertIn(part, said)

    def test_run_times_that_nobody_tells(self):
        jobs = self.file("jobs.csv", JOBS)
        self.assertEqual(self.told("--nodes", "1x2", "--policies", "fifo,sjf,easy")["without_run_times"], [])
        none = self.told("--nodes", "1x2", "--policies", "fifo,sjf,easy", "--estimates", "none")
        self.assertEqual(none["without_run_times"], ["sjf", "easy"])
        said = self.ok("compare", jobs, "--nodes", "1x2", "--policies", "fifo,sjf", "--estimates", "none")
        self.assertIn("sessions know no run times, which sjf goes by", said)

    def test_shares_are_those_of_the_cluster(self):
        queues = ", ".join(f'{{"name": "{name}", "quota": {{"gpu": {gpu}}}}}' for name, gpu in (("x", 3000), ("y", 1000)))
        text = cluster(f'"queue": [{queues}]', NODE.replace('"gpu": 2000', '"gpu": 4000'))
        cluster_file = self.file("c.json", text)
        rows = "".join(f"{queue}{i},0,100,{queue},1\n" for queue in "xy" for i in range(4))
        jobs = self.file("jobs.csv", "job,submit,run_time,queue,gpus\n" + rows)
        fifo = "actions: allocate\none_queue: true\nset: {parts: 'predicates,fifo,nodeavailability'}\n"
        told = json.loads(self.ok("compare", jobs, "--cluster", cluster_file, "--a", "kai", "--b", self.file("f.yaml", fifo), "--json"))
        kai, alone = (one["share_error"] for one in told["policies"])
        # 3 of 4 are owed to x and 1 to y: kai holds to it; first come, first served gives all to x, and then all to y.
        self.assertEqual(kai, 0)
        self.assertEqual(alone, 0.125)

    def test_csv(self):
        table = self.folder / "t.csv"
        self.ok("compare", self.file("jobs.csv", JOBS), "--nodes", "1x2", "--policies", "fifo,kai", "--csv", table, "-q")
        rows = list(csv.DictReader(table.read_text().splitlines()))
        self.assertEqual([row["policy"] for row in rows], ["fifo", "kai"])
        self.assertEqual(rows[0]["ended"], "4")
        self.assertEqual(float(rows[0]["completion_mean"]), 61)
        for figure in ("utilisation_of_span", "restarts", "moves", "withdrawn_starts", "stale_gang_gpu_hours", "idle_fitting_gpu_hours", "longest_quota_claim"):
            self.assertIn(figure, rows[0])

    def test_bad_input(self):
        jobs = self.file("jobs.csv", JOBS)
        self.assertIn("there is no policy 'fast'", self.fails(2, "compare", jobs, "--nodes", "1x2", "--policies", "fast"))
        self.assertIn("'fifo' is told twice", self.fails(2, "compare", jobs, "--nodes", "1x2", "--policies", "fifo,fifo"))
        self.assertIn("--a and --b are told together", self.fails(2, "compare", jobs, "--nodes", "1x2", "--a", "fifo"))
        self.assertIn("name a cluster", self.fails(2, "compare", jobs))
        self.assertIn("no.yaml", self.fails(2, "compare", jobs, "--a", "no.yaml", "--b", "fifo"))

    def test_play_files(self):
        def refused(text):
            return self.fails(2, "simulate", self.file("jobs.csv", JOBS), "--play", self.file("p.yaml", text))

        self.assertIn("p.yaml:2: 'colour' is no key of a play file", refused("nodes: 1x2\ncolour: red\n"))
        self.assertIn("outages: expected an array", refused("nodes: 1x2\noutages: 3\n"))
        self.assertIn("from soon: expected a time", refused("nodes: 1x2\noutages: [{node: node-00000, from: soon}]\n"))
        self.assertIn("speeds: expected a number of pods and a part of full speed", refused("nodes: 1x2\nprofiles: [{speeds: {1: 2}}]\n"))
        self.assertIn("gpu_speeds: expected a model of GPUs", refused("nodes: 1x2\nprofiles: [{gpu_speeds: {T4: 0}}]\n"))
        self.assertIn("there is no node 'n9'", refused("nodes: 1x2\noutages: [{node: n9, from: 1, to: 2}]\n"))
        self.assertIn("least is 7", refused("nodes: 1x2\npools: [{nodes: [node-00000], least: 7}]\n"))
        self.assertIn("--estimates 0.5", refused("nodes: 1x2\nestimates: 0.5\n"))
        self.assertIn("--estimates inf", refused("nodes: 1x2\nestimates: inf\n"))
        self.assertIn("nodes_per_rack", refused("nodes: 1x2\nnodes_per_rack: some\n"))
        late = self.file("late.json", cluster('"now": 5000000000000000000', QUEUE, NODE))
        self.assertIn("late.json: now is 5000000000000000000 ns", self.fails(2, "simulate", self.file("jobs.csv", JOBS), "--cluster", late))
        play = self.file("preset.yaml", "nodes: 1x2\npreset: hami\n")
        for words, preset in (((), "hami-binpack-2.10-r2"), (("--preset", "kai"), "kai-0.17-r2")):
            told = json.loads(self.ok("simulate", self.file("jobs.csv", JOBS), "--play", play, *words, "--json"))
            self.assertEqual(told["preset"], preset)
        play = self.file("play.yaml", "nodes: 1x2\noutages: [{node: node-00000, devices: [1], from: 3, to: 300}]\n")
        told = json.loads(self.ok("simulate", self.file("jobs.csv", JOBS), "--play", play, "--json"))
        self.assertEqual((told["failures"], told["ended"]), (1, 4))
        self.assertGreater(told["makespan"], 300)  # jobs of two GPUs wait for the second one
        wider = json.loads(self.ok("simulate", self.file("jobs.csv", JOBS), "--play", play, "--nodes", "2x2", "--json"))
        self.assertLess(wider["makespan"], told["makespan"])  # what the command is told wins


if __name__ == "__main__":
    main()

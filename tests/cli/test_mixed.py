"""`kaisched generate --mix`: what is in it, and that what runs keeps to what it asks for."""

import json
from collections import Counter, defaultdict

from support import FEW_CASES, Case, main

KINDS = ["tight", "near", "slices", "launch", "split", "rdma", "nvl", "claim", "twin", "typed"]
ACTIONS = "allocate,consolidation,reclaim,preempt,stalegangeviction"
DRIVERS = {"gpu.nvidia.com": "gpu.nvidia.com", "rdma.dra.net": "dra.net"}


def kind(group):
    parts = group.split("-")
    return parts[1] if len(parts) == 3 and parts[2].isdigit() else "hopeless"


class Mixed(Case):
    def made(self, gpus, load=1.3, seed=1):
        path = self.folder / f"{gpus}-{load}-{seed}.json"
        self.ok("generate", path, "--gpus", gpus, "--load", load, "--seed", seed, "--mix", "-q")
        return path, json.loads(path.read_text())

    def test_equal_arguments_give_equal_bytes(self):
        arguments = ["generate", "-", "--gpus", "256", "--mix", "--seed"]
        self.assertEqual(self.ok(*arguments, "5"), self.ok(*arguments, "5"))
        self.assertNotEqual(self.ok(*arguments, "5"), self.ok(*arguments, "6"))
        self.assertNotEqual(self.ok(*arguments, "5"), self.ok("generate", "-", "--gpus", "256", "--seed", "5"))
        told = json.loads(self.ok("generate", self.folder / "c.json", "--gpus", "16", "--mix", "--json"))
        self.assertEqual((told["gpus"], told["mix"]), (16, True))

    def test_sizes_and_loads(self):
        for gpus in [1, 3, 10, 16, 20, 64, 128, 512]:
            nodes = self.made(gpus)[1]["node"]
            broken = gpus - sum(node["capacity"].get("gpu", 0) for node in nodes) // 1000
            self.assertLessEqual(broken, gpus // 64, gpus)
        for load in [0.5, 0.9, 1.3]:
            asked = sum(pod["request"].get("gpu", 0) for pod in self.made(2048, load)[1]["pod"])
            self.assertAlmostEqual(asked / 1000 / 2048, load, delta=0.15)

    def test_each_kind_runs_and_waits(self):
        for seed in [1, 2, 3]:
            made = self.made(512, seed=seed)[1]
            runs = {kind(pod["group"]) for pod in made["pod"] if pod.get("status") == "running"}
            idle = {g["name"] for g in made["pod_group"]} - {p["group"] for p in made["pod"] if "node" in p}
            self.assertLessEqual(set(KINDS), runs)
            self.assertLessEqual(set(KINDS), {kind(name) for name in idle})

    def test_what_a_cluster_has(self):
        made = self.made(512)[1]
        gpu_nodes = [node for node in made["node"] if "gpu" in node["capacity"]]
        products = {node["labels"]["nvidia.com/gpu.product"] for node in gpu_nodes}
        self.assertEqual(len(products), 5)
        for node in gpu_nodes:
            self.assertEqual(int(node["labels"]["nvidia.com/gpu.memory"]) << 20, node["gpu_memory"])
        self.assertEqual({node["labels"]["nvidia.com/gpu.count"] for node in gpu_nodes}, {"4", "8"})
        by_rack = defaultdict(set)
        for node in gpu_nodes:
            by_rack[node["labels"]["rack"]].add(node["labels"]["nvidia.com/gpu.product"])
        self.assertEqual({len(of) for of in by_rack.values()}, {1})
        self.assertTrue(any("gpu.model" in pod.get("node_selector", {}) for pod in made["pod"]))
        self.assertTrue(any("node_affinity" in pod for pod in made["pod"]))
        self.assertEqual({g["required_level"] for g in made["pod_group"] if "required_level" in g}, {"rack", "block"})
        self.assertEqual({g["preferred_level"] for g in made["pod_group"] if "preferred_level" in g}, {"rack", "block"})
        roles = {sub["name"]: sub for sub in made["sub_group"]}
        self.assertLessEqual({"leader", "worker", "prefill", "decode", "slice-1", "slice-2"}, set(roles))
        self.assertEqual(roles["worker"]["required_level"], "rack")
        self.assertEqual({claim["device_class"] for claim in made["resource_claim"]}, set(DRIVERS))
        self.assertTrue(any("constraints" in claim for claim in made["resource_claim"]))

    def test_promised_run_times(self):
        made = self.made(512)[1]
        promised = {}
        for queue in made["queue"]:
            times = [queue.get(f"{action}_min_runtime") or 0 for action in ("preempt", "reclaim")]
            if max(times) > 0:
                promised[queue["name"]] = max(times)
        self.assertLessEqual({"foundation", "vision", "product"}, set(promised))
        young = Counter()
        for group in made["pod_group"]:
            if group["queue"] in promised and "last_start" in group:
                young[made["now"] - group["last_start"] < promised[group["queue"]]] += 1
        self.assertGreater(young[True], 5)
        self.assertGreater(young[False], 5)

    def test_what_runs_keeps_to_what_it_asks_for(self):
        for gpus in [16, 64, 128, 512, 1024]:
            for seed in [1, 2]:
                with self.subTest(gpus=gpus, seed=seed):
                    made = self.made(gpus, seed=seed)[1]
                    self.check_nodes(made)
                    self.check_amounts(made)
                    self.check_claims(made)
                    self.check_groups(made)

    def test_the_reference_path_decides_the_same(self):
        """Answers of searches for devices, and bounds of victims, are kept; without them all is asked anew."""
        with_claims = 0
        for mode in ["strict", "compat"]:
            for seed in range(1, 3 if FEW_CASES else 5):
                path = self.made(64, seed=seed)[0]
                run = ["run", path, "-q", "--mode", mode, "--actions", ACTIONS, "--decisions", "-"]
                quick = json.loads(self.ok(*run))["decision"]
                anew = json.loads(self.ok(*run, "--set", "reference_path=true"))["decision"]
                self.assertEqual(quick, anew, (mode, seed))
                with_claims += sum(1 for one in quick if one["claim_devices"])
        self.assertGreater(with_claims, 0)

    def check_nodes(self, made):
        nodes = {node["name"]: node for node in made["node"]}
        for pod in made["pod"]:
            if "node" not in pod:
                self.assertIn(pod.get("status", "pending"), ["pending", "gated"])
                continue
            node = nodes[pod["node"]]
            self.assertTrue(node.get("ready", True) and not node.get("unschedulable"), pod)
            self.assertLessEqual(pod.get("node_selector", {}).items(), node["labels"].items())
            self.assertLessEqual(set(node.get("taints", [])), set(pod.get("tolerations", [])))
            for term in pod.get("node_affinity", []):
                label, values = term.split(" in ")
                self.assertIn(node["labels"][label], values.strip("()").split(","))

    def check_amounts(self, made):
        broken = {(d["node"], d["index"]) for d in made.get("device", []) if not d.get("healthy", True)}
        held = defaultdict(Counter)
        devices = Counter()
        for pod in made["pod"]:
            if "node" not in pod:
                continue
            for what in ["cpu", "memory", "pods"]:
                held[pod["node"]][what] += pod["request"].get(what, 0)
            gpu = pod["request"].get("gpu", 0)
            if gpu == 1000 * pod.get("claimed_gpus", 0):
                continue
            self.assertEqual(len(pod["devices"]), -(-gpu // 1000))
            for device in pod["devices"]:
                devices[pod["node"], device] += min(gpu, 1000)
                held[pod["node"]]["gpu"] += min(gpu, 1000)
        for claim in made.get("resource_claim", []):
            if claim["device_class"] == "gpu.nvidia.com" and "node" in claim:
                held[claim["node"]]["gpu"] += 1000 * len(claim["devices"])
        self.assertLessEqual(max(devices.values()), 1000)
        self.assertEqual(broken & set(devices), set())
        for node in made["node"]:
            for what, amount in held[node["name"]].items():
                self.assertLessEqual(amount, node["capacity"].get(what, 0), (node["name"], what))

    def check_claims(self, made):
        slices = {one["name"]: one for one in made.get("resource_slice", [])}
        offered = {}
        for device in made.get("slice_device", []):
            of = slices[device["slice"]]
            offered[f'{of["driver"]}/{of["pool"]}/{device["device"]}'] = (of["node"], device)
        claimable = {name.split("=")[1]: node["name"] for node in made["node"] for name in node.get("claimable", [])}
        self.assertEqual(claimable, {name: node for name, (node, _) in offered.items()})
        pods = {pod["name"]: pod for pod in made["pod"]}
        claims = {claim["name"]: claim for claim in made.get("resource_claim", [])}
        given = [device for claim in claims.values() for device in claim.get("devices", [])]
        self.assertEqual(len(given), len(set(given)))
        for claim in claims.values():
            users = {name for name in claim.get("reserved_for", [])}
            self.assertEqual(users, {p["name"] for p in pods.values() if claim["name"] in p.get("claims", []) and "node" in p})
            self.assertEqual({pods[name]["node"] for name in users}, {claim["node"]} if "node" in claim else set())
            if not users:
                self.assertNotIn("devices", claim)
                continue
            self.assertEqual(len(claim["devices"]), claim.get("count", 1))
            self.assertEqual([text.split("=")[1] for text in claim["results"]], claim["devices"])
            self.assertEqual({offered[name][0] for name in claim["devices"]}, {claim["node"]})
            self.assertEqual({name.split("/")[0] for name in claim["devices"]}, {DRIVERS[claim["device_class"]]})
            if "constraints" in claim:
                sides = {tuple(t for t in offered[n][1]["attributes"] if "/numa=" in t) for n in claim["devices"]}
                self.assertEqual(len(sides), 1)
        asked = {request["claim"] for request in made.get("claim_request", [])}
        self.assertEqual(asked, set(claims))

    def check_groups(self, made):
        labels = {node["name"]: node["labels"] for node in made["node"]}
        parts = {(sub["group"], sub["name"]): sub for sub in made.get("sub_group", [])}
        with_parts = {group for group, _ in parts}
        for group in made["pod_group"]:
            parts.setdefault((group["name"], None), group)
        places = defaultdict(list)
        for pod in made["pod"]:
            if "node" in pod:
                for part in {None, pod.get("sub_group")}:
                    places[pod["group"], part].append(labels[pod["node"]])
        for (group, part), on in places.items():
            of = parts[group, part]
            if "required_level" in of:
                self.assertEqual(len({place[of["required_level"]] for place in on}), 1, group)
            if part is not None or group not in with_parts:
                self.assertGreaterEqual(len(on), of.get("min_member", 1), group)

    def test_check_finds_what_it_finds_in_plain_clusters(self):
        for gpus in [16, 64, 128, 512, 1024]:
            found = []
            for arguments in [[], ["--mix"]]:
                path = self.folder / "c.json"
                self.ok("generate", path, "--gpus", gpus, "--load", "1.3", "-q", *arguments)
                report = json.loads(self.ok("check", path, "--json"))["files"][0]["findings"]
                found.append({one["rule"] for one in report if one["severity"] != "note"})
            self.assertLessEqual(found[1], found[0], gpus)

    def test_some_start_and_some_wait(self):
        for mode in ["strict"] if FEW_CASES else ["strict", "compat"]:
            started = Counter()
            left = Counter()
            for seed in [1, 2, 3]:
                path = self.made(512, seed=seed)[0]
                out = self.folder / "d.json"
                self.ok("run", path, "--mode", mode, "--actions", ACTIONS, "--decisions", out, "-q")
                for one in json.loads(out.read_text())["decision"]:
                    counts = {"bind": started, "pipeline": started, "unschedulable": left}.get(one["kind"], Counter())
                    counts[kind(one["group_name"])] += 1
            self.assertGreaterEqual(len(set(KINDS) & set(started)), 7, started)
            self.assertGreaterEqual(len(set(KINDS) & set(left)), 7, left)
            self.assertTrue(started["claim"] and started["tight"] + started["near"] and started["split"], started)
            self.assertTrue(left["claim"] + left["nvl"] + left["twin"], left)


if __name__ == "__main__":
    main()

"""The command `import`: configurations of other schedulers."""

import json

from support import Case, main

VOLCANO = """actions: "enqueue, allocate, shuffle"
tiers:
- plugins:
  - name: priority
  - {name: gang, enablePreemptable: false, enableJobOrder: true}
- plugins:
  - name: capacity
    enabledHierarchy: true
    arguments: {ancestorReclaimLevel: 1}
  - name: nodeorder
    arguments: {leastrequested.weight: 2, nodeaffinity.weight: 3}
  - name: binpack
    arguments:
      binpack.weight: 10
      binpack.resources: nvidia.com/gpu, example.com/foo
      binpack.resources.nvidia.com/gpu: 7
  - name: resource-strategy-fit
    arguments:
      resourceStrategyFitWeight: 4
      resources: {nvidia.com/gpu: {type: MostAllocated, weight: 2}, cpu: {type: LeastAllocated, weight: 1}}
      sra: {enable: true, resources: nvidia.com/gpu, weight: 10, resourceWeight: {nvidia.com/gpu: 3}}
  - name: usage
configurations:
- name: preempt
  arguments: {enableTopologyAwarePreemption: true, minCandidateNodesPercentage: 20}
"""

SHARD = """apiVersion: kai.scheduler/v1
kind: SchedulingShard
spec:
  placementStrategy: {gpu: spread, cpu: binpack}
  queueDepthPerAction: {reclaim: 10, stalegangeviction: 4}
  minRuntime: {preemptMinRuntime: 1h30m, reclaimMinRuntime: 90s}
  kValue: 0.5
  args: {default-staleness-grace-period: 2m, use-scheduling-signatures: false, verbosity: 4}
  plugins: {numa: {enabled: true}, elastic: {enabled: false}, mystery: {}}
  actions: {preempt: {enabled: false}}
"""

KUBE = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 30
profiles:
- plugins:
    score:
      enabled: [{name: NodeResourcesFit, weight: 5}, {name: ImageLocality, weight: 2}]
      disabled: [{name: NodeResourcesBalancedAllocation}]
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
  - name: DefaultPreemption
    args: {minCandidateNodesPercentage: 25, minCandidateNodesAbsolute: 7}
"""


YUNIKORN = """partitions:
- name: default
  placementrules: [{name: tag, value: namespace, create: true}]
  nodesortpolicy:
    type: binpacking
    resourceweights: {vcore: 1, nvidia.com/gpu: 4}
  preemption: {enabled: false}
  queues:
  - name: root
    submitacl: '*'
    properties: {application.sort.policy: fair, priority.offset: "3"}
    queues:
    - name: research
      parent: true
      resources:
        guaranteed: {vcore: 10, memory: 10Gi, nvidia.com/gpu: 8}
        max: {vcore: 20500m, pods: 100}
      maxapplications: 5
      limits:
      - limit: each
        users: [ann, "*"]
        groups: [lab]
        maxresources: {nvidia.com/gpu: 2, vcore: 1500m}
        maxapplications: 3
      queues:
      - name: vision
        properties: {preemption.delay: 1m30s, preemption.policy: fence, priority.offset: "-2", priority.policy: fence, application.sort.policy: stateaware, quota.preemption.delay: 1h}
    - name: product
- name: other
"""


class Import(Case):
    def told(self, text):
        return json.loads(self.ok("import", self.file("c.yaml", text), "--json"))

    def test_volcano(self):
        told = self.told(VOLCANO)
        options = told["options"]
        self.assertEqual((told["from"], options["preset"]), ("Volcano", "volcano-default"))
        self.assertEqual(options["tiers"], "priority+gang,capacity+nodeorder+binpack+resource-strategy-fit")
        self.assertEqual(options["tiers.actions"], "enqueue,allocate")
        self.assertEqual(
            options["tiers.settings"].split(","),
            ["gang.at.preemptable=false", "capacity.at.hierarchy=true", "capacity.ancestor_levels=1", "nodeorder.least=2", "binpack.weight=10",
             "binpack.resources.nvidia.com/gpu=7", "binpack.resources.example.com/foo=1", "resource-strategy-fit.weight=4",
             "resource-strategy-fit.resources.nvidia.com/gpu=most:2", "resource-strategy-fit.resources.cpu=least:1", "resource-strategy-fit.scarce.weight=10",
             "resource-strategy-fit.scarce.resources.nvidia.com/gpu=3", "preempt.trials=true", "preempt.percent_of_nodes=20"],
        )  # fmt: skip
        self.assertEqual(
            told["left_out"], ["1: actions: there is no action shuffle", "11: nodeaffinity.weight: nodeorder does not read it", "22: there is no plug-in usage"]
        )

    def test_its_config_map(self):
        inner = "\n".join("    " + line for line in VOLCANO.splitlines())
        text = f"apiVersion: v1\nkind: ConfigMap\ndata:\n  volcano-scheduler.conf: |\n{inner}\n"
        self.assertEqual(self.told(text), self.told(VOLCANO))

    def test_shard(self):
        told = self.told(SHARD)
        options = told["options"]
        self.assertEqual((options["preset"], options["mode"]), ("kai", "compat"))
        self.assertEqual(options["actions"], "allocate,reclaim,stalegangeviction")  # who spreads does not consolidate
        self.assertEqual((options["placement.gpu"], options["queue_depth.reclaim"], options["proportion.k"]), ("spread", "10", "0.5"))
        self.assertEqual((options["min_runtime.preempt"], options["min_runtime.reclaim"], options["staleness_grace"]), ("5400", "90", "120"))
        self.assertEqual(options["signatures"], "false")
        parts = options["parts"].split(",")
        self.assertNotIn("elastic", parts)
        self.assertNotIn("gpupack", parts)
        self.assertEqual((parts[-1], "gpuspread" in parts), ("numa", True))
        self.assertEqual([one.split(": ")[1] for one in told["left_out"]], ["stalegangeviction", "verbosity", "mystery"])

    def test_kube_scheduler(self):
        told = self.told(KUBE)
        self.assertEqual(told["options"]["preset"], "kube-default")
        self.assertEqual(
            told["options"]["tiers.settings"],
            "jobs.one_queue=true,jobs.by_pod=true,preempt.trials=true,nodeorder.least=0,nodeorder.most=5,nodeorder.balanced=0,preempt.percent_of_nodes=25,preempt.fewest_nodes=7",
        )
        self.assertEqual(len(told["left_out"]), 2)
        gangs = self.told(KUBE.replace("    score:", "    multiPoint:\n      enabled: [{name: Coscheduling}]\n    score:"))
        self.assertEqual(gangs["options"]["preset"], "coscheduling")

    def test_yunikorn(self):
        told = self.told(YUNIKORN)
        options = told["options"]
        self.assertEqual((told["from"], options["preset"]), ("YuniKorn", "yunikorn-default"))
        self.assertEqual(
            options["turns.settings"].split(","),
            ["nodes.order=binpacking", "nodes.weight.cpu=1", "nodes.weight.gpu=4", "nodes.weight.memory=0", "preemption=false", "apps.order=fair",
             "apps.most@research=5", "limit.ann:apps@research=3", "limit.ann:gpu@research=2", "limit.ann:cpu@research=1.5", "limit.*:apps@research=3",
             "limit.*:gpu@research=2", "limit.*:cpu@research=1.5", "preemption.delay@research.vision=90", "preemption.policy@research.vision=fence",
             "priority.offset@research.vision=-2", "priority.fence@research.vision=true", "apps.order@research.vision=fifo"],
        )  # fmt: skip
        self.assertEqual(
            [one.split(": ")[1] for one in told["left_out"]],
            ["placementrules", "submitacl", "priority.offset", "pods", "groups", "quota.preemption.delay", "another partition"],
        )
        self.assertEqual(
            told["queues"],
            [{"name": "research", "quota": {"cpu": 10000, "memory": 10 << 30, "gpu": 8000}, "limit": {"cpu": 20500}}, {"name": "research.vision", "parent": "research"},
             {"name": "product"}],
        )  # fmt: skip
        self.assertNotIn("queues", self.told(VOLCANO))

    def test_queues_of_yunikorn_are_a_cluster_file(self):
        inner = "\n".join("    " + line for line in YUNIKORN.splitlines())
        text = f"apiVersion: v1\nkind: ConfigMap\ndata:\n  log.level: info\n  queues.yaml: |\n{inner}\n"
        queues = self.file("queues.json", "")
        out = self.ok("import", self.file("c.yaml", text), "--queues", queues)
        self.assertIn("\npreset: yunikorn-default\n", out)
        self.assertNotIn("# 3 queues", out)
        self.assertIn("# 3 queues", self.ok("import", self.file("c.yaml", text)))
        self.assertIn("3 queues", self.ok("check", queues))

    def test_what_comes_out_is_an_engine(self):
        out = self.ok("import", self.file("c.yaml", SHARD))
        self.assertIn("\nqueue_depth.reclaim:", out)
        self.assertIn("# Left out, by line:\n#   5: stalegangeviction", out)

    def test_faults(self):
        self.assertIn("neither a SchedulingShard", self.fails(2, "import", self.file("c.yaml", "a: 1\n")))
        wrong = VOLCANO.replace("binpack.weight: 10", "binpack.weight: much")
        self.assertIn("'binpack.weight=much': 'much' is not an integer", self.fails(2, "import", self.file("c.yaml", wrong)))
        self.assertIn("'many' is not an integer", self.fails(2, "import", self.file("c.yaml", YUNIKORN.replace("maxapplications: 5", "maxapplications: many"))))
        self.assertIn("'gang' stands there twice", self.fails(2, "import", self.file("c.yaml", VOLCANO.replace("name: priority", "name: gang"))))


if __name__ == "__main__":
    main()

"""The command `import`: configurations of other schedulers."""

import json

from support import Case, main

VOLCANO = """actions: "enqueue, allocate, gangpreempt, shuffle"
tiers:
- plugins:
  - name: priority
  - {name: gang, enablePreemptable: false, enableJobOrder: true}
- plugins:
  - name: capacity
    enabledHierarchy: true
    arguments: {ancestorReclaimLevel: 1}
  - name: nodeorder
    arguments: {leastrequested.weight: 2, nodeaffinity.weight: 3, podaffinity.weight: 3}
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
  - {name: task-topology, arguments: {task-topology.weight: 5}}
  - name: tdm
configurations:
- name: gangpreempt
  arguments: {maxDomains: 4, allowWholeBundle: false}
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
      enabled: [{name: NodeResourcesFit, weight: 5}, {name: ImageLocality, weight: 2}, {name: NodeAffinity, weight: 4}]
      disabled: [{name: NodeResourcesBalancedAllocation}]
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
  - name: DefaultPreemption
    args: {minCandidateNodesPercentage: 25, minCandidateNodesAbsolute: 7}
"""

SLURM = """# a comment
ClusterName=lab
SlurmctldHost=head
SchedulerType=sched/backfill
SchedulerParameters=bf_window=2880,bf_resolution=300,bf_max_job_test=1000,bf_continue
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,CR_LLN
PriorityType=priority/multifactor
PriorityWeightAge=1000 # the same line
PriorityWeightFairshare=20000
PriorityWeightQOS=5000
PriorityMaxAge=3-12
PriorityFavorSmall=YES
PriorityWeightTRES=CPU=100,GRES/gpu=3000,License/x=1
PreemptType=preempt/none
PreemptMode=OFF
TopologyPlugin=topology/tree
NodeName=DEFAULT State=UNKNOWN
NodeName=n[01-03],m7 Sockets=2 CoresPerSocket=8 \\
  ThreadsPerCore=2 RealMemory=512000 Gres=gpu:a100:4(S:0-1) Feature=ib,nvme
NodeName=login CPUs=4
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE PriorityJobFactor=10
PartitionName=gpu Nodes=n[01-03] MaxTime=2-0 PriorityTier=5
NodeName=n[01-03] Name=gpu Type=a100 File=/dev/nvidia[0-3]
SwitchName=top Switches=leaf[1-2]
SwitchName=leaf1 Nodes=n[01-02]
SwitchName=leaf2 Nodes=n03,m7
"""

KUEUE = """apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: on-demand}
spec: {nodeLabels: {pool: reserved}, topologyName: net}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: cheap}
spec: {nodeLabels: {pool: spot}, nodeTaints: [{key: spot, effect: NoSchedule}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: net}
spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: research}
spec:
  parentName: org
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: cheap, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]}]
---
apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ClusterQueue
  metadata: {name: vision}
  spec:
    cohortName: research
    namespaceSelector: {}
    queueingStrategy: StrictFIFO
    preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 50}}
    flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: MayStopSearch}
    fairSharing: {weight: 2}
    admissionChecks: [prov]
    resourceGroups:
    - coveredResources: [cpu, nvidia.com/gpu, example.com/nic]
      flavors:
      - name: on-demand
        resources:
        - {name: cpu, nominalQuota: 500m}
        - {name: nvidia.com/gpu, nominalQuota: 4, borrowingLimit: 2, lendingLimit: 1}
        - {name: example.com/nic, nominalQuota: 1}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: LocalQueue
  metadata: {name: team, namespace: a}
  spec: {clusterQueue: vision}
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
        self.assertEqual(options["volcano.tiers"], "priority+gang,capacity+nodeorder+binpack+resource-strategy-fit+task-topology")
        self.assertEqual(options["volcano.actions"], "enqueue,allocate,gangpreempt")
        self.assertEqual(
            options["volcano.settings"].split(","),
            ["gang.at.preemptable=false", "capacity.at.hierarchy=true", "capacity.ancestor_levels=1", "nodeorder.least=2", "nodeorder.affinity=3", "nodeorder.pods=3", "binpack.weight=10",
             "binpack.resources.nvidia.com/gpu=7", "binpack.resources.example.com/foo=1", "resource-strategy-fit.weight=4",
             "resource-strategy-fit.resources.nvidia.com/gpu=most:2", "resource-strategy-fit.resources.cpu=least:1", "resource-strategy-fit.scarce.weight=10",
             "resource-strategy-fit.scarce.resources.nvidia.com/gpu=3", "task-topology.weight=5",
             "gangpreempt.most_domains=4", "gangpreempt.whole_jobs=false", "preempt.trials=true", "preempt.percent_of_nodes=20"],
        )  # fmt: skip
        self.assertEqual(
            told["left_out"],
            ["1: actions: there is no action shuffle", "23: there is no plug-in tdm: nodes that are lent for hours are reservations"],
        )

    def test_volcano_by_load_and_groups(self):
        told = self.told("""actions: allocate, preempt
tiers:
- plugins:
  - {name: drf, enableHierarchy: true}
  - name: pdb
  - name: cdp
- plugins:
  - {name: nodegroup, enableHierarchy: true, arguments: {strict: false, enablePreferredOrder: true}}
  - name: usage
    enablePredicate: false
    arguments:
      usage.weight: 7
      cpu.weight: 2
      thresholds: {cpu: 70, mem: 90}
      estimator: {request_ratio: 0.5, burst_ratio: 0.1, risk_factor: 1.5, be_cpu: 100m, be_mem: 1Gi}
""")
        self.assertEqual(told["options"]["volcano.tiers"], "drf+pdb+cdp,nodegroup+usage")
        self.assertEqual(
            told["options"]["volcano.settings"].split(","),
            ["drf.at.hierarchy=true", "nodegroup.at.hierarchy=true", "nodegroup.strict=false", "nodegroup.preferred_in_order=true",
             "usage.at.predicate=false", "usage.weight=7", "usage.cpu=2", "usage.most_cpu=70", "usage.most_memory=90",
             "usage.request_ratio=0.5", "usage.risk_factor=1.5", "usage.cpu_of_none=100", "usage.memory_of_none=1024"],
        )  # fmt: skip
        self.assertEqual(told["left_out"], ["15: burst_ratio: what pods may use beyond their requests is not known"])
        cluster = self.file("c.ks", "scenario 1\nnode n1 gpu=1 cpu=8 memory=8Gi pods=10\nqueue q\npod_group g queue=q\n  pod g-0 gpu=1 cpu=1\n")
        options = [f"--set={name}={value}" for name, value in told["options"].items()]
        self.ok("run", cluster, *options)

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
            told["options"]["volcano.settings"],
            "jobs.one_queue=true,nodeorder.balanced_gpus=false,jobs.by_pod=true,preempt.trials=true,preempt.by_start=true,preempt.for_nothing=true,"
            "preempt.most_nodes=1000000,nodeorder.taints=3,nodeorder.affinity=4,nodeorder.pods=2,nodeorder.required_pods=1,nodeorder.spread=2,nodeorder.least=0,nodeorder.most=5,nodeorder.balanced=0,preempt.percent_of_nodes=25,preempt.fewest_nodes=7",
        )
        self.assertEqual(len(told["left_out"]), 2)
        gangs = self.told(KUBE.replace("    score:", "    multiPoint:\n      enabled: [{name: Coscheduling}]\n    score:"))
        self.assertEqual(gangs["options"]["preset"], "coscheduling")

    def test_slurm(self):
        told = self.told(SLURM)
        self.assertEqual(
            told["options"],
            {"preset": "slurm-backfill", "multifactor.age": "1000", "multifactor.cpu": "100", "multifactor.fair_share": "20000", "multifactor.gpu": "3000",
             "multifactor.max_age": "302400", "multifactor.priority": "1", "multifactor.queue": "0", "multifactor.size": "0", "multifactor.small_first": "true",
             "backfill.groups": "1000", "backfill.resolution": "300", "backfill.window": "172800", "placement.cpu": "spread", "placement.gpu": "spread"},
        )  # fmt: skip
        self.assertEqual(
            [": ".join(one.split(": ")[:2]) for one in told["left_out"]],
            ["5: SchedulerParameters", "11: PriorityWeightQOS", "14: PriorityWeightTRES", "17: TopologyPlugin", "18: NodeName", "23: Nodes", "23: MaxTime", "23: PriorityTier"],
        )  # fmt: skip
        # First come, first served, where the plug-in is not named.
        basic = self.told(SLURM.replace("PriorityType=priority/multifactor", ""))["options"]
        self.assertEqual((basic["multifactor.age"], basic["multifactor.fair_share"], "multifactor.gpu" in basic), ("0", "0", False))
        for wrong in ("-1", "1e3", "99999999999999999999", ""):
            told = self.told(SLURM.replace("bf_window=2880", f"bf_window={wrong}"))
            self.assertNotIn("backfill.window", told["options"])
            self.assertIn("5: bf_window: not a number that can be used", told["left_out"])

    def test_what_is_set_aside(self):
        predicates = """tiers:
- plugins:
  - name: predicates
    arguments:
      predicate.ProportionalEnable: %s
      predicate.resources: nvidia.com/gpu, example.com/foo
      predicate.resources.nvidia.com/gpu.cpu: 4.5
      predicate.resources.example.com/foo.cpu: 4
"""
        told = self.told(predicates % "true")
        self.assertEqual((told["options"]["set_aside.cpu"], told["options"]["set_aside.memory"]), ("4500", "1000000000"))
        self.assertEqual([one.split(": ", 1)[1] for one in told["left_out"]],
                         ["predicate.resources: nothing is set aside for example.com/foo",
                          "predicate.resources.example.com/foo.cpu: predicates does not read it"])  # fmt: skip
        self.assertNotIn("set_aside.cpu", self.told(predicates % "false")["options"])
        gpus = "NodeName=n[1-2] CPUs=32 Gres=gpu:4 RestrictedCoresPerGPU=%s\nNodeName=m CPUs=32 Gres=gpu:2 RestrictedCoresPerGPU=%s\nPartitionName=p Nodes=ALL\n"
        told = self.told(gpus % (4, 4))
        self.assertEqual((told["options"]["set_aside.cpu"], told["left_out"]), ("4000", []))
        told = self.told(gpus % (4, 2))
        self.assertEqual((told["options"]["set_aside.cpu"], told["left_out"]), ("4000", ["2: RestrictedCoresPerGPU: 4 as on the nodes before"]))
        self.assertNotIn("set_aside.cpu", self.told(gpus % (0, 0))["options"])

    def test_slurm_nodes(self):
        ks = self.file("nodes.ks", "")
        self.ok("import", self.file("slurm.conf", SLURM), "--cluster", ks)
        with open(ks, encoding="utf-8") as f:
            lines = f.read().splitlines()
        self.assertEqual(lines[:2], ["scenario 1", "topology switches levels=[slurm.switch/2,slurm.switch/1] primary"])
        self.assertEqual(
            lines[2],
            "node n01 cpu=32 memory=512000Mi pods=1000 gpu=4 labels={nvidia.com/gpu.product=a100,slurm.feature/ib=true,slurm.feature/nvme=true,"
            "slurm.switch/1=leaf1,slurm.switch/2=top}",
        )
        self.assertEqual(
            [line.split()[:3] for line in lines[3:]],
            [["node", "n02", "cpu=32"], ["node", "n03", "cpu=32"], ["node", "m7", "cpu=32"], ["node", "login", "cpu=4"],
             ["queue", "batch", "priority=10"], ["queue", "gpu", "priority=1"]],
        )  # fmt: skip
        self.assertEqual(json.loads(self.ok("run", ks, "--json"))["schema"], "kaisched-run/1")
        self.assertIn("says nothing of nodes, queues", self.fails(2, "import", self.file("v.yaml", VOLCANO), "--cluster", ks))
    def test_kueue(self):
        told = self.told(KUEUE)
        options = told["options"]
        self.assertEqual((told["from"], options["preset"]), ("Kueue", "kueue-classical"))
        self.assertEqual(
            options["kueue.settings"].split(","),
            ["topology=net", "flavor_label=pool", "flavors=spot+reserved", "queue.research.nominal.gpu.spot=8", "queue.vision.order=strict",
             "queue.vision.within_queue=lower_priority", "queue.vision.reclaim_within_cohort=any", "queue.vision.borrow_within_cohort=lower_priority",
             "queue.vision.borrow_highest_priority=50", "queue.vision.when_can_borrow=next", "queue.vision.when_can_preempt=stop",
             "queue.vision.nominal.cpu.reserved=500m", "queue.vision.nominal.gpu.reserved=4", "queue.vision.borrowing.gpu.reserved=2",
             "queue.vision.lending.gpu.reserved=1", "queue.vision.nominal.cpu.spot=0", "queue.vision.borrowing.cpu.spot=0",
             "queue.vision.nominal.gpu.spot=0", "queue.vision.borrowing.gpu.spot=0",
             "queue.org.nominal.cpu.spot=0", "queue.org.nominal.gpu.spot=0", "queue.org.nominal.cpu.reserved=0", "queue.org.nominal.gpu.reserved=0",
             "queue.research.nominal.cpu.spot=0", "queue.research.nominal.cpu.reserved=0", "queue.research.nominal.gpu.reserved=0"],
        )  # fmt: skip
        self.assertEqual(
            told["rows"],
            ["topology net levels=[rack,kubernetes.io/hostname]", "queue org", "queue research parent=org",
             "queue vision over_quota_weight.gpu=2 parent=research"],
        )  # fmt: skip
        self.assertEqual([one.split(": ", 1)[1] for one in told["left_out"]],
                         ["nodeTaints: taints of nodes say it", "admissionChecks: nothing here does this for vision",
                          "example.com/nic of vision has no quota here", "LocalQueue team: groups name the queue vision"])  # fmt: skip
        shares = "---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {preemptionStrategies: [LessThanInitialShare]}\n"
        told = self.told(KUEUE + shares)
        self.assertEqual(told["options"]["preset"], "kueue-fair")
        self.assertEqual(told["options"]["kueue.settings"].split(",")[0], "fair_sharing=true")
        self.assertIn("share_strategies=below_initial_share", told["options"]["kueue.settings"])

    def test_the_queues_of_kueue_are_a_scenario(self):
        told = self.told(KUEUE)
        lines = ["scenario 1", "option preset=kueue-classical", f"option kueue.settings=[{told['options']['kueue.settings']}]"]
        lines += told["rows"]
        lines += ["node n gpu=8 pods=110 labels={pool=reserved,rack=r,kubernetes.io/hostname=n}", "pod_group g[1-9] queue=vision", "pod g[1-9]-0 group=g[1-9] gpu=1"]
        lines += ["run", "expect counts bind=4 unschedulable=5", ""]  # of reserved ones nobody lends anything
        self.ok("test", self.file("c.ks", "\n".join(lines)))

    def test_queues_of_kueue_that_are_stopped(self):
        head = KUEUE.split("queueingStrategy")[0]
        rest = "queueingStrategy" + KUEUE.split("queueingStrategy")[1]
        for stop, drains in (("Hold", False), ("HoldAndDrain", True)):
            told = self.told(head + f"stopPolicy: {stop}\n    " + rest)
            settings = told["options"]["kueue.settings"]
            for resource in ("cpu", "gpu"):
                for kind in ("nominal", "borrowing"):
                    self.assertIn(f"queue.vision.{kind}.{resource}.reserved=0", settings)
            self.assertNotIn("=4", settings)
            self.assertEqual(told["options"].get("actions"), "overlimit,kueue" if drains else None)
            self.assertEqual(["limit=0" in row for row in told["rows"] if "vision" in row], [drains])
            lines = ["scenario 1", "option preset=kueue-classical", f"option kueue.settings=[{settings}]"]
            lines += ["option actions=[overlimit,kueue]"] if drains else []
            lines += told["rows"]
            lines += ["node n gpu=8 pods=110 labels={pool=reserved,rack=r,kubernetes.io/hostname=n}", "pod_group old queue=vision",
                      "pod old-0 group=old gpu=1 status=running node=n", "pod_group new queue=vision", "pod new-0 group=new gpu=1"]  # fmt: skip
            lines += ["run", "expect evict old-0 n" if drains else "expect unschedulable new", "expect unschedulable new" if drains else "", ""]
            self.ok("test", self.file(f"{stop}.ks", "\n".join(lines)))

    def test_yunikorn(self):
        told = self.told(YUNIKORN)
        options = told["options"]
        self.assertEqual((told["from"], options["preset"]), ("YuniKorn", "yunikorn-default"))
        self.assertEqual(
            options["yunikorn.settings"].split(","),
            ["nodes.order=binpacking", "nodes.weight.cpu=1", "nodes.weight.gpu=4", "nodes.weight.memory=0", "preemption=false", "apps.order=fair",
             "apps.most@research=5", "group_limit.lab:apps@research=3", "group_limit.lab:gpu@research=2", "group_limit.lab:cpu@research=1.5", "limit.ann:apps@research=3", "limit.ann:gpu@research=2", "limit.ann:cpu@research=1.5", "limit.*:apps@research=3",
             "limit.*:gpu@research=2", "limit.*:cpu@research=1.5", "preemption.delay@research.vision=90", "preemption.policy@research.vision=fence",
             "priority.offset@research.vision=-2", "priority.fence@research.vision=true", "apps.order@research.vision=fifo"],
        )  # fmt: skip
        self.assertEqual(
            [one.split(": ")[1] for one in told["left_out"]],
            ["submitacl", "priority.offset", "pods", "groups", "quota.preemption.delay", "another partition"],
        )
        self.assertEqual(
            told["rows"],
            [f"queue research quota.cpu=10000m quota.memory={10 << 30} quota.gpu=8000m limit.cpu=20500m", "queue research.vision parent=research",
             "queue product"],
        )  # fmt: skip
        self.assertEqual(
            told["queue_rules"],
            {"schema": "kaisched-queue-rules/1", "rules": [{"rule": "namespace", "create": True}, {"rule": "fixed", "queue": "default"}]},
        )
        self.assertEqual((self.told(VOLCANO)["rows"], self.told(VOLCANO)["queue_rules"]), ([], None))
        odd = self.told(YUNIKORN.replace("name: product", "name: 'a product'"))
        self.assertEqual((len(odd["rows"]), odd["left_out"][-2].split(": ")[-1]), (2, "that is no name of a queue"))

    def test_placement_rules_of_yunikorn_are_queue_rules(self):
        rules = """placementrules:
  - {name: provided, create: false, filter: {type: deny, users: [ann, bob]}}
  - name: tag
    value: namespace.parentqueue
  - name: user
    create: true
    filter: {groups: ['^dev\\..*']}
    parent: {name: tag, value: namespace, create: true, parent: {name: fixed, value: research}}
  - {name: user, filter: {users: ['a|b']}}
  - {name: tag, value: dept}
  - {name: recovery}
"""
        text = YUNIKORN.replace("placementrules: [{name: tag, value: namespace, create: true}]\n", rules)
        text = text.replace("- name: product", "- name: product\n      parent: true")
        text = text.replace("parent: true\n      resources", "childtemplate: {maxapplications: 2, resources: {guaranteed: {nvidia.com/gpu: 1}, max: {vcore: 500m}}}\n      resources")
        told = self.told(text)
        made = told["queue_rules"]
        self.assertEqual(
            made["rules"],
            [
                {"rule": "provided", "filter": {"type": "deny", "users": ["ann", "bob"]}},
                {"rule": "namespace_annotation", "key": "yunikorn.apache.org/parentqueue"},
                {"rule": "user", "create": True, "filter": {"groups": ["dev.*"]},
                 "parent": {"rule": "namespace", "create": True, "parent": {"rule": "fixed", "queue": "research"}}},
                {"rule": "fixed", "queue": "default"},
            ],
        )  # fmt: skip
        self.assertEqual(made["templates"], {"research": {"quota": {"gpu": "1"}, "limit": {"cpu": "500m"}}, "product": {}})
        for why in ["expressions have * and ? here; the rule is left out", "groups have no tags", "that is no rule here", "queues that are made have quotas"]:
            self.assertTrue(any(why in one for one in told["left_out"]), why)
        file = self.folder / "rules.json"
        self.ok("import", self.file("c.yaml", text), "--queue-rules", file, "-q")
        self.assertEqual(json.loads(file.read_text()), made)
        # The program reads what it has written.
        objects = self.file("o.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: lab, uid: u, labels: {user: ann},\n"
                            "  annotations: {yunikorn.apache.org/user.info: '{\"groups\": [\"dev.x\"]}'}}\n"
                            "spec: {schedulerName: kai-scheduler, containers: []}\n"
                            "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: research}\nspec: {}\n")  # fmt: skip
        self.assertIn("queue: research.lab.ann,", self.ok("convert", objects, "-", "--to", "yaml", "--queue-rules", file))
        self.assertIn("says nothing of which queue", self.fails(2, "import", self.file("v.yaml", VOLCANO), "--queue-rules", "-"))
        self.assertIn("are for objects of Kubernetes", self.fails(2, "run", self.file("x.ks", "scenario 1\n"), "--queue-rules", file))
        self.assertIn("rules.yaml:2: rules[0].rule: expected one of", self.fails(2, "run", objects, "--queue-rules", self.file("rules.yaml", "schema: kaisched-queue-rules/1\nrules: [{rule: all}]\n")))

    def test_queues_of_yunikorn_are_a_scenario(self):
        inner = "\n".join("    " + line for line in YUNIKORN.splitlines())
        text = f"apiVersion: v1\nkind: ConfigMap\ndata:\n  log.level: info\n  queues.yaml: |\n{inner}\n"
        queues = self.file("queues.ks", "")
        out = self.ok("import", self.file("c.yaml", text), "--cluster", queues)
        self.assertIn("\npreset: yunikorn-default\n", out)
        self.assertNotIn("# 3 nodes", out)
        self.assertIn("# 3 nodes, queues and topologies", self.ok("import", self.file("c.yaml", text)))
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

"""What `kaisched explain`, `kaisched what-if`, `kaisched scale`, `kaisched gaps`, `kaisched federate` and `kaisched simulate` write is what docs/schema says, over invented and hand-made clusters."""

import copy
import json
import sys
import unittest

from json_schema import faults, places
from support import SOURCE, Case, kaisched, main

sys.path.insert(0, str(SOURCE / "tests" / "docs"))
import codes

try:
    import jsonschema
except ImportError:
    jsonschema = None

EXPLAIN, WHAT_IF, SIMULATE, SCALE, FEDERATE, GAPS = (
    json.loads((SOURCE / "docs" / "schema" / f"kaisched-{name}-1.schema.json").read_text(encoding="utf-8"))
    for name in ("explain", "what-if", "simulate", "scale", "federate", "gaps")
)
EVICTING = "allocate,consolidation,reclaim,preempt"
ALLOCATING = ["--actions", "allocate"]
FEW_STEPS = ["--actions", EVICTING, "--set", "search_steps=1000"]  # seconds instead of minutes with sanitizers
KINDS = {"node": "node", "queue": "queue", "pod_group": "group", "pod": "pod", "topology": "topology"}
HAND_MADE = [  # scenarios and clusters that have what invented ones lack, with the actions to ask
    ("tests/scenarios/claims", "allocate"),
    ("tests/scenarios/mig", "allocate,repartition"),
    ("tests/scenarios/stale", "stalegangeviction,allocate"),
    ("tests/scenarios/time", "runtimelimit,allocate"),
    ("tests/scenarios/reclaim", EVICTING),
    ("tests/scenarios/preempt", EVICTING),
    ("tests/scenarios/consolidation", EVICTING),
    ("tests/scenarios/topology", "allocate"),
    ("tests/scenarios/reasons", "allocate"),
    ("tests/scenarios/numa", "allocate"),
]
TOGETHER = """scenario 1
topology fabric levels=[rack]
node n[1-3] gpu=4 cpu=64 pods=10 labels={rack=r}
queue q
pod_group train queue=q min_member=3 topology=fabric preferred_level=rack
  pod train-[0-2] gpu=4 cpu=1
run
"""
# A shape, closed nodes, pods that are gated or missing, groups of which only some pods may be taken, pods of several kinds.
ODD = """scenario 1
now 5h
topology hall levels=[block,rack] primary=true shapes={rack=ring:4}
node a1 gpu=4 cpu=64 pods=10 labels={block=b,rack=r} position={rack=0}
node a2 gpu=4 cpu=64 pods=10 labels={block=b,rack=r} position={rack=1}
node a3 gpu=4 cpu=64 pods=10 labels={block=b,rack=r} unschedulable=true
node a4 gpu=4 cpu=64 pods=10 labels={block=b,rack=q} ready=false
node b1 gpu=4 cpu=64 pods=10 labels={block=b,rack=s}
queue q quota.gpu=2 limit.gpu=10
queue wide
pod_group semi queue=q min_member=1 semi_preemptible=true
  pod semi-[0-1] gpu=1 cpu=1 status=running node=a1
pod_group firm queue=q preemptible=false
  pod firm-0 gpu=4 cpu=1
pod_group short queue=q min_member=3
  pod short-[0-1] gpu=1 cpu=1
pod_group gates queue=q
  pod gates-0 gpu=1 cpu=1 status=gated
pod_group rack queue=wide min_member=3 topology=hall required_level=rack
  pod rack-[0-2] gpu=4 cpu=1
pod_group mixed queue=wide min_member=2
  pod mixed-0 gpu=6 cpu=1
  pod mixed-1 gpu=3 cpu=1
"""


def entities(document, most=40):
    """KIND/NAME of the rows of a cluster file: all but of many those at even distances."""
    words = []
    for kind, prefix in KINDS.items():
        rows = document.get(kind, [])
        step = max(1, len(rows) // most)
        words += [f"{prefix}/{row['name']}" for row in rows[::step]]
    return words


class Schemas(Case):
    """The documents themselves."""

    def test_every_object_is_closed_and_described(self):
        for schema in (EXPLAIN, WHAT_IF, SCALE, FEDERATE):
            self.assertEqual(schema["properties"]["schema"]["const"], schema["title"])
            for path in places(schema):
                here = schema
                for key in path:
                    here = here[key]
                if "properties" in here and isinstance(here["properties"], dict) and here.get("type") == "object":
                    with self.subTest(path):
                        self.assertIs(here["additionalProperties"], False)
                        self.assertIn("title", here)
                        self.assertIn("description", here)

    def test_codes_are_those_of_the_headers(self):
        known = {name: [code for code, _ in rows] for name, rows in codes.known_in(SOURCE).items()}

        def listed(schema, definition, member):
            return schema["$defs"][definition]["properties"][member]["enum"]

        for name, found in {
            "constraint": ["none", *listed(EXPLAIN, "reason", "constraint")],
            "reason_scope": listed(EXPLAIN, "reason", "scope"),
            "attempt_outcome": listed(EXPLAIN, "attempt", "outcome"),
            "certificate_assumption": ["none", *listed(EXPLAIN, "certificate_structure", "assumption")],
            "change_kind": listed(EXPLAIN, "change", "kind"),
            "choice_rule": listed(EXPLAIN, "choice", "rule"),
            "choice_plan": listed(EXPLAIN, "choice", "plan"),
            "choice_flip_kind": listed(EXPLAIN, "flip", "kind"),
            "victim_rule": listed(EXPLAIN, "victim_rule", "rule"),
            "spared_reason": listed(EXPLAIN, "spared", "why"),
            "share_step_kind": listed(EXPLAIN, "share_step", "kind"),
            "start_way": listed(WHAT_IF, "forecast", "way"),
            "start_knowledge": listed(WHAT_IF, "forecast", "knowledge"),
        }.items():
            self.assertEqual(found, known[name], name)
        for other in (SCALE, FEDERATE):
            self.assertEqual(listed(other, "reason", "constraint"), listed(EXPLAIN, "reason", "constraint"))
        forms = [EXPLAIN["$defs"][one["$ref"].rpartition("/")[2]]["properties"]["kind"]
                 for one in EXPLAIN["$defs"]["pod_group"]["properties"]["certificate"]["oneOf"]]
        kinds = [kind for form in forms for kind in form.get("enum", [form.get("const")])]
        self.assertEqual(sorted(kinds), sorted(known["certificate_kind"]))

    @unittest.skipUnless(jsonschema, "jsonschema absent")
    def test_schemas_are_schemas(self):
        for schema in (EXPLAIN, WHAT_IF, SIMULATE, SCALE):
            jsonschema.Draft202012Validator.check_schema(schema)


class Outputs(Case):
    """Real ones."""

    def checked(self, schema, *arguments, twice=False):
        """The JSON of a command, which fits. `twice`: another reader of schemas says the same, if it is installed."""
        document = json.loads(self.ok(*arguments, "--json"))
        self.assertEqual(faults(document, schema, schema)[:5], [], arguments)
        if twice and jsonschema is not None:
            jsonschema.Draft202012Validator(schema).validate(document)
        return document

    def explained(self, path, words, *more, twice=False):
        return self.checked(EXPLAIN, "explain", path, *words, *more, twice=twice)["explanations"]

    def test_invented_clusters(self):
        seen = set()
        for seed, load, policy in [(1, "1.3", ALLOCATING), (2, "1.3", FEW_STEPS), (3, "0.7", ["--mode", "compat", *ALLOCATING]),
                                   (4, "1.3", ["--mode", "compat", *FEW_STEPS]), (5, "1.3", ["--set", "language=zh", *ALLOCATING])]:
            path, decisions = self.folder / f"{seed}.json", self.folder / "decisions.json"
            self.ok("generate", path, "--gpus", "128", "--load", load, "--seed", seed, "-q")
            self.ok("run", path, *policy, "-q", "--decisions", decisions)
            leaving = [f"pod/{row['pod_name']}" for row in json.loads(decisions.read_text())["decision"]
                       if row["kind"] in ("evict", "move", "migrate")]
            self.assertEqual(bool(leaving), EVICTING in policy)
            words = [*entities(json.loads(path.read_text()), 20), *leaving[:10]]
            told = self.explained(path, words, *policy, "--nodes", seed % 3)
            seen |= {(one["kind"], key) for one in told for key in one}
            waiting = next(one["name"] for one in told if one["kind"] == "pod_group" and one["pods_waiting"] > 0)
            questions = [["--queue", "speech", "--group", waiting], ["--queue", "speech", "--pods", "3", "--gang", "2", "--gpus", "0.5"],
                         ["--queue", "speech", "--ends", "0", "--non-preemptible", "--gpus", "8"]]
            for question in questions[:1] if leaving else questions:
                self.checked(WHAT_IF, "what-if", path, *question, *policy, twice=True)
        for kind, key in [("pod", "choice"), ("pod", "eviction"), ("pod", "passed_over"), ("pod", "reasons"),
                          ("topology", "domains"), ("pod_group", "certificate"), ("queue", "share_steps"), ("node", "refused")]:
            self.assertIn((kind, key), seen)

    def test_hand_made_clusters(self):
        kinds = set()
        clusters = [(path, actions) for folder, actions in HAND_MADE
                    for path in sorted((SOURCE / folder).rglob("*.ks"))[:12]]
        clusters.append((self.file("odd.ks", ODD), EVICTING))
        left_out = 0
        for path, actions in clusters:
            made = self.folder / "made.json"
            done = kaisched("convert", path, made, "-q")
            if done.returncode != 0:  # a scenario that is more than a cluster
                self.assertIn("only rows that add may stand before the first", done.stderr)
                left_out += 1
                continue
            document = json.loads(made.read_text())
            words = entities(document, 8)
            for one in self.explained(made, words, "--actions", actions, twice=True):
                if one["kind"] == "pod_group":
                    kinds.add(one["certificate"]["kind"])
            groups = [row["name"] for row in document.get("pod_group", [])][:3]
            if groups:
                self.checked(WHAT_IF, "what-if", made, *[w for name in groups for w in ("--group", name)], "--actions", actions)
        self.assertGreater(len(clusters) - left_out, 50)
        self.assertGreaterEqual(kinds, {"none", "structure", "queue_bound", "counting_bound", "domain_bound"})

    def test_plays(self):
        jobs, racks = self.folder / "jobs.csv", ["--nodes-per-rack", "2", "--equal-quotas"]
        self.ok("workload", "generate", jobs, "--jobs", "60", "--queues", "3", "-q")
        self.assertNotIn("details", self.checked(SIMULATE, "simulate", jobs, "--nodes", "3x8", twice=True))
        for words in (["3x8", *racks], ["2x8", "--until", "2h"], ["2x4", "--actions", "allocate,preempt"]):
            details = self.checked(SIMULATE, "simulate", jobs, "--details", "--nodes", *words, twice=True)["details"]
            tables = {name: table for name, table in details.items() if name != "end"}
            for name, table in tables.items():
                columns = table | table.pop("domains", {})
                self.assertEqual(len({len(values) for values in columns.values()}), 1, name)
            self.assertEqual(len(details["jobs"]["job"]), 60)
            self.assertLessEqual(max(details["stays"]["end"]), details["end"])
            for node, devices in zip(details["stays"]["node"], details["stays"]["devices"]):
                self.assertLess(max(devices), details["nodes"]["devices"][node])

    def test_nodes_to_add_and_to_give_back(self):
        path, types = self.folder / "c.json", self.file("types.yaml", TYPES)
        self.ok("generate", path, "--gpus", "128", "--load", "1.6", "--seed", "3", "-q")
        seen = set()
        for words in ([], ["--up", "--strategy", "first_fit"], ["--down"], ["--up", "--verifications", "3"]):
            told = self.checked(SCALE, "scale", path, "--types", types, *words, twice=True)
            self.assertEqual([one for one in ("up", "down") if one in told], [one for one in ("up", "down") if f"--{one}" in words or not words])
            for group in told.get("up", {}).get("groups", []):
                seen.add(("helped" if group["helped"] else "not helped", bool(group["reasons"])))
            for node in told.get("down", {}).get("nodes", []):
                seen.add(("returned" if node["returned"] else "kept", node["empty"]))
        self.assertGreaterEqual(seen, {("helped", False), ("not helped", True), ("returned", True), ("kept", False)})

    def test_distances_from_the_best(self):
        path = self.folder / "c.json"
        self.ok("generate", path, "--gpus", "128", "--load", "1.5", "--seed", "1", "-q")
        topology = self.file("t.ks", TOGETHER)
        kinds = {gap["kind"] for file in (path, topology) for gap in self.checked(GAPS, "gaps", file, *FEW_STEPS[2:], "--set", f"actions={EVICTING}")["gaps"]}
        self.assertEqual(kinds, {"victims", "domains", "fragmentation"})

    def test_clusters_that_share_a_line(self):
        files = federation_files(self)
        told = self.checked(FEDERATE, "federate", *files, *ALLOCATING, twice=True)
        self.assertEqual({one["stage"] for one in told["placed"]}, {"starts", "offered"})
        self.assertEqual({one["verdict"] for wait in told["waits"] for one in wait["verdicts"]}, {"full", "label", "never", "not_wanted", "refused"})
        self.assertTrue(any(one["reasons"] for wait in told["waits"] for one in wait["verdicts"]))

    def test_every_answer_of_what_if(self):
        ways = set()
        path = self.file("later.ks", LATER)
        for words in (["--queue", "lab", "--gpus", "2"], ["--queue", "lab", "--gpus", "4"], ["--queue", "team", "--gpus", "8"],
                      ["--queue", "team", "--pods", "2", "--gpus", "8"], ["--queue", "lab", "--gpus", "4", "--ends", "0"],
                      ["--group", "train"], ["--queue", "lab", "--gpus", "9"]):
            for one in self.checked(WHAT_IF, "what-if", path, *words)["forecasts"]:
                ways.add(one["way"])
        self.assertEqual(ways, {"none", "now", "displaces", "later", "unknown"})


def federation_files(case):
    """Arguments of `kaisched federate`: two clusters, one that is known by its summary, jobs that start, wait and fit nowhere."""
    pods = '"request": {"cpu": 1000, "gpu": 2000}'
    for name, gpus in (("east", 2000), ("west", 4000), ("far", 4000)):
        node = f'{{"name": "n", "capacity": {{"cpu": 8000, "memory": 8000, "gpu": {gpus}, "pods": 10}}}}'
        case.file(f"{name}.json", f'{{"schema": "kaisched-cluster/1", "queue": [{{"name": "q"}}], "node": [{node}]}}')
    groups = ["a", "b", "c", "d", "there", "more", "large", "apart"]
    rows = [f'{{"name": "{g}-0", "group": "{g}", {pods}}}' for g in groups[:6]]
    rows.append('{"name": "large-0", "group": "large", "request": {"gpu": 9000}}')
    rows.append('{"name": "apart-0", "group": "apart", "request": {"cpu": 1000}, "obstacle": "no volume"}')
    names = ", ".join(f'{{"name": "{g}", "queue": "q", "created": {i}}}' for i, g in enumerate(groups))
    jobs = case.file("jobs.json", f'{{"schema": "kaisched-cluster/1", "queue": [{{"name": "q"}}], "pod_group": [{names}], "pod": [{", ".join(rows)}]}}')
    case.ok("federate", case.folder / "far.json", "--summary", case.folder / "known.json", *ALLOCATING, "-q")
    members = case.file("members.json", """{"schema": "kaisched-federation/1", "members": [{"name": "known", "labels": {"site": "far"}, "price": 9}],
        "groups": [{"name": "there", "required": {"site": "far"}}, {"name": "more", "required": {"site": "far"}}, {"name": "apart", "members": ["east", "west"]}]}""")
    return [case.folder / "east.json", case.folder / "west.json", "--known", case.folder / "known.json", "--jobs", jobs, "--members", members]


TYPES = """schema: kaisched-node-types/1
type:
  - {name: h100x8, price: 98, most: 16}
  - {name: a100x8, price: 41, most: 16, new_domains: [{label: rack, nodes: 4}]}
node:
  - {name: h100x8, capacity: {cpu: 192000, memory: 2000000000000, gpu: 8000, pods: 110}, labels: {gpu.model: H100}}
  - {name: a100x8, capacity: {cpu: 96000, memory: 1000000000000, gpu: 8000, pods: 110}, labels: {gpu.model: A100}}
"""
LATER = """scenario 1
now 1h
node n[1-2] gpu=8 cpu=96 pods=110
queue team quota.gpu=8
queue lab quota.gpu=8
pod_group train queue=team last_start=0s runtime_estimate=2h
  pod train-0 gpu=8 cpu=8 status=running node=n1
pod_group sweep queue=team priority=40 last_start=0s runtime_estimate=3h
  pod sweep-0 gpu=4 cpu=8 status=running node=n2
pod_group serve queue=lab preemptible=false last_start=0s
  pod serve-0 gpu=2 cpu=8 status=running node=n2
"""


class Refused(Case):
    """A changed output does not fit: a member less, one more, one of another type, a code that is none."""

    def outputs(self):
        path = self.folder / "c.json"
        self.ok("generate", path, "--gpus", "64", "--load", "1.3", "--seed", "2", "-q")
        words = entities(json.loads(path.read_text()), 4)
        yield EXPLAIN, json.loads(self.ok("explain", path, *words, *FEW_STEPS, "--json"))
        yield WHAT_IF, json.loads(self.ok("what-if", path, "--queue", "speech", "--json"))
        small = self.folder / "small.json"
        self.ok("generate", small, "--gpus", "16", "--load", "2", "-q")
        yield SCALE, json.loads(self.ok("scale", small, "--types", self.file("types.yaml", TYPES), "--json"))
        yield FEDERATE, json.loads(self.ok("federate", *federation_files(self), "--json"))

    @staticmethod
    def inside(document, path):
        for key in path:
            document = document[key]
        return document

    def test_changed_keys(self):
        tried = 0
        for schema, document in self.outputs():
            self.assertEqual(faults(document, schema, schema), [])
            free = {"scores", "request", "capacity", "idle", "releasing"}  # named by parts and dimensions
            closed = [path for path in places(document) if not (path and path[-1] in free)]
            for path in closed[:: max(1, len(closed) // 60)]:
                for key in self.inside(document, path):
                    changed = copy.deepcopy(document)
                    here = self.inside(changed, path)
                    here[key + "_"] = here.pop(key)
                    with self.subTest((path, key)):
                        self.assertNotEqual(faults(changed, schema, schema), [])
                    tried += 1
        self.assertGreater(tried, 200)

    def test_changed_values(self):
        changes = [lambda d: d.update(mode="loose"), lambda d: d.update(digest="0"), lambda d: d.update(more=1),
                   lambda d: d.update(schema="kaisched-run/1"), lambda d: d.pop("preset")]
        for schema, document in self.outputs():
            for change in changes:
                changed = copy.deepcopy(document)
                change(changed)
                self.assertNotEqual(faults(changed, schema, schema), [])
            member = "explanations" if schema is EXPLAIN else "forecasts"
            for i, one in enumerate(document.get(member, [])):
                for key in one.keys() & {"kind", "way", "knowledge", "status"}:
                    for wrong in ("nothing of this", 1, None):
                        changed = copy.deepcopy(document)
                        changed[member][i][key] = wrong
                        self.assertNotEqual(faults(changed, schema, schema), [])

    def test_unknown_keywords_are_errors(self):
        with self.assertRaisesRegex(ValueError, "does not know propertyNames"):
            faults({}, {"propertyNames": {}}, {})


if __name__ == "__main__":
    main()

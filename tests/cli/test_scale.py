"""`kaisched scale`: nodes to add and to give back."""

import json

from support import QUEUE, Case, cluster, jobs, main

NODES = '"node": [{"name": "n1", "capacity": {"cpu": 8000, "memory": 8000, "gpu": 2000, "pods": 10}}, {"name": "n2", "capacity": {"cpu": 8000, "memory": 8000, "gpu": 2000, "pods": 10}}]'
BIG = '{"name": "big", "capacity": {"cpu": 64000, "memory": 64000, "gpu": 8000, "pods": 110}}'


def types(*rows, node=BIG, more=""):
    return f'{{"schema": "kaisched-node-types/1", "type": [{", ".join(rows)}], "node": [{node}]{more}}}'


BIG_AT_70 = '{"name": "big", "price": 70, "most": 4}'


class Scale(Case):
    def setUp(self):
        super().setUp()
        self.path = self.file("c.json", cluster(QUEUE, NODES, jobs("fits", gpu=1000)))
        self.waits = self.file("w.json", cluster(QUEUE, NODES, jobs("large", "other", gpu=8000)))
        self.types = self.file("t.json", types(BIG_AT_70))

    def asked(self, *arguments):
        return json.loads(self.ok("scale", *arguments, "--json"))

    def test_what_to_add(self):
        told = self.asked(self.waits, "--types", self.types)["up"]
        self.assertEqual(told["add"], [{"type": "big", "count": 2, "price": 70, "nodes": ["big+1", "big+2"]}])
        self.assertEqual((told["cost"], told["lower_bound"], told["cheapest"], told["minimal"]), (140, 140, True, True))
        self.assertEqual({g["group"]: g["placed"] for g in told["groups"]}, {"large": 1, "other": 1})
        one = self.asked(self.waits, "--types", self.types, "--up", "--group", "large")
        self.assertEqual((one["up"]["cost"], "down" in one), (70, False))
        self.assertEqual(self.asked(self.waits, "--types", self.types, "--queue", "q")["up"]["cost"], 140)

    def test_the_report(self):
        report = self.ok("scale", self.waits, "--types", self.types)
        for line in ("2 x big  at 70", "140 an hour; no set of these types that lets as much start costs less",
                     "Start then: 2 groups", "large: 1 of 1 pod on big+1", "n1: nothing runs there"):
            self.assertIn(line, report)
        few = self.ok("scale", self.waits, "--types", self.types, "--most", "1")
        self.assertIn("and 1 more", few)
        self.assertIn("nothing waits that nodes are asked for", self.ok("scale", self.path, "--types", self.types, "--up"))

    def test_who_waits_all_the_same(self):
        small = self.file("s.json", types('{"name": "big", "price": 70, "most": 1}'))
        report = self.ok("scale", self.waits, "--types", small, "--up")
        self.assertIn("Wait all the same: 1 group", report)
        self.assertIn("other: ", report)

    def test_what_to_give_back(self):
        told = self.asked(self.path, "--down")["down"]
        self.assertEqual({n["name"] for n in told["nodes"] if n["returned"]}, {"n2"})
        self.assertEqual((told["saved"], told["complete"]), (0, True))

    def test_yaml_says_the_same(self):
        text = "schema: kaisched-node-types/1\ntype:\n  - {name: big, price: 70, most: 4}\nnode:\n  - " + BIG.replace('"', "") + "\n"
        self.assertEqual(self.ok("scale", self.waits, "--types", self.file("t.yaml", text), "--json"),
                         self.ok("scale", self.waits, "--types", self.types, "--json"))

    def test_strategies(self):
        pair = jobs("pair", gpu=8000).replace('"queue": "q"}', '"queue": "q", "min_member": 2}').replace(
            '"pod": [', '"pod": [{"name": "pair-1", "group": "pair", "request": {"gpu": 8000}}, ')
        path = self.file("p.json", cluster(QUEUE, NODES, pair))
        one = self.file("s.json", types('{"name": "big", "price": 70, "most": 1}'))
        first = self.asked(path, "--types", one, "--up", "--strategy", "first_fit")
        self.assertEqual((first["strategy"], first["up"]["cost"], first["up"]["groups"][0]["placed"]), ("first_fit", 70, 0))
        self.assertEqual(self.asked(path, "--types", one, "--up")["up"]["cost"], 0)

    def test_errors_name_file_object_and_field(self):
        for text, message in [
            (types('{"name": "big", "price": -1, "most": 4}'), "t.json:1: type[0].price: is -1, expected 0 or more"),
            (types('{"name": "big", "price": 1.5, "most": 4}'), "type[0].price: expected an integer, found 1.5"),
            (types('{"name": "big", "price": 4611686018427387904, "most": 4}'), "type[0].price: 4611686018427387904 times 4 nodes"),
            (types('{"name": "big", "price": 1}'), 'type[0]: "most" is missing'),
            (types('{"name": "big", "price": 1, "most": 1, "cost": 2}'), "type[0].cost: no such member"),
            (types(BIG_AT_70, BIG_AT_70), "type[1].name: 'big' is given twice, first in type[0]"),
            (types('{"name": "bigg", "price": 1, "most": 1}'), "type[0].name: there is no node 'bigg'; did you mean \"big\"?"),
            (types(BIG_AT_70, node=BIG.replace('"cpu"', '"tpu"')), "node[0].capacity.tpu: no such dimension"),
            (types(BIG_AT_70, node=BIG + ", " + BIG), "node[1].name"),
            (types(BIG_AT_70, node='{"name": "big", "capacity": {"gpu": 8000}}'), "type[0]: node 'big' has no room for pods: capacity.pods is not given"),
            (types('{"name": "big", "price": 1, "most": 1, "new_domains": [{"label": "rack", "nodes": 0}]}'),
             "type[0].new_domains[0].nodes: is 0, expected 1 or more"),
            (types('{"name": "big", "price": 1, "most": 1, "new_domains": 3}'), "type[0].new_domains: expected an array, found 3"),
            (types("7"), "type[0]: expected an object, found 7"),
            (types(BIG_AT_70, more=', "pod": []'), "pod: no such member"),
            (types(BIG_AT_70).replace("types/1", "types/2"), 'schema: expected "kaisched-node-types/1"'),
            ("[]", "expected an object with"),
        ]:
            said = self.fails(2, "scale", self.waits, "--types", self.file("t.json", text))
            self.assertIn(message, said, text)
            self.assertIn("t.json:1: ", said)
        self.assertIn("nothing.json", self.fails(2, "scale", self.waits, "--types", self.folder / "nothing.json"))

    def test_questions_that_are_none(self):
        self.assertIn("--types is missing", self.fails(2, "scale", self.waits))
        self.assertIn("there is no queue 'p'", self.fails(2, "scale", self.waits, "--types", self.types, "--queue", "p"))
        self.assertIn("there is no pod group 'x'", self.fails(2, "scale", self.waits, "--types", self.types, "--group", "x"))
        self.assertIn("--verifications", self.fails(2, "scale", self.waits, "--types", self.types, "--verifications", "0"))


if __name__ == "__main__":
    main()

"""Resource claims in the lab: Kubernetes makes claims of templates, kaisched-kubernetes gives them devices, Kubernetes takes
them back."""

from lab_case import LabCase, main
from test_claims import DRIVER, PROTECTION, claim, claiming, device_class, device_slice

from clusters import node, queue


class Claims(LabCase):
    controllers = True

    def claims(self):
        return {one["metadata"]["name"]: one for one in self.lab.items("/apis/resource.k8s.io/v1/namespaces/team/resourceclaims")}

    def devices(self):
        given = [one.get("status", {}).get("allocation", {}) for one in self.claims().values()]
        return [r["device"] for one in given for r in one.get("devices", {}).get("results", [])]

    def tearDown(self):
        super().tearDown()
        now = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        for path in ("namespaces/team/resourceclaims", "namespaces/team/resourceclaimtemplates", "resourceslices", "deviceclasses"):
            self.lab.ask("DELETE", f"/apis/resource.k8s.io/v1/{path}", now)

    def test_claims_of_templates_come_and_go(self):
        """Two devices, three pods: two start, each with a device of its own; when one has ended the third has its device."""
        template = {**claim("one"), "kind": "ResourceClaimTemplate"}
        template["spec"] = {"spec": template["spec"]}
        pods = [claiming(name, template="one") for name in "abc"]
        self.create(node("n0", 0), queue("default-queue", -1), device_class(), device_slice("n0", 2), template, *pods)
        self.start()
        self.until(lambda: len(self.lab.bound()) == 2)
        self.assertEqual(sorted(self.devices()), ["gpu-0", "gpu-1"])
        for one in self.claims().values():
            for user in one.get("status", {}).get("reservedFor", []):
                self.assertEqual(one["metadata"]["finalizers"], [PROTECTION])
                self.assertEqual(self.lab.bound()[user["name"]], "n0")
                self.assertEqual(one["status"]["allocation"]["devices"]["results"][0]["driver"], DRIVER)
        first = sorted(self.lab.bound())[0]
        self.remove(next(one for one in pods if one["metadata"]["name"] == first))
        self.until(lambda: len(self.lab.bound()) == 2 and first not in self.lab.bound())
        self.assertEqual(sorted(self.devices()), ["gpu-0", "gpu-1"])

    def test_a_shared_claim(self):
        self.create(node("n0", 0), queue("default-queue", -1), device_class(), device_slice("n0", 1), claim("shared"))
        self.create(*(claiming(name, "shared") for name in "ab"))
        self.start()
        self.until(lambda: len(self.lab.bound()) == 2)
        self.assertEqual({one["name"] for one in self.claims()["shared"]["status"]["reservedFor"]}, {"a", "b"})


if __name__ == "__main__":
    main()

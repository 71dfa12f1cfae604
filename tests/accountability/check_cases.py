"""Random clusters through `kaisched explain` and the checker: every certificate is valid, none that was changed is.

    check_cases.py CASES_PROGRAM KAISCHED FOLDER
"""
import copy
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_certificate as checker  # noqa: E402

CASES = 200  # of each form


def verdict(cluster, proof):
    try:
        checker.check(copy.deepcopy(cluster), proof)
        return "valid"
    except checker.Wrong as why:
        return f"wrong: {why}"
    except (checker.Unknown, LookupError, TypeError, ValueError, AttributeError) as why:
        return f"cannot tell: {why}"


def bounds_of(proof):
    """Paths to the bounds inside a certificate."""
    if "bound" in proof:
        yield proof["bound"]
    for one in proof.get("domains", []):
        yield one["bound"]


def tampered(proof, cluster):
    """Changed copies, each with what was changed."""
    def changed(what, change):
        copied = copy.deepcopy(proof)
        return (what, copied) if change(copied) is not False else None

    def numbers(key, by):
        def change(one):
            holders = list(bounds_of(one)) or [one]
            if key not in holders[0]:
                return False
            holders[0][key] += by
        return change

    def stronger(one):
        if one["assumption"] == "empty":
            return False
        one["assumption"] = "empty"

    def less_most(one):
        for bound in bounds_of(one):
            for nodes in bound["nodes"]:
                if nodes["most"] > 0:
                    nodes["most"] -= 1
                    bound["have"] -= len(nodes["nodes"])
                    return None
        return False

    def other_reason(one):
        for bound in bounds_of(one):
            for nodes in bound["nodes"]:
                nodes["why"] = "taint" if nodes["why"] != "taint" else "node_not_ready"
                return None
        return False

    def drop_node(one):
        for bound in bounds_of(one):
            for nodes in bound["nodes"]:
                nodes["nodes"].pop()
                return None
        return False

    def twice(one):
        for bound in bounds_of(one):
            for nodes in bound["nodes"]:
                nodes["nodes"].append(nodes["nodes"][0])
                return None
        return False

    def invented_node(one):
        for bound in bounds_of(one):
            for nodes in bound["nodes"]:
                nodes["nodes"].append("no-such-node")
                return None
        return False

    def drop_domain(one):
        if not one.get("domains"):
            return False
        one["domains"].pop()

    def code(key, value):
        def change(one):
            one[key] = value
        return change

    def other_queue(one):
        if "queue" not in one:
            return False
        one["queue"] += "-x"

    def other_dimension(one):
        for holder in list(bounds_of(one)) or [one]:
            if "dimension" in holder:
                holder["dimension"] = "no-such-dimension"
                return None
        return False

    def place(pod, node):
        def change(one):
            one["after"]["placed"].append({"pod": pod, "node": node, "devices": []})
        return change

    def too_large(one):
        for pod in cluster["pod"]:
            for node in cluster["node"]:
                if pod["request"].get("gpu", 0) > node["capacity"].get("gpu", 0):
                    return place(pod["name"], node["name"])(one)
        return False

    changes = [changed("need + 1", numbers("need", 1)), changed("need - 1", numbers("need", -1)),
               changed("have - 1", numbers("have", -1)), changed("have + 1", numbers("have", 1)),
               changed("one less on a node", less_most), changed("another reason", other_reason),
               changed("a node left out", drop_node), changed("a node twice", twice),
               changed("a node invented", invented_node), changed("a domain left out", drop_domain),
               changed("unknown kind", code("kind", "astrology")), changed("kind none", code("kind", "none")),
               changed("unknown assumption", code("assumption", "on_mondays")),
               changed("another group", code("group", "no-such-group")), changed("another queue", other_queue),
               changed("another dimension", other_dimension), changed("a pod placed where it cannot be", too_large),
               changed("an invented pod placed", place("no-such-pod", "no-such-node"))]
    if proof["kind"] == "queue_bound":  # a structure whose facts stay the same may be told under other changes
        changes.append(changed("unknown changes", code("after", {"blessed": ["p"]})))
    return [one for one in changes if one is not None], changed("stronger", stronger)


def explain(program, path, groups):
    words = [program, "explain", str(path), *("group/" + one for one in groups), "--json"]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    return [one["certificate"] for one in json.loads(ran.stdout)["explanations"] if one["kind"] == "pod_group"]


def main(cases, program, folder):
    folder = pathlib.Path(folder)
    subprocess.run([cases, str(folder), str(CASES)], check=True)
    valid, refused, kinds, faults = 0, 0, {}, []
    for path in sorted(folder.glob("*.json")):
        with open(path, encoding="utf-8") as file:
            cluster = json.load(file)
        for proof in explain(program, path, [row["name"] for row in cluster.get("pod_group", [])]):
            if proof["kind"] == "none":
                continue
            said = verdict(cluster, proof)
            if said != "valid":
                faults.append(f"{path.name}, {proof['group']}: {said}")
                continue
            valid += 1
            name = f"{proof['kind']} {proof['assumption']}"
            kinds[name] = kinds.get(name, 0) + 1
            plain, stronger = tampered(proof, cluster)
            for what, one in plain:
                if "queue_missing" == proof.get("what") and what.startswith(("need", "have")):
                    continue  # says nothing with numbers
                if verdict(cluster, one) == "valid":
                    faults.append(f"{path.name}, {proof['group']}: {what} is not noticed")
                refused += 1
            # The engine tells the strongest statement: a stronger one must be refused.
            if stronger and verdict(cluster, stronger[1]) == "valid":
                faults.append(f"{path.name}, {proof['group']}: there is a stronger statement")
    for name in sorted(kinds):
        print(f"{kinds[name]:6} {name}")
    print(f"{valid} certificates valid, {refused} changed ones refused")
    for one in faults[:20]:
        print(one)
    return 1 if faults or valid < 300 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

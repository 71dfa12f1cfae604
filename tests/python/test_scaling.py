"""Nodes to add and to give back."""

import pytest

import kaisched as ks


@pytest.fixture
def world():
    """Two nodes of four GPUs with a job each; a gang of two wants eight GPUs a pod."""
    built = ks.Cluster()
    built.apply(
        queues={"name": ["q"]},
        nodes={
            "name": ["n1", "n2"],
            "capacity": {"cpu": [64000] * 2, "memory": [2**38] * 2, "gpu": [4000] * 2, "pods": [110] * 2},
            "labels": [["node.kubernetes.io/instance-type", "small"]] * 2,
        },
        pod_groups={"name": ["serve", "tune", "train"], "queue": ["q"] * 3, "min_member": [1, 1, 2]},
        pods={
            "name": ["serve-0", "tune-0", "train-0", "train-1"],
            "group": ["serve", "tune", "train", "train"],
            "request": {"gpu": [2000, 1000, 8000, 8000]},
            "status": [ks.PodStatus.RUNNING] * 2 + [ks.PodStatus.PENDING] * 2,
            "node": ["n1", "n2", "", ""],
        },
    )
    return built


TYPES = {"name": ["small", "large"], "price": [13, 40], "most": [8, 4]}
NODES = {
    "name": ["small", "large"],
    "capacity": {"cpu": [64000, 128000], "memory": [2**38, 2**40], "gpu": [4000, 8000], "pods": [110] * 2},
}


def test_the_gang_gets_the_nodes_that_it_needs(world):
    answer = ks.scale(world, TYPES, nodes=NODES)
    assert answer.add == {"large": 2} and answer.additions["name"] == ["large+1", "large+2"]
    assert answer.cost == 80 == answer.lower_bound and answer.cheapest and bool(answer.summary["minimal"][0])
    assert answer.groups["group_name"] == ["train"] and answer.groups["placed"].tolist() == [2]
    assert answer.groups["placed_pods"] == [["train-0", "train-1"]]
    assert sorted(answer.groups["placed_nodes"][0]) == ["large+1", "large+2"]
    assert answer.groups["placed_by"] == [["bind", "bind"]]
    assert "add 2 x large for 80 an hour; proven cheapest" in repr(answer) and "2 of 2 pods" in repr(answer)
    assert "large+1" in answer._repr_html_()


def test_what_can_go(world):
    world.apply(op="remove", pods={"name": ["train-0", "train-1"]})
    answer = ks.scale(world, TYPES, nodes=NODES)
    assert answer.add == {} and answer.cost == 0
    assert len(answer.give_back) == 1 and answer.saved == 13
    gone = answer.nodes["name"].index(answer.give_back[0])
    (pod,) = answer.nodes["moved_pods"][gone]
    assert answer.nodes["moved_groups"][gone] == [pod[:-2]]
    assert answer.nodes["moved_from"][gone] == answer.give_back and answer.nodes["moved_to"][gone] != answer.give_back
    only = ks.scale(world)
    assert only.give_back == answer.give_back and only.saved == 0  # nobody has said what nodes cost


def test_questions(world):
    first = ks.scale(world, TYPES, nodes=NODES, down=False, strategy="first_fit")
    assert first.nodes.rows == 0 and first.add == {"large": 2}
    nobody = ks.scale(world, TYPES, nodes=NODES, groups=["tune"])
    assert nobody.add == {} and nobody.groups.rows == 0
    racks = ks.scale(world, {**TYPES, "new_domains": [{}, {"rack": 2}]}, nodes=NODES, queues=["q"])
    assert racks.add == {"large": 2}
    fifo = ks.scale(world.snapshot(), TYPES, nodes=NODES, engine=ks.Engine(actions=["allocate"]), now=5)
    assert fifo.add == {"large": 2}


def test_a_file_of_types(world, tmp_path):
    path = tmp_path / "types.yaml"
    path.write_text(
        "schema: kaisched-node-types/1\n"
        "type: [{name: large, price: 40, most: 4}]\n"
        "node: [{name: large, capacity: {cpu: 128000, memory: 1000000000000, gpu: 8000, pods: 110}}]\n"
    )
    assert ks.scale(world, path).cost == 80 and ks.scale(world, str(path)).add == {"large": 2}
    with pytest.raises(ks.ArgumentError, match="has all tables"):
        ks.scale(world, path, nodes=NODES)


@pytest.mark.parametrize(
    ("types", "said"),
    [
        ({**TYPES, "price": [13, -1]}, "node type 'large': price is negative"),
        ({**TYPES, "name": ["small", "huge"]}, "node type 'huge': node is missing"),
        ({**TYPES, "price": [13.5, 40.0]}, "types, column price: expected int64"),
        ({**TYPES, "most": [1]}, "types, column most: 1 rows, the column name has 2"),
        ({**TYPES, "cost": [1, 2]}, "types has no column cost"),
        ({"name": ["small"], "most": [1]}, "types: there is no column price"),
    ],
)
def test_offers_that_are_wrong(world, types, said):
    with pytest.raises(ks.ArgumentError, match=said):
        ks.scale(world, types, nodes=NODES)


def test_names_that_nothing_has(world):
    with pytest.raises(ks.NotFoundError, match="'nobody'"):
        ks.scale(world, TYPES, nodes=NODES, groups=["nobody"])
    with pytest.raises(ks.ArgumentError, match="strategy"):
        ks.scale(world, TYPES, nodes=NODES, strategy="luck")
    with pytest.raises(ks.ArgumentError, match="verifications"):
        ks.scale(world, TYPES, nodes=NODES, verifications=0)

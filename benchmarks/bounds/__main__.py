"""python3 -m benchmarks.bounds VERB ...: bounds of an input, or of public ones beside the numbers that are known."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

from . import fairness, fragmentation, gap, inputs, reproduce, times
from .inputs import GPU, InputError

Report = dict[str, Any]
SCHEMA = "kaisched-bounds/1"


def achieved(texts: Sequence[str]) -> dict[str, float]:
    found = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            name = ""
        if not name or not isfinite(found[name]):
            raise InputError(f"--achieved {text}: NAME=NUMBER is wanted")
    return found


def beside_most(texts: Sequence[str], most: float) -> dict[str, float]:
    """How many % below the most."""
    found = achieved(texts)
    for name, value in found.items():
        if value > most:
            raise InputError(f"--achieved {name}: {value:g} is above the bound {most:g}: this input cannot give it")
    return {name: gap.below(value, most) for name, value in found.items()}


def beside_least(texts: Sequence[str], least: float) -> dict[str, float]:
    """How many % above the least."""
    found = achieved(texts)
    if found and not least:
        raise InputError("--achieved: the bound is 0, so nothing is a part of it")
    for name, value in found.items():
        if value < least * (1 - 1e-9):
            raise InputError(f"--achieved {name}: {value:g} is below the bound {least:g}: this input cannot give it")
    return {name: gap.above(value, least) for name, value in found.items()}


def arrivals(options: argparse.Namespace) -> list[inputs.Pod]:
    pods = inputs.read_pods(options.pods)
    return inputs.read_arrivals(options.arrivals, options.line, pods) if options.arrivals else pods


def packing(options: argparse.Namespace) -> Report:
    from .packing import Packing

    program = Packing(inputs.read_nodes(options.nodes), arrivals(options))
    prefix, most = program.prefix(), program.most_allocated()
    return {
        "capacity_gpu_milli": most.capacity_gpu_milli,
        "offered_gpu_milli": most.offered_gpu_milli,
        "arrived_pods": prefix.arrived_pods,
        "most_allocated_gpu_milli": most.gpu_milli,
        "most_allocated_pct": most.percent,
        "prefix_pods": prefix.pods,
        "prefix_gpu_milli": prefix.gpu_milli,
        "prefix_pct": prefix.percent,
        "seconds": prefix.seconds + most.seconds,
        "below_most_allocated_pct": beside_most(options.achieved, most.gpu_milli),
    }


def exact(options: argparse.Namespace) -> Report:
    from .exact import drawn, most_allocated

    nodes, pods = inputs.read_nodes(options.nodes), arrivals(options)
    if options.draw is not None:
        nodes, pods = drawn(nodes, pods, options.draw, options.load, options.seed)
    result = most_allocated(nodes, pods, options.time_limit)
    return {
        "nodes": len(nodes),
        "pods": len(pods),
        "status": result.status,
        "capacity_gpu_milli": result.capacity_gpu_milli,
        "offered_gpu_milli": result.offered_gpu_milli,
        "found_gpu_milli": result.gpu_milli,
        "bound_gpu_milli": result.bound_gpu_milli,
        "gap_pct": result.gap_percent,
        "seconds": result.seconds,
        "below_bound_pct": beside_most(options.achieved, result.bound_gpu_milli),
    }


def frag(options: argparse.Namespace) -> Report:
    nodes, pods = inputs.read_nodes(options.nodes), inputs.read_pods(options.pods)
    states = fragmentation.state_after(nodes, pods, inputs.read_placements(options.placements))
    weights = fragmentation.typical(pods)
    idle = sum(sum(state.gpus) for state in states)
    measured = fragmentation.fragmented(states, weights)
    unavoidable = fragmentation.unavoidable(states, weights)
    return {
        "capacity_gpu_milli": sum(node.type.gpu_milli for node in nodes),
        "idle_gpu_milli": idle,
        "typical_classes": len(weights),
        "fragmented_gpu_milli": float(measured),
        "unavoidable_gpu_milli": float(unavoidable),
        "unavoidable_on_best_nodes_gpu_milli": float(fragmentation.least_with(nodes, idle, weights)),
        "avoidable_gpu_milli": float(measured - unavoidable),
    }


def time(options: argparse.Namespace) -> Report:
    jobs = inputs.read_jobs(options.jobs)
    bound = times.bounds(jobs, inputs.Row("--gpus", {"gpus": options.gpus}).scaled("gpus", GPU, least=1))
    mean = times.seconds(bound.mean_jct)
    return {
        "jobs": bound.jobs,
        "gpu_seconds": bound.work / GPU / inputs.SECOND,
        "mean_isolated_s": times.seconds(bound.mean_isolated),
        "mean_srpt_s": times.seconds(bound.mean_srpt),
        "mean_jct_s": mean,
        "last_end_s": times.seconds(bound.last_end),
        "above_mean_jct_pct": beside_least(options.achieved, mean),
    }


def shares(options: argparse.Namespace) -> Report:
    claimants = inputs.read_claimants(options.claims)
    if options.capacity < 0:
        raise InputError(f"--capacity: {options.capacity} is less than 0")
    fair = fairness.max_min(options.capacity, [one.demand for one in claimants], [one.weight for one in claimants])
    report: Report = {"fair": {one.name: float(share) for one, share in zip(claimants, fair)}}
    given = [one.share for one in claimants if one.share is not None]
    if given and len(given) < len(claimants):
        raise InputError(f"{options.claims}: share: some have one and some do not")
    if given:
        apart = fairness.deviation(given, fair)
        satisfied = [Fraction(has, one.weight) for has, one in zip(given, claimants)]
        report |= {
            "largest_lack_pct": float(100 * apart.largest_lack),
            "misplaced_pct": float(100 * apart.misplaced),
            "jain_per_weight": float(fairness.jain(satisfied)),
        }
    return report


def compare(options: argparse.Namespace) -> Report:
    shared = os.environ.get("KAISCHED_SHARED")
    if not options.data and not shared:
        raise InputError("--data: no folder is given, and KAISCHED_SHARED names none either")
    folder = options.data or Path(shared or "") / "data"
    cases: list[reproduce.Case] = []
    known: dict[str, Callable[[], Iterator[reproduce.Case]]] = {
        "muri": lambda: reproduce.muri(folder / "muri"),
        "frag": lambda: reproduce.fgd_fragmentation(folder / "fgd"),
        "fgd": lambda: reproduce.fgd(folder / "fgd", options.workload, options.seed),
    }
    wanted = [options.only] if options.only else list(known)
    for source in wanted:
        print(f"{'case':26} {'bound':18} {'ours':>16} {'expected':>16} {'difference':>12}")
        for case in known[source]():
            cases.append(case)
            for number in case.numbers:
                wrong = "" if number.equal else "  DIFFERS"
                print(
                    f"{number.case:26} {number.what:18} {number.ours:16,.3f} {number.expected:16,.3f}"
                    f" {number.difference:12.4f}{wrong}"
                )
            from_bound = ", ".join(f"{name} {round(value, 1) + 0:.1f} %" for name, value in case.below_bound.items())
            print(f"{'':26} {case.seconds:.2f} s; from the bound: {from_bound}", flush=True)
    numbers = [number for case in cases for number in case.numbers]
    differing = sum(not number.equal for number in numbers)
    if not numbers:
        raise InputError(f"{folder}: no such case")
    spent = [case.seconds for case in cases]
    print(
        f"{len(cases)} cases, {len(numbers)} numbers, {differing} differ; bounds took {sum(spent):.1f} s,"
        f" the longest {max(spent):.2f} s"
    )
    return {
        "differing": differing,
        "cases": [
            {
                "case": case.name,
                "seconds": case.seconds,
                "numbers": [
                    {"bound": one.what, "ours": one.ours, "expected": one.expected, "equal": one.equal}
                    for one in case.numbers
                ],
                "from_bound_pct": case.below_bound,
            }
            for case in cases
        ],
    }


def shown(report: Report) -> None:
    for name, value in report.items():
        values = {f"{name} {key}": one for key, one in value.items()} if isinstance(value, dict) else {name: value}
        for label, one in values.items():
            print(f"{label}: {one:,.3f}" if isinstance(one, float) else f"{label}: {one}")


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="bounds", description="What no policy can do better than; see docs/bounds.md.")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        one = verbs.add_parser(name, help=text, description=text)
        one.set_defaults(function=function)
        one.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there as well")
        return one

    def cluster(one: argparse.ArgumentParser) -> None:
        one.add_argument("--nodes", type=Path, required=True, help="name,gpu_model,gpu_count,cpu_milli,memory_mib")
        one.add_argument("--pods", type=Path, required=True, help="name,cpu_milli,memory_mib,num_gpu,gpu_milli,...")

    def stream(one: argparse.ArgumentParser) -> None:
        cluster(one)
        one.add_argument("--arrivals", type=Path, metavar="FILE", help="lines of a label and indices of pods by name")
        one.add_argument("--line", default="", metavar="LABEL", help="which line of them")
        one.add_argument(
            "--achieved", action="append", default=[], metavar="NAME=MILLI_GPU", help="what a policy has allocated"
        )

    stream(verb("packing", packing, "most GPUs allocated, and arrivals until one must be rejected, by linear programs"))
    small = verb("exact", exact, "most GPUs allocated, exactly, for up to about ten nodes")
    stream(small)
    small.add_argument("--time-limit", type=float, default=60, metavar="SECONDS", help="default: 60")
    small.add_argument("--draw", type=int, metavar="NODES", help="that many at random, and pods for them")
    small.add_argument("--load", type=Fraction, default=Fraction(1), help="of what is drawn; default: 1")
    small.add_argument("--seed", type=int, default=1, help="of the draw; default: 1")
    state = verb("frag", frag, "fragmentation after placements, and the part that none could avoid")
    cluster(state)
    state.add_argument("--placements", type=Path, required=True, help="pod,node,gpu_ids")
    jobs = verb("time", time, "least mean completion time and last end")
    jobs.add_argument("--jobs", type=Path, required=True, help="job,submit,run_time,gpus_total,...")
    jobs.add_argument("--gpus", required=True, help="of the whole cluster")
    jobs.add_argument("--achieved", action="append", default=[], metavar="NAME=SECONDS", help="mean JCT of a policy")
    fair = verb("shares", shares, "max-min shares, and how far others are from them")
    fair.add_argument("--claims", type=Path, required=True, help="name,demand[,weight][,share]")
    fair.add_argument("--capacity", type=int, required=True)
    known = verb("compare", compare, "bounds of public inputs beside known numbers; status 1 if any differs")
    known.add_argument("--data", type=Path, help="folder with fgd/ and muri/; default: $KAISCHED_SHARED/data")
    known.add_argument("--only", choices=["muri", "frag", "fgd"])
    known.add_argument("--workload", action="append", default=[], help="of fgd; may be given again")
    known.add_argument("--seed", action="append", default=[], help="of fgd; may be given again")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        report = options.function(options)
        if options.verb != "compare":
            shown(report)
        if options.json:
            options.json.write_text(json.dumps({"schema": SCHEMA, "verb": options.verb, **report}, indent=1) + "\n")
    except (InputError, OSError) as error:
        print(f"bounds: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"bounds: {error.name} is needed (pip install highspy, or ./dev bounds)", file=sys.stderr)
        return 2
    return 1 if report.get("differing") else 0


if __name__ == "__main__":
    sys.exit(main())

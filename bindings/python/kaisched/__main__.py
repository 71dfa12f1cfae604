"""``python -m kaisched report``: what ``kaisched report`` hands over to."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kaisched._errors import Error


def _report(told: argparse.Namespace) -> None:
    from kaisched import report

    labels: list[str] = []
    runs = []
    for name in told.runs:
        run = report.read(name)
        again = labels.count(run.label)
        labels.append(run.label)
        runs.append(run if again == 0 else report.read(name, f"{run.label} ({again + 1})"))
    report.write(told.output, runs, told.title or None)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m kaisched", description="What the package adds to the program kaisched.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    report = commands.add_parser("report", help="one page about plays: figures, tables, no network")
    report.add_argument("runs", nargs="+", metavar="RUN.json", help="written by kaisched simulate --details --json=FILE")
    report.add_argument("-o", "--output", default=Path("report.html"), metavar="FILE", type=Path, help="the page, HTML")
    report.add_argument("--title", default="", help="heading of the page")
    report.set_defaults(does=_report)
    told = parser.parse_args(words)
    try:
        told.does(told)
    except Error as e:
        print(f"kaisched: {e}", file=sys.stderr)
        return 2
    except ImportError as e:
        print(f"kaisched: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        print(f"kaisched: {e.filename}: {e.strerror}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The program kaisched behind an adapter: `kaisched.py [PROGRAM] [OPTION...]`. With the options of a case it decides as the
case says; with others, such as `--preset volcano-default`, it shows what these would."""

import json
import subprocess
import sys

case = json.load(sys.stdin)
program, options = (sys.argv[1:2] or ["kaisched"])[0], sys.argv[2:]
settings = [word for name, value in case["options"].items() if name != "on_invalid" for word in ("--set", f"{name}={value}")]
done = subprocess.run([program, "run", "-", "--decisions", "-", "-q", *settings, *options], input=json.dumps(case["cluster"]),
                      capture_output=True, text=True, check=False)  # fmt: skip
if done.returncode != 0:
    sys.exit(done.stderr)
rows = json.loads(done.stdout)["decision"]
kinds = ("bind", "pipeline", "evict", "move", "migrate")
json.dump({"decisions": [{"kind": row["kind"], "pod": row["pod_name"], "node": row["node_name"]} for row in rows if row["kind"] in kinds]}, sys.stdout)

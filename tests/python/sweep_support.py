"""What workers of sweeps need to import."""

import os
import time
from pathlib import Path

import kaisched as ks


def drawn(seed):
    return ks.Workload.generate(jobs=30, seed=seed, jobs_per_hour=60)


class OldestLast(ks.Policy):
    """A policy that can be sent to other processes."""

    def order_groups(self, view, groups):
        return -view.group_created(groups)


class SlowOnce(ks.Policy):
    """Says in a folder that it plays, and takes its time until somebody has read that."""

    def __init__(self, folder):
        self.folder = str(folder)

    def session_open(self, view):
        folder = Path(self.folder)
        (folder / f"plays-{os.getpid()}").touch()
        while not (folder / "go-on").exists():
            time.sleep(0.01)

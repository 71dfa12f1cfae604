"""An environment of Gymnasium: which job is to start next?

>>> import gymnasium, kaisched.gym
>>> env = gymnasium.make("kaisched/Scheduling-v0", nodes="2x8", jobs=50)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(0)  # the job that waits longest
>>> env.close()

The engine plays; the agent is the part of its policy that orders jobs. Needs ``pip install 'kaisched[gym]'``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

import kaisched as ks
from kaisched._errors import ArgumentError

try:
    import gymnasium
except ImportError as _absent:  # pragma: no cover - said to who has not installed it
    raise ImportError("kaisched.gym needs gymnasium: pip install 'kaisched[gym]'") from _absent

__all__ = ["AGENTS", "SchedulingEnv", "baselines", "evaluate", "speed"]

#: Columns of ``observation["jobs"]``. Times are in mean run times of the workload, GPUs in those of the cluster.
FEATURES = ("waits", "run time", "GPUs", "pods", "fits now")
#: Columns of ``observation["cluster"]``.
SUMMARY = ("GPUs free", "jobs waiting", "jobs waiting that are not shown", "jobs that have come")

Array = np.ndarray[Any, Any]


class _Stopped(Exception):
    """The episode is given up."""


class _Moment(NamedTuple):
    """A session that asks for a job."""

    now: float
    jobs: Array  # that wait, in the order in which they came
    idle: Array  # GPUs of nodes


class _Agent(ks.Policy):
    """The part of the policy that asks the agent, in the thread of the play: once a session, before it begins."""

    name = "agent"
    base = "fifo-skip"

    def __init__(self, names: Sequence[str], submit: Array) -> None:
        self.asked: SimpleQueue[_Moment | Any] = SimpleQueue()
        self.told: SimpleQueue[int | None] = SimpleQueue()
        self._names = names
        self._created = np.rint(submit * 1e9).astype(np.int64)
        self._waits = np.zeros(0, dtype=np.int64)  # jobs that have come and not started
        self._come = 0
        self._chosen = -1

    def choose_group(self, now: int, idle: Array) -> str | None:
        come = int(np.searchsorted(self._created, now, side="right"))
        if come > self._come:
            self._waits = np.concatenate([self._waits, np.arange(self._come, come)])
            self._come = come
        if len(self._waits) == 0:
            return None
        self.asked.put(_Moment(now / 1e9, self._waits, idle))
        answer = self.told.get()
        if answer is None:
            raise _Stopped
        self._chosen = answer
        return self._names[answer] if answer >= 0 else None

    def group_starts(self) -> None:
        self._waits = self._waits[self._waits != self._chosen]


class SchedulingEnv(gymnasium.Env[dict[str, Array], np.int64]):
    """Jobs come, and as often as something has changed while jobs wait the agent says which of the ``slots`` jobs that
    have waited longest is tried next, or that none is (the last action). A job that does not fit leaves its GPUs free
    until something changes; after one that starts the agent is asked again at the same moment.

    ``workload``: a ``kaisched.Workload``, or a function of a seed that returns one for each episode; without it jobs are
    drawn (``kaisched.Workload.generate`` with ``jobs`` and ``drawn``). ``nodes`` is the cluster; other keywords are
    those of ``kaisched.simulate``. Jobs are not stopped: an episode ends when all have started.

    The reward is minus the time that jobs have waited since the last action, by the number of jobs and their mean run
    time: the sum over an episode is minus the mean waiting time in mean run times. ``reward="slowdown"`` counts the
    time of a job by its own run time. ``info["mask"]`` has the actions that start something or wait.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        workload: Any = None,
        *,
        nodes: str = "4x8",
        jobs: int = 200,
        drawn: Mapping[str, Any] | None = None,
        slots: int = 16,
        reward: str = "waiting",
        **told: Any,
    ) -> None:
        if slots < 1:
            raise ArgumentError(f"slots is {slots}, expected 1 at least")
        if reward not in ("waiting", "slowdown"):
            raise ArgumentError(f"reward is {reward!r}, expected 'waiting' or 'slowdown'")
        if workload is None:
            words = {"sizes": "1:50,2:20,4:20,8:10", "jobs_per_hour": 12, **(drawn or {})}

            def workload(seed: int) -> Any:
                return ks.Workload.generate(jobs=jobs, seed=seed, **words)

        self._make = workload if callable(workload) else lambda seed: workload
        self._told = {**told, "nodes": nodes}
        self._slots = slots
        self._by_run_time = reward == "slowdown"
        spaces = gymnasium.spaces
        self.observation_space: Any = spaces.Dict(
            {
                "jobs": spaces.Box(0.0, np.inf, (slots, len(FEATURES)), np.float32),
                "cluster": spaces.Box(0.0, np.inf, (len(SUMMARY),), np.float32),
            }
        )
        self.action_space = spaces.Discrete(slots + 1)
        self._thread: threading.Thread | None = None
        self._agent: _Agent | None = None

    # ---- Gymnasium

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Array], dict[str, Any]]:
        super().reset(seed=seed)
        self.close()
        w = self.workload = self._make(int(self.np_random.integers(2**31)))
        self._submit = np.asarray(w.submit, dtype=np.float64)
        self._run_time = np.asarray(w.run_time, dtype=np.float64)
        self._unit = max(float(self._run_time.mean()), 1e-9) if len(w) else 1.0
        self._capacity = self._gpus_of(self._told["nodes"])
        self._gpus = np.asarray(w.gpus, dtype=np.float64)
        self._pods = np.maximum(np.asarray(w.pods, dtype=np.float64), 1.0)
        weight = 1.0 / np.maximum(self._run_time, 1.0) if self._by_run_time else np.full(len(w), 1.0 / self._unit)
        self._weight = weight / max(1, len(w))
        self._agent = agent = _Agent(w.names, self._submit)
        words = {"estimates": "exact", "repeat": True, "one_queue": True, **self._told}
        words["options"] = {"queue_depth.allocate": 1, **words.get("options", {})}

        def play() -> None:
            try:
                agent.asked.put(ks.simulate(w, policy=agent, **words))
            except BaseException as e:  # goes on in the thread that asked
                agent.asked.put(e)

        self._thread = threading.Thread(target=play, name="kaisched-play", daemon=True)
        self._thread.start()
        self._moment: _Moment | None = None
        self.run: Any = None
        self._await()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[dict[str, Array], float, bool, bool, dict[str, Any]]:
        if self._agent is None or self._moment is None:
            raise ArgumentError("there is no episode: reset the environment")
        before = self._moment
        self._agent.told.put(self._choice(int(action), before))
        self._await()
        return self._observation(), self._reward(before), self._moment is None, False, self._info()

    def close(self) -> None:
        """Ends the episode that goes on."""
        if self._thread is not None and self._agent is not None:
            self._agent.told.put(None)
            self._thread.join()
        self._thread = self._agent = None
        self._moment = None

    # ---- the episode

    def _await(self) -> None:
        """The next session that asks, or the end of the play."""
        assert self._agent is not None and self._thread is not None
        told = self._agent.asked.get()
        if isinstance(told, _Moment):
            self._moment = told
            self._shown_fit = self._fits(told.jobs[: self._slots], told.idle)
            return
        self._moment = None
        self._thread.join()
        self._thread = self._agent = None
        if isinstance(told, BaseException):
            raise told
        self.run = told

    def _fits(self, jobs: Array, idle: Array) -> Array:
        """Whether nodes have room for all pods of a job: by GPUs, as if all of its pods were alike."""
        each = np.maximum(self._gpus[jobs] / self._pods[jobs], 1e-9)
        room = np.floor((idle[None, :] + 1e-9) / each[:, None]).sum(axis=1)
        enough: Array = room >= self._pods[jobs]
        return enough

    def _must_start(self, moment: _Moment) -> bool:
        """Nothing would ever happen again if no job started."""
        nothing_runs = float(moment.idle.sum()) >= self._capacity - 1e-9
        return nothing_runs and bool(self._submit[-1:].max(initial=0.0) <= moment.now + 1e-9)

    @staticmethod
    def _gpus_of(nodes: str) -> float:
        try:
            counts = [part.split(":")[0].split("x") for part in nodes.split(",")]
            return float(sum(int(n) * int(g) for n, g in counts))
        except ValueError:
            return 0.0  # the play says what is wrong

    def _choice(self, action: int, moment: _Moment) -> int:
        """The job that the action means; -1: none."""
        shown = moment.jobs[: self._slots]
        chosen = int(shown[action]) if action < len(shown) else -1
        if self._must_start(moment) and (chosen < 0 or not self._fits(np.array([chosen]), moment.idle)[0]):
            fitting = moment.jobs[self._fits(moment.jobs, moment.idle)]
            return int(fitting[0]) if len(fitting) else -1
        return chosen

    def _reward(self, before: _Moment) -> float:
        """Minus what those have waited that did before and still do, or came since."""
        if self._moment is not None:
            now, waiting = self._moment.now, self._moment.jobs
        else:
            start = np.asarray(self.run.jobs["start"])
            now, waiting = float(self.run.end), np.flatnonzero(~np.isfinite(start))
        since = np.maximum(self._submit[waiting], before.now)
        return -float((np.maximum(now - since, 0.0) * self._weight[waiting]).sum())

    def _observation(self) -> dict[str, Array]:
        jobs = np.zeros((self._slots, len(FEATURES)), dtype=np.float32)
        cluster = np.zeros(len(SUMMARY), dtype=np.float32)
        if self._moment is not None:
            now, waiting, idle = self._moment
            shown = waiting[: self._slots]
            n, capacity = len(shown), max(self._capacity, 1e-9)
            jobs[:n, 0] = np.maximum(now - self._submit[shown], 0.0) / self._unit
            jobs[:n, 1] = self._run_time[shown] / self._unit
            jobs[:n, 2] = self._gpus[shown] / capacity
            jobs[:n, 3] = self._pods[shown]
            jobs[:n, 4] = self._shown_fit
            came = np.searchsorted(self._submit, now, side="right") / len(self._submit)
            cluster[:] = idle.sum() / capacity, len(waiting), len(waiting) - n, came
        return {"jobs": jobs, "cluster": cluster}

    def _info(self) -> dict[str, Any]:
        mask = np.zeros(self._slots + 1, dtype=np.int8)
        if self._moment is None:
            return {"mask": mask, "run": self.run}
        mask[: len(self._shown_fit)] = self._shown_fit
        mask[-1] = not self._must_start(self._moment)
        return {"mask": mask, "time": self._moment.now}


gymnasium.register("kaisched/Scheduling-v0", entry_point="kaisched.gym:SchedulingEnv")


# ---- agents to compare with ------------------------------------------------------------------------------------------

Agent = Callable[[dict[str, Array], dict[str, Any], np.random.Generator], int]


def _random(observation: dict[str, Array], info: dict[str, Any], draws: np.random.Generator) -> int:
    return int(draws.choice(np.flatnonzero(info["mask"]))) if info["mask"].any() else len(info["mask"]) - 1


def _first(observation: dict[str, Array], info: dict[str, Any], draws: np.random.Generator) -> int:
    return 0


def _first_that_fits(observation: dict[str, Array], info: dict[str, Any], draws: np.random.Generator) -> int:
    fits = np.flatnonzero(info["mask"][:-1])
    return int(fits[0]) if len(fits) else len(info["mask"]) - 1


def _shortest_that_fits(observation: dict[str, Array], info: dict[str, Any], draws: np.random.Generator) -> int:
    fits = np.flatnonzero(info["mask"][:-1])
    return int(fits[np.argmin(observation["jobs"][fits, 1])]) if len(fits) else len(info["mask"]) - 1


#: Agents that have learned nothing.
AGENTS: dict[str, Agent] = {
    "random": _random,
    "fifo": _first,
    "fifo that fits": _first_that_fits,
    "shortest that fits": _shortest_that_fits,
}


def evaluate(env: SchedulingEnv, agent: Agent, seed: int = 0) -> Any:
    """Plays one episode to its end: the run."""
    draws = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    done = env._moment is None
    while not done:
        observation, _, done, _, info = env.step(agent(observation, info, draws))
    return env.run


def speed(env: SchedulingEnv, seeds: Sequence[int] = (1, 2, 3)) -> tuple[float, float]:
    """Steps a second by the clock, and for each second that the processor was busy, with the oldest job that fits."""
    steps = 0
    begun, used = time.perf_counter(), time.process_time()
    draws = np.random.default_rng(0)
    for seed in seeds:
        observation, info = env.reset(seed=seed)
        done = env._moment is None
        while not done:
            observation, _, done, _, info = env.step(_first_that_fits(observation, info, draws))
            steps += 1
    return steps / (time.perf_counter() - begun), steps / (time.process_time() - used)


def baselines(
    env: SchedulingEnv, seeds: Sequence[int] = (1, 2, 3), policies: Sequence[str] = ("fifo", "fifo-skip", "sjf"), **agents: Agent
) -> Any:
    """Mean waiting time and time until the end, in seconds, of agents of the environment and of policies of the engine
    over the same jobs: a table with a row for each. Agents of your own are given by name."""
    rows: list[tuple[str, str, float, float]] = []

    def add(kind: str, name: str, runs: Sequence[Any]) -> None:
        waiting, completion = (float(np.mean([r.metrics[f"{key}_mean"] for r in runs])) for key in ("waiting", "completion"))
        rows.append((kind, name, waiting, completion))

    for name, agent in {**AGENTS, **agents}.items():
        add("agent", name, [evaluate(env, agent, seed) for seed in seeds])
    workloads = []
    for seed in seeds:
        env.reset(seed=seed)
        workloads.append(env.workload)
    env.close()
    told = {"estimates": "exact", **env._told}
    for name in policies:
        add("engine", name, [ks.simulate(w, policy=name, **told) for w in workloads])
    return ks.Table(
        {
            "kind": [r[0] for r in rows],
            "policy": [r[1] for r in rows],
            "waiting_mean": np.array([r[2] for r in rows]),
            "completion_mean": np.array([r[3] for r in rows]),
        },
        "baseline",
    )

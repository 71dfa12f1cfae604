"""The environment: what Gymnasium asks of one, rewards that are what they say, and agents against the engine."""

import threading

import numpy as np
import pytest

import kaisched as ks

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium absent")
gym = pytest.importorskip("kaisched.gym")

DRAWN = {"nodes": "2x8", "jobs": 40}


@pytest.fixture
def env():
    made = gym.SchedulingEnv(**DRAWN)
    yield made
    made.close()


@pytest.mark.filterwarnings("ignore::UserWarning")  # of boxes without upper bounds
def test_gymnasium_accepts_it():
    from gymnasium.utils.env_checker import check_env

    made = gymnasium.make("kaisched/Scheduling-v0", **DRAWN)
    check_env(made.unwrapped, skip_render_check=True)
    made.close()


def played(env, agent, seed=3):
    observation, info = env.reset(seed=seed)
    draws = np.random.default_rng(seed)
    total, steps, done = 0.0, 0, False
    while not done:
        assert env.observation_space.contains(observation)
        observation, reward, done, truncated, info = env.step(agent(observation, info, draws))
        assert reward <= 0 and not truncated
        total, steps = total + reward, steps + 1
    return info["run"], total, steps


def test_rewards_add_up_to_the_mean_waiting_time(env):
    for agent in gym.AGENTS.values():
        run, total, _ = played(env, agent)
        wait = run.jobs["wait"]
        assert not np.isnan(wait).any()
        assert total == pytest.approx(-wait.mean() / np.mean(run.workload.run_time), rel=1e-6, abs=1e-9)


def test_rewards_by_run_time():
    env = gym.SchedulingEnv(**DRAWN, reward="slowdown")
    run, total, _ = played(env, gym.AGENTS["fifo"])
    assert total == pytest.approx(-(run.jobs["wait"] / np.maximum(run.workload.run_time, 1)).mean(), rel=1e-6, abs=1e-9)


def test_agents_that_do_as_policies_are_policies(env):
    """First come, first served and nobody else: that is fifo, decision by decision."""
    run, _, _ = played(env, gym.AGENTS["fifo"])
    fifo = ks.simulate(run.workload, nodes="2x8", policy="fifo")
    assert np.array_equal(run.jobs["start"], fifo.jobs["start"])


def test_the_same_seed_is_the_same_episode(env):
    first = played(env, gym.AGENTS["random"], 5)
    again = played(env, gym.AGENTS["random"], 5)
    assert first[0].digest == again[0].digest and first[1:] == again[1:]
    assert played(env, gym.AGENTS["random"], 6)[0].digest != first[0].digest


def test_it_ends_whatever_the_agent_does(env):
    for action in (env.action_space.n - 1, 0, 3):
        run, _, _ = played(env, lambda observation, info, draws, action=action: action)
        assert run.metrics["ended"] == 40


def test_what_is_seen():
    jobs = ks.Workload({"submit": [0, 0, 10], "run_time": [100, 50, 30], "gpus": [8, 4, 4]})
    env = gym.SchedulingEnv(jobs, nodes="1x8", slots=2)
    seen, info = env.reset(seed=0)
    assert seen["jobs"].tolist() == pytest.approx(np.array([[0, 100 / 60, 1, 1, 1], [0, 50 / 60, 0.5, 1, 1]]), rel=1e-6)
    assert seen["cluster"].tolist() == pytest.approx([1, 2, 0, 2 / 3])
    assert info["mask"].tolist() == [1, 1, 1]
    seen, reward, done, _, info = env.step(1)  # the second job starts, at the same moment
    assert (reward, done, info["mask"].tolist(), info["time"]) == (0, False, [0, 0, 1], 0)
    seen, reward, done, _, info = env.step(2)  # nothing, until the third job comes
    assert info["time"] == 10 and reward == pytest.approx(-10 / 60 / 3)
    assert seen["jobs"][:, 4].tolist() == [0, 1]
    seen, reward, done, _, info = env.step(1)
    assert reward == 0
    while not done:
        seen, reward, done, _, info = env.step(0)
    assert info["run"].jobs["start"].tolist() == [50, 0, 10]
    with pytest.raises(ks.ArgumentError, match="reset the environment"):
        env.step(0)


def test_episodes_that_are_given_up_leave_nothing_behind(env):
    before = threading.active_count()
    for _ in range(5):
        env.reset(seed=1)
        env.step(0)
    env.close()
    env.close()
    assert threading.active_count() == before


def test_baselines(env):
    table = gym.baselines(env, seeds=[1, 2], lazy=lambda observation, info, draws: len(info["mask"]) - 1)
    waits = dict(zip(table["policy"], table["waiting_mean"], strict=True))
    assert table["kind"].count("agent") == 5 and table["kind"].count("engine") == 3
    assert waits["shortest that fits"] < waits["lazy"]
    assert waits["shortest that fits"] < waits["fifo"]


def test_arguments():
    for told, says in (({"slots": 0}, "slots is 0"), ({"reward": "x"}, "reward is 'x'")):
        with pytest.raises(ks.ArgumentError, match=says):
            gym.SchedulingEnv(**told)
    broken = gym.SchedulingEnv(nodes="2y8")
    with pytest.raises(ks.Error, match="2y8"):
        broken.reset(seed=1)

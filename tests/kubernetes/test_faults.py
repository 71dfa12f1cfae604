"""kaisched-kubernetes under every fault that a server or a machine can have, at every request that writes: killed before
and after it took effect, no answer, wrong answers, slow answers; watches that break. The play is that of play.py; what is
true in the end is looked at object by object. One ctest entry per class."""

import concurrent.futures
import itertools
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from clusters import lease, node, pod  # noqa: E402
from fake_api import FakeApi  # noqa: E402
from play import Play, Supervised, describe  # noqa: E402
from test_program import PROGRAM, SHORT_LEASE, Case  # noqa: E402

ALONE = "period: 200ms\nleader_election: {enabled: false}\n"
PARALLEL = 3  # plays at the same time


class FaultCase(Case):
    numbers = itertools.count()

    def supervised(self, api, config, name="stderr"):
        (folder := self.folder / f"run-{name}").mkdir()
        kubeconfig = self.kubeconfig(api.url, folder=folder)  # plays go on side by side
        file = folder / "config.yaml"
        file.write_text("settle: 20ms\n" + config)
        log = open(self.folder / name, "a")
        self.addCleanup(log.close)
        made = Supervised([PROGRAM, "--kubeconfig", kubeconfig, "--config", file], log)
        self.addCleanup(made.stop)
        return made

    def ends_well(self, play, program, name="stderr", seconds=90):
        over = play.api.until(play.is_over, seconds)
        program.stop()
        log = (self.folder / name).read_text()
        self.assertTrue(over, describe(play) + log[-4000:])
        self.assertEqual(play.doubles(), [], describe(play) + log[-4000:])
        return log


class Killed(FaultCase):
    def number_of_writes(self):
        """Of a play in which nothing goes wrong."""
        with Play() as play:
            self.ends_well(play, self.supervised(play.api, ALONE, "well"), "well")
            return len([w for w in play.writes if "/events" not in w])

    def killed_at(self, k, when, config=ALONE):
        name = f"{when}-{k}"
        with Play() as play:
            armed = threading.Event()
            count = iter(range(1, 1000))

            def fault(request):
                if armed.is_set() or "/events" in request.path or next(count) < k:
                    return None
                armed.set()
                program.process.kill()
                return "drop" if when == "before" else "lost"

            with play.api.lock:  # nothing is asked before there is a program to kill
                play.faulty = fault
                program = self.supervised(play.api, config, name)
                while program.process is None:
                    time.sleep(0.01)
            # It may all be done before the next one has started, which has to leave it at that.
            self.assertTrue(play.api.until(lambda: program.starts >= 2, 90), name)
            self.ends_well(play, program, name)
            self.assertTrue(armed.is_set())
            self.assertEqual(program.codes[0], -9)

    def test_at_every_request_that_writes(self):
        last = self.number_of_writes()
        self.assertGreater(last, 15)
        plays = [(k, when) for k in range(1, last + 1) for when in ("before", "after")]
        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            list(pool.map(lambda one: self.killed_at(*one), plays))

    def test_with_a_lease(self):
        """Who comes after waits for the lease of who was killed."""
        for k, when in ((2, "after"), (8, "before")):
            self.killed_at(k, when, "period: 200ms\n" + SHORT_LEASE)

    def test_again_and_again(self):
        """Killed at every tenth of a second of its life, whatever it does then."""
        with Play() as play:
            program = self.supervised(play.api, ALONE)
            for _ in range(12):
                time.sleep(0.1)
                program.kill()
            self.ends_well(play, program)


class Answers(FaultCase):
    """Every request that writes meets the fault once."""

    def each_once(self, what, config=ALONE, seconds=120):
        name = f"answers-{next(self.numbers)}"
        with Play() as play:
            met = set()

            def fault(request):
                key = (request.method, request.path)
                if key in met or "/events" in request.path:
                    return None
                met.add(key)
                return what

            play.faulty = fault
            program = self.supervised(play.api, config, name)
            log = self.ends_well(play, program, name, seconds)
            self.assertEqual(program.starts, 1, log[-4000:])  # none of them ends it
            self.assertGreater(len(met), 15)
            return play, log

    def each_of(self, *plays):
        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            list(pool.map(lambda one: self.each_once(*one), plays))

    def test_no_answer(self):
        self.each_of(("drop",), ("lost",), ("half",))

    def test_refusals(self):
        self.each_of((500,), (503,), (409,))

    def test_too_many_requests(self):
        """After a 429 nothing more is asked for the time that the server names."""
        with Play() as play:
            at = []

            def fault(request):
                at.append(time.monotonic())
                return (429, 2) if len(at) == 3 else None

            play.faulty = fault
            program = self.supervised(play.api, ALONE)
            self.ends_well(play, program)
            self.assertEqual(program.starts, 1)
            self.assertGreaterEqual(at[3] - at[2], 1.9)

    def test_evictions_without_an_answer_are_told(self):
        """An eviction that has happened has its event, also if the server was asked about the pod to find out."""
        for what in ("lost", "drop"):
            with self.subTest(what), Play() as play:
                met = set()

                def fault(request, what=what, met=met):
                    if request.method != "DELETE" or request.path in met:
                        return None
                    met.add(request.path)
                    return what

                def told(play=play):
                    events = list(play.api.objects["events"].values())
                    return sorted(one["regarding"]["name"] for one in events if one["reason"] == "Evict" and one["regarding"]["kind"] == "Pod")

                play.faulty = fault
                program = self.supervised(play.api, ALONE, f"untold-{what}")
                left = sorted(f"a{i}-0" for i in range(8))
                play.api.until(lambda play=play: play.is_over() and len(told(play)) == 3, 90)
                self.ends_well(play, program, f"untold-{what}")
                self.assertEqual(told(), [name for name in left if f"team/{name}" not in play.api.pods()])
                self.assertGreaterEqual(len(met), 3)

    def test_answers_that_are_none(self):
        between = [  # of something in between: nothing was done
            ((200, [("Content-Type", "text/html")], body), ALONE + "explain_period: 1s\n") for body in (b"", b"[]", b"<html>welcome</html>")
        ]
        self.each_of(("garbage",), ("html",), *between)

    def test_slow_answers(self):
        self.each_once(("late", 0.1))
        # Longer than a request may take: given up, looked after, and not done twice.
        slow = "period: 200ms\nleader_election: {lease_duration: 3s, renew_deadline: 2500ms, retry_period: 300ms}\n"
        with Play() as play:
            met = []

            def fault(request):
                if request.path.endswith("c-1/binding") and not met:
                    return met.append(1) or ("late", 2)

            play.faulty = fault
            self.ends_well(play, self.supervised(play.api, slow))
            self.assertTrue(met)

    def test_a_token_that_is_gone_for_a_while(self):
        with FakeApi() as api:
            self.fill(api)
            token = self.folder / "token"
            token.write_text("first")
            process = self.start(api, ALONE, kubeconfig=self.kubeconfig(api.url, user=f"tokenFile: {token}"))
            self.assert_until(api, lambda: "all objects are read" in self.log())
            token.unlink()
            api.put("pods", pod("a"))
            self.assert_until(api, lambda: f"not asked: {token}: cannot be read" in self.log())
            self.assertIsNone(process.poll())
            token.write_text("second")
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})

    def test_a_lease_that_is_none(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("pods", pod("a"))
            json_type = [("Content-Type", "application/json")]
            for body in (b"[]", b"{", b'{"metadata": 1, "spec": []}', b'{"spec": {"leaseDurationSeconds": 9e99}}'):
                api.fail("GET", "/leases/", (200, json_type, body))
            for body in (b"[]", b"oh", b"{}"):
                api.fail("PUT", "/leases/", (200, json_type, body))
            forever = lease("", seconds=9223372036854775807)
            api.put("leases", forever)
            process = self.start(api, "period: 200ms\nleader_election: {lease_duration: 12s, renew_deadline: 10s, retry_period: 100ms}\n")
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})
            self.assert_until(api, lambda: not [f for f in api.faults if f[3]])
            self.assertIsNone(process.poll(), self.log())


class Streams(FaultCase):
    """Lists and watches that go wrong."""

    def plays(self, method, pattern, what, times, config=ALONE):
        name = f"streams-{next(self.numbers)}"
        with Play() as play:
            play.api.fail(method, pattern, what, times=times)
            program = self.supervised(play.api, config, name)
            log = self.ends_well(play, program, name)
            self.assertEqual(program.starts, 1, log[-4000:])
            return log

    def test_lists(self):
        kind = [("Content-Type", "application/json")]
        wrong = (
            (200, kind, b'{"items": ['), (200, kind, b"{}"), (200, kind, b'{"metadata": {"resourceVersion": "1"}}'),
            (200, kind, b'{"metadata": {"resourceVersion": "1"}, "items": 7}'),
            (200, [("Content-Type", "text/html")], b"<html>login</html>"), 500, 410, "drop",
        )  # fmt: skip
        with Play() as play:
            for what in wrong[:4]:
                play.api.fail("GET", "/podgroups$", what)
            for what in wrong[4:]:
                play.api.fail("GET", "/queues$", what)
            program = self.supervised(play.api, ALONE)
            self.ends_well(play, program)
            self.assertEqual(program.starts, 1)
            self.assertEqual([f for f in play.api.faults if f[3]], [])

    def test_watches(self):
        self.assertIn("no longer knows", self.plays("WATCH", "/pods$", 410, 2))
        self.plays("WATCH", ".*", 500, 3)
        self.plays("WATCH", ".*", "drop", 5)
        event = b'{"type": "ADDED", "object": {"metadata": {"resourceVersion": "100"}, "sp'
        self.plays("WATCH", "/pods$", (200, [("Content-Type", "application/json")], event), 2)  # closed within a line
        self.plays("WATCH", "/pods$", (200, [("Content-Type", "application/json")], b"no event\n"), 2)
        self.plays("WATCH", "/pods$", (200, [("Content-Type", "application/json")], b'[1]\n"x"\n'), 2)
        self.plays("WATCH", "/pods$", (200, [("Content-Type", "text/html")], b"<html>\n</html>\n"), 2)

    def test_bookmarks_alone(self):
        """A watch that only says that nothing happened, while things happen that it will tell later."""
        with FakeApi() as api:
            self.fill(api)
            self.start(api, ALONE)
            self.assert_until(api, lambda: any(r.watch for r in api.asked("GET", "/pods$")))
            for _ in range(50):
                api.bookmark("pods")
            api.end_watches()
            api.put("pods", pod("a"))
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})

    def test_an_event_that_a_watch_cannot_tell(self):
        """The same event breaks every watch: the list that follows has the object."""
        with FakeApi() as api:
            self.fill(api)
            self.start(api, ALONE)
            self.assert_until(api, lambda: any(r.watch for r in api.asked("GET", "/nodes$")))
            api.fail("WATCH", "/nodes$", (200, [("Content-Type", "application/json")], b'{"type": \n'), times=3)
            api.end_watches()
            api.put("nodes", node("n1", 16))
            api.put("pods", pod("a", 16))
            self.assert_until(api, lambda: api.pods() == {"team/a": "n1"})


if __name__ == "__main__":
    unittest.main()

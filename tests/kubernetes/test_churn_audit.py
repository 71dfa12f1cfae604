"""The judge of churns notices what a wrong scheduler does: logs that are made up, in which one thing is wrong."""

import unittest
from datetime import datetime, timezone

from churn_audit import MOST_EVICTIONS, SCHEDULER, WITHIN, Verdict

BEGAN = datetime(2026, 1, 1, tzinfo=timezone.utc).timestamp()


def clock(second):
    return datetime.fromtimestamp(BEGAN + second, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Story:
    """An audit log that is written line by line. Pods are named `<group>-<n>`; a group is a job with a `PodGroup`."""

    def __init__(self, **jobs):
        """Each with the pods that its gang needs."""
        self.entries = []
        self.plan = {"nodes": {"n0": 8, "n1": 8}, "jobs": [{"name": name, "least": least} for name, least in jobs.items()]}

    def say(self, second, verb, resource, name="", user=SCHEDULER, code=200, group="", **more):
        resource, _, part = resource.partition("/")
        reference = {"resource": resource, "namespace": "team", "name": name, "apiGroup": group}
        if part:
            reference["subresource"] = part
        self.entries.append({
            "verb": verb, "user": {"username": user}, "objectRef": reference, "responseStatus": {"code": code},
            "requestReceivedTimestamp": clock(second), "stageTimestamp": clock(second), **more,
        })  # fmt: skip

    def tell(self, cycle, pod, reason, note):
        event = {"reason": reason, "note": note, "eventTime": clock(cycle), "regarding": {"kind": "Pod", "name": pod, "uid": f"uid-{pod}"}}
        self.say(cycle + 0.5, "create", "events", code=201, group="events.k8s.io", requestObject=event)

    def make(self, second, *pods, gpus=4):
        for pod in pods:
            job = pod.rsplit("-", 1)[0]
            about = {
                "name": pod, "namespace": "team", "uid": f"uid-{pod}", "annotations": {"pod-group-name": job},
                "ownerReferences": [{"kind": "Job", "name": job, "uid": f"uid-{job}"}],
            }  # fmt: skip
            made = {"metadata": about, "spec": {"containers": [{"resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}]}}
            self.say(second, "create", "pods", user="controllers", code=201, responseObject=made)

    def bind(self, second, *pods, node="n0", cycle=None, told=True):
        for pod in pods:
            body = {"metadata": {"name": pod, "uid": f"uid-{pod}"}, "target": {"kind": "Node", "name": node}}
            self.say(second, "create", "pods/binding", pod, code=201, requestObject=body)
            if told:
                self.tell(second if cycle is None else cycle, pod, "Scheduled", f"bound to {node}")

    def promise(self, second, *pods, node="n0"):
        for pod in pods:
            self.say(second, "patch", "pods/status", pod, requestObject={"status": {"nominatedNodeName": node}})
            self.tell(second, pod, "Pipelined", f"waits for pods that leave {node}")

    def evict(self, second, *pods, by="reclaim", of="", cycle=None, told=True):
        for pod in pods:
            self.say(second, "delete", "pods", pod, requestObject={"preconditions": {"uid": f"uid-{pod}"}})
            self.say(second + 0.1, "delete", "pods", pod, user="kubelets")
            if told:
                self.tell(second if cycle is None else cycle, pod, "Evict", f"evicted by {by}" + (f" for team/{of}" if of else ""))

    def end(self, second, *pods):
        for pod in pods:
            self.say(second, "patch", "pods/status", pod, user="kubelets", requestObject={"status": {"phase": "Succeeded"}})

    def complete(self, second, *jobs):
        for job in jobs:
            status = {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}
            self.say(second, "update", "jobs/status", job, user="controllers", group="batch", requestObject=status)


class Judge(unittest.TestCase):
    def violations(self, story):
        return Verdict(story.entries, story.plan).violations

    def assert_violates(self, story, rule, *words):
        violations = self.violations(story)
        self.assertEqual(len(violations), 1, violations)
        self.assertTrue(violations[0].startswith(f"{rule}: "), violations)
        for word in words:
            self.assertIn(word, violations[0])

    def reclaim(self, evicted=10, **jobs):
        """`a` runs with two pods when `b`, which needs two, is promised their places."""
        story = Story(**{"a": 1, "b": 2, **jobs})
        story.make(0, "a-0", "a-1")
        story.bind(1, "a-0", "a-1")
        story.make(5, "b-0", "b-1")
        story.evict(evicted, "a-0", "a-1", of="b")
        story.promise(evicted, "b-0", "b-1")
        return story

    def finish(self, story):
        """`b` has started: `a` comes back beside it, and both end."""
        story.make(20, "a-2", "a-3")
        story.bind(21, "a-2", "a-3", node="n1")
        story.end(30, "a-2", "a-3", "b-0", "b-1")
        story.complete(31, "a", "b")
        return story

    def sound(self):
        story = self.reclaim()
        story.bind(12, "b-0", "b-1")
        return self.finish(story)


class Starts(Judge):
    def test_all_is_well(self):
        story = self.sound()
        verdict = Verdict(story.entries, story.plan)
        self.assertEqual(verdict.violations, [])
        rows = {what: (number, more) for what, number, more in verdict.rows()}
        self.assertEqual(rows["jobs"], (2, "2 complete"))
        self.assertEqual(rows["bindings"], (6, "of 2 groups"))
        self.assertEqual(rows["evictions"], (2, "reclaim 2"))
        self.assertEqual(rows["evictions followed by their start"], (2, "half within 2.0 s, 99 % within 2.0 s, longest 2.0 s"))
        self.assertEqual(rows["requests refused"], (0, ""))

    def test_the_room_goes_to_another_group(self):
        story = self.reclaim(c=1)
        story.make(6, "c-0", "c-1")
        story.bind(12, "c-0", "c-1")
        story.end(15, "c-0", "c-1")
        story.complete(16, "a", "b", "c")
        violations = self.violations(story)
        self.assertEqual(len(violations), 2, violations)  # of each eviction
        self.assertIn("for team/b, which does not start", violations[0])

    def test_a_part_of_the_gang_starts(self):
        story = self.reclaim()
        story.bind(12, "b-0")
        self.assertIn("for team/b, which does not start", self.violations(self.finish(story))[0])

    def test_another_pod_of_the_group_starts(self):
        """That which was promised the place waits on."""
        story = self.reclaim(b=1)
        story.make(6, "b-2")
        story.bind(12, "b-0", "b-2")
        self.assertIn("for team/b, which does not start", self.violations(self.finish(story))[0])

    def test_it_starts_late(self):
        story = self.reclaim()
        story.bind(11 + WITHIN, "b-0", "b-1")
        self.assertIn(f"which starts {WITHIN + 1:.1f} s later", self.violations(self.finish(story))[0])

    def test_the_promise_is_taken_back(self):
        story = self.reclaim()
        story.say(11, "patch", "pods/status", "b-0", requestObject={"status": {"nominatedNodeName": ""}})
        story.bind(11 + WITHIN, "b-0", "b-1")
        self.assertIn("the promise to b-0 is taken back after 1.0 s", self.violations(self.finish(story))[0])

    def test_it_starts_elsewhere(self):
        """Where there is room sooner."""
        story = self.reclaim()
        story.bind(12, "b-0", "b-1", node="n1")
        story.end(15, "b-0", "b-1")
        self.assertEqual(self.violations(self.finish(story)), [])

    def test_without_a_promise_any_pod_of_the_group_counts(self):
        story = Story(a=1, b=1)
        story.make(0, "a-0", "b-0")
        story.bind(1, "a-0")
        story.evict(5, "a-0", of="b")
        story.complete(30, "a", "b")
        self.assert_violates(story, "starts", "a-0", "team/b")
        story.bind(6, "b-0")
        self.assertEqual(self.violations(story), [])

    def test_an_earlier_promise_stands(self):
        """One that is repeated is not written again."""
        story = Story(a=1, b=1)
        story.make(0, "a-0", "b-0", "b-1")
        story.bind(1, "a-0")
        story.promise(4, "b-0")
        story.evict(5, "a-0", of="b")
        story.bind(6, "b-1")
        story.complete(30, "a", "b")
        self.assert_violates(story, "starts", "a-0", "team/b")

    def test_a_promise_that_was_taken_back_before(self):
        story = Story(a=1, b=1)
        story.make(0, "a-0", "b-0", "b-1")
        story.bind(1, "a-0")
        story.promise(3, "b-0")
        story.say(4, "patch", "pods/status", "b-0", requestObject={"status": {"nominatedNodeName": None}})
        story.evict(5, "a-0", of="b")
        story.bind(6, "b-1")
        story.complete(30, "a", "b")
        self.assertEqual(self.violations(story), [])

    def test_for_no_group(self):
        story = Story(a=1)
        story.make(0, "a-0")
        story.bind(1, "a-0")
        story.evict(5, "a-0", by="reclaim")
        story.complete(30, "a")
        self.assert_violates(story, "starts", "by reclaim for no group")

    def test_a_broken_gang_leaves_for_no_group(self):
        story = Story(a=1)
        story.make(0, "a-0")
        story.bind(1, "a-0")
        story.evict(5, "a-0", by="stalegangeviction")
        story.complete(30, "a")
        self.assertEqual(self.violations(story), [])

    def test_no_event_says_for_which(self):
        story = Story(a=1)
        story.make(0, "a-0")
        story.bind(1, "a-0")
        story.evict(5, "a-0", told=False)
        story.complete(30, "a")
        self.assert_violates(story, "starts", "no event")

    def test_an_eviction_that_was_refused_is_none(self):
        story = self.sound()
        story.say(13, "delete", "pods", "b-0", code=409, requestObject={"preconditions": {"uid": "uid-b-0"}})
        verdict = Verdict(story.entries, story.plan)
        self.assertEqual(verdict.violations, [])
        rows = {what: (number, more) for what, number, more in verdict.rows()}
        self.assertEqual(rows["requests refused"], (1, "409 delete pods 1"))

    def test_the_api_for_evictions(self):
        story = Story(a=1, b=1)
        story.make(0, "a-0", "b-0")
        story.bind(1, "a-0")
        body = {"deleteOptions": {"preconditions": {"uid": "uid-a-0"}}}
        story.say(5, "create", "pods/eviction", "a-0", code=201, requestObject=body)
        story.tell(5, "a-0", "Evict", "evicted by preempt for team/b")
        story.complete(30, "a", "b")
        self.assert_violates(story, "starts", "by preempt for team/b")


class Others(Judge):
    def test_bound_and_evicted_by_one_cycle(self):
        story = self.sound()
        story.make(40, "b-2")
        story.bind(41, "b-2", cycle=41)
        story.evict(41.4, "b-2", of="a", cycle=41)
        story.make(42, "a-4")
        story.bind(43, "a-4")
        self.assert_violates(story, "cycles", "b-2")

    def test_bound_and_evicted_at_once_without_events(self):
        story = Story(a=1)
        story.make(0, "a-0")
        story.bind(1, "a-0", told=False)
        story.evict(1.02, "a-0", by="stalegangeviction")
        story.complete(30, "a")
        self.assert_violates(story, "cycles", "a-0")

    def test_evicted_by_the_next_cycle(self):
        story = Story(a=1)
        story.make(0, "a-0")
        story.bind(1, "a-0", cycle=1)
        story.evict(1.2, "a-0", by="stalegangeviction", cycle=1.15)
        story.complete(30, "a")
        self.assertEqual(self.violations(story), [])

    def test_two_groups_evict_each_other(self):
        story = Story(a=1, b=1)
        story.make(0, "a-0", "b-0")
        story.bind(1, "a-0")
        story.evict(5, "a-0", of="b")
        story.bind(6, "b-0")
        story.make(7, "a-1")
        story.evict(8, "b-0", of="a")
        story.bind(9, "a-1")
        story.complete(30, "a", "b")
        self.assert_violates(story, "circles", "team/a", "team/b")
        story.make(7, "c-0")  # another job comes in between
        verdict = Verdict(story.entries, story.plan)
        self.assertEqual((verdict.violations, len(verdict.mutual)), ([], 1))

    def test_a_job_is_evicted_again_and_again(self):
        story = Story(a=1, b=1)
        for turn in range(MOST_EVICTIONS + 1):
            began = 10 * turn
            story.make(began, f"a-{turn}", f"b-{turn}")
            story.bind(began + 1, f"a-{turn}")
            story.evict(began + 5, f"a-{turn}", of="b")
            story.bind(began + 6, f"b-{turn}")
            story.end(began + 8, f"b-{turn}")
        story.complete(1000, "a", "b")
        self.assert_violates(story, "circles", "job a", str(MOST_EVICTIONS + 1))

    def test_bound_twice(self):
        story = Story(a=1)
        story.make(0, "a-0")
        story.bind(1, "a-0")
        story.bind(2, "a-0")
        story.complete(30, "a")
        self.assert_violates(story, "bindings", "a-0", "bound twice")

    def test_a_node_is_overdrawn(self):
        story = Story(a=1)
        story.make(0, "a-0", "a-1", "a-2")
        story.bind(1, "a-0", "a-1")
        story.bind(2, "a-2")
        story.end(3, "a-0")
        story.complete(30, "a")
        self.assert_violates(story, "bindings", "n0 with 8 GPUs has 12 in use")

    def test_what_has_ended_makes_room(self):
        story = Story(a=1)
        story.make(0, "a-0", "a-1", "a-2")
        story.bind(1, "a-0", "a-1")
        story.end(2, "a-0")
        story.bind(3, "a-2")
        story.complete(30, "a")
        self.assertEqual(self.violations(story), [])

    def test_what_leaves_is_there_until_it_is_gone(self):
        story = Story(a=1, b=1)
        story.make(0, "a-0", "b-0", gpus=8)
        story.bind(1, "a-0")
        story.evict(5, "a-0", of="b")  # gone at 5.1
        story.bind(5.05, "b-0")
        story.complete(30, "a", "b")
        self.assert_violates(story, "bindings", "16 in use")

    def test_a_job_that_does_not_end(self):
        story = Story(a=1)
        self.assert_violates(story, "ends", "job a")


if __name__ == "__main__":
    unittest.main()

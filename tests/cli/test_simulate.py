"""The command `simulate`: workloads in virtual time."""

import csv
import gzip
import json
import shlex
import subprocess
import time
import unittest

from support import FEW_CASES, PROGRAM, SOURCE, Case, kaisched, main

OLD_RECORDING = SOURCE / "tests/fuzz/corpus/fuzz_recording/three_jobs"
JOBS = "job,submit,run_time,queue,gpus,priority\na,0,100,x,1,50\nb,30,50,x,1,80\nc,40,10,y,1,50\n"


class Play(Case):
    def figures(self, *words):
        return json.loads(self.ok("simulate", self.file("jobs.csv", JOBS), *words, "--json"))

    def test_figures(self):
        told = self.figures("--nodes", "1x1", "--actions", "allocate")
        self.assertEqual(told["schema"], "kaisched-simulate/1")
        self.assertEqual((told["jobs"], told["ended"], told["never_started"]), (3, 3, 0))
        self.assertEqual(told["makespan"], 160)
        self.assertEqual(told["utilisation"], 1)
        self.assertEqual(told["completion"]["most"], 120)
        self.assertEqual(len(told["timeline"]["gpus_held"]), 100)
        self.assertEqual(told["evictions"], 0)
        again = self.figures("--nodes", "1x1", "--actions", "allocate")
        self.assertEqual(told.pop("seconds") * 0, again.pop("seconds") * 0)
        for one in (told, again):
            cpu = one.pop("session_cpu")
            self.assertTrue(0 <= cpu["p99"] <= cpu["most"])
        self.assertEqual(told, again)

    def test_figures_of_the_day(self):
        """Two GPUs, first come, first served: b wants both from 1 to 100, and c waits behind it from 2 on; long is a tail."""
        jobs = self.file("day.csv", "job,submit,run_time,queue,gpus\na,0,100,x,1\nb,1,10,x,2\nc,2,10,x,1\nlong,3,1000,y,1\n")
        play = self.file("fifo.yaml", "nodes: 1x2\nequal_quotas: true\nactions: allocate\nset: {parts: 'predicates,fifo,nodeavailability', queue_depth.allocate: 1}\n")
        told = json.loads(self.ok("simulate", jobs, "--play", play, "--json"))
        self.assertEqual(told["contended_from"], 1)
        self.assertLess(told["utilisation_of_span"], told["utilisation"])
        self.assertEqual(sum(one["gpu_hours"] for one in told["idle_while_fitting"]), told["idle_fitting_gpu_hours"])
        self.assertEqual([one["queue"] for one in told["queues_within_quota"]], ["x", "y"])
        said = self.ok("simulate", jobs, "--play", play)
        for part in ("while contended, from 1.0 s", "CPU time of a session", "Waiting within the quota of the queue", "starts withdrawn", "restarts",
                     "GPUs over time, contended window"):
            self.assertIn(part, said)
        self.assertNotIn("contended window", self.ok("simulate", jobs, "--play", play, "--whole-time"))

    @unittest.skipIf(FEW_CASES, "such a build simulates what it has counted, in every test")
    def test_what_is_counted_and_not_simulated(self):
        """Searches of compat leave out simulations whose end they can count. With `reference_path` they simulate all."""
        jobs = str(self.folder / "contended.csv")
        self.ok("workload", "generate", jobs, "--jobs", "300", "--queues", "6", "--seed", "1", "--rate", "200")
        digests = set()
        for reference in ("false", "true"):
            told = json.loads(self.ok("simulate", jobs, "--nodes", "4x8", "--equal-quotas", "--mode", "compat", "--until", "6h", "--set", f"reference_path={reference}",
                                      "--json"))
            self.assertGreater(told["evictions"], 20)
            digests.add(told["digest"])
        self.assertEqual(len(digests), 1)

    def test_policy_and_losses(self):
        preempting = ("--nodes", "1x1", "--actions", "allocate,preempt")
        self.assertEqual(self.figures(*preempting)["evictions"], 1)
        self.assertEqual(self.figures(*preempting)["makespan"], 160)
        self.assertEqual(self.figures(*preempting, "--checkpoints", "never")["makespan"], 190)
        self.assertEqual(self.figures(*preempting, "--checkpoints", "20s")["makespan"], 170)
        self.assertEqual(self.figures(*preempting, "--start-overhead", "1s")["makespan"], 164)
        self.assertEqual(self.figures(*preempting, "--grace", "2s")["waiting"]["most"], self.figures(*preempting)["waiting"]["most"] + 2)
        self.assertEqual(self.figures("--nodes", "1x1", "--actions", "allocate", "--until", "45")["ended"], 0)
        self.assertGreater(self.figures("--nodes", "1x1", "--actions", "allocate", "--period", "1m")["makespan"], 160)

    def test_who_loses_least_and_who_talks(self):
        late = self.file("late.csv", "job,submit,run_time,gpus,priority\nold,0,10h,1,50\nyoung,1h50m,10h,1,50\nurgent,2h5m,1h,1,90\n")
        parts = "parts=predicates,proportion,priority,{}nodeavailability,nodeplacement,sg-nodelocalgreedy"
        for more, lost in (("", 0.25), ("lost_work,", 1 / 12)):  # a quarter of an hour, or five minutes since the checkpoint
            told = json.loads(self.ok("simulate", late, "--nodes", "2x1", "--actions", "allocate,preempt", "--checkpoints", "2h",
                                      "--set", parts.format(more), "--json"))
            self.assertEqual((told["evictions"], told["lost_gpu_hours"]), (1, lost))
        talks = self.file("talks.csv", "job,submit,run_time,model,pods,gpus\na,0,1h,sweep,1,3\nb,1,1h,ddp,3,2\n")
        play = self.file("play.yaml", "nodes: 4x4\nnodes_per_rack: 2\nprofiles:\n  - {model: ddp, traffic: 500}\n")
        jobs = self.folder / "o.csv"
        for part, distance in (("", "2"), ("traffic,", "1")):
            self.ok("simulate", talks, "--play", play, "--set", f"parts=predicates,nodeavailability,{part}nodeplacement", "--jobs", jobs, "-q")
            self.assertEqual([row["distance"] for row in csv.DictReader(jobs.read_text().splitlines())], ["0", distance])

    def test_a_cluster_file(self):
        cluster = self.file("c.ks", "scenario 1\nnow 1h\nnode n gpu=2 cpu=64 memory=1Ti pods=110\nqueue x limit.gpu=1\nqueue y\n")
        told = self.figures("--cluster", cluster)
        self.assertEqual(told["makespan"], 150)  # the queue x may have one GPU
        with_pods = self.file("p.ks", "scenario 1\nnow 1h\nnode n gpu=2 cpu=64 memory=1Ti pods=110\nqueue x limit.gpu=1\nqueue y\n"
                              "pod_group g queue=y\npod p group=g gpu=2 status=running node=n\npod_group h queue=x\npod w group=h gpu=1\n")
        self.assertEqual(self.figures("--cluster", with_pods)["digest"], told["digest"])  # nobody but the workload
        self.assertIn("job 'a': there is no queue 'x'", self.fails(2, "simulate", self.file("jobs.csv", JOBS), "--cluster", self.file(
            "d.ks", "scenario 1\nnode n gpu=2 cpu=64 pods=110\nqueue z\n")))

    def test_report(self):
        said = self.ok("simulate", self.file("jobs.csv", JOBS), "--nodes", "1x1")
        for part in ("3 of 3 jobs ended", "until the end (JCT)", "GPUs in use", "Jain's index", "GPUs over time", "digest "):
            self.assertIn(part, said)
        self.assertIn("1 never started", self.ok("simulate", self.file("w.csv", "job,submit,run_time,gpus\nw,0,5,4\n"), "--nodes", "1x1"))
        self.assertEqual(self.ok("simulate", "-", "--nodes", "1x1", "-q", stdin=JOBS), "")

    def test_files(self):
        jobs, timeline = self.folder / "o.csv", self.folder / "t.csv"
        self.ok("simulate", self.file("jobs.csv", JOBS), "--nodes", "2x1", "--jobs", jobs, "--timeline", timeline, "-q")
        rows = list(csv.DictReader(jobs.read_text().splitlines()))
        self.assertEqual([row["end"] for row in rows], ["100", "80", "90"])
        self.assertEqual([row["start"] for row in rows], ["0", "30", "80"])
        last = list(csv.DictReader(timeline.read_text().splitlines()))[-1]
        self.assertEqual((last["time"], last["gpus_held"], last["jobs_waiting"]), ("100", "0", "0"))

    def recorded(self, *words):
        path = self.folder / "jobs.kr"
        self.ok("simulate", self.file("jobs.csv", JOBS), "--nodes", "2x1", "--record", path, *words, "-q")
        return path

    def test_recording(self):
        path = self.recorded()
        told = json.loads(self.ok("replay", path, "--json"))
        self.assertEqual((told["schema"], told["sessions"], told["equal"]), ("kaisched-replay/1", 4, 4))
        digests = self.ok("replay", path, "--digests", "-", "-q").splitlines()
        self.assertEqual([line.split()[0] for line in digests], ["1", "2", "3", "4"])
        self.assertIn("4 of 4 sessions decided as recorded", self.ok("replay", path))
        whole = path.read_bytes()
        tags, at = "", whole.index(b"\n") + 1
        while at < len(whole):
            tags, at = tags + chr(whole[at]), at + 25 + int.from_bytes(whole[at + 1 : at + 9], "little")
        self.assertEqual(tags, "OWSCSCSCS")  # the cluster once, then what has changed
        cut = self.folder / "cut.kr"
        cut.write_bytes(whole[:-1])
        self.assertEqual(json.loads(self.ok("replay", cut, "--json"))["truncated"], True)
        damaged = bytearray(whole)
        damaged[len(damaged) // 2] ^= 1
        cut.write_bytes(damaged)
        self.assertIn("is damaged", self.fails(2, "replay", cut))
        self.assertIn("kaisched-recording/2", self.fails(2, "replay", self.file("jobs.csv", JOBS)))
        self.assertIn("not there", self.fails(2, "replay", self.folder / "not there"))

    def test_what_changed_is_told_by_kind(self):
        jobs, path = self.folder / "contended.csv", self.folder / "contended.kr"
        self.ok("workload", "generate", jobs, "--jobs", "60", "--queues", "3", "--seed", "3", "--rate", "200", "-q")

        def changes(*words):
            told = json.loads(kaisched("replay", path, *words, "--json").stdout)
            self.assertEqual(sum(told["changes"].values()), told["sessions"] - told["equal"])
            return {kind for kind, sessions in told["changes"].items() if sessions}

        self.ok("simulate", jobs, "--nodes", "2x8", "--equal-quotas", "--record", path, "-q")
        self.assertEqual(changes(), set())
        self.assertIn("places", changes("--placement", "spread"))
        self.assertRegex(kaisched("replay", path, "--placement", "spread").stdout, r"\n +[0-9]+ choose other nodes or devices\n")
        self.assertEqual(changes("--set", "actions=stalegangeviction"), {"starts", "order"})
        self.ok("simulate", jobs, "--nodes", "2x8", "--equal-quotas", "--mode", "compat", "--record", path, "-q")
        self.assertLessEqual({"withdrawn", "stops"}, changes("--mode", "strict"))

    def test_one_session_of_a_recording(self):
        path = self.recorded("--set", "placement.gpu=spread")
        recorded = [line.split()[1] for line in self.ok("replay", path, "--digests", "-", "-q").splitlines()]
        for number in (1, 3, 4):
            clusters = []
            for ending in ("ks", "json", "yaml"):
                out = self.folder / f"moment {number}.{ending}"
                told = json.loads(self.ok("replay", path, "--session", number, "--out", out, "--json"))
                self.assertEqual((told["schema"], told["session"], told["file"]), ("kaisched-replay-session/1", number, str(out)))
                self.assertEqual(told["options"]["placement.gpu"], "spread")
                self.assertEqual(self.ok("digest", out).split()[0], told["digest"])
                clusters.append(told["digest"])
                said = self.ok("replay", path, "--session", number, "--out", out).splitlines()
                words = shlex.split(said[1])
                self.assertEqual(words[0], "kaisched")
                self.assertEqual(json.loads(self.ok(*words[1:], "--json"))["digest"], recorded[number - 1])
                if ending == "ks":
                    self.ok("test", out)
            self.assertEqual(len(set(clusters)), 1)
        self.assertIn("option placement.gpu=spread\n", (self.folder / "moment 3.ks").read_text())

    def test_one_session_that_cannot_be_written(self):
        path, out = self.recorded(), self.folder / "a.ks"
        self.assertIn("--session 5: the recording has 4 sessions", self.fails(2, "replay", path, "--session", "5", "--out", out))
        self.assertIn("belong together", self.fails(2, "replay", path, "--session", "1"))
        self.assertIn("belong together", self.fails(2, "replay", path, "--out", out))
        self.assertIn("no options besides", self.fails(2, "replay", path, "--session", "1", "--out", out, "--preset", "kai"))
        self.assertIn("does not say the form", self.fails(2, "replay", path, "--session", "1", "--out", self.folder / "a.txt"))
        self.assertIn("would overwrite", self.fails(2, "replay", path, "--session", "1", "--out", path))
        self.assertIn("nowhere", self.fails(3, "replay", path, "--session", "1", "--out", self.folder / "nowhere" / "a.ks"))
        self.assertFalse(out.exists())
        whole = path.read_bytes()
        damaged, cut = bytearray(whole), self.folder / "cut.kr"
        damaged[-1] ^= 1
        path.write_bytes(damaged)
        self.assertIn("is damaged", self.fails(2, "replay", path, "--session", "4", "--out", out))
        self.ok("replay", path, "--session", "3", "--out", out, "-q")  # what is behind it does not matter
        cut.write_bytes(whole[:-1])
        self.assertIn("3 sessions; the last record is not whole", self.fails(2, "replay", cut, "--session", "4", "--out", out))

    def test_packed_recording(self):
        plain, path = self.recorded(), self.folder / "jobs.kr.gz"
        self.ok("simulate", self.file("jobs.csv", JOBS), "--nodes", "2x1", "--record", path, "-q")
        packed = path.read_bytes()
        self.assertEqual(gzip.decompress(packed), plain.read_bytes())
        for words in ([], ["--json"], ["--digests", "-", "-q"]):
            self.assertEqual(self.ok("replay", path, *words).replace(".kr.gz", ".kr"), self.ok("replay", plain, *words))
        self.assertEqual(json.loads(self.ok("bisect", path, "--json"))["first"], None)
        other = self.folder / "other.gz"
        other.write_bytes(gzip.compress(plain.read_bytes()))  # whoever has packed it
        self.assertEqual(json.loads(self.ok("replay", other, "--json"))["equal"], 4)
        other.write_bytes(packed[:-4])
        told = json.loads(self.ok("replay", other, "--json"))
        self.assertEqual((told["truncated"], told["sessions"], told["equal"]), (True, 4, 4))
        damaged = bytearray(packed)
        damaged[len(damaged) // 2] ^= 1
        other.write_bytes(damaged)
        self.assertIn("damaged", self.fails(2, "replay", other))

    def test_a_recording_of_who_was_killed(self):
        jobs = self.folder / "many.csv"
        self.ok("workload", "generate", jobs, "--jobs", "3000", "-q")
        for name in ("killed.kr", "killed.kr.gz"):
            path = self.folder / name
            running = subprocess.Popen([PROGRAM, "simulate", jobs, "--nodes", "64x8", "--record", path, "-q"])
            for _ in range(600):
                if path.exists() and path.stat().st_size > 100_000:
                    break
                time.sleep(0.02)
            running.kill()
            running.wait()
            told = json.loads(self.ok("replay", path, "--json"))
            self.assertGreater(told["sessions"], 20)
            self.assertEqual(told["equal"], told["sessions"])

    def test_a_recording_of_version_0_1(self):
        """Its preset is decided by the revision that stands for it, with the actions that it had."""
        told = json.loads(self.ok("replay", OLD_RECORDING, "--json"))
        self.assertEqual(told["revisions"], {"recorded": "kai-0.17", "decided": "kai-0.17-r2"})
        self.assertEqual((told["sessions"], told["equal"]), (4, 4))
        self.assertIn("recorded with preset kai-0.17, decided with kai-0.17-r2", self.ok("replay", OLD_RECORDING))
        path = self.recorded()
        self.assertIsNone(json.loads(self.ok("replay", path, "--json"))["revisions"])

    def test_other_options(self):
        path, small = self.recorded("--actions", "allocate"), self.folder / "small.ks"
        done = kaisched("replay", path, "--set", "actions=stalegangeviction", "--json")
        told = json.loads(done.stdout)
        self.assertEqual((done.returncode, told["first_difference"]["session"]), (1, 1))
        self.assertIn("bind a-0", told["first_difference"]["recorded"])
        done = kaisched("bisect", path, "--set", "actions=stalegangeviction", "--out", small, "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["first"]["session"]), (1, 1))
        self.assertIn("expect bind", small.read_text())
        self.ok("test", small)
        self.assertEqual(kaisched("test", small, "--set", "actions=stalegangeviction").returncode, 1)
        self.assertEqual(json.loads(self.ok("bisect", path, "--json"))["first"], None)
        self.assertIn("two sides", self.fails(2, "bisect", path, "--out", small))

    def test_another_program(self):
        path, small = self.recorded(), self.folder / "small.ks"
        self.ok("bisect", path, "--program", PROGRAM)
        done = kaisched("bisect", path, "--program", PROGRAM, "--set", "actions=stalegangeviction", "--out", small)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.ok("test", small)
        self.assertIn("replay ended with status 127", kaisched("bisect", path, "--program", "nowhere").stderr)
        self.assertIn("it tells no digest of session 1", self.fails(2, "bisect", path, "--program", "false"))

    def test_a_program_of_version_0_1(self):
        """The smallest scenario is told to it by the names that it has."""
        path = self.recorded("--preset", "volcano-default", "--set", "volcano.actions=enqueue,allocate")
        small = self.folder / "small.ks"
        before = self.file("kaisched-0.1", f"""#!/bin/sh
if [ "$1" = test ] && grep -q '^option volcano' "$2"; then exit 2; fi
case "$*" in *volcano.*) exit 2;; esac
exec '{PROGRAM}' "$@"
""")
        before.chmod(0o755)
        done = kaisched("bisect", path, "--program", before, "--set", "tiers.actions=enqueue", "--out", small)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("expect", small.read_text())
        self.ok("test", small)

    def test_faults(self):
        jobs = self.file("jobs.csv", JOBS)
        self.assertIn("name a cluster", self.fails(2, "simulate", jobs))
        self.assertIn("name a cluster", self.fails(2, "simulate", jobs, "--nodes", "1x1", "--cluster", "c.json"))
        self.assertIn('--nodes "8": expected nodes as', self.fails(2, "simulate", jobs, "--nodes", "8"))
        self.assertIn("--period soon: expected a time", self.fails(2, "simulate", jobs, "--nodes", "1x1", "--period", "soon"))
        self.assertIn("--checkpoints x: expected a time", self.fails(2, "simulate", jobs, "--nodes", "1x1", "--checkpoints", "x"))
        self.assertIn("bad.csv:2", self.fails(2, "simulate", self.file("bad.csv", "job,submit,run_time\na,0,soon\n"), "--nodes", "1x1"))
        twice = self.file("twice.csv", "job,submit,run_time\na,0,1\na,1,1\n")
        self.assertIn("'a'", self.fails(2, "simulate", twice, "--nodes", "1x1").replace('"', "'"))
        self.assertIn("not there", self.fails(2, "simulate", self.folder / "not there", "--nodes", "1x1"))


if __name__ == "__main__":
    main()

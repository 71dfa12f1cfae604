"""kaisched-kubernetes against an API server of this folder: credentials, lists and watches, decisions and what becomes of
them, faults of the server. One ctest entry per class."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from clusters import gang, group, node, pod, queue
from fake_api import FakeApi

PROGRAM = os.environ["KAISCHED_KUBERNETES"]
# Short enough for a test that waits until a lease runs out, long enough for a machine that is busy.
SHORT_LEASE = "leader_election: {lease_duration: 3s, renew_deadline: 2s, retry_period: 300ms}\n"
SECRET = "token-that-nobody-may-see"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def kubeconfig(self, url, cluster="", user=f"token: {SECRET}", folder=None):
        file = (folder or self.folder) / "kubeconfig"
        file.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
            f"clusters: [{{name: c, cluster: {{server: '{url}'{', ' + cluster if cluster else ''}}}}}]\n"
            f"users: [{{name: u, user: {{{user}}}}}]\n"
            "contexts: [{name: here, context: {cluster: c, user: u}}]\n"
        )
        return file

    def config(self, text=""):
        file = self.folder / "config.yaml"
        file.write_text("settle: 20ms\n" + text)
        return file

    def run_program(self, *words, timeout=60):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=timeout)
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        return done

    def once(self, api, *words, config=""):
        done = self.run_program("--once", "--kubeconfig", self.kubeconfig(api.url), "--config", self.config(config), *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def start(self, api, config="period: 500ms\n", kubeconfig=None):
        """The program as it runs all the time; ended with the test. All of one test share a log."""
        if not hasattr(self, "errors"):
            self.errors = open(self.folder / "stderr", "a")
            self.addCleanup(self.errors.close)
        words = [PROGRAM, "--kubeconfig", kubeconfig or self.kubeconfig(api.url), "--config", self.config(config)]
        process = subprocess.Popen(list(map(str, words)), stderr=self.errors)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        return process

    def log(self):
        return (self.folder / "stderr").read_text()

    def assert_until(self, api, condition, seconds=180):
        self.assertTrue(api.until(condition, seconds), f"{api.pods()}\n{self.log() if hasattr(self, 'errors') else ''}")

    def fill(self, api, nodes=1, gpus=8, quota=-1):
        for i in range(nodes):
            api.put("nodes", node(f"n{i}", gpus))
        api.put("queues", queue("q", quota))
        api.put("queues", queue("default-queue", quota))  # of pods without a group

    def add_gang(self, api, *args, **more):
        made, pods = gang(*args, **more)
        api.put("podgroups", made)
        for one in pods:
            api.put("pods", one)


class Configuration(Case):
    def refused(self, text, *expected):
        file = self.folder / "bad.yaml"
        file.write_text(text)
        done = self.run_program("--config", file)
        self.assertEqual(done.returncode, 2)
        for words in (str(file), *expected):
            self.assertIn(words, done.stderr)

    def test_errors_name_line_and_field(self):
        self.refused("period: 1s\nperod: 2s\n", ":2: perod: unknown field")
        self.refused("period: soon\n", ":1: period: expected a time", '"soon"')
        self.refused("period: 10ms\n", "period: at least 100 ms")
        self.refused("eviction: politely\n", "eviction: expected delete or evict")
        self.refused("disruption_budgets: true\n", ":1: disruption_budgets: expected ignore or respect")
        self.refused("engine: {respect_disruption_budgets: true}\n", ":1: engine: respect_disruption_budgets: it is disruption_budgets: respect that says so")
        self.refused("page_size: 0\n", "page_size: expected a number from 1 to 10000")
        self.refused("scheduler_name: ''\n", "scheduler_name: may not be empty")
        self.refused("settle: [1s]\n", "settle: expected one value")
        self.refused("- period\n", "expected fields")

    def test_terms_of_the_lease(self):
        for terms, expected in (
            ("lease_duration: 1500ms", ".lease_duration: whole seconds"),
            ("lease_duration: 0s", ".lease_duration: at least 1000 ms"),
            ("renew_deadline: 15s", ": renew_deadline: 15000 ms: has to be less than lease_duration, 15000 ms"),
            ("retry_period: 10s", ": retry_period: 10000 ms: has to be less than renew_deadline, 10000 ms"),
            ("enabled: perhaps", '.enabled: expected true or false, found "perhaps"'),
            ("leese: a", ".leese: unknown field"),
        ):
            self.refused(f"period: 1s\nleader_election: {{{terms}}}\n", f":2: leader_election{expected}")
        self.refused("leader_election: true\n", "leader_election: expected fields")

    def test_the_engine_checks_its_options(self):
        self.refused("engine: {placement.gpu: sideways}\n", "engine: placement.gpu:", "sideways")
        self.refused("engine: {no.such: 1}\n", "engine: no.such:")

    def test_old_names_of_options_are_in_the_log(self):
        with FakeApi() as api:
            done = self.once(api, config="engine: {preset: volcano-default, actions: tiers, tiers.actions: allocate}\n")
        for old, new in (("action 'tiers'", "'volcano'"), ("option 'tiers.actions'", "'volcano.actions'")):
            self.assertIn(f"warning: engine: {old} is called {new} since 0.2", done.stderr)

    def test_kubeconfigs(self):
        for change, expected in (
            ({"url": "ftp://x"}, "server: expected http"),
            ({"url": "https://h", "cluster": "certificate-authority: gone.pem"}, "gone.pem: cannot be read"),
            ({"url": "https://h", "cluster": "certificate-authority-data: '***'"}, "certificate-authority-data: no base64"),
            ({"url": "https://h", "cluster": "certificate-authority-data: aGVsbG8="}, "certificate-authority:"),
            ({"url": "https://h", "user": "exec: {command: login}"}, "exec: not supported"),
            ({"url": "https://h", "user": "client-key-data: aGVsbG8="}, "one without the other"),
        ):
            done = self.run_program("--once", "--kubeconfig", self.kubeconfig(**change))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(expected, done.stderr)
        done = self.run_program("--once", "--kubeconfig", self.kubeconfig("https://h"), "--context", "there")
        self.assertIn('contexts: no entry "there"', done.stderr)
        self.assertEqual(self.run_program("--kubeconfig", self.folder / "absent").returncode, 2)

    def test_files_that_never_end(self):
        for words in (
            ["--kubeconfig", "/dev/zero"],
            ["--kubeconfig", self.kubeconfig("https://h"), "--config", "/dev/zero"],
            ["--kubeconfig", self.kubeconfig("https://h", cluster="certificate-authority: /dev/zero")],
        ):
            done = self.run_program("--once", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("/dev/zero: more than 16777216 bytes", done.stderr)

    def test_arguments(self):
        self.assertEqual(self.run_program("--no-such").returncode, 2)
        self.assertIn("--dry-run", self.run_program("--help").stdout)


class Credentials(Case):
    """Certificates are made by openssl; without it there is nothing to verify."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("openssl"):
            raise unittest.SkipTest("openssl absent")
        cls.certificates = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.certificates)
        for name in ("server", "other", "client"):
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                 "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1" if name == "server" else "subjectAltName=DNS:elsewhere",
                 "-keyout", cls.certificates / f"{name}.key", "-out", cls.certificates / f"{name}.crt"],
                check=True, capture_output=True,
            )  # fmt: skip

    def served(self, certificate="server", client_ca=None):
        files = (self.certificates / f"{certificate}.crt", self.certificates / f"{certificate}.key")
        return FakeApi(files, self.certificates / f"{client_ca}.crt" if client_ca else None)

    def trusts(self, name):
        return f"certificate-authority: {self.certificates}/{name}.crt"

    def test_a_server_that_is_trusted(self):
        with self.served() as api:
            self.fill(api)
            api.put("pods", pod("a"))
            done = self.run_program("--once", "--kubeconfig", self.kubeconfig(api.url, self.trusts("server")))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(api.pods(), {"team/a": "n0"})
            self.assertEqual({r.headers.get("Authorization") for r in api.asked()}, {f"Bearer {SECRET}"})

    def test_a_server_that_is_not(self):
        for certificate, trusted in (("server", "other"), ("other", "other")):  # another CA; a certificate of another host
            with self.served(certificate) as api:
                self.start(api, kubeconfig=self.kubeconfig(api.url, self.trusts(trusted)))
                self.assert_until(api, lambda: "certificate verify failed" in self.log())
                self.assertEqual(api.asked(), [])

    def test_a_client_certificate(self):
        user = f"client-certificate: {self.certificates}/client.crt, client-key: {self.certificates}/client.key"
        with self.served(client_ca="client") as api:
            self.fill(api)
            done = self.run_program("--once", "--kubeconfig", self.kubeconfig(api.url, self.trusts("server"), user))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.start(api, kubeconfig=self.kubeconfig(api.url, self.trusts("server")))  # and shows none
            asked = len(api.asked())
            self.assert_until(api, lambda: re.search("no answer|cannot send", self.log()))
            self.assertEqual(len(api.asked()), asked)

    def test_a_token_in_a_file_is_read_again(self):
        token = self.folder / "token"
        token.write_text("first\n")
        with FakeApi() as api:
            self.fill(api)
            self.start(api, kubeconfig=self.kubeconfig(api.url, user=f"tokenFile: {token}"))
            self.assert_until(api, lambda: "all objects are read" in self.log())
            token.write_text("second\n")
            api.put("pods", pod("a"))
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})
            self.assertEqual(api.asked("POST", "binding$")[0].headers["Authorization"], "Bearer second")


class Watches(Case):
    def test_lists_come_in_pages(self):
        with FakeApi() as api:
            self.fill(api, nodes=7, gpus=1)
            self.add_gang(api, "g", "q", 7)
            self.once(api, config="page_size: 3\n")
            self.assertEqual(sorted(api.pods().values()), [f"n{i}" for i in range(7)])
            pages = [r.query for r in api.asked("GET", "/nodes$") if not r.watch]
            self.assertEqual([p["limit"] for p in pages], ["3", "3", "3"])
            self.assertEqual(["continue" in p for p in pages], [False, True, True])

    def test_a_watch_goes_on_where_it_ended(self):
        with FakeApi() as api:
            self.fill(api)
            self.start(api)
            self.assert_until(api, lambda: any(r.watch for r in api.asked("GET", "/pods$")))
            api.put("pods", pod("a"))
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})
            version = api.bookmark("pods")
            time.sleep(0.3)
            api.end_watches()
            again = lambda: [r for r in api.asked("GET", "/pods$") if r.watch][1:]  # noqa: E731
            self.assert_until(api, again)
            self.assertEqual(again()[0].query["resourceVersion"], str(version))
            self.assertEqual(again()[0].query["allowWatchBookmarks"], "true")
            api.put("pods", pod("b"))
            self.assert_until(api, lambda: api.pods()["team/b"] == "n0")
            self.assertEqual(len([r for r in api.asked("GET", "/pods$") if not r.watch]), 1)

    def test_a_watch_that_expired_is_a_list_again(self):
        with FakeApi() as api:
            self.fill(api, gpus=1)
            api.put("pods", pod("old", on="n0"))
            self.start(api)
            self.assert_until(api, lambda: any(r.watch for r in api.asked("GET", "/pods$")))
            api.silent = True
            api.delete("pods", "team/old")  # what the watch never tells
            api.put("pods", pod("new"))
            with api.lock:
                api.expired = api.version + 1
            api.end_watches()
            self.assert_until(api, lambda: len([r for r in api.asked("GET", "/pods$") if not r.watch]) >= 2)
            api.silent, api.expired = False, 0
            self.assert_until(api, lambda: api.pods() == {"team/new": "n0"})
            self.assertIn("no longer knows", self.log())

    def test_tries_are_further_and_further_apart(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("pods", pod("a"))
            api.fail("GET", "/queues$", 503, times=3)
            self.start(api)
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})
            at = [r.at for r in api.asked("GET", "/queues$") if not r.watch]
            waits = [b - a for a, b in zip(at, at[1:])]
            self.assertEqual(len(waits), 3)
            for wait, least in zip(waits, (0.5, 1.0, 2.0)):
                self.assertGreaterEqual(wait, least - 0.05)

    def test_the_server_says_when(self):
        with FakeApi() as api:
            self.fill(api)
            api.fail("GET", "/nodes$", (429, 2))
            self.once(api)
            at = [r.at for r in api.asked("GET", "/nodes$") if not r.watch]
            self.assertGreaterEqual(at[1] - at[0], 1.95)

    def test_kinds_that_a_cluster_does_not_have(self):
        with FakeApi() as api:
            for plural in ("podgroups", "queues", "topologies", "bindrequests"):
                api.served.discard(plural)
            api.put("nodes", node("n0"))
            api.put("pods", pod("a"))
            self.once(api)
            self.assertEqual(api.pods(), {"team/a": "n0"})
            asked = {r.path.split("/")[-1] for r in api.asked("GET") if "leases" not in r.path}
            self.assertLess(asked, {"apis", "v1", *api.served})  # groups, one group, kinds that there are
            self.assertEqual(len(api.asked("GET", "^/apis$")), 1)

    def test_a_kind_that_comes_and_goes(self):
        with FakeApi() as api:
            api.served.discard("podgroups")
            self.fill(api)
            self.start(api, "period: 200ms\ndiscovery_period: 300ms\n")
            self.assert_until(api, lambda: len(api.asked("GET", "^/apis$")) > 2)
            self.assertEqual(api.asked("GET", "/podgroups$"), [])
            listed = lambda: [r for r in api.asked("GET", "/podgroups$") if not r.watch]  # noqa: E731
            api.served.add("podgroups")
            self.assert_until(api, lambda: len(listed()) == 1)
            self.add_gang(api, "g", "q", 2)
            self.assert_until(api, lambda: api.pods() == {"team/g-0": "n0", "team/g-1": "n0"})
            self.assertTrue(api.get("podgroups", "team/g")["metadata"]["annotations"]["kai.scheduler/last-start-timestamp"])
            api.served.discard("podgroups")
            api.end_watches()
            until = len(api.asked("GET", "^/apis$")) + 3
            self.assert_until(api, lambda: len(api.asked("GET", "^/apis$")) > until)
            api.served.add("podgroups")
            self.assert_until(api, lambda: len(listed()) == 2)

    def test_nobody_says_which_kinds_there_are(self):
        with FakeApi() as api:
            self.fill(api)
            self.add_gang(api, "g", "q", 2)
            api.fail("GET", "^/apis$", 403, times=1000)
            self.once(api)
            self.assertEqual(api.pods(), {"team/g-0": "n0", "team/g-1": "n0"})
            self.assertEqual(len(api.asked("GET", "/jobsets$")), 1)  # asked for, and not there
        with FakeApi() as api:
            self.fill(api)
            api.put("pods", pod("a"))
            api.fail("GET", "^/apis/batch/v1$", 500)
            self.start(api)
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})
            self.assertIn("discovery: /apis/batch/v1: ", self.log())


class Decisions(Case):
    def test_what_is_decided_follows_what_changes(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            self.start(api)
            self.add_gang(api, "first", "q", 2)
            self.assert_until(api, lambda: set(api.pods().values()) == {"n0"})
            self.add_gang(api, "second", "q", 2)
            self.assert_until(api, lambda: api.get("podgroups", "team/second").get("status"))  # it waits
            api.put("nodes", node("n1", 2))
            self.assert_until(api, lambda: sorted(api.pods().values(), key=str) == ["n0", "n0", "n1", "n1"])
            for i in range(2):
                api.delete("pods", f"team/first-{i}")
            api.delete("podgroups", "team/first")
            api.put("pods", pod("alone", 2))
            self.assert_until(api, lambda: api.pods().get("team/alone") == "n0")

    def test_sessions_are_recorded(self):
        if "KAISCHED_PROGRAM" not in os.environ:
            self.skipTest("the program kaisched is not built")
        recording = self.folder / "sessions.kr"
        recording.write_text("of another process")

        def replayed(*words):
            words = [os.environ["KAISCHED_PROGRAM"], "replay", recording, "--json", *words]
            done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            return json.loads(done.stdout)

        with FakeApi() as api:
            self.fill(api, nodes=2, gpus=2)
            for name in ("first", "second"):
                self.add_gang(api, name, "q", 2)
            self.once(api, config=f"recording: {{file: {recording.name}}}\n")
            self.assertEqual((self.folder / "sessions.kr.1").read_text(), "of another process")
            told = replayed()
            self.assertEqual((told["equal"], told["truncated"]), (told["sessions"], False))
            self.assertGreaterEqual(told["sessions"], 1)
            self.assertEqual(replayed("--set", "actions=stalegangeviction")["first_difference"]["session"], 1)

            # A place that cannot be written ends the recording, and nothing else.
            self.add_gang(api, "third", "q", 1)
            done = self.once(api, config="recording: {file: /proc/sessions.kr}\n")
            self.assertIn("sessions are not recorded: /proc/sessions.kr", done.stderr)
            self.assertEqual(self.run_program("--config", self.config("recording: {most_mib: 0}\n")).returncode, 2)

    def test_an_object_that_nobody_can_read_stops_nobody(self):
        with FakeApi() as api:
            self.fill(api)
            deep = {}
            for _ in range(100):
                deep = {"in": deep}
            api.put("jobs", {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "deep", "namespace": "team"}, "spec": deep})
            api.put("pods", pod("a"))
            self.once(api)
            self.assertEqual(api.pods(), {"team/a": "n0"})
            self.start(api)
            self.assert_until(api, lambda: "left out: Job team/deep: " in self.log())

    def test_a_gang_starts_whole_or_not_at_all(self):
        with FakeApi() as api:
            self.fill(api, nodes=2, gpus=5)
            self.add_gang(api, "g", "q", 8)
            api.put("podgroups", group("h", "q", 1))
            api.put("pods", pod("h-0", 5, group="h"))
            self.once(api)
            on = [name for name, where in api.pods().items() if where]
            self.assertIn(len([n for n in on if "/g-" in n]), (0, 8), on)
            self.assertTrue(on)
            used = {}
            for name, where in api.pods().items():
                if where:
                    used[where] = used.get(where, 0) + (5 if name == "team/h-0" else 1)
            self.assertTrue(all(v <= 5 for v in used.values()), used)
            self.assertEqual(len(api.asked("POST", "binding$")), len(on))

    def test_the_readme_says_what_its_command_prints(self):
        top = Path(__file__).resolve().parents[2]
        page = (top / "examples/kubernetes/README.md").read_text()
        words = re.search(r"^python3 (tests/kubernetes/fake_api\.py .*?)^```$", page, re.M | re.S)[1].replace("\\\n", "").split()
        said = re.search(r"^```text\n(bind .*?)^```$", page, re.M | re.S)[1]
        words = [PROGRAM if word == "build/release/bin/kaisched-kubernetes" else word for word in words]
        done = subprocess.run([sys.executable, *words], cwd=top, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, said), done.stderr)
        self.assertIn(PROGRAM, words)

    def test_a_dry_run_writes_nothing(self):
        with FakeApi() as api:
            self.fill(api)
            self.add_gang(api, "g", "q", 4)
            api.put("pods", pod("large", 9))
            done = self.once(api, "--dry-run")
            self.assertEqual(len(re.findall(r"^bind team/g-\d to n0$", done.stdout, re.M)), 4, done.stdout)
            self.assertRegex(done.stdout, r"(?m)^wait team/large: ")
            self.assertEqual({r.method for r in api.asked()}, {"GET"})

    def test_pods_of_others_only_use_their_nodes(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("podgroups", group("g", "q", 1))
            api.put("pods", pod("theirs", 6, scheduler="default-scheduler", on="n0"))
            api.put("pods", pod("kai", 1, group="g", scheduler="kai-scheduler"))
            api.put("pods", pod("waits", 1, group="g", scheduler="default-scheduler"))
            for i in range(4):
                api.put("pods", pod(f"mine-{i}"))
            self.once(api)
            pods = api.pods()
            self.assertEqual(len([n for n, where in pods.items() if where and "mine" in n]), 2)
            self.assertIsNone(pods["team/kai"])
            self.assertIsNone(pods["team/waits"])
            self.assertEqual(api.asked(None, "pods/(kai|waits|theirs)"), [])

    def test_why_a_group_waits(self):
        with FakeApi() as api:
            self.fill(api)
            self.add_gang(api, "g", "q", 3, gpus=4)
            self.start(api)
            self.assert_until(api, lambda: (api.get("podgroups", "team/g").get("status")))
            self.assert_until(api, lambda: [p for p in ("g-0", "g-1", "g-2") if api.get("pods", f"team/{p}")["status"].get("conditions")])
            condition = api.get("podgroups", "team/g")["status"]["schedulingConditions"][0]
            self.assertEqual(condition["type"], "UnschedulableOnNodePool")
            self.assertTrue(condition["message"] and condition["reasons"][0]["message"])
            told = [p for p in ("g-0", "g-1", "g-2") if api.get("pods", f"team/{p}")["status"].get("conditions")]
            one = api.get("pods", f"team/{told[0]}")["status"]["conditions"][0]
            self.assertEqual((one["type"], one["status"], one["reason"]), ("PodScheduled", "False", "Unschedulable"))
            def told_of_group():  # events are written after all else of a cycle
                events = [r.body for r in api.asked("POST", "/events$")]
                return ("Unschedulable", "PodGroup") in {(e["reason"], e["regarding"]["kind"]) for e in events}

            self.assert_until(api, told_of_group)
            time.sleep(1.5)  # cycles that find nothing new write nothing
            before = len(api.changes())
            time.sleep(1.5)
            self.assertEqual(len(api.changes()), before)
            api.put("nodes", node("n1"))
            self.assert_until(api, lambda: all(api.pods().values()))

    def test_a_pod_that_a_binding_does_not_start(self):
        with FakeApi() as api:
            self.fill(api, gpus=1)
            api.put("pods", pod("part", 0, annotations={"gpu-fraction": "0.5"}))
            api.put("pods", pod("whole"))
            self.once(api)
            self.assertEqual(api.pods(), {"team/part": None, "team/whole": "n0"})
            self.assertIn("gpu-fraction", api.get("pods", "team/part")["status"]["conditions"][0]["message"])

    def test_queues_reclaim_and_nobody_is_told_twice(self):
        for form in ("delete", "evict"):
            with self.subTest(form), FakeApi() as api:
                api.put("nodes", node("n0"))
                api.put("queues", queue("top", 8))
                api.put("queues", queue("a", 4, "top"))
                api.put("queues", queue("b", 4, "top"))
                for i in range(8):
                    api.put("podgroups", group(f"a{i}", "a", 1))
                    api.put("pods", pod(f"a{i}-0", 1, group=f"a{i}", on="n0"))
                self.add_gang(api, "b", "b", 3)
                api.silent = True  # nobody tells that they go
                process = self.start(api, f"period: 200ms\neviction: {form}\n")
                gone = lambda: [n for n in api.pods() if api.get("pods", n)["metadata"].get("deletionTimestamp")]  # noqa: E731
                self.assert_until(api, lambda: any(r.watch for r in api.asked("GET", "/pods$")))
                self.assert_until(api, lambda: len(gone()) >= 3)
                time.sleep(1)
                self.assertEqual(len(gone()), 3)
                asked = api.asked("DELETE" if form == "delete" else "POST", "pods/a[0-9]-0" + ("" if form == "delete" else "/eviction"))
                self.assertEqual(len(asked), 3)
                api.silent = False
                for name in gone():
                    api.delete("pods", name)
                self.assert_until(api, lambda: all(api.pods()[f"team/b-{i}"] == "n0" for i in range(3)))
                process.kill()


STARTED, EVICTED, STALE = (f"kai.scheduler/{key}-timestamp" for key in ("last-start", "last-eviction", "stale-podgroup"))
EVICTIONS, AFTER = "kaisched.io/evictions", "kaisched.io/after"


class Volcano(Case):
    """A cluster where Volcano's controllers run, and no objects of KAI."""

    KINDS = ("queues.scheduling.volcano.sh", "podgroups.scheduling.volcano.sh", "hypernodes")

    def fill(self, api, nodes=2, gpus=2, quota=-1):
        for i in range(nodes):
            api.put("nodes", node(f"n{i}", gpus))
        api.served -= {"queues", "podgroups", "topologies"}
        api.served |= set(self.KINDS)
        self.add_queue(api, "Open")

    def add_queue(self, api, state):
        made = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "team"},
                "spec": {"weight": 1}, "status": {"state": state}}  # fmt: skip
        api.put("queues.scheduling.volcano.sh", made)

    def add_group(self, api, name, members, there=2, **spec):
        api.put("podgroups.scheduling.volcano.sh", {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": name, "namespace": "team"},
            "spec": {"queue": "team", "minMember": members, **spec},
        })  # fmt: skip
        for i in range(there):
            api.put("pods", pod(f"{name}-{i}", annotations={"scheduling.k8s.io/group-name": name}))

    def test_a_gang_of_volcano(self):
        with FakeApi() as api:
            self.fill(api)
            self.add_group(api, "whole", 2)
            self.add_group(api, "part", 2, there=1)
            other = pod("theirs", scheduler="volcano", annotations={"scheduling.k8s.io/group-name": "whole"})
            api.put("pods", other)
            self.start(api, "period: 200ms\nengine: {preset: volcano-default}\n")
            self.assert_until(api, lambda: api.pods()["team/whole-0"] and api.pods()["team/whole-1"])
            self.assertEqual([api.pods()[f"team/{name}"] for name in ("part-0", "theirs")], [None, None])
            api.put("pods", pod("part-1", annotations={"scheduling.k8s.io/group-name": "part"}))
            self.assert_until(api, lambda: api.pods()["team/part-0"] and api.pods()["team/part-1"])

    def test_a_queue_that_opens(self):
        with FakeApi() as api:
            self.fill(api)
            self.add_queue(api, "Closed")
            self.add_group(api, "g", 1, there=1)
            self.start(api, "period: 200ms\n")
            self.assert_until(api, lambda: any("is closed" in r.body.get("note", "") for r in api.asked("POST", "/events$")))
            self.assertEqual(api.pods()["team/g-0"], None)
            self.add_queue(api, "Open")
            self.assert_until(api, lambda: api.pods()["team/g-0"])

    def test_networks_that_come_later(self):
        with FakeApi() as api:
            self.fill(api, nodes=3, gpus=1)
            self.add_group(api, "near", 2, networkTopology={"mode": "hard", "highestTierAllowed": 1})
            for name, nodes in (("a", ["n0"]), ("b", ["n1", "n2"])):
                members = [{"type": "Node", "selector": {"exactMatch": {"name": one}}} for one in nodes]
                api.put("hypernodes", {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": name},
                                       "spec": {"tier": 1, "members": members}})  # fmt: skip
            self.start(api, "period: 200ms\nengine: {preset: volcano-ai}\n")
            self.assert_until(api, lambda: api.pods()["team/near-0"] and api.pods()["team/near-1"])
            self.assertEqual({api.pods()[f"team/near-{i}"] for i in (0, 1)}, {"n1", "n2"})


class Times(Case):
    """What the program writes on pod groups for later cycles, whoever decides them."""

    def note(self, api, group, key):
        return api.get("podgroups", f"team/{group}")["metadata"].get("annotations", {}).get(key)

    def reclaimed(self, api, **terms):
        """8 jobs of a queue run that has a right to 4, and 3 pods of another wait."""
        api.put("nodes", node("n0"))
        top, mine, other = queue("top", 8), queue("a", 4, "top"), queue("b", 4, "top")
        mine["spec"].update(terms)
        for one in (top, mine, other):
            api.put("queues", one)
        for i in range(8):
            self.add_gang(api, f"a{i}", "a", 1)

    def gone(self, api):
        return [n for n in api.pods() if api.get("pods", n)["metadata"].get("deletionTimestamp")]

    def test_when_a_group_started(self):
        with FakeApi() as api:
            self.fill(api)
            self.add_gang(api, "g", "q", 2)
            self.start(api)
            self.assert_until(api, lambda: len([n for n in api.pods().values() if n]) == 2)
            first = self.note(api, "g", STARTED)
            self.assertRegex(first, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            writes = [(r.method, r.path.rsplit("/", 1)[1]) for r in api.changes()][:3]
            self.assertEqual(writes, [("PATCH", "g"), ("POST", "binding"), ("POST", "binding")])  # who dies in between has said it
            time.sleep(1.1)
            api.put("pods", pod("g-2", group="g"))  # one more of a group that runs
            self.assert_until(api, lambda: api.pods()["team/g-2"])
            self.assertEqual(self.note(api, "g", STARTED), first)
            self.assertIsNone(self.note(api, "g", STALE))

    def test_promised_run_times_hold(self):
        for terms, evicted in (({"reclaimMinRuntime": "1h"}, 0), ({}, 3)):
            with self.subTest(terms), FakeApi() as api:
                self.reclaimed(api, **terms)
                self.once(api)
                self.assertTrue(all(api.pods().values()))
                for name in list(api.pods()):
                    one = api.get("pods", name)
                    one["status"]["phase"] = "Running"
                    api.put("pods", one)
                self.add_gang(api, "b", "b", 3)
                self.once(api)  # another process
                self.assertEqual(len(self.gone(api)), evicted)
                noted = [i for i in range(8) if self.note(api, f"a{i}", EVICTED)]
                self.assertEqual([f"team/a{i}-0" for i in noted], sorted(self.gone(api)))
                self.assertEqual([self.note(api, f"a{i}", EVICTIONS) for i in range(8)], ["1" if i in noted else None for i in range(8)])

    def test_a_group_that_comes_after_another(self):
        with FakeApi() as api:
            self.fill(api)
            self.add_gang(api, "data", "q", 1)
            for name, after in (("train", "ok:data, any:data"), ("clean", "failed:data")):
                made, pods = gang(name, "q", 1)
                made["metadata"].setdefault("annotations", {})[AFTER] = after
                api.put("podgroups", made)
                api.put("pods", pods[0])
            self.start(api, "period: 200ms\n")
            self.assert_until(api, lambda: api.pods()["team/data-0"])
            time.sleep(0.5)
            self.assertFalse(api.pods()["team/train-0"] or api.pods()["team/clean-0"])
            self.assertEqual(api.get("pods", "team/train-0").get("status", {}).get("conditions", []), [])  # no node would help
            one = api.get("pods", "team/data-0")
            one["status"]["phase"] = "Succeeded"
            api.put("pods", one)
            self.assert_until(api, lambda: api.pods()["team/train-0"])
            self.assertEqual(self.note(api, "train", AFTER), "ok:data, any:data")
            api.delete("pods", "team/data-0")
            api.delete("podgroups", "team/data")
            self.assert_until(api, lambda: self.note(api, "clean", AFTER) == "never:team/data")
            self.assert_until(api, lambda: self.note(api, "train", AFTER) is None)
            self.assertFalse(api.pods()["team/clean-0"])

    def test_a_gang_that_lost_a_pod(self):
        with FakeApi() as api:
            self.fill(api)
            made, pods = gang("g", "q", 3, on="n0")
            made["spec"]["stalenessGracePeriod"] = "3s"
            theirs = group("kai", "q", 3)
            theirs["metadata"]["annotations"] = {STALE: "2026-01-01T00:00:00Z"}
            for one in (made, theirs):
                api.put("podgroups", one)
            for one in (*pods, pod("kai-0", group="kai", on="n0", scheduler="kai-scheduler")):
                api.put("pods", one)
            self.start(api, "period: 300ms\n")
            self.assert_until(api, lambda: "all objects are read" in self.log())
            api.delete("pods", "team/g-1")
            self.assert_until(api, lambda: self.note(api, "g", STALE))
            api.put("pods", pods[1])  # it is whole again
            self.assert_until(api, lambda: not self.note(api, "g", STALE))
            self.assertEqual(self.gone(api), [])
            api.delete("pods", "team/g-1")
            self.assert_until(api, lambda: self.gone(api) == ["team/g-0", "team/g-2"])
            self.assertIsNone(self.note(api, "g", EVICTED))  # nobody has taken its place
            self.assertEqual(self.note(api, "kai", STALE), "2026-01-01T00:00:00Z")  # another scheduler's

    def test_a_time_that_the_server_did_not_take(self):
        with FakeApi() as api:
            self.fill(api)
            self.add_gang(api, "g", "q", 2)
            api.fail("PATCH", "podgroups/g$", 503)
            api.fail("PATCH", "podgroups/g$", "drop")
            self.start(api, "period: 200ms\n")
            self.assert_until(api, lambda: self.note(api, "g", STARTED))
            self.assert_until(api, lambda: len([n for n in api.pods().values() if n]) == 2)
            self.assertEqual(len(api.asked("PATCH", "podgroups/g$")), 3)


class Election(Case):
    """Several processes, of which one decides."""

    RUNS = "period: 200ms\n" + SHORT_LEASE

    def lease(self, api):
        return api.get("leases", "kube-system/kaisched")["spec"]

    def assert_whole(self, api, bound):
        """Every pod was bound once, and no gang is there in part."""
        self.assert_until(api, lambda: len([n for n in api.pods().values() if n]) == bound)
        posts = [r.path for r in api.asked("POST", "binding$")]
        made = [path for path in posts if api.pods()[f"team/{path.split('/')[-2]}"]]
        self.assertEqual(len({*made}), bound)

    def test_the_lease_is_taken_and_given_back(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("pods", pod("a"))
            process = self.start(api, self.RUNS)
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})
            first = self.lease(api)
            self.assertEqual((first["leaseDurationSeconds"], first["leaseTransitions"]), (3, 0))
            for key in ("acquireTime", "renewTime"):
                self.assertRegex(first[key], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
            asked = api.asked()
            lease = next(i for i, r in enumerate(asked) if r.method == "POST" and r.path.endswith("/leases"))
            self.assertLess(lease, next(i for i, r in enumerate(asked) if r.path.endswith("/nodes")))  # who waits reads nothing
            self.assert_until(api, lambda: self.lease(api)["renewTime"] > first["renewTime"])
            self.assertEqual(self.lease(api)["acquireTime"], first["acquireTime"])
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=5), 0)
            self.assertIsNone(api.leader())
            self.assertIn("released", self.log())
            api.put("pods", pod("b"))
            at = time.monotonic()
            self.start(api, "period: 200ms\n")
            self.assert_until(api, lambda: api.pods()["team/b"] == "n0")
            self.assertLess(time.monotonic() - at, 10)  # the default terms would have been 15 seconds
            self.assertEqual(self.lease(api)["leaseTransitions"], 1)

    def test_nobody_decides_without_it(self):
        with FakeApi() as api:
            self.fill(api)
            self.start(api, self.RUNS)
            self.assert_until(api, api.leader)
            leader = api.leader()
            second = self.start(api, self.RUNS)
            self.assert_until(api, lambda: f"{leader} leads; waiting" in self.log())
            api.put("pods", pod("a"))
            self.assert_whole(api, 1)
            time.sleep(0.5)
            self.assertEqual(api.leader(), leader)
            self.assertEqual(len([r for r in api.asked("GET", "/nodes$") if not r.watch]), 1)
            second.send_signal(signal.SIGTERM)  # who waits ends as well, and does not give away what it does not have
            self.assertEqual(second.wait(timeout=5), 0)
            self.assertEqual(api.leader(), leader)

    def test_one_cycle_waits_for_its_turn_but_not_for_ever(self):
        with FakeApi() as api:
            self.fill(api)
            self.start(api, self.RUNS)
            self.assert_until(api, api.leader)
            done = self.run_program("--once", "--kubeconfig", self.kubeconfig(api.url), "--config", self.config(SHORT_LEASE))
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"lease kube-system/kaisched: {api.leader()} leads: nothing was decided", done.stderr)
            api.put("pods", pod("a", 9))  # waits for ever
            done = self.once(api, "--dry-run", config=SHORT_LEASE)  # writes nothing, so it needs no lease
            self.assertIn("wait team/a", done.stdout)

    def test_without_election(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("pods", pod("a"))
            self.once(api, config="leader_election: {enabled: false}\n")
            self.assertEqual(api.pods(), {"team/a": "n0"})
            self.assertEqual(api.asked(None, "/leases"), [])

    def test_where_the_lease_is(self):
        for config, expected in (
            ("", "there/kaisched"),
            ("scheduler_name: mine\nnode_pool: a100\nleader_election: {namespace: system}\n", "system/mine-a100"),
            ("leader_election: {name: of-my-own}\n", "there/of-my-own"),
        ):
            with FakeApi() as api:
                self.fill(api)
                file = self.kubeconfig(api.url)
                file.write_text(file.read_text().replace("cluster: c,", "cluster: c, namespace: there,"))
                done = self.run_program("--once", "--kubeconfig", file, "--config", self.config(config))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(list(api.objects["leases"]), [expected])

    def test_a_leader_that_dies_in_the_middle_of_a_gang(self):
        """The second goes on where the first was killed: nothing is bound twice, nothing is left in part."""
        with FakeApi() as api:
            self.fill(api, nodes=2, gpus=4)
            self.add_gang(api, "g", "q", 6)
            self.add_gang(api, "h", "q", 4)
            api.fail("POST", "pods/g-[2345]/binding", "drop", times=1000)
            api.fail("POST", "pods/h-[1234]/binding", "drop", times=1000)
            first = self.start(api, self.RUNS)
            self.assert_until(api, lambda: len([n for n in api.pods().values() if n]) >= 1)
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: "leads; waiting" in self.log())
            before = {name: where for name, where in api.pods().items() if where}
            started = {name.split("/")[1][0] for name in before}
            first.kill()
            with api.lock:
                api.faults.clear()
            self.assert_whole(api, 6 if started == {"g"} else 4)
            self.assertEqual(before.items() - api.pods().items(), set())
            self.assertEqual(self.lease(api)["leaseTransitions"], 1)

    def test_a_leader_that_is_stopped_and_comes_back(self):
        """It was not dead, it only slept: it may write nothing when it wakes up."""
        with FakeApi() as api:
            self.fill(api, nodes=2, gpus=4)
            self.add_gang(api, "g", "q", 6)
            first = self.start(api, self.RUNS)
            api.fail("POST", "pods/g-2/binding", "stop", times=1)
            api.stop = lambda: first.send_signal(signal.SIGSTOP)
            self.assert_until(api, lambda: len([n for n in api.pods().values() if n]) == 2)
            self.start(api, self.RUNS)
            self.assert_whole(api, 6)
            time.sleep(0.5)  # its events
            before = len(api.changes())
            first.send_signal(signal.SIGCONT)
            self.assertEqual(first.wait(timeout=10), 1)
            self.assertIn("lost; nothing more is decided", self.log())
            late = [r.path for r in api.changes()[before:]]
            self.assertEqual(late, [])

    def test_a_leader_that_cannot_renew_stops(self):
        with FakeApi() as api:
            self.fill(api)
            process = self.start(api, self.RUNS)
            self.assert_until(api, lambda: "all objects are read" in self.log())
            api.fail("PUT", "/leases/", 503, times=1000)
            self.assertEqual(process.wait(timeout=10), 1)
            self.assertIn("lost; nothing more is decided", self.log())
            self.assertEqual(self.log().count("planted"), 1)  # not at every try

    def test_a_renewal_without_an_answer(self):
        with FakeApi() as api:
            self.fill(api)
            process = self.start(api, "period: 200ms\nleader_election: {lease_duration: 12s, renew_deadline: 10s, retry_period: 200ms}\n")
            self.assert_until(api, api.leader)
            for fault in ("lost", "drop", 409, 500):  # made; not made; somebody was faster, as it seems; refused
                api.fail("PUT", "/leases/", fault)
            self.assert_until(api, lambda: not [f for f in api.faults if f[3]])
            self.assertIsNone(process.poll(), self.log())
            api.put("pods", pod("a"))
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})
            self.assertEqual(self.lease(api)["leaseTransitions"], 0)

    def test_somebody_else_is_written_into_it(self):
        with FakeApi() as api:
            self.fill(api)
            process = self.start(api, self.RUNS)
            self.assert_until(api, lambda: "all objects are read" in self.log())
            lease = api.get("leases", "kube-system/kaisched")
            lease["spec"]["holderIdentity"] = "another"
            api.put("leases", lease)
            self.assertEqual(process.wait(timeout=10), 1)
            self.assertEqual(api.leader(), "another")


class Faults(Case):
    def test_somebody_was_faster(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            api.put("pods", pod("a"))
            api.fail("POST", "pods/a/binding", 409)
            self.start(api)
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})
            self.assertEqual(len(api.asked("POST", "pods/a/binding")), 2)

    def test_another_scheduler_took_the_room(self):
        """While one pod of a cycle is being bound, another scheduler puts its own on the node: what is left of the cycle is looked
        at again before it is sent."""
        with FakeApi() as api:
            self.fill(api, gpus=2)
            api.fail("POST", "pods/a/binding", ("wait", 2))
            self.start(api, "period: 300ms\nsettle: 500ms\n")
            self.assert_until(api, lambda: "all objects are read" in self.log())
            for name in ("a", "b"):
                api.put("pods", pod(name))
            self.assert_until(api, lambda: api.asked("POST", "pods/a/binding"))
            api.put("pods", pod("theirs", scheduler="another", on="n0"))
            self.assert_until(api, lambda: api.get("pods", "team/b")["status"].get("conditions"))
            self.assertEqual(api.pods(), {"team/a": "n0", "team/b": None, "team/theirs": "n0"})
            self.assertIn("pod team/b: bind to n0: devices there were given away since this was decided", self.log())
            self.assertEqual(api.asked("POST", "pods/b/binding"), [])

    def test_no_answer_does_not_mean_no(self):
        for fault, posts in (("lost", 1), ("drop", 2), (500, 2)):  # carried out; not carried out; refused
            with self.subTest(fault), FakeApi() as api:
                self.fill(api, gpus=1)
                api.put("pods", pod("a"))
                api.put("pods", pod("b"))
                api.silent = True
                api.fail("POST", "pods/[ab]/binding", fault)
                process = self.start(api, "period: 200ms\n")
                self.assert_until(api, lambda: [n for n, where in api.pods().items() if where])
                time.sleep(1)
                self.assertEqual(len([n for n, where in api.pods().items() if where]), 1, self.log())
                self.assertEqual(len(api.asked("POST", "binding$")), posts)
                process.kill()

    def test_a_decision_in_flight_is_not_decided_again(self):
        with FakeApi() as api:
            self.fill(api, gpus=1)
            api.put("pods", pod("a"))
            api.put("pods", pod("b"))
            api.silent = True  # what becomes of the binding nobody tells
            self.start(api, "period: 100ms\n")
            self.assert_until(api, lambda: any(api.pods().values()))
            time.sleep(1)
            self.assertEqual(len(api.asked("POST", "binding$")), 1)
            api.silent = False
            self.assert_until(api, lambda: api.get("pods", "team/b")["status"].get("conditions"))

    def test_a_restart_in_the_middle_of_a_gang(self):
        with FakeApi() as api:
            self.fill(api, nodes=2, gpus=4)
            self.add_gang(api, "g", "q", 6)
            api.fail("POST", "pods/g-[2345]/binding", "drop", times=1000)
            first = self.start(api, "period: 500ms\n" + SHORT_LEASE)
            self.assert_until(api, lambda: len([n for n in api.pods().values() if n]) >= 2)
            first.kill()
            first.wait()
            with api.lock:
                api.faults.clear()
            self.start(api, "period: 500ms\n" + SHORT_LEASE)
            self.assert_until(api, lambda: all(api.pods().values()))
            bound = [r.path for r in api.asked("POST", "binding$")]
            self.assertEqual(len([p for p in bound if "g-0/" in p]), 1)

    def test_it_ends_when_it_is_asked_to(self):
        for before, name in enumerate((signal.SIGTERM, signal.SIGINT)):
            with FakeApi() as api:
                self.fill(api)
                process = self.start(api)
                self.assert_until(api, lambda: self.log().count("all objects are read") > before)
                process.send_signal(name)
                self.assertEqual(process.wait(timeout=5), 0)
        with FakeApi() as api:  # also while nothing answers
            api.fail("GET", "/nodes$", 503, times=1000)
            process = self.start(api)
            self.assert_until(api, lambda: "planted" in self.log())
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=5), 0)


if __name__ == "__main__":
    unittest.main()

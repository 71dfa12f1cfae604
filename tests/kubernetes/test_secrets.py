"""Credentials of kaisched-kubernetes: they go to nobody but the server of the kubeconfig, stand in no line of the log whatever
goes wrong, and certificates are verified and renewed. One ctest entry per class."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from clusters import pod  # noqa: E402
from fake_api import FakeApi  # noqa: E402
from test_program import SECRET, Case  # noqa: E402

RUNS = "period: 300ms\nleader_election: {enabled: false}\n"
OTHERS = RUNS + "server: {listen: '127.0.0.1:0', token_file: server-token, usage_token_file: usage-token}\n"


class SecretCase(Case):
    def setUp(self):
        super().setUp()
        self.secrets = [SECRET]
        self.addCleanup(self.assert_nothing_is_told)

    def assert_nothing_is_told(self):
        log = self.log() if (self.folder / "stderr").exists() else ""
        for secret in self.secrets:
            self.assertFalse(secret in log, "a secret is in the log")

    def start(self, api, config=RUNS, **more):
        for name in ("server-token", "usage-token"):
            (self.folder / name).write_text(f"{name}-of-which-nothing-is-said")
            self.secrets.append(f"{name}-of-which-nothing-is-said")
        return super().start(api, config, **more)


class Words(SecretCase):
    """What is said while things go wrong."""

    def test_servers_that_repeat_what_they_were_sent(self):
        echo = f"who is Bearer {SECRET}? {SECRET}".encode()
        json_echo = b'{"kind": "Status", "message": "%s"}' % echo
        for status in (401, 403, 500):
            with self.subTest(status), FakeApi() as api:
                self.fill(api)
                api.put("pods", pod("a"))
                plain, form = [("Content-Type", "text/plain")], [("Content-Type", "application/json")]
                for body, kind in ((echo, plain), (json_echo, form)):
                    api.fail("GET", "/nodes$", (status, kind, body))
                    api.fail("WATCH", "/pods$", (status, kind, body))
                    api.fail("GET", "^/apis$", (status, kind, body))
                    api.fail("GET", "/leases/", (status, kind, body))
                    api.fail("POST", "/leases$", (status, kind, body))
                    api.fail("POST", "binding$", (status, kind, body))
                    api.fail("PATCH", "", (status, kind, body))
                process = self.start(api, OTHERS.replace("leader_election: {enabled: false}\n", ""))
                self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})
                self.assertIn("***", self.log())
                process.kill()
                process.wait()

    def test_kubeconfigs_that_are_wrong(self):
        key = "a2V5LW1hdGVyaWFs"
        for cluster, user, url in (
            ("", f"token: {SECRET}, exec: {{command: x}}", "https://h"),
            ("", f"token: [{SECRET}]", "https://h"),
            ("", f"password: {SECRET}, username: me", "https://h"),
            ("", f"client-key-data: {key}, client-certificate-data: {key}", "https://h"),
            ("", f"token: {SECRET}", f"https://me:{SECRET}@127.0.0.1:1"),
            ("proxy-url: 'http://127.0.0.1:1'", f"token: {SECRET}", "https://h"),
            ("", f"token: '{SECRET}\\t{{'", "https://h'\n"),
        ):
            done = self.run_program("--once", "--kubeconfig", self.kubeconfig(url, cluster, user))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertNotIn(key, done.stderr)
            self.assertNotIn("key-material", done.stderr)

    def test_a_token_that_would_be_more_than_one_header(self):
        with FakeApi() as api:
            self.fill(api)
            token = self.folder / "token"
            token.write_text(f"{SECRET}\r\nX-More: {SECRET}")
            self.start(api, kubeconfig=self.kubeconfig(api.url, user=f"tokenFile: {token}"))
            self.assert_until(api, lambda: f"{token}: characters that no token has" in self.log())
            self.assertEqual(api.asked(), [])


class Elsewhere(SecretCase):
    """Others who would like to have the token."""

    def test_redirects_are_not_followed(self):
        with FakeApi() as api, FakeApi() as thief:
            self.fill(api)
            api.put("pods", pod("a"))
            for status in (301, 302, 303, 307, 308):
                for method, pattern in (("GET", "/nodes$"), ("WATCH", "/queues$"), ("POST", "binding$")):
                    api.fail(method, pattern, (status, [("Location", thief.url + "/api/v1/nodes")], b""))
            self.start(api)
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"}, 120)
            self.assertIn("status 30", self.log())
            self.assertEqual(thief.asked(), [])

    def test_proxies_of_the_environment_are_not_asked(self):
        names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        with FakeApi() as api, FakeApi() as proxy:
            self.fill(api)
            api.put("pods", pod("a"))
            before = dict(os.environ)
            os.environ.update({name: proxy.url for name in names})
            try:
                self.once(api, config=RUNS)
            finally:
                os.environ.clear()
                os.environ.update(before)
            self.assertEqual(api.pods(), {"team/a": "n0"})
            self.assertEqual(proxy.asked(), [])

    def test_what_is_written_holds_no_token(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("pods", pod("a"))
            api.put("pods", pod("large", 100))
            self.start(api, OTHERS)
            self.assert_until(api, lambda: len(api.asked("POST", "/events$")) >= 2)
            for request in api.changes():
                self.assertNotIn(SECRET, request.path + str(request.body))


class Certificates(SecretCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("openssl"):
            raise unittest.SkipTest("openssl absent")
        cls.made = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.made)
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        run = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=cls.made)  # noqa: E731
        for ca in ("ca", "other-ca"):
            run("req", "-x509", *curve, "-days", "2", "-subj", f"/CN={ca}", "-keyout", f"{ca}.key", "-out", f"{ca}.crt")
        for name, ca, days, names in (
            ("server", "ca", "2", "IP:127.0.0.1,DNS:localhost"), ("wrong-name", "ca", "2", "DNS:elsewhere"),
            ("expired", "ca", "-1", "IP:127.0.0.1"), ("stranger", "other-ca", "2", "IP:127.0.0.1"),
            ("client", "ca", "2", "DNS:me"), ("client-before", "other-ca", "2", "DNS:me"),
        ):  # fmt: skip
            (cls.made / f"{name}.ext").write_text(f"subjectAltName={names}\n")
            run("req", *curve, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
            run("x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.crt", "-CAkey", f"{ca}.key", "-CAcreateserial",
                "-days", days, "-extfile", f"{name}.ext", "-out", f"{name}.crt")  # fmt: skip

    def served(self, name, client_ca=None):
        return FakeApi((self.made / f"{name}.crt", self.made / f"{name}.key"), client_ca and self.made / f"{client_ca}.crt")

    def setUp(self):
        super().setUp()
        self.secrets += [(self.made / f"{name}.key").read_text().splitlines()[1] for name in ("server", "client")]

    def copied(self, name, to):
        """A file that is replaced at once, as the kubelet does it."""
        (self.folder / "new").write_bytes((self.made / name).read_bytes())
        (self.folder / "new").rename(self.folder / to)

    def test_servers_that_are_not_who_they_should_be(self):
        for name, why in (("wrong-name", "verify failed"), ("expired", "verify failed"), ("stranger", "verify failed")):
            with self.subTest(name), self.served(name) as api:
                process = self.start(api, kubeconfig=self.kubeconfig(api.url, f"certificate-authority: {self.made}/ca.crt"))
                self.assert_until(api, lambda: f":{api.server.server_address[1]}: TLS: certificate {why}" in self.log())
                self.assertEqual(api.asked(), [])  # nobody got the token
                process.kill()
                process.wait()

    def test_the_name_that_the_kubeconfig_gives(self):
        for name, starts in (("elsewhere", True), ("somewhere", False)):
            with self.subTest(name), self.served("wrong-name") as api:
                self.fill(api)
                api.put("pods", pod("a"))
                cluster = f"certificate-authority: {self.made}/ca.crt, tls-server-name: {name}"
                process = self.start(api, kubeconfig=self.kubeconfig(api.url, cluster))
                if starts:
                    self.assert_until(api, lambda: api.pods() == {"team/a": "n0"})
                else:
                    self.assert_until(api, lambda: f":{api.server.server_address[1]}: TLS: certificate verify failed" in self.log())
                    self.assertEqual(api.asked(), [])
                process.kill()
                process.wait()

    def test_certificates_are_renewed(self):
        """Those of the client and of the CA, while the program runs."""
        for file in ("crt", "key"):
            self.copied(f"client-before.{file}", f"client.{file}")
        self.copied("ca.crt", "ca.crt")
        user = f"client-certificate: {self.folder}/client.crt, client-key: {self.folder}/client.key"
        with self.served("server", client_ca="ca") as api:
            self.fill(api)
            api.put("pods", pod("a"))
            kubeconfig = self.kubeconfig(api.url, f"certificate-authority: {self.folder}/ca.crt", user)
            process = self.start(api, kubeconfig=kubeconfig)
            self.assert_until(api, lambda: "again in" in self.log())
            self.assertEqual(api.asked(), [])
            self.copied("client.crt", "client.crt")  # for a moment they do not belong together
            self.copied("client.key", "client.key")
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"}, 120)
            self.assertIsNone(process.poll())
        self.copied("other-ca.crt", "ca.crt")
        with self.served("stranger") as api:
            self.fill(api)
            self.copied("ca.crt", "ca.crt")
            self.start(api, kubeconfig=self.kubeconfig(api.url, f"certificate-authority: {self.folder}/ca.crt"))
            self.assert_until(api, lambda: f":{api.server.server_address[1]}: TLS: certificate verify failed" in self.log())
            api.put("pods", pod("a"))
            self.copied("other-ca.crt", "ca.crt")
            self.assert_until(api, lambda: api.pods() == {"team/a": "n0"}, 120)


if __name__ == "__main__":
    unittest.main()

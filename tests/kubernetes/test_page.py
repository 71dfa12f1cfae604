"""The page of kaisched-kubernetes: what it is made of, and how it looks in a browser."""

import importlib.util
import json
import os
import shutil
import sys
import time
import unittest
from pathlib import Path

from clusters import group, node, pod, queue
from fake_api import FakeApi
from test_server import TOKEN, ServedCase

PICTURES = os.environ.get("KAISCHED_PICTURES")  # a folder for people who want to look

USAGE_TOKEN = "agents-only"


def topology(name, *levels):
    return {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": name},
            "spec": {"levels": [{"nodeLabel": level} for level in levels]}}


def usage(node, index, held, permille, uuid=""):
    return {"schema": "kaisched-cuda-usage/1", "cards": [
        {"node": node, "index": index, "uuid": uuid, "held_bytes": held, "used_permille": permille}]}


class PageCase(ServedCase):
    def fill_cluster(self, api):
        """Two racks, queues of two levels, jobs that run, wait for room, wait for quota, and one that a binding does not start."""
        api.put("topologies", topology("fabric", "example.com/zone", "example.com/rack", "kubernetes.io/hostname"))
        for i in range(6):
            labels = {"example.com/zone": "a", "example.com/rack": f"r{i // 3}", "kubernetes.io/hostname": f"gpu-{i}",
                      "nvidia.com/gpu.memory": "81559", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.product": "H100"}
            api.put("nodes", node(f"gpu-{i}", labels=labels))
        closed = node("gpu-5", labels={"example.com/zone": "a", "example.com/rack": "r1", "kubernetes.io/hostname": "gpu-5"})
        closed["spec"] = {"unschedulable": True}
        api.put("nodes", closed)
        api.put("queues", queue("lab", 40))
        api.put("queues", queue("speech", 16, "lab"))
        api.put("queues", queue("vision", 24, "lab"))
        self.add_gang(api, "whisper", "speech", 2, gpus=8)
        self.add_gang(api, "bert", "vision", 5, gpus=3)
        self.add_gang(api, "very-large-language-model-pretraining-run-7", "vision", 3, gpus=8)
        limited = group("render", "speech", 1)
        api.put("podgroups", limited)
        api.put("pods", pod("render-0", 9, group="render"))
        api.put("pods", pod("part", 0, annotations={"gpu-fraction": "0.5"}))

    def serve_page(self, api):
        (self.folder / "usage-token").write_text(USAGE_TOKEN)
        self.serve(api, "  usage_token_file: usage-token\n", "period: 500ms\nexplain_period: 1h\n")
        self.assert_until(api, lambda: self.get("/page/state", TOKEN)[0] == 200)

    def state(self):
        status, text, _ = self.get("/page/state", TOKEN)
        self.assertEqual(status, 200)
        return json.loads(text)


class State(PageCase):
    def test_queues_jobs_and_cards(self):
        with FakeApi() as api:
            self.fill_cluster(api)
            self.serve_page(api)
            self.assert_until(api, lambda: len([n for n in api.pods().values() if n]) >= 7)
            self.assert_until(api, lambda: sum(bool(c["pods"]) for n in self.state()["nodes"] for c in n["cards"]) == 31)
            state = self.state()
            queues = {q["name"]: q for q in state["queues"]}
            self.assertEqual((queues["vision"]["parent"], queues["vision"]["quota"][2], queues["vision"]["allocated"][2]), ("lab", 24000, 15000))
            self.assertEqual(queues["speech"]["allocated"][2], 16000)
            self.assertEqual(queues["speech"]["usage"], [0, 0, 0])  # nobody counts
            waiting = {job["group"]: job for job in state["waiting"]}
            self.assertEqual(set(waiting), {"team/very-large-language-model-pretraining-run-7", "team/render"})
            self.assertTrue(all(r["constraint"] and r["text"] for job in waiting.values() for r in job["reasons"]))
            self.assertEqual([one["pod"] for one in state["refused"]], ["team/part"])
            self.assertEqual(state["topologies"][0]["levels"][1], "example.com/rack")
            nodes = {n["name"]: n for n in state["nodes"]}
            self.assertEqual(nodes["gpu-4"]["domains"]["fabric"], ["a", "r1", "gpu-4"])
            self.assertFalse(nodes["gpu-5"]["ready"])
            where = api.pods()["team/whisper-0"]
            self.assertEqual({tuple(c["pods"]) for c in nodes[where]["cards"]}, {("team/whisper-0",)})
            card = nodes[where]["cards"][0]
            self.assertEqual((card["granted_cores"], card["memory"]), (1000, 81559 * 2**20))
            self.assertLessEqual(card["memory"] - card["granted_memory"], 1000)
            status, text, _ = self.get("/page/fixes?group=team%2Frender", TOKEN)
            self.assertEqual(status, 200)
            self.assertTrue(json.loads(text)["fixes"], text)
            self.assertEqual(self.get("/page/fixes?group=team/whisper", TOKEN)[0], 404)
            self.assertEqual(self.get("/page/fixes", TOKEN)[0], 400)

    def test_devices_of_vendors(self):
        cluster = json.loads((Path(__file__).parents[2] / "examples/kubernetes/hami.json").read_text())
        with FakeApi() as api:
            for one in cluster["items"]:
                if one["kind"] in ("Node", "Pod"):
                    api.put(one["kind"].lower() + "s", one)
            self.serve_page(api)
            self.assertEqual(self.tell(usage("gpu-1", 1, 2**30, 150, "GPU-gpu-1-1"))[0], 200)
            card = next(n for n in self.state()["nodes"] if n["name"] == "gpu-1")["cards"][1]
            self.assertEqual((card["id"], card["pods"]), ("GPU-gpu-1-1", ["team/notebook"]))
            self.assertEqual((card["memory"], card["granted_memory"], card["granted_cores"]), (40960 * 2**20, 8192 * 2**20, 200))
            self.assertEqual((card["used_memory"], card["used_cores"]), (2**30, 150))

    def tell(self, body, token=USAGE_TOKEN):
        return self.ask("POST", "/usage", token, body if isinstance(body, str) else json.dumps(body))

    def test_use_of_cards_comes_from_agents(self):
        with FakeApi() as api:
            self.fill_cluster(api)
            self.serve_page(api)
            self.assertEqual(self.tell(usage("gpu-0", 3, 5 * 2**30, 420), TOKEN)[0], 401)
            self.assertEqual(self.get("/page/state", USAGE_TOKEN)[0], 401)
            for bad in ("{", "[]", '{"schema": "x", "cards": []}', '{"schema": "kaisched-cuda-usage/1", "cards": [{"node": 1}]}'):
                self.assertEqual(self.tell(bad)[0], 400, bad)
            self.assertEqual(self.tell(usage("gpu-0", 3, 5 * 2**30, 420))[0], 200)
            self.assertEqual(self.tell(usage("gpu-0", 4, 2**30, -1))[0], 200)
            cards = next(n for n in self.state()["nodes"] if n["name"] == "gpu-0")["cards"]
            self.assertEqual((cards[3]["used_memory"], cards[3]["used_cores"]), (5 * 2**30, 420))
            self.assertEqual(cards[4]["used_memory"], 2**30)
            self.assertNotIn("used_cores", cards[4])
            self.assertNotIn("used_memory", cards[5])

    def test_the_page_itself_knows_nothing_and_loads_nothing(self):
        with FakeApi() as api:
            self.fill_cluster(api)
            self.serve_page(api)
            status, text, headers = self.get("/")
            self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
            self.assertNotIn("{{nonce}}", text)
            self.assertNotIn("whisper", text)
            for words in ("http:", "https:", "innerHTML", "src=", "url("):
                self.assertNotIn(words, text)
            nonce = text.split('nonce="')[1].split('"')[0]
            policy = headers["Content-Security-Policy"]
            self.assertIn(f"script-src 'nonce-{nonce}'", policy)
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn(nonce, self.get("/")[1])


# Texts with less than 4.5 : 1 against what is behind them (WCAG AA).
CONTRAST = """
const parse = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number);
const part = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = c => { const [r, g, b] = parse(c).map(part); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
  if (!/rgba\\(.*, 0\\)/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
const found = [];
for (const e of document.querySelectorAll('h1, h2, h3, p, b, li, td, th, summary, button, span, footer, label')) {
  if (!e.textContent.trim() || !e.getClientRects().length) continue;
  const a = light(getComputedStyle(e).color), b = light(back(e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.push(`${e.tagName} ${e.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
}
return found;
"""

# What holds and what is used, against each other and what is behind them, as protanopes and deuteranopes see them.
COLOURS = """
const style = getComputedStyle(document.documentElement);
const probe = document.body.appendChild(document.createElement('i'));
const rgb = name => { probe.style.color = style.getPropertyValue(name); return getComputedStyle(probe).color.match(/\\d+/g).map(Number); };
const all = Object.fromEntries(['--held', '--used', '--empty', '--back'].map(n => [n, rgb(n)]));
probe.remove();
return all;
"""


def seen_by(kind, colour):
    """Vienot et al., 1999."""
    matrix = {"all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
              "protanopia": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
              "deuteranopia": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1))}[kind]
    linear = [(c / 255) ** 2.2 for c in colour]
    return [max(0, min(1, sum(m * c for m, c in zip(row, linear)))) ** (1 / 2.2) for row in matrix]


class Browser(PageCase):
    def setUp(self):
        super().setUp()
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        driver = shutil.which("chromedriver")
        if chromium is None or driver is None:
            self.skipTest("chromium absent")
        try:
            from selenium import webdriver
        except ImportError:
            self.skipTest("selenium absent")
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        self.addCleanup(self.driver.quit)

    def run_code(self, code):
        return self.driver.execute_script(code)

    def wait(self, code, seconds=60):
        end = time.monotonic() + seconds
        while not (found := self.run_code(code)):
            self.assertLess(time.monotonic(), end, code + "\n" + self.run_code("return document.body.innerText"))
            time.sleep(0.1)
        return found

    def emulate(self, width, height, dark):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def picture(self, name):
        if PICTURES:
            height = self.run_code("return document.documentElement.scrollHeight")
            width = self.run_code("return innerWidth")
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
            self.driver.save_screenshot(str(Path(PICTURES) / f"{name}.png"))

    def test_what_people_see(self):
        with FakeApi() as api:
            self.fill_cluster(api)
            self.serve_page(api)
            self.assert_until(api, lambda: len([n for n in api.pods().values() if n]) >= 7)
            for index in range(4):
                body = json.dumps(usage("gpu-0", index, (10 + 20 * index) * 2**30, 250 * index))
                self.assertEqual(self.ask("POST", "/usage", USAGE_TOKEN, body)[0], 200)
            url = f"http://127.0.0.1:{self.port}/"

            self.driver.get(url)
            self.wait("return !document.getElementById('door').hidden")
            self.emulate(390, 844, False)
            self.picture("door")
            door = self.driver.find_element("id", "token")
            door.send_keys("wrong")
            door.submit()
            self.wait("return document.getElementById('state').textContent.includes('token')")
            door.send_keys(TOKEN)
            door.submit()
            self.wait("return document.documentElement.dataset.drawn")
            self.assertEqual(self.run_code("return document.getElementById('door').hidden"), True)
            self.assertEqual(self.run_code("return [...document.querySelectorAll('#queues td:first-child')].map(e => e.textContent)"),
                             ["lab", "speech", "vision"])
            self.assertEqual(self.run_code("return document.querySelectorAll('#map .cell').length"), 48)
            self.assertEqual(self.run_code("return [...document.querySelectorAll('#map h3')].map(e => e.textContent)"),
                             ["zone a", "rack r0", "rack r1"])
            self.driver.find_element("css selector", "[data-group='team/render'] summary").click()
            self.wait("return document.querySelectorAll('[data-group=\"team/render\"] div li').length")
            self.run_code("const f = document.getElementById('find'); f.value = 'gpu-0 card 3'; f.dispatchEvent(new Event('input'))")
            self.assertEqual(self.run_code("return document.querySelectorAll('#cards tr').length"), 1)
            self.assertIn("used 70", self.run_code("return document.getElementById('cards').innerText"))
            self.run_code("const f = document.getElementById('find'); f.value = ''; f.dispatchEvent(new Event('input'))")
            for width, height, size in ((390, 844, "phone"), (1280, 900, "desktop")):
                for dark in (False, True):
                    self.emulate(width, height, dark)
                    self.assertLessEqual(self.run_code("return document.documentElement.scrollWidth"), width)
                    self.assertEqual(self.run_code(CONTRAST), [])
                    colours = self.run_code(COLOURS)
                    for kind in ("all", "protanopia", "deuteranopia"):
                        seen = {name: seen_by(kind, colour) for name, colour in colours.items()}
                        for a, b in (("--held", "--used"), ("--held", "--empty"), ("--used", "--empty")):
                            distance = sum((x - y) ** 2 for x, y in zip(seen[a], seen[b])) ** 0.5
                            self.assertGreater(distance, 0.2, (kind, dark, a, b))
                    self.picture(f"{size}-{'dark' if dark else 'light'}")
            asked = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
            asked = {m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"}
            self.assertTrue(all(one.startswith((url, "data:")) for one in asked), asked)
            severe = [e["message"] for e in self.driver.get_log("browser") if "401" not in e["message"] and "503" not in e["message"]]
            self.assertEqual(severe, [])
            self.assertEqual(self.run_code("""
              const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
              return [document.documentElement.lang, new Set(ids).size === ids.length,
                      [...document.querySelectorAll('[aria-labelledby]')].every(e => document.getElementById(e.getAttribute('aria-labelledby'))),
                      [...document.querySelectorAll('th')].every(e => e.scope === 'col')]"""), ["en", True, True, True])

            self.driver.get("about:blank")
            self.driver.get(f"{url}#token={TOKEN}")  # from a link; the token does not stay in the address
            self.wait("return document.documentElement.dataset.drawn")
            self.assertEqual(self.run_code("return location.hash"), "")
            self.driver.find_element("id", "leave").click()
            self.assertEqual(self.run_code("return [sessionStorage.length, document.getElementById('board').hidden]"), [0, True])


if __name__ == "__main__":
    # What drives the browser is in the environment that ./dev makes.
    venv = Path(__file__).resolve().parents[2] / "build" / "venv" / "bin" / "python"
    if importlib.util.find_spec("selenium") is None and venv.exists() and Path(sys.prefix).resolve() != venv.parents[1].resolve():
        os.execv(venv, [str(venv), *sys.argv])
    unittest.main()

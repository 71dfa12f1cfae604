"""Runs as files, and the page: opened in a browser, clicked, in the widths and colours that people have."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kaisched as ks
from kaisched import report

pytest.importorskip("plotly", reason="plotly absent")

TABLES = ("nodes", "jobs", "timeline", "intervals", "queues", "queue_timeline")


@pytest.fixture(scope="module")
def runs():
    jobs = ks.Workload.generate(jobs=80, seed=2, queues=3, jobs_per_hour=90)
    told = {"nodes": "3x8", "nodes_per_rack": 2, "equal_quotas": True, "estimates": "exact"}
    return [ks.simulate(jobs, policy=name, **told) for name in ("kai", "sjf")]


@pytest.fixture(scope="module")
def files(runs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for run in runs:
        report.save(run, folder / f"{run.label}.json")
    return [folder / f"{run.label}.json" for run in runs]


# ---- files


def test_what_is_saved_is_read(runs, files):
    for run, file in zip(runs, files, strict=True):
        again = report.read(file)
        assert (again.label, again.digest, again.end) == (run.label, run.digest, run.end)
        assert again.metrics["completion_p99"] == run.metrics["completion_p99"]
        for table in TABLES:
            for column, values in getattr(again, table).items():
                told = getattr(run, table)[column]
                if isinstance(values, (list, dict)):
                    assert values == told, (table, column)
                else:
                    assert np.array_equal(values, np.asarray(told), equal_nan=True), (table, column)


def test_the_program_writes_what_python_saves(runs, tmp_path):
    """The same play by `kaisched simulate --details`, where the program is built."""
    program = os.environ.get("KAISCHED_PROGRAM")
    if program is None:
        pytest.skip("KAISCHED_PROGRAM does not name the program kaisched")
    (tmp_path / "jobs.csv").write_text(runs[0].workload.to_csv())
    subprocess.run([program, "simulate", tmp_path / "jobs.csv", "--nodes", "3x8", "--nodes-per-rack", "2", "--equal-quotas",
                    "--estimates", "exact", "--actions", "allocate,consolidation,reclaim,preempt", "--details", f"--json={tmp_path / 'kai.json'}", "-q"], check=True)
    report.save(runs[0], tmp_path / "python.json")
    a, b = (json.loads((tmp_path / name).read_text()) for name in ("kai.json", "python.json"))
    assert a["digest"] == b["digest"]
    for table, columns in a["details"].items():
        told = b["details"][table]
        assert told == columns if table == "end" else {c: told[c] for c in columns} == columns, table


@pytest.mark.parametrize(("text", "says"), [
    ("{", "not JSON"),
    ("[]", "not a document of the schema kaisched-simulate/1"),
    ('{"schema": "kaisched-run/1"}', "not a document of the schema kaisched-simulate/1"),
    ('{"schema": "kaisched-simulate/1"}', "kaisched simulate --details"),
    ('{"schema": "kaisched-simulate/1", "details": {"nodes": {"node": []}}}', "details.nodes has no column gpus"),
])
def test_files_that_are_no_runs(tmp_path, text, says):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ks.ArgumentError, match=says):
        report.read(tmp_path / "x.json")


def test_missing_files_and_bad_sets_of_runs(tmp_path, runs):
    with pytest.raises(ks.ArgumentError, match="No such file"):
        report.read(tmp_path / "none.json")
    with pytest.raises(ks.ArgumentError, match="labels of their own"):
        report.page([runs[0], runs[0]])
    with pytest.raises(ks.ArgumentError, match="needs a run"):
        report.page([])


def test_the_command(files, tmp_path):
    made = tmp_path / "page.html"
    done = subprocess.run([sys.executable, "-m", "kaisched", "report", *files, files[0], "-o", made, "--title", "<a> & b"],
                          capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = made.read_text(encoding="utf-8")
    assert "<title>&lt;a&gt; &amp; b</title>" in text and "kai (2)" in text
    done = subprocess.run([sys.executable, "-m", "kaisched", "report", tmp_path / "none.json"], capture_output=True, text=True)
    assert done.returncode == 2 and "none.json: No such file" in done.stderr
    done = subprocess.run([sys.executable, "-m", "kaisched", "report", files[0], "-o", tmp_path / "no" / "x.html"],
                          capture_output=True, text=True)
    assert done.returncode == 3 and "no/x.html" in done.stderr


def test_the_same_runs_make_the_same_page(runs, files):
    assert report.page(runs) == report.page(runs) == report.page([report.read(f) for f in files])


def test_import_brings_nothing_along():
    """`import kaisched` does not import what the optional groups bring."""
    code = ("import sys, kaisched; print(sorted(m for m in ('plotly', 'tqdm', 'dask', 'distributed', 'ray', 'gymnasium', 'pandas',"
            " 'nbclient') if m in sys.modules))")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# ---- the browser


def _program(*names):
    return next((found for found in map(shutil.which, names) if found), None)


@pytest.fixture(scope="module")
def page(runs, tmp_path_factory):
    made = tmp_path_factory.mktemp("page") / "report.html"
    report.write(made, runs)
    return made


class Browser:
    def __init__(self, driver, folder):
        self.driver = driver
        self.folder = folder

    def open(self, page, width, height, dark):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        colours = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": colours})
        self.driver.get_log("browser")
        self.driver.get(page.as_uri())
        assert self.run("return document.documentElement.dataset.drawn") == "yes"

    def run(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = _program("chromium", "chromium-browser", "google-chrome"), _program("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver absent")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium absent")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield Browser(started, tmp_path_factory.mktemp("pictures"))
    started.quit()


SIZES = {"phone": (390, 844), "desktop": (1280, 900)}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_page_in_a_browser(browser, page, size, dark):
    width, height = SIZES[size]
    browser.open(page, width, height, dark)
    assert browser.run("return document.querySelectorAll('section').length") == 11
    assert browser.run("return document.querySelectorAll('section .plot .main-svg').length") >= 10
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    assert browser.run("return document.documentElement.scrollWidth") <= width  # nothing to push aside
    browser.run("for (const d of document.querySelectorAll('details')) d.open = false")
    assert browser.run("return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith('data:'))") == []
    shown = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (shown == "rgb(255, 255, 255)") is not dark
    assert browser.run(CONTRAST) == []
    assert browser.complaints() == []
    browser.run("scrollTo(0, 0)")
    picture = browser.folder / f"{size}-{'dark' if dark else 'light'}.png"
    browser.driver.save_screenshot(str(picture))
    assert picture.stat().st_size > 10_000


# Texts, those of figures too, with less than 4.5 : 1 against what is behind them (WCAG AA).
CONTRAST = """
const parse = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number);
const part = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = c => { const [r, g, b] = parse(c).map(part); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
  if (!/rgba\\(.*, 0\\)/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
const found = [];
for (const e of document.querySelectorAll('h1, h2, h3, p, dt, dd, a, th, td, summary, button, .plot text')) {
  if (!e.textContent.trim() || e.closest('.hoverlayer') || e.closest('.skip')) continue;
  const style = getComputedStyle(e);
  const a = light(e.tagName === 'text' ? style.fill : style.color), b = light(back(e.closest('.plot') ?? e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.push(`${e.tagName} ${e.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
}
return found;
"""


def test_clicks(browser, page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    driver = browser.driver
    browser.open(page, *SIZES["desktop"], False)
    back = "return getComputedStyle(document.body).backgroundColor"
    button = driver.find_element(By.ID, "theme")
    ink = "return getComputedStyle(document.querySelector('.plot text')).fill"
    light = browser.run(ink)
    seen = []
    for _ in range(3):
        button.click()
        dark = browser.run(back) != "rgb(255, 255, 255)"
        assert (browser.run(ink) != light) is dark  # figures as well
        seen.append((button.text, button.accessible_name, dark))
    assert seen == [("Colours: light", "Colours: light", False), ("Colours: dark", "Colours: dark", True),
                    ("Colours: auto", "Colours: as the system has them", False)]

    details = driver.find_elements(By.TAG_NAME, "details")
    assert len(details) == 11
    for one in details:
        table = one.find_element(By.TAG_NAME, "table")
        assert not table.is_displayed()
        one.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)  # by keyboard
        assert table.is_displayed() and table.find_elements(By.CSS_SELECTOR, "tbody tr")

    place = driver.find_element(By.ID, "r0-map").find_element(By.CLASS_NAME, "plot")
    visible = "return arguments[0].data.findIndex(trace => trace.visible === true)"
    before = browser.run(visible, place)
    browser.run("arguments[0].scrollIntoView({block: 'center'})", place)
    rail = place.find_element(By.CLASS_NAME, "slider-rail-touch-rect")
    ActionChains(driver).move_to_element_with_offset(rail, -rail.size["width"] // 2 + 12, 0).click().perform()
    assert before != browser.run(visible, place) == 0

    gantt = driver.find_element(By.ID, "r0-gantt").find_element(By.CLASS_NAME, "plot")
    browser.run("arguments[0].scrollIntoView({block: 'center'})", gantt)
    bar = browser.run("return [...arguments[0].querySelectorAll('.bars path')].reduce((a, b) => "
                      "a.getBBox().width * a.getBBox().height >= b.getBBox().width * b.getBBox().height ? a : b)", gantt)
    ActionChains(driver).move_to_element(bar).perform()
    driver.implicitly_wait(5)
    assert "GPUs on the node" in gantt.find_element(By.CSS_SELECTOR, ".hoverlayer .hovertext").text

    link = driver.find_elements(By.CSS_SELECTOR, "nav a")[-1]
    link.click()
    assert driver.current_url.endswith(link.get_attribute("href").rpartition("#")[2])
    assert browser.complaints() == []


def test_it_can_be_read_without_eyes(browser, page):
    browser.open(page, *SIZES["desktop"], False)
    assert browser.run("return document.documentElement.lang") == "en"
    assert browser.run("return document.querySelectorAll('h1').length") == 1
    assert browser.run("""
      const ids = [...document.querySelectorAll('[id]')].map(e => e.id).filter(id => !id.startsWith('clip'));
      const own = ids.filter(id => document.querySelectorAll('#' + CSS.escape(id)).length > 1);
      const named = [...document.querySelectorAll('[aria-labelledby], [aria-describedby]')].flatMap(e =>
        [e.getAttribute('aria-labelledby'), e.getAttribute('aria-describedby')]).filter(Boolean);
      return [own, named.filter(id => !document.getElementById(id)?.textContent.trim())];
    """) == [[], []]
    assert browser.run("return [...document.querySelectorAll('th')].every(e => e.scope === 'col')")
    assert browser.run("return [...document.querySelectorAll('section')].every(s => s.querySelector('p').textContent.length > 40 "
                       "&& s.querySelector('table'))")


def test_colours_are_told_apart_by_everybody():
    """Okabe and Ito's colours keep their distance for eyes without red or green cones (Vienot et al., 1999)."""
    from kaisched.plots import PALETTE

    kinds = {
        "all": np.eye(3),
        "protanopia": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
        "deuteranopia": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
    }
    linear = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in PALETTE]) ** 2.2
    for kind, matrix in kinds.items():
        seen = np.clip(linear @ matrix.T, 0, 1) ** (1 / 2.2)
        for i in range(len(seen)):
            for j in range(i):
                assert np.linalg.norm(seen[i] - seen[j]) > 0.1, (kind, PALETTE[i], PALETTE[j])


def test_pictures_for_people(page):
    """The page is one file."""
    text = Path(page).read_text(encoding="utf-8")
    assert "<link rel=\"stylesheet\"" not in text and "src=\"http" not in text

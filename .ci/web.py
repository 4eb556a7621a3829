# SPDX-License-Identifier: Apache-2.0
"""Drives the page of `reproduce web` in Chromium, as its readers do, and compares what it trains with the program outside the browser.

    web.py [SCREENSHOTS]

Prints how long each thing took; the first thing that is wrong ends it with exit code 1. Screenshots go to a folder if one is named.
"""

import atexit
import base64
import functools
import http.server
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / ".bin" / "selenium"))

from selenium import webdriver
from selenium.webdriver.common.by import By

PATIENCE = 600  # seconds, for a busy machine


def check(ok, why):
    if not ok:
        raise SystemExit("WRONG: " + why)


page = None


def wait(what, get):
    """The first true value of get, and how long it took."""
    start = time.monotonic()
    while not (value := get()):
        check(time.monotonic() - start < PATIENCE, f"{what}: not within {PATIENCE} s")
        failed = page and page.js("return [...lanes.values()].map((lane) => lane.error).filter(Boolean)")
        check(not failed, f"{what}: {failed}")
        time.sleep(0.2)
    print(f"{what}: {time.monotonic() - start:.1f} s", flush=True)
    return value


class Quiet(http.server.SimpleHTTPRequestHandler):
    hosts = set()

    def log_message(self, *_):
        self.hosts.add(self.headers["Host"])


class Page:
    def __init__(self, folder):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{server.server_port}/"
        options = webdriver.ChromeOptions()
        for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1000"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        options.binary_location = shutil.which("chromium") or ""
        self.browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        atexit.register(self.browser.quit)
        self.browser.set_script_timeout(PATIENCE)

    def js(self, script, *args):
        return self.browser.execute_script(script, *args)

    def open(self, **settings):
        """Opens the page anew with these settings in its address."""
        self.browser.get("about:blank")
        self.browser.get(self.address + ("#" + "&".join(f"{k}={v}" for k, v in settings.items()) if settings else ""))

    def lane(self, method):
        """The run of a method: commands, parent, frames of its iterations, their scalars and the success."""
        return self.js("const run = lanes.get(arguments[0])?.run; return run && JSON.parse(JSON.stringify(run))", method)

    def batches(self, method):
        return len((self.lane(method) or {}).get("iterations", []))

    def status(self):
        return self.browser.find_element(By.ID, "status").text

    def click(self, name):
        self.browser.find_element(By.ID, name).click()

    def move(self, name, value):
        self.js("const c = document.getElementById('controls').elements[arguments[0]]; c.value = arguments[1]; c.dispatchEvent(new Event('input', {bubbles: true}))", name, value)

    def pictures(self, folder, name):
        for theme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
            for width in (1280, 760, 360):
                self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
                time.sleep(1)
                wide = self.js("return document.documentElement.scrollWidth")
                check(wide <= width, f"the page is {wide} pixels wide on a screen of {width}")
                if folder:
                    data = self.browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})["data"]
                    (folder / f"{name}-{width}-{theme}.png").write_bytes(base64.b64decode(data))
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def at_home(run, program, folder):
    """Runs the commands that the page shows and compares every scalar of every rollout batch."""
    for command in run["commands"]:
        words = shlex.split(command)
        check(words[:5] == ["go", "run", "-tags", "noasm", "./reproduce"], f"the page shows the command {command!r}")
        subprocess.run([program, *words[5:], "-store", folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    record = json.loads((pathlib.Path(folder) / run["id"] / "record.json").read_text())["v"]
    here = {}
    for scalars in run["iterations"]:
        for name, value in scalars.items():
            here.setdefault(name, []).append(value)
    other = {name: (here.get(name), points["values"]) for name, points in record["scalars"].items() if points["values"] != here.get(name)}
    check(not other, f"in the tab and at home these differ: {other}")
    scores = [sum(e["scores"]) / len(e["scores"]) for e in record["evals"]]
    check(scores == [v for _, v in run["success"]], f"the returns are {run['success']} in the tab and {scores} at home")
    print(f"run {run['id']}: {sum(map(len, here.values()))} scalars of {len(run['iterations'])} rollout batches and {len(scores)} returns have the same digits", flush=True)


def main():
    global page
    pictures = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        site, program = os.path.join(folder, "site"), os.path.join(folder, "reproduce")
        subprocess.run(["go", "build", "-tags", "noasm", "-o", program, "./reproduce"], cwd=ROOT, check=True)
        subprocess.run([program, "web", "-o", site], cwd=ROOT, check=True)
        sent = sum(f.stat().st_size for f in pathlib.Path(site).rglob("*") if f.is_file() and "3022" not in f.name)
        check(sent < 12e6, f"the page sends {sent} bytes")
        print(f"over the wire: {sent / 1e6:.1f} MB")
        page = Page(site)

        page.open(budget="smoke", methods="mappo,mappo-cermic-ucb")
        ucb, paused = "mappo-cermic-ucb", lambda: page.js("return lanes.get(arguments[0]).paused", "mappo-cermic-ucb")
        wait("the first step of an agent after loading", lambda: page.js("return [...lanes.values()].some((lane) => lane.scene)"))
        page.click("play")  # pauses
        wait("a pause", paused)
        before = page.batches(ucb)
        page.click("step")
        wait("one more rollout batch", lambda: page.batches(ucb) == before + 1 and paused())
        page.move("alpha", "0.6")
        child = wait("a fork where α moved", lambda: (lane := page.lane(ucb)) and lane.get("parent") and lane)
        check(child["at"] == 1000 * (before + 1) and "explore.alpha=0.6" in child["commands"][-1], f"the fork is {child['commands']}")
        page.click("play")
        wait("the end of both", lambda: all(len(run["success"]) and run["iterations"] and page.js("return lanes.get(arguments[0]).last.frames", m) == 3000
                                            for m in ("mappo", ucb) if (run := page.lane(m))))
        link = page.browser.current_url
        check("alpha=0.6" in link and "seed=41" in link and "mappo-cermic-ucb" in link.replace("%2C", ","), f"the link is {link}")
        at_home(page.lane("mappo"), program, folder + "/runs")
        at_home(page.lane(ucb), program, folder + "/runs")
        covered = [v for _, v in page.lane("mappo")["coverage"]]
        check(covered[0] > 0 and covered == sorted(covered), f"the cells visited are {covered}")
        page.browser.refresh()
        wait("a rollout batch after a reload of the link", lambda: page.batches(ucb) >= 1)
        now = page.lane(ucb)
        check("parent" not in now and "explore.alpha=0.6" in now["commands"][0], f"after the reload the run is {now['commands']}")

        page.open()
        wait("the opening page draws agents", lambda: page.js("return !!lanes.get('mappo-cermic-ucb')?.scene"))
        check("branches off" in page.status() or page.lane(ucb).get("parent"), "the opening page does not go on from a committed run")
        before = page.js("return [drawn, performance.now()]")
        time.sleep(5)
        after = page.js("return [drawn, performance.now()]")
        print(f"drawn frames a second: {1000 * (after[0] - before[0]) / (after[1] - before[1]):.0f}")
        wait("a rollout batch of the opening page", lambda: page.batches(ucb) >= 1)
        print(f"frames a second: {page.js('return lanes.get(arguments[0]).last.fps', ucb):.0f}")
        page.pictures(pictures, "open")
        errors = [e["message"] for e in page.browser.get_log("browser") if e["level"] == "SEVERE"]
        check(not errors, f"the browser complains: {errors}")
        foreign = {u for e in page.browser.get_log("performance") for u in re.findall(r'"url":"(https?://[^/"]+)', e["message"]) if not page.address.startswith(u)}
        check(not foreign, f"the page asks other hosts: {foreign}")


main()

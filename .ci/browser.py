# SPDX-License-Identifier: Apache-2.0
"""Drives notebooks in a real JupyterLab with Chromium, as their readers do, and compares what pages say with the store.

    browser.py [SCREENSHOTS [PART...] [NOTEBOOK...]]

Prints how long each thing took; the first thing that is wrong ends it with exit code 1. Screenshots go to a folder if one is named. The part
"every", which runs all cells of every notebook as it is committed, or of those named behind it, and takes a picture of each, of figures in both themes, is left
out unless it is named: it takes half an hour.
"""

import fcntl
import glob
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / ".bin" / "selenium"))

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

PLAY, LOOK, TRAIN, TASK, EXPERIMENT, NUMBER = "controls.Train", "figures.Moments", "nb.Train(", "func (m Meet) Reward", "func configure()", "nb.Cell("
FRAMES = re.compile(r"([\d.]+)(k?) of ([\d.]+)(k?) frames")


class Wrong(Exception):
    """Something is not as it should be."""


def check(ok, why):
    if not ok:
        raise Wrong(why)


PATIENCE = 600  # seconds, for what comes within a few on an idle machine: how long things take is told, not judged


def wait(what, get, seconds=PATIENCE, every=0.2):
    """The first true value of get, and how long it took."""
    start = time.monotonic()
    while True:
        value = get()
        took = time.monotonic() - start
        if value:
            return value, took
        if took > seconds:
            raise Wrong(f"{what}: not within {seconds} s")
        time.sleep(every)


class Store:
    """The folder of the runs, read as the files that they are."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def runs(self):
        out = {}
        for path in glob.glob(str(self.folder / "*" / "record.json")):
            try:
                text = pathlib.Path(path).read_text()
                body = json.loads(text)["v"]
            except (OSError, ValueError):
                continue  # just being made
            run = pathlib.Path(path).parent
            out[run.name] = {"head": body, "frames": body["frames"], "done": body["complete"], "owned": any(run.glob("lock.*")) and not body["complete"]}
        return out

    def training(self):
        """Detached processes, which hold a lock on the file with their number."""
        out = []
        for path in self.folder.glob(".left/*/process"):
            with open(path) as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    out.append(int(file.read()))
        return out


class Lab:
    """JupyterLab on copies of the notebooks, and a browser."""

    def __init__(self, folder, budget):
        self.folder, self.store = folder, Store(folder / "runs")
        for path in (ROOT / "notebooks").glob("*.ipynb"):
            book = json.loads(path.read_text())
            for cell in book["cells"]:
                if cell["cell_type"] == "code":
                    cell["outputs"], cell["execution_count"] = [], None
            (folder / path.name).write_text(json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        (folder / ".gitignore").write_text("*\n!*.ipynb\n.*/\n")
        for command in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", *command], cwd=folder, check=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.token = secrets.token_hex(16)
        env = dict(os.environ, JUPYTER_PATH=str(ROOT / "reproduce" / "jupyter"), JUPYTER_CONFIG_PATH=str(ROOT / "reproduce" / "jupyter" / "config"), NB_STORE=str(folder / "runs"), JUPYTER_CONFIG_DIR=str(folder / "config"))
        env.pop("NB_HEADLESS", None)
        if budget:
            env["NB_BUDGET"] = budget
        flags = ["--no-browser", f"--port={self.port}", "--allow-root", f"--IdentityProvider.token={self.token}", "--LabApp.expose_app_in_browser=True", f"--ServerApp.root_dir={folder}"]
        self.log = open(folder / "jupyter.log", "w")
        self.server = subprocess.Popen([ROOT / ".venv/bin/python", "-m", "jupyterlab", *flags], env=env, stdout=self.log, stderr=self.log, cwd=folder)
        options = webdriver.ChromeOptions()
        for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1000"):
            options.add_argument(flag)
        options.binary_location = shutil.which("chromium") or ""
        self.browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        self.browser.set_script_timeout(PATIENCE)

    def api(self, path):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/api/{path}", headers={"Authorization": f"token {self.token}"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except OSError:
            return None

    def busy(self):
        return [k for k in self.api("kernels") or [] if k["execution_state"] == "busy"]

    def js(self, script, *args):
        return self.browser.execute_script("const app = window.jupyterapp, panel = app?.shell ? [...app.shell.widgets('main')].find(w => w.content?.widgets && w.sessionContext) : null, book = panel?.content;" + script, *args)

    def open(self, name, workspace="auto-a"):
        """Opens a notebook and waits for its kernel."""
        wait("JupyterLab answers", lambda: self.api("kernels") is not None)
        self.browser.get(f"http://127.0.0.1:{self.port}/lab/workspaces/{workspace}/tree/{name}.ipynb?token={self.token}")
        self.ready()

    def ready(self):
        wait("the notebook opens", lambda: self.js("return panel?.context?.isReady && book?.widgets?.length > 3 && panel.sessionContext.session?.kernel?.connectionStatus === 'connected'"))
        self.js("app.shell.activateById(panel.id); app.shell.collapseLeft(); return 0")

    def cell(self, text):
        """The index of the code cell that holds a text."""
        at = self.js("return book.widgets.findIndex(w => w.model.type === 'code' && w.model.sharedModel.source.includes(arguments[0]))", text)
        check(at >= 0, f"no cell with {text!r}")
        return at

    def part(self, at, selector):
        """The first element of a cell that a selector names, once there is one."""
        return wait(f"the page has {selector}", lambda: self.js("return book.widgets[arguments[0]].node.querySelector(arguments[1])", at, selector))[0]

    def run(self, text):
        """Runs the cell that holds a text, as shift-enter does, and returns at once."""
        self.js("const at = arguments[0]; book.activeCellIndex = at; book.deselectAll(); app.commands.execute('notebook:run-cell'); book.scrollToItem(at, 'start')", self.cell(text))

    def run_to_end(self, text, seconds=240):
        self.run(text)
        wait(f"the cell with {text!r} ends", lambda: self.js("const w = book.widgets[arguments[0]]; return w.model.executionState === 'idle' && w.model.executionCount !== null && w.prompt !== '*'", self.cell(text)), seconds)

    def declare(self, before):
        """Runs the code cells before the one that holds a text."""
        for at in range(self.cell(before)):
            if self.js("return book.widgets[arguments[0]].model.type === 'code'", at):
                self.js("book.activeCellIndex = arguments[0]; book.deselectAll(); app.commands.execute('notebook:run-cell')", at)
        wait("the cells before end", lambda: not self.busy() and self.js("return book.widgets.slice(0, arguments[0]).every(w => w.model.type !== 'code' || w.model.executionCount !== null)", self.cell(before)))

    def said(self, text):
        """What the outputs of a cell say, as a saved notebook keeps it."""
        outputs = self.js("return book.widgets[arguments[0]].model.outputs.toJSON()", self.cell(text))
        return "\n".join(str(o.get("text") or o.get("data", {}).get("text/plain") or o.get("evalue", "")) for o in outputs)

    def edit(self, text, old, new):
        source = self.js("return book.widgets[arguments[0]].model.sharedModel.source", self.cell(text))
        check(old in source, f"no {old!r} in the cell with {text!r}")
        self.js("book.widgets[arguments[0]].model.sharedModel.setSource(arguments[1])", self.cell(text), source.replace(old, new, 1))

    def changed(self, name):
        """The lines of a notebook that git calls changed once the open one is saved."""
        self.js("return panel.context.save().then(() => 0)")
        diff = subprocess.run(["git", "diff", "--unified=0", name + ".ipynb"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        return [line for line in diff.splitlines() if re.match(r"[-+](?![-+])", line)]

    def live(self):
        return self.js("return !!book.node.querySelector('.cermic-live')")

    def controls(self):
        """Whether a cell waits for a hand; one that trains alone is alive, too."""
        return self.js("return !!book.node.querySelector('.cermic-live select, .cermic-live input')")

    def line(self):
        """What the progress line says: frames, whole budget and its text."""
        for line in self.said(PLAY).splitlines():
            if found := FRAMES.search(line):
                number = lambda n, k: round(float(n) * (1000 if k else 1))
                return number(*found.group(1, 2)), number(*found.group(3, 4)), line
        return 0, 0, ""

    def trains(self, mark=""):
        """Whether the line shows new frames of a run that holds a mark."""
        frames, total, line = self.line()
        return frames and any(sign in line for sign in ("frames/s", "collected")) and mark in line and line

    def picture(self, name):
        if len(sys.argv) > 1:
            folder = pathlib.Path(sys.argv[1])
            folder.mkdir(parents=True, exist_ok=True)
            self.browser.save_screenshot(str(folder / f"{name}.png"))

    def cell_picture(self, at, name, width=1280):
        """A picture of a whole cell with its outputs, however tall."""
        node = "const node = book.widgets[arguments[0]].node;"
        self.browser.set_window_size(width, 1000)
        self.js("book.activeCellIndex = arguments[0]; book.scrollToItem(arguments[0], 'start')", at)
        wait("the cell is on the page", lambda: self.js(node + "return node.isConnected && node.offsetHeight > 0", at), every=0.1)
        tallest, before = 12000, None
        for _ in range(30):  # figures are drawn, and pages laid out anew, after the cell has come
            page = node + """const pane = book.node.querySelector('.jp-WindowedPanel-outer') ?? book.node, [n, p] = [node, pane].map(x => x.getBoundingClientRect());
                pane.scrollTop += n.top - p.top; const m = node.getBoundingClientRect();
                return [Math.round(n.height), Math.round(p.height), m.top >= p.top - 2 && m.bottom <= p.bottom + 2]"""
            tall, free, whole = self.js(page, at)
            if (whole or tall > tallest) and before == (tall, free):
                break
            if tall > free and before == (tall, free):
                self.browser.set_window_size(width, min(tall, tallest) + 400)
            before = tall, free
            time.sleep(0.3)
        time.sleep(0.3)
        if len(sys.argv) > 1:
            folder = pathlib.Path(sys.argv[1])
            folder.mkdir(parents=True, exist_ok=True)
            self.js(node + "return node", at).screenshot(str(folder / f"{name}.png"))

    def state(self):
        """What the store, the processes that were left a training and the logs say, for whoever looks for the cause of a failure."""
        out = [f"{name} {r['head']['method']} frames={r['frames']} done={r['done']} owned={r['owned']}" for name, r in self.store.runs().items()]
        for path in sorted(self.store.folder.glob(".left/*/*")):
            if path.name in ("process", "log", "training.json"):
                out.append(f"{path.parent.name}/{path.name}, {time.time() - path.stat().st_mtime:.1f} s old: {path.read_text()[-1500:].strip()}")
        for path in (self.folder / "jupyter.log", ROOT / ".bin" / "kernel.log"):
            if path.exists():
                out.append(f"--- {path.name}:\n" + "\n".join(path.read_text(errors="replace").splitlines()[-40:]))
        return "\n".join(out)

    def close(self):
        self.browser.quit()
        self.server.send_signal(signal.SIGTERM)
        try:
            self.server.wait(20)
        except subprocess.TimeoutExpired:
            self.server.kill()
        for pid in self.store.training():
            os.kill(pid, signal.SIGINT)


def told(what, seconds=None):
    print(f"{what:<64}" + ("" if seconds is None else f"{seconds:6.1f} s"), flush=True)


def agrees(lab):
    """The line of the page belongs to a run of the store that has about its frames."""
    frames, _, line = lab.line()
    label = line.split(" · ")[0]
    near = [r for r in lab.store.runs().values() if r["head"]["method"] == label and abs(r["frames"] - frames) <= 6000]
    check(near, f"the page says {line!r}, which is no run of the store: {[(r['head']['method'], r['frames']) for r in lab.store.runs().values()]}")


def playground(lab):
    lab.open("01_playground")
    lab.declare(PLAY)
    lab.run(PLAY)
    _, took = wait("the controls come to life", lab.live)
    told("01: run, until the controls live", took)
    _, took = wait("the first run trains", lambda: lab.trains() or "from the store" in lab.said(PLAY))
    told("01: then, until frames", took)
    agrees(lab)
    lab.picture("01_light")
    slider(lab)
    menu(lab)
    reload(lab)
    closed(lab)
    two(lab)
    looks(lab)
    stop(lab)
    restart(lab)
    moments(lab)


def looks(lab):
    """Figures in a narrow window and in both themes."""
    lab.browser.set_window_size(760, 1000)
    lab.js("book.scrollToItem(arguments[0], 'end')", lab.cell(PLAY))
    time.sleep(1.5)
    # The smallest letters of curves have 7.5 points at 140 dots an inch, 14.6 pixels of their own.
    def letters():
        lab.js("book.scrollToItem(arguments[0], 'end')", lab.cell(PLAY))  # a notebook keeps on the page what is near
        shares = lab.js("return [...book.node.querySelectorAll('.jp-RenderedImage img, .jp-RenderedSVG img')].filter(i => i.naturalWidth && i.clientWidth).map(i => i.clientWidth / i.naturalWidth)")
        return min(shares, default=0) * 14.6 >= 9

    wait("letters of figures have 9 pixels", letters, every=0.5)
    lab.picture("01_760_light")
    lab.js("return app.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    wait("the theme is dark", lambda: lab.js("return document.body.dataset.jpThemeLight === 'false'"))
    wait("figures have a dark ground in the dark theme", lambda: lab.js("return [...book.node.querySelectorAll('.jp-RenderedImage img, .jp-RenderedSVG img')].every(i => getComputedStyle(i).filter.includes('invert'))"))
    lab.picture("01_760_dark")
    lab.browser.set_window_size(1280, 1000)
    time.sleep(1)
    lab.picture("01_dark")
    lab.js("return app.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")


def slider(lab):
    knob = lab.browser.find_element(By.CSS_SELECTOR, ".cermic-live input[type=range]")
    lab.js("arguments[0].scrollIntoView({block: 'center'})", knob)
    at = lab.js("return book.activeCellIndex")
    knob.click()
    was = float(knob.get_attribute("value"))
    wait("the click is trained", lambda: lab.trains(f"alpha={was:g}"))
    for _ in range(5):
        ActionChains(lab.browser).send_keys(Keys.ARROW_RIGHT).perform()
    now = float(knob.get_attribute("value"))
    check(abs(now - was - 0.05) < 1e-6, f"five keys moved α from {was} to {now}")
    check(lab.js("return book.activeCellIndex") == at, "the arrow keys moved the notebook's selection")
    before = set(lab.store.runs())
    _, took = wait("the keyed α is trained", lambda: lab.trains(f"alpha={now:g}"))
    told("01: α by keyboard, until its frames", took)
    agrees(lab)
    check(lab.js("return document.activeElement === arguments[0]", knob), "the slider lost the keyboard")
    runs = len(lab.store.runs())
    ActionChains(lab.browser).click_and_hold(knob).move_by_offset(15, 0).move_by_offset(15, 0).move_by_offset(15, 0).release().perform()
    moved = float(knob.get_attribute("value"))
    check(moved != now, "dragging moved nothing")
    _, took = wait("the dragged α is trained", lambda: lab.trains(f"alpha={moved:g}"))
    told("01: α by mouse, until its frames", took)
    agrees(lab)
    check(len(lab.store.runs()) <= runs + 2, f"one drag made {len(lab.store.runs()) - runs} runs")
    wait("it trains on", lambda: lab.line()[0] >= 96_000)
    knob.send_keys(Keys.ARROW_RIGHT)
    later = float(knob.get_attribute("value"))
    line, _ = wait("α moved once more is trained", lambda: lab.trains(f"alpha={later:g}"))
    check("from 90k" not in line.split(" · ")[0].split(",")[-1], f"a knob moved after 90,000 frames has begun {line!r}")
    lab.browser.find_element(By.CSS_SELECTOR, ".cermic-live button[data-name]").click()
    _, took = wait("the button begins from the start", lambda: "alpha=0.2 until 90k)" in (lab.trains(f"alpha={later:g}") or ""))
    told("01: from the start again, until its frames", took)


def menu(lab):
    menus = lab.browser.find_elements(By.CSS_SELECTOR, ".cermic-live select")
    memory = next(Select(m) for m in menus if "gru" in m.text)
    memory.select_by_visible_text("gru")
    _, took = wait("the line is of the new memory", lambda: "memory=gru" in lab.line()[2])
    told("01: memory menu, until its line", took)
    _, took = wait("the new memory trains", lambda: lab.trains("memory=gru"))
    told("01: then, until frames", took)
    agrees(lab)


def free(lab, why, start):
    wait("the kernel is free", lambda: not lab.busy())
    told(f"{why}, until the kernel is free", time.monotonic() - start)
    wait("a process goes on with the training", lab.store.training)


def again(lab, name):
    """Loads the page again while a cell trains."""
    start = time.monotonic()
    lab.js("setTimeout(() => location.reload(), 0)")
    free(lab, f"{name}: page loaded again", start)
    lab.ready()


def attach(lab, mark):
    """Runs the cell again: it shows what is being trained."""
    lab.run(PLAY)
    _, took = wait("the cell attaches", lambda: lab.live() and mark in lab.line()[2] and lab.js("return [...book.node.querySelectorAll('.cermic-live select')].some(s => s.value === 'gru')"))
    told("01: run again, until it shows what is trained", took)
    frames = lab.line()[0]
    wait("frames grow", lambda: lab.line()[0] > frames)
    agrees(lab)


def reload(lab):
    lab.js("return app.commands.execute('docmanager:save')")
    time.sleep(1)
    again(lab, "01")
    check(not lab.live(), "the controls of a page without connection look alive")
    lab.js("book.scrollToItem(arguments[0], 'start')", lab.cell(PLAY))
    wait("the page says how to attach", lambda: lab.js("return [...book.node.querySelectorAll('.cermic-hint')].some(h => getComputedStyle(h).display !== 'none')"))
    notice = lambda: lab.js("return document.querySelector('.cermic-notice')?.textContent") or ""
    wait("the page says which run of the store goes on", lambda: any(name in notice() for name in lab.store.runs()))
    lab.picture("01_reloaded")
    attach(lab, "memory=gru")


def closed(lab):
    old = lab.browser.current_window_handle
    lab.browser.switch_to.new_window("tab")
    new = lab.browser.current_window_handle
    lab.browser.switch_to.window(old)
    start = time.monotonic()
    lab.browser.close()
    lab.browser.switch_to.window(new)
    free(lab, "01: tab closed", start)
    lab.open("01_playground", "auto-b")
    attach(lab, "memory=gru")


def two(lab):
    first = lab.browser.current_window_handle
    lab.browser.switch_to.new_window("tab")
    lab.open("01_playground", "auto-c")
    attach(lab, "memory=gru")
    second = lab.browser.current_window_handle
    lab.browser.switch_to.window(first)
    wait("the first page lets go", lambda: not lab.live())
    lab.browser.close()
    lab.browser.switch_to.window(second)


def stop(lab):
    lab.js("app.commands.execute('notebook:interrupt-kernel')")
    _, took = wait("the cell ends", lambda: not lab.busy())
    told("01: stop, until the kernel is free", took)
    wait("the line says so", lambda: "stopped at" in lab.said(PLAY))
    frames, _, line = lab.line()
    exact = [r for r in lab.store.runs().values() if not r["done"] and r["head"]["method"] == line.split(" · ")[0]]
    check(exact, f"the page says {line!r}, the store has no such run")
    wait("no process is left", lambda: not lab.store.training())


def moments(lab):
    """The slider that goes through the points where branches began."""
    for text in "const seed", "func dashboard", "func setting", LOOK:
        lab.run_to_end(text, PATIENCE)
    count = lambda: [int(n) for n in (re.findall(r"Moment (\d+) of (\d+)", lab.said(LOOK)) or [(0, 0)])[0]]
    first, last = count()
    check(first == 1 and last >= 4, f"the knobs have left {last} moments, of which {first} is shown")
    knob = lab.js("return book.widgets[arguments[0]].node.querySelector('.cermic-form [name=moment]')", lab.cell(LOOK))
    lab.js("arguments[0].scrollIntoView({block: 'center'})", knob)
    knob.send_keys(Keys.END)
    _, took = wait("the last moment is shown", lambda: count() == [last, last])
    told(f"01: look back, until the last of {last} moments is shown", took)
    wait("the cell ends", lambda: not lab.busy())
    for width in 1280, 760:
        lab.browser.set_window_size(width, 1000)
        lab.cell_picture(lab.cell(LOOK), f"01_moments_{width}", width)
    lab.browser.set_window_size(1280, 1000)


def restart(lab):
    lab.run(PLAY)
    wait("it trains", lambda: lab.live() and lab.trains())
    start = time.monotonic()
    lab.js("panel.sessionContext.restartKernel()")
    wait("the run is given back", lambda: not any(r["owned"] for r in lab.store.runs().values()) or settled(lab))
    told("01: kernel restart, until nothing trains", time.monotonic() - start)
    wait("nothing is left behind", lambda: not lab.store.training())
    changed = lab.changed("01_playground")
    check(not changed, f"running the notebook has changed its file: {changed}")
    told("01: no tracked file has changed")


def settled(lab):
    """Whether no run has grown for a while, though an owner that was killed has left its lock."""
    was = {name: r["frames"] for name, r in lab.store.runs().items()}
    time.sleep(3)
    return was == {name: r["frames"] for name, r in lab.store.runs().items()}


def task(lab):
    lab.open("91_your_task", "auto-d")
    lab.edit("const frames", "150_000", "6_000")
    lab.edit(EXPERIMENT, "return nb.Must(plan.New(", "panic(\"no experiment\")\n\treturn nb.Must(plan.New(")
    lab.js("app.commands.execute('notebook:run-all-cells')")
    wait("Run All stops", lambda: not lab.busy() and "panic: no experiment" in lab.said(TRAIN), every=0.5)
    time.sleep(1)
    check(not lab.busy(), "the kernel goes on behind a failed cell")
    check(not lab.said("experiment.Episode"), f"a cell behind the failed one ran: {lab.said('experiment.Episode')}")
    ids = {name for name, r in lab.store.runs().items() if r["head"]["task"] == "mine/meet"}
    check(not ids, "a failed cell has trained")
    told("91: a failed cell ends Run All")
    lab.run_to_end("experiment.Episode")
    check("failed: run it again first" in lab.said("experiment.Episode"), f"a cell behind the failed one says {lab.said('experiment.Episode')!r}")
    lab.edit(EXPERIMENT, "panic(\"no experiment\")\n\t", "")
    lab.run_to_end(EXPERIMENT)
    lab.run_to_end(TRAIN)
    edited(lab)


def edited(lab):
    def own():
        return {name: r for name, r in lab.store.runs().items() if r["head"]["task"] == "mine/meet" and r["done"]}

    check(len(own()) == 1, f"{len(own())} runs after the first training")
    first = set(own())
    lab.edit(TASK, "dst[i] = -m.away", "dst[i] = m.away")
    lab.run_to_end(TASK)
    lab.run_to_end(TRAIN)
    said = lab.said(TRAIN)
    second = set(own()) - first
    check(len(second) == 1 and next(iter(second))[:8] in said, f"the edited task has no run of its own: {said!r}")
    lab.edit(TASK, "dst[i] = m.away", "dst[i] = -m.away")
    lab.run_to_end(TASK)
    lab.run_to_end(TRAIN)
    said = lab.said(TRAIN)
    check("from the store" in said and next(iter(first))[:8] in said, f"the first task again says {said!r}")
    status = reproduce("status", "-store", lab.store.folder)
    check(all(name in status for name in first | second), f"status shows not both: {status}")
    told("91: edited code trains anew, the old code is in the store")
    changed = lab.changed("91_your_task")
    source = [line for line in changed if '"execution_count"' not in line]
    check(len(source) == 2 and all("const frames" in line for line in source), f"one line was edited, of the file these have changed: {changed}")


def reproduce(*args):
    """What the command line prints."""
    program = ROOT / ".bin" / "reproduce"
    start = [program] if program.exists() else ["go", "run", "./reproduce"]
    return subprocess.run([*start, *args], capture_output=True, text=True, cwd=ROOT).stdout


def bin_folder():
    """A folder within the repository, where programs find what setup has installed, that git ignores."""
    (ROOT / ".bin").mkdir(exist_ok=True)
    return ROOT / ".bin"


def left(lab):
    """A training cell without controls, whose page is loaded again."""
    lab.open("91_your_task", "auto-e")
    lab.edit("const frames", '"short"', '"paper"')  # a quick machine trains fewer frames before the cell notices that the page is gone
    lab.edit("const frames", "150_000" if "150_000" in lab.js("return book.widgets[arguments[0]].model.sharedModel.source", lab.cell("const frames")) else "6_000", "1_500_000")
    lab.declare(TRAIN)
    lab.run(TRAIN)
    wait("it trains", lambda: "frames/s" in lab.said(TRAIN))
    again(lab, "91")
    lab.run(TRAIN)
    _, took = wait("the cell attaches", lambda: "frames/s" in lab.said(TRAIN))
    told("91: run again, until it shows what is trained", took)
    lab.js("app.commands.execute('notebook:interrupt-kernel')")
    wait("the cell ends", lambda: not lab.busy() and "stopped at" in lab.said(TRAIN))
    wait("no process is left", lambda: not lab.store.training())
    # A form that has moved on names what its cell has left, and stops it.
    lab.open("t1_performance", "auto-h")
    at = lab.cell(NUMBER)
    choose = lambda name, value: Select(lab.part(at, f".cermic-form [name={name}]")).select_by_visible_text(value)
    choose("column", "Flocking*")
    choose("budget", "demo")
    offers = ("on Flocking*", "budget demo", "Missing: ")  # of the row and the seeds that another check may have chosen
    wait("the cell offers", lambda: all(words in lab.said(NUMBER) for words in offers) and not lab.busy())
    lab.part(at, "button.cermic-train").click()
    wait("it trains", lambda: "frames/s" in lab.said(NUMBER))
    lab.js("return panel.context.save().then(() => 0)")
    again(lab, "t1")
    choose("column", "Balance*")
    wait("the cell names it", lambda: "This cell has left a training that goes on: mappo" in lab.said(NUMBER) and not lab.busy())
    check(lab.store.training(), "a form that shows another number has stopped the training")
    lab.picture("t1_left")
    lab.part(at, "button.cermic-stop").click()
    _, took = wait("it is stopped", lambda: not lab.store.training() and "This cell has left" not in lab.said(NUMBER) and not lab.busy())
    told("t1: what the cell has left is stopped", took)


def number(lab):
    """One number of Table 1: chosen in a form, trained by a button, read on two pages."""
    lab.open("t1_performance", "auto-f")
    at = lab.cell(NUMBER)
    field = lambda name: lab.part(at, f".cermic-form [name={name}]")
    ended = lambda: lab.js("const w = book.widgets[arguments[0]]; return w.model.executionState === 'idle' && w.prompt !== '*'", at)
    for name, value, says in (("row", "MAPPO-ε-greedy", "MAPPO-ε-greedy on Navigation"), ("column", "Balance*", "on Balance*"), ("budget", "smoke", "budget smoke"), ("seeds", "1", "Missing: 1 of 1 run.")):
        if name == "seeds":
            knob = field(name)
            knob.send_keys(Keys.CONTROL, "a")
            knob.send_keys(Keys.NULL, value, Keys.TAB)
        else:
            Select(field(name)).select_by_visible_text(value)
        _, took = wait(f"the cell answers {name} = {value}", lambda: ended() and says in lab.said(NUMBER))
        told(f"t1: {name} chosen, until the cell answers", took)
    said = lab.said(NUMBER)
    check("not trained" in said and "Training takes" in said and not lab.store.runs(), f"before training the cell says {said!r}")
    lab.picture("t1_offer")
    ActionChains(lab.browser).double_click(lab.part(at, "button.cermic-train")).perform()
    _, took = wait("the number is trained", lambda: ended() and "Stored: 1 run;" in lab.said(NUMBER))
    told("t1: button pressed twice, until the number", took)
    runs = list(lab.store.runs().values())
    check(len(runs) == 1 and runs[0]["done"] and runs[0]["head"]["method"] == "mappo-eps", f"two presses have made {runs}")
    evals = runs[0]["head"]["evals"][-1]["scores"]
    ours = f"{sum(evals) / len(evals):.1f}".replace("-", "−")
    said = lab.said(NUMBER)
    check(f"Ours: {ours}, 1 seed" in said and "too short to compare" in said, f"the store has {ours}, the page says {said!r}")
    for width in 1280, 760:
        lab.browser.set_window_size(width, 1000)
        lab.cell_picture(at, f"t1_number_{width}", width)
    lab.browser.set_window_size(1280, 1000)
    changed = [line for line in lab.changed("t1_performance") if line.startswith("+") and "// @param" in line]
    check(len(changed) == 4, f"the form has changed {changed}")
    row = "nb.TrainMissing(ofRow"
    lab.declare(row)
    lab.run_to_end(row, PATIENCE)
    lab.js("book.scrollToItem(arguments[0], 'center')", lab.cell(row))
    lab.part(lab.cell(row), "button.cermic-train").click()
    asked = wait("the page asks", lambda: lab.browser.switch_to.alert)[0]
    check("Missing: " in asked.text and "Training takes " in asked.text, f"the page asks {asked.text!r}")
    asked.dismiss()
    time.sleep(2)
    check(ended() and len(lab.store.runs()) == 1, "a row is trained though the page was told not to")
    first = lab.browser.current_window_handle
    lab.browser.switch_to.new_window("tab")
    lab.open("t1_performance", "auto-g")
    lab.run_to_end(NUMBER, PATIENCE)
    check(f"Ours: {ours}, 1 seed" in lab.said(NUMBER), f"a second page says {lab.said(NUMBER)!r}")
    lab.browser.close()
    lab.browser.switch_to.window(first)
    told("t1: page, second page and store agree")


def every(lab):
    """All cells of every notebook, and a picture of each that shows something. Controls, which wait for a hand, are stopped after half a minute."""
    named, wrong = [name for name in sys.argv[2:] if (ROOT / "notebooks" / f"{name}.ipynb").exists()], []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        if named and path.stem not in named:
            continue
        lab.open(path.stem, f"auto-{path.stem[:3]}")
        start = time.monotonic()
        lab.js("app.commands.execute('notebook:run-all-cells')")
        time.sleep(2)
        failed = "w.model.outputs.toJSON().some(o => o.output_type === 'error')"  # the cells behind it do not run
        ended = f"const code = book.widgets.filter(w => w.model.type === 'code'); return code.some(w => {failed}) || code.every(w => w.model.executionCount !== null && w.prompt !== '*')"
        controls, took = wait(f"{path.stem} ends", lambda: lab.controls() and "controls" or not lab.busy() and lab.js(ended), seconds=3 * PATIENCE, every=1)
        if controls == "controls":
            time.sleep(30)
            lab.picture(f"{path.stem}_controls")
            lab.js("app.commands.execute('notebook:interrupt-kernel')")
            wait(f"{path.stem} ends behind its controls", lambda: not lab.busy() and lab.js(ended), every=1)
        errors = lab.js("return book.widgets.filter(w => w.model.type === 'code').flatMap(w => w.model.outputs.toJSON()).filter(o => o.output_type === 'error').map(o => o.evalue)")
        wrong += [f"{path.stem}: {error}" for error in errors]  # the others are tried all the same
        told(f"{path.stem}: all cells", took)
        shown = lab.js("return book.widgets.flatMap((w, i) => w.model.type === 'code' && w.model.outputs.toJSON().length ? [i] : [])")
        figures = lab.js("return arguments[0].filter(i => book.widgets[i].model.outputs.toJSON().some(o => o.data?.['image/png']))", shown)
        for theme in "Light", "Dark":
            lab.js("return app.commands.execute('apputils:change-theme', {theme: arguments[0]})", f"JupyterLab {theme}")
            for at in shown if theme == "Light" else figures:
                lab.cell_picture(at, f"{path.stem}_{at:02d}_{theme.lower()}")
        lab.js("return app.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")
        lab.js("return panel.sessionContext.shutdown().then(() => 0)")
        told(f"{path.stem}: from its opening to the last picture", time.monotonic() - start)
    check(not wrong, "\n".join(wrong))


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # closes browser and server
    with tempfile.TemporaryDirectory(prefix="browser-", dir=bin_folder()) as folder:
        lab = Lab(pathlib.Path(folder), "")
        try:
            for part in (number, playground, task, left, every):
                if part.__name__ in sys.argv[2:] or len(sys.argv) < 3 and part is not every:
                    part(lab)
        except Exception as wrong:
            lab.picture("wrong")
            for text in (NUMBER, PLAY, TRAIN):
                try:
                    print(f"--- the cell with {text}:\n{lab.said(text)}", file=sys.stderr)
                except Exception:
                    pass
            print(lab.state(), file=sys.stderr)
            if not isinstance(wrong, Wrong):
                raise
            sys.exit(f"WRONG: {wrong}")
        finally:
            lab.close()


if __name__ == "__main__":
    main()

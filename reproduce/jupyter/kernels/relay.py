# SPDX-License-Identifier: Apache-2.0
"""Passes messages between Jupyter and GoNB, and adds functions that GoNB 0.11 lacks.

    relay.py CONNECTION_FILE GONB FLAGS...

GoNB calls a cell successful whose program failed, and continues with the cells behind one that did not compile. Here
such a cell ends with status "error". Its page shows a sentence with the cure where one is known, and the requested
cells behind it are aborted. A page that opens while a cell runs gets the kernel's description at once. Until a cell
shows something of its own, its page has a line that counts the seconds of compiling and of running.

The folder NB_KERNEL, in the environment of the cells, holds notes between this relay and the package nb:

    cell      the cell that runs and the button that ran it
    uses      made by a cell that uses nb
    failed    the last cell of that kind that failed and has not been run again
    controls  positions of sliders and menus
    asked     another page requests the cell that runs
    gone      the cell's page is gone, or the cell has ended for the other page

Buttons and positions come from JupyterLab's extension in messages of the kind "cermic". If no page is connected, the
server makes a file beside the connection file.
"""

import datetime
import fcntl
import hashlib
import hmac
import html
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

import zmq

DELIMITER = b"<IDS|MSG>"
CHANNELS = ("shell", "control", "stdin", "iopub", "hb")
ENDED = re.compile(r"(?:\^C\n)?(exit status \d+|signal: [^\n]*)\n")  # GoNB's text after a failure, in its own message

STARTS = 3  # how often GoNB is started if it ends before it has answered
SHOWN = ("stream", "display_data", "execute_result", "clear_output")  # messages that replace the line of seconds


class Message:
    """The four parts of a message, and the frames before them."""

    def __init__(self, idents, parts):
        self.idents = idents
        self.header, self.parent, self.metadata, self.content = (json.loads(p or b"{}") for p in parts[:4])

    @property
    def kind(self):
        return self.header.get("msg_type", "")


def read(frames):
    at = frames.index(DELIMITER)
    return Message(frames[:at], frames[at + 2 :])


CURES = (
    (
        re.compile(r"expected declaration, found"),
        "statements need a line %% above them: declarations stand before it, what is to run behind it",
    ),
    (
        re.compile(r"no required module provides package ([^\s;:]+)|module lookup disabled by GOPROXY=off|cannot find module providing package ([^\s;:]+)"),
        "this package is in no module of go.mod: run `go get` for it in the folder of the repository and restart the kernel, "
        "or correct the line that imports it",
    ),
    (
        re.compile(r"package (\S+) is not in std"),
        "there is no such package: packages of this repository begin with cermic/, those of others with a host name",
    ),
)


def cure(text):
    """The cure for a compiler's error in one sentence, or an empty string."""
    text = html.unescape(re.sub(r"<[^>]*>", "", text))
    for pattern, sentence in CURES:
        if found := pattern.search(text):
            name = next((g for g in found.groups() if g), "")
            return (name + ": " + sentence if name else sentence[0].upper() + sentence[1:]) + "."
    return ""


class Cell:
    """A requested cell: its request and GoNB's messages about it so far."""

    def __init__(self, frames, message):
        self.frames, self.message = frames, message
        self.id = message.header["msg_id"]
        self.session = message.header.get("session", "")
        self.code = message.content.get("code", "")
        given = message.metadata.get("cellId") or message.metadata.get("cell_id")
        self.name = given or hashlib.sha256(self.code.encode()).hexdigest()[:16]
        self.number = None
        self.said = ""  # its output, for the cure of an error
        self.end = None  # frames that report the failure of its program, held back
        self.reply = self.idle = self.error = None
        self.began, self.compiled = time.monotonic(), None  # when it was handed to GoNB, and when its program was first seen to run
        self.line, self.shown = None, False  # line on its page until it shows something of its own

    @property
    def counts(self):
        return self.message.content.get("store_history", True) and not self.message.content.get("silent", False)


class Relay:
    def __init__(self, connection_file, command):
        self.parent = os.getppid()
        self.context = zmq.Context()
        info = json.loads(pathlib.Path(connection_file).read_text())
        self.key = info["key"].encode()
        self.session = uuid.uuid4().hex
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cermic-kernel-"))
        self.given, self.command = info, command
        self.path = self.folder / pathlib.Path(connection_file).name  # GoNB finds the kernel's ID in this name
        self.path.touch(mode=0o600)
        self.unwatched = pathlib.Path(connection_file + ".gone")
        self.front, self.back = {}, {}
        kinds = {"shell": zmq.ROUTER, "control": zmq.ROUTER, "stdin": zmq.ROUTER, "iopub": zmq.PUB, "hb": zmq.REP}
        for channel in CHANNELS:
            self.front[channel] = self.context.socket(kinds[channel])
            self.front[channel].linger = 500
            self.front[channel].bind(address(info, channel))
        self.start()  # behind the binding: a port of the front is free until then, and GoNB could be given it
        self.cell, self.queue, self.count = None, [], 0
        self.button = {}  # that was pressed last: its cell and its request

    def start(self):
        """Starts GoNB at ports of its own and connects to them."""
        inner = dict(self.given, transport="tcp", ip="127.0.0.1", **{f"{c}_port": port for c, port in zip(CHANNELS, free_ports(len(CHANNELS)))})
        self.path.write_text(json.dumps(inner))
        env = dict(os.environ, NB_KERNEL=str(self.folder))
        self.kernel = subprocess.Popen([*self.command[:1], "--kernel", str(self.path), *self.command[1:]], env=env)
        for channel in CHANNELS:
            if channel == "hb":
                continue
            if channel in self.back:
                self.back[channel].close()
            back = self.back[channel] = self.context.socket(zmq.SUB if channel == "iopub" else zmq.DEALER)
            back.linger = 0
            back.reconnect_ivl = 20
            if channel == "iopub":
                back.subscribe(b"")
            else:
                back.identity = self.session.encode()  # GoNB asks for input on the socket with the identity of the request
            back.connect(address(inner, channel))

    # Messages of the relay itself.

    def pack(self, idents, kind, content, parent):
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": kind,
            "username": "kernel",
            "session": self.session,
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(),
            "version": "5.3",
        }
        parts = [json.dumps(p).encode() for p in (header, parent, {}, content)]
        return [*idents, DELIMITER, self.sign(parts), *parts]

    def sign(self, parts):
        if not self.key:
            return b""
        mac = hmac.new(self.key, digestmod=hashlib.sha256)
        for part in parts:
            mac.update(part)
        return mac.hexdigest().encode()

    def publish(self, kind, content, parent):
        self.front["iopub"].send_multipart(self.pack([kind.encode()], kind, content, parent))

    def reply(self, message, kind, content):
        self.front["shell"].send_multipart(self.pack(message.idents, kind, content, message.header))

    # The start: GoNB is there once it answers, and its messages arrive once one of them has.

    def meet(self):
        deadline, starts = time.monotonic() + 300, 1
        self.info, heard, asked = None, False, 0.0
        while self.info is None or not heard:
            if self.alone():
                sys.exit(0)
            ended = self.kernel.poll() is not None
            if ended and self.info is None and starts < STARTS:  # another program may have taken one of its ports meanwhile
                starts += 1
                self.start()
            elif ended or time.monotonic() > deadline:
                sys.exit("GoNB does not start; .bin/kernel.log may say why")
            if time.monotonic() - asked > (0.5 if self.info is None else 0.02):
                asked = time.monotonic()
                self.back["shell"].send_multipart(self.pack([b"relay"], "kernel_info_request", {}, {}))
            if self.back["shell"].poll(10):
                answer = read(self.back["shell"].recv_multipart())
                if answer.kind == "kernel_info_reply":
                    self.info = answer.content
            if self.back["iopub"].poll(0):
                self.back["iopub"].recv_multipart()
                heard = True

    def alone(self):
        """Whether the process that started this has ended, as JupyterLab does when it is killed."""
        if os.getppid() != self.parent:
            return True
        try:
            os.kill(int(os.environ.get("JPY_PARENT_PID") or self.parent), 0)  # it may have ended before this could look
        except ProcessLookupError:
            return True
        except (OSError, ValueError):
            pass
        return False

    def run(self):
        """Passes messages on until GoNB or the parent process ends; without the parent no requests can arrive."""
        self.meet()
        poller = zmq.Poller()
        for s in (*self.front.values(), *self.back.values()):
            if s is not self.front["iopub"]:
                poller.register(s, zmq.POLLIN)
        while True:
            ready = dict(poller.poll(200))
            for s in ready:
                self.hand_on(s, s.recv_multipart())
            self.count_seconds()
            if self.cell and self.unwatched.exists():
                (self.folder / "gone").touch()
            if self.alone():
                return 0
            if not ready and self.kernel.poll() is not None:
                return self.kernel.returncode

    def hand_on(self, s, frames):
        if s is self.front["hb"]:
            s.send_multipart(frames)
        elif s is self.front["shell"]:
            self.asked(frames)
        elif s is self.back["shell"]:
            self.answered(frames)
        elif s is self.back["iopub"]:
            self.told(frames)
        else:
            for channel in ("control", "stdin"):
                if s is self.front[channel]:
                    self.back[channel].send_multipart(frames)
                elif s is self.back[channel]:
                    self.front[channel].send_multipart(frames)

    # Requests from pages.

    def asked(self, frames):
        message = read(frames)
        if message.kind == "execute_request":
            self.queue.append(Cell(frames, message))
            self.want(self.queue[-1])
            self.next()
        elif message.kind == "kernel_info_request":
            self.answer(message, dict(self.info, cermic_left=left()))
        elif message.kind == "history_request":  # GoNB does not reply; a page that begins with it finds no kernel
            self.answer(message, {"status": "ok", "history": []})
        elif message.kind == "cermic":
            self.pressed(message.content)
        else:
            self.back["shell"].send_multipart(frames)

    def answer(self, message, content):
        """Answers a page at once, and reports whether a cell runs; GoNB would answer only after that cell."""
        self.publish("status", {"execution_state": "busy"}, message.header)
        self.reply(message, message.kind.replace("_request", "_reply"), content)
        self.publish("status", {"execution_state": "idle"}, message.header)
        if self.cell:
            self.publish("status", {"execution_state": "busy"}, self.cell.message.header)

    def pressed(self, content):
        """Stores the state of a page's buttons and controls."""
        if "controls" in content:
            write(self.folder / "controls", content["controls"])
        else:
            self.button = content

    def want(self, cell):
        """Notes that another page requests the cell that runs, so that it yields."""
        now = self.cell
        if now and cell.session != now.session and (cell.name == now.name or cell.code == now.code):
            (self.folder / "asked").touch()

    def next(self):
        """Begins with the next cell if none runs."""
        if self.cell or not self.queue:
            return
        self.cell = cell = self.queue.pop(0)
        if cell.counts:
            self.count += 1
            cell.number = self.count
        for note in (self.unwatched, *(self.folder / name for name in ("asked", "uses", "gone", "controls"))):
            note.unlink(missing_ok=True)
        button, self.button = (self.button, {}) if self.button.get("cell") == cell.name else ({}, self.button)
        write(self.folder / "cell", {"number": cell.number, "name": cell.name, "train": button.get("train", "")})
        cell.began = time.monotonic()
        self.back["shell"].send_multipart(cell.frames)

    # The line on a page before its cell shows something.

    def count_seconds(self):
        """Shows whether a cell compiles or runs, and for how long."""
        cell, now = self.cell, time.monotonic()
        if cell is None or cell.shown or not cell.counts or now - cell.began < 1 or os.environ.get("NB_HEADLESS"):
            return
        if cell.compiled is None and (self.folder / "uses").exists():
            cell.compiled = now
        line = f"compiling · {now - cell.began:.0f} s"
        if cell.compiled is not None:
            line = f"compiled in {cell.compiled - cell.began:.0f} s · running · {now - cell.compiled:.0f} s"
        if line == cell.line:
            return
        kind = "display_data" if cell.line is None else "update_display_data"
        cell.line = line
        data = {"text/plain": line, "text/html": f"<small>{line}</small>"}
        self.publish(kind, {"data": data, "metadata": {}, "transient": {"display_id": cell.id}}, cell.message.header)

    def clear(self, cell, follows):
        """Takes the line away, at once or with what follows it."""
        if cell.line is not None and not cell.shown:
            self.publish("clear_output", {"wait": follows}, cell.message.header)
        cell.shown = True

    # Messages from GoNB.

    def answered(self, frames):
        message = read(frames)
        if self.cell and message.kind == "execute_reply" and message.parent.get("msg_id") == self.cell.id:
            self.cell.reply = message
            self.finish()
        elif b"relay" not in message.idents:
            self.front["shell"].send_multipart(frames)

    def told(self, frames):
        at = frames.index(DELIMITER)
        parent = json.loads(frames[at + 3] or b"{}")
        cell = self.cell
        if parent.get("session") == self.session:
            return  # of the start
        if cell is None or parent.get("msg_id") != cell.id:
            self.front["iopub"].send_multipart(frames)
            return
        kind = json.loads(frames[at + 2]).get("msg_type")
        if kind == "status" and json.loads(frames[at + 5]).get("execution_state") == "idle":
            cell.idle = frames
            self.finish()
            return
        if cell.end is not None and kind in ("stream", "display_data", "execute_result"):
            self.front["iopub"].send_multipart(cell.end)
            cell.end = None
        if kind == "stream":
            text = json.loads(frames[at + 5]).get("text", "")
            cell.said = (cell.said + text)[-20000:]
            if ENDED.fullmatch(text):
                cell.end = frames
                return
        elif kind == "display_data" and len(frames[at + 5]) < 20000:
            cell.said += json.loads(frames[at + 5]).get("data", {}).get("text/html", "")
        elif kind == "error":
            cell.error = read(frames).content
            return
        if kind in SHOWN:
            self.clear(cell, True)
        self.front["iopub"].send_multipart(frames)

    def finish(self):
        """Ends the cell that runs once all of GoNB's messages about it have arrived."""
        cell = self.cell
        if cell.reply is None or cell.idle is None:
            return
        content = cell.reply.content
        if content.get("execution_count"):
            self.count = content["execution_count"]
        error = self.failure(cell)
        self.clear(cell, error is not None)
        if error:
            self.publish("error", error, cell.message.header)
            content = dict(error, status="error", execution_count=content.get("execution_count", self.count))
        self.mark(cell, bool(error))
        self.reply(cell.message, "execute_reply", content)
        self.front["iopub"].send_multipart(cell.idle)
        self.cell = None
        if error and cell.message.content.get("stop_on_error", True):
            self.abort(self.queue)
        elif (self.folder / "gone").exists():
            self.abort([c for c in self.queue if c.session == cell.session])
        self.next()

    def failure(self, cell):
        """The message for a failed cell; None for any other."""
        if cell.end is not None:
            how = ENDED.fullmatch(read(cell.end).content["text"]).group(1)
            name = "Interrupted" if how == "signal: interrupt" else "Failed"
            lines = [line for line in cell.said.splitlines() if line.strip()][:-1]
            value = {"exit status 1": lines[-1] if lines else how}.get(how, how)
            return {"ename": name, "evalue": value, "traceback": [f"{place(cell)} {'was interrupted' if name == 'Interrupted' else 'failed'} ({how})"]}
        if cell.reply.content.get("status") != "error":
            return None
        error = cell.error or {key: cell.reply.content.get(key) for key in ("ename", "evalue", "traceback")}
        if helps := cure(cell.said + str(error.get("evalue")) + "".join(error.get("traceback") or [])):
            return {"ename": "Mistake", "evalue": helps, "traceback": [helps]}
        return error

    def mark(self, cell, failed):
        """Leaves a note of a cell that failed, so that later ones do not build on half of it."""
        note = self.folder / "failed"
        if failed and (self.folder / "uses").exists():
            if not note.exists() or json.loads(note.read_text())["name"] == cell.name:
                write(note, {"number": cell.number, "name": cell.name})
        elif not failed and note.exists() and json.loads(note.read_text())["name"] == cell.name:
            note.unlink()

    def abort(self, cells):
        """Answers requests behind a failed cell, which must not run."""
        for cell in list(cells):
            self.queue.remove(cell)
            self.publish("status", {"execution_state": "busy"}, cell.message.header)
            self.reply(cell.message, "execute_reply", {"status": "aborted"})
            self.publish("status", {"execution_state": "idle"}, cell.message.header)

    def close(self):
        if self.kernel.poll() is None:
            self.kernel.terminate()
            try:
                self.kernel.wait(2)
            except subprocess.TimeoutExpired:
                self.kernel.kill()
        self.unwatched.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def left():
    """Trainings that cells of this notebook have left to detached processes; see notebooks/nb/training.go."""
    store = pathlib.Path(os.environ.get("NB_STORE") or os.path.join("..", "runs"))
    found = []
    for note in store.glob(".left/*/training.json"):
        try:
            training = json.loads(note.read_text())
            if lives(note.with_name("process")) and training["notebook"] == os.path.basename(os.environ.get("JPY_SESSION_NAME", "")):
                found.append(f"{training['method']} (run {training['run']})")
        except (OSError, ValueError):
            continue
    return found


def lives(path):
    """Whether a process holds the lock on its file."""
    with open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def place(cell):
    return "This cell" if cell.number is None else f"Cell [{cell.number}]"


def write(path, value):
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(value))
    draft.replace(path)


def address(info, channel):
    between = "-" if info["transport"] == "ipc" else ":"
    return f"{info['transport']}://{info['ip']}{between}{info[channel + '_port']}"


def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def main(connection_file, *command):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the stop button is a message
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    relay = Relay(connection_file, command)
    try:
        sys.exit(relay.run())
    finally:
        relay.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

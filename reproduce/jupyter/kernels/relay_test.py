# SPDX-License-Identifier: Apache-2.0
"""Tests of relay.py, between Jupyter's client and a stand-in for GoNB that executes the commands in cells.

    .venv/bin/python -m unittest discover -s reproduce/jupyter/kernels -p '*_test.py'
"""

import fcntl
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import zmq
from jupyter_client import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from jupyter_client.session import Session

LONG = 120  # seconds, for steps that take milliseconds unless the machine is busy

# Commands of a cell to the stand-in, one per line.
SAY = "say "  # writes the rest of the line
EXIT = "exit "  # its program ends with this status, which GoNB writes and then calls a success
ERROR = "error "  # it does not compile, with this complaint
USES = "uses"  # it uses the package nb
WAIT = "wait "  # until there is a file of this name
DIE = "die"  # the kernel ends in the middle of it


class Standin:
    """The part of GoNB's protocol that the relay uses, one request after the other."""

    def __init__(self, file):
        info = json.loads(pathlib.Path(file).read_text())
        self.session = Session(key=info["key"].encode())
        self.context = zmq.Context()
        self.sockets = {}
        for channel, kind in (("shell", zmq.ROUTER), ("control", zmq.ROUTER), ("stdin", zmq.ROUTER), ("iopub", zmq.PUB), ("hb", zmq.REP)):
            self.sockets[channel] = self.context.socket(kind)
            self.sockets[channel].bind(f"tcp://127.0.0.1:{info[channel + '_port']}")
        self.count = 0

    def tell(self, kind, content, parent, buffers=None):
        self.session.send(self.sockets["iopub"], kind, content, parent=parent, ident=kind.encode(), buffers=buffers)

    def serve(self):
        poller = zmq.Poller()
        for channel in ("shell", "control"):
            poller.register(self.sockets[channel], zmq.POLLIN)
        while True:
            for s, _ in poller.poll():
                idents, message = self.session.feed_identities(s.recv_multipart())
                message = self.session.deserialize(message)
                self.tell("status", {"execution_state": "busy"}, message)
                answer = getattr(self, message["header"]["msg_type"], None)
                if answer:
                    kind = message["header"]["msg_type"].replace("_request", "_reply")
                    content = answer(message)
                    if content is not None:
                        self.session.send(s, kind, content, parent=message, ident=idents)
                self.tell("status", {"execution_state": "idle"}, message)

    def kernel_info_request(self, message):
        return {"status": "ok", "implementation": "stand-in", "protocol_version": "5.3"}

    def complete_request(self, message):
        return {"status": "ok", "matches": [message["content"]["code"]]}

    def interrupt_request(self, message):
        return {"status": "ok"}

    def comm_msg(self, message):
        self.tell("comm_msg", message["content"], message, buffers=[bytes(b) for b in message["buffers"]])

    def comm_open(self, message):
        pass

    def execute_request(self, message):
        self.count += 1
        write = lambda text: self.tell("stream", {"name": "stderr", "text": text}, message)
        for line in message["content"]["code"].splitlines():
            if line.startswith(SAY):
                write(line.removeprefix(SAY) + "\n")
            elif line.startswith(EXIT):
                write(f"exit status {line.removeprefix(EXIT)}\n")
            elif line.startswith(ERROR):
                error = {"ename": "ERROR", "evalue": line.removeprefix(ERROR), "traceback": [line.removeprefix(ERROR)]}
                self.tell("error", error, message)
                return dict(error, status="error", execution_count=self.count)
            elif line == USES:
                (pathlib.Path(os.environ["NB_KERNEL"]) / "uses").touch()
            elif line.startswith(WAIT):
                while not pathlib.Path(line.removeprefix(WAIT)).exists():
                    time.sleep(0.01)
            elif line == DIE:
                os._exit(3)
        return {"status": "ok", "execution_count": self.count, "user_expressions": {}}


def main(file):
    """The program of the stand-in. Where STARTS names a file, it notes its connection there and fails the first time."""
    if starts := os.environ.get("STARTS"):
        first = not os.path.exists(starts)
        with open(starts, "a") as f:
            f.write(pathlib.Path(file).read_text() + "\n")
        if first:
            sys.exit("Address already in use")
    Standin(file).serve()


class Relayed(unittest.TestCase):
    """A relay with a stand-in behind it, and a client before it."""

    counts_seconds = "counts_seconds"  # in the names of tests whose relay does
    port_taken = "port_taken"  # in the names of tests whose kernel fails at its first start

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        program = self.folder / "gonb"
        program.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(HERE)!r})\nimport relay_test\nrelay_test.main(sys.argv[2])\n")
        program.chmod(0o755)
        self.file, _ = write_connection_file(str(self.folder / "kernel-1.json"))
        env = dict(os.environ, TMPDIR=str(self.folder), NB_STORE=str(self.folder / "runs"), JPY_SESSION_NAME="/books/mine.ipynb")
        if self.counts_seconds not in self._testMethodName:
            env["NB_HEADLESS"] = "1"  # no line of seconds in the messages of a slow machine
        if self.port_taken in self._testMethodName:
            env["STARTS"] = str(self.folder / "starts")
        self.env = env
        self.relay = subprocess.Popen([sys.executable, str(HERE / "relay.py"), self.file, str(program)], env=env)
        self.addCleanup(self.end)
        self.client = self.page()
        self.notes = next(self.folder.glob("cermic-kernel-*"))

    def page(self):
        client = BlockingKernelClient(connection_file=self.file)
        client.load_connection_file()
        client.start_channels(hb=False)
        self.addCleanup(client.stop_channels)
        while True:  # until published messages arrive, too
            client.kernel_info(reply=True, timeout=LONG)
            try:
                client.get_iopub_msg(timeout=0.2)
                return client
            except queue.Empty:
                pass

    def end(self):
        self.relay.terminate()
        self.relay.wait(LONG)

    def ask(self, *lines, name=None, client=None, **more):
        """Requests a cell and returns the ID of the request."""
        client = client or self.client
        content = {"code": "\n".join(lines), "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True, **more}
        message = client.session.msg("execute_request", content, metadata={"cellId": name} if name else {})
        client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def reply(self, asked, client=None):
        """The reply to a request and the messages about it until the kernel was idle."""
        client = client or self.client
        while True:
            reply = client.get_shell_msg(timeout=LONG)
            if reply["parent_header"].get("msg_id") == asked:
                break
        told = []
        while True:
            message = client.get_iopub_msg(timeout=LONG)
            if message["parent_header"].get("msg_id") != asked:
                continue
            if message["msg_type"] == "status":
                if message["content"]["execution_state"] == "idle":
                    return reply["content"], told
                continue
            told.append(message)

    def begun(self):
        """Waits until the relay has begun with a cell: it takes away the notes about the one before."""
        while not (self.notes / "cell").exists():
            time.sleep(0.01)

    def run_cell(self, *lines, **more):
        return self.reply(self.ask(*lines, **more))

    def test_a_cell_that_works_is_passed_on_as_it_is(self):
        reply, told = self.run_cell("say one", "say two")
        self.assertEqual((reply["status"], reply["execution_count"]), ("ok", 1))
        self.assertEqual([m["content"]["text"] for m in told], ["one\n", "two\n"])

    def test_a_page_counts_seconds_until_the_cell_shows_something(self):
        asked = self.ask("uses", f"wait {self.folder / 'go'}", "say one", "say two")
        lines, told = [], []
        while True:
            message = self.client.get_iopub_msg(timeout=LONG)
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            if kind in ("display_data", "update_display_data"):
                lines.append(content["data"]["text/plain"])
                if len(lines) == 2:
                    (self.folder / "go").touch()
            elif kind != "status":
                told.append(content.get("text") or (kind, content.get("wait")))
        self.assertTrue(all(line.startswith("compiled in ") and " running " in line for line in lines), lines)
        self.assertEqual(told, [("clear_output", True), "one\n", "two\n"])

    def test_a_page_counts_seconds_of_a_cell_that_shows_nothing(self):
        asked = self.ask(f"wait {self.folder / 'go'}")
        kinds = []
        while not kinds or kinds[-1] != "idle":
            message = self.client.get_iopub_msg(timeout=LONG)
            if message["parent_header"].get("msg_id") != asked:
                continue
            if message["msg_type"] == "display_data":
                self.assertTrue(message["content"]["data"]["text/plain"].startswith("compiling"))
                (self.folder / "go").touch()
            kinds.append(message["content"].get("execution_state") or message["msg_type"])
        self.assertIn("clear_output", kinds)

    def test_a_program_that_fails_ends_its_cell_with_an_error(self):
        reply, told = self.run_cell("say no such task", "exit 1")
        self.assertEqual((reply["status"], reply["ename"], reply["evalue"]), ("error", "Failed", "no such task"))
        self.assertEqual([m["msg_type"] for m in told], ["stream", "error"])  # without the line of the exit status
        self.assertEqual(told[1]["content"]["traceback"], ["Cell [1] failed (exit status 1)"])

    def test_what_only_looks_like_the_end_is_passed_on(self):
        reply, told = self.run_cell("exit 1", "say and it goes on")
        self.assertEqual(reply["status"], "ok")
        self.assertEqual([m["content"]["text"] for m in told], ["exit status 1\n", "and it goes on\n"])

    def test_a_complaint_of_the_compiler_gets_the_sentence_that_helps(self):
        reply, told = self.run_cell("error cell.go:3: expected declaration, found fmt")
        self.assertEqual((reply["status"], reply["ename"]), ("error", "Mistake"))
        self.assertTrue(reply["evalue"].startswith("Statements need a line %% above them"), reply["evalue"])
        self.assertEqual([m["content"]["evalue"] for m in told], [reply["evalue"]])
        reply, _ = self.run_cell("error no required module provides package example.org/x; to add it")
        self.assertTrue(reply["evalue"].startswith("example.org/x: this package is in no module of go.mod"), reply["evalue"])
        reply, _ = self.run_cell("error undefined: x")
        self.assertEqual((reply["ename"], reply["evalue"]), ("ERROR", "undefined: x"))

    def test_cells_behind_a_failed_one_are_aborted_and_later_ones_are_not(self):
        go = self.folder / "go"
        first, second, third = self.ask(f"wait {go}", "exit 1"), self.ask("say second"), self.ask("say third")
        go.touch()
        self.assertEqual(self.reply(first)[0]["status"], "error")
        for asked in (second, third):
            reply, told = self.reply(asked)
            self.assertEqual((reply["status"], told), ("aborted", []))
        self.assertEqual(self.run_cell("say again")[0]["status"], "ok")

    def test_without_stop_on_error_the_cells_behind_run(self):
        go = self.folder / "go"
        first, second = self.ask(f"wait {go}", "exit 1", stop_on_error=False), self.ask("say second")
        go.touch()
        self.assertEqual(self.reply(first)[0]["status"], "error")
        self.assertEqual(self.reply(second)[0]["status"], "ok")

    def test_a_failed_cell_is_marked_until_it_works(self):
        mark = self.notes / "failed"
        self.run_cell("exit 1", name="plain")
        self.assertFalse(mark.exists(), "a cell that does not use nb is no half of a training")
        self.run_cell("uses", "exit 1", name="train")
        self.assertEqual(json.loads(mark.read_text()), {"number": 2, "name": "train"})
        self.run_cell("uses", "exit 1", name="behind")  # says that the other one failed
        self.assertEqual(json.loads(mark.read_text())["name"], "train")
        self.run_cell("say fine", name="plain")
        self.assertTrue(mark.exists())
        self.run_cell("uses", "error undefined: x", name="train")
        self.assertEqual(json.loads(mark.read_text())["number"], 5)
        self.run_cell("uses", name="train")
        self.assertFalse(mark.exists())

    def test_the_page_that_is_gone_takes_its_queue_with_it(self):
        go, other = self.folder / "go", self.page()
        first, second = self.ask(f"wait {go}"), self.ask("say second")
        third = self.ask("say third", client=other)
        self.begun()
        pathlib.Path(self.file + ".gone").touch()
        self.until((self.notes / "gone").exists)
        go.touch()
        self.assertEqual(self.reply(first)[0]["status"], "ok")
        self.assertEqual(self.reply(second)[0]["status"], "aborted")
        self.assertEqual(self.reply(third, other)[0]["status"], "ok")

    def test_another_page_that_asks_for_the_cell_is_noted(self):
        go, other = self.folder / "go", self.page()
        first = self.ask(f"wait {go}", name="train")
        self.begun()
        same = self.ask(f"wait {go}", name="train")  # a request from the same page is no reason to yield
        third = self.ask("say x", client=other, name="else")
        self.assertEqual(other.kernel_info(reply=True, timeout=LONG)["content"]["implementation"], "stand-in")  # in the middle of a cell
        self.assertFalse((self.notes / "asked").exists())
        fourth = self.ask(f"wait {go}", client=other, name="train")
        other.kernel_info(reply=True, timeout=LONG)
        self.assertTrue((self.notes / "asked").exists())
        go.touch()
        for asked, client in ((first, self.client), (same, self.client), (third, other), (fourth, other)):
            self.assertEqual(self.reply(asked, client)[0]["status"], "ok")

    def test_other_messages_pass_unchanged(self):
        self.client.complete("fmt.Pr")
        reply = self.client.get_shell_msg(timeout=LONG)
        self.assertEqual((reply["msg_type"], reply["content"]["matches"]), ("complete_reply", ["fmt.Pr"]))
        content = {"comm_id": "1", "data": {"address": "/x", "value": "α = 0.5"}}
        message = self.client.session.msg("comm_msg", content)
        self.client.session.send(self.client.shell_channel.socket, message, buffers=[b"\x00\xff"])
        while (told := self.client.get_iopub_msg(timeout=LONG))["msg_type"] != "comm_msg":
            pass
        self.assertEqual((told["content"], [bytes(b) for b in told["buffers"]]), (content, [b"\x00\xff"]))
        self.client.control_channel.send(self.client.session.msg("interrupt_request", {}))
        self.assertEqual(self.client.get_control_msg(timeout=LONG)["msg_type"], "interrupt_reply")

    def test_a_page_whose_first_question_is_the_history_learns_that_the_kernel_is_idle(self):
        asked, states = self.client.history(), []
        self.assertEqual(self.client.get_shell_msg(timeout=LONG)["content"]["history"], [])
        while len(states) < 2:
            message = self.client.get_iopub_msg(timeout=LONG)
            if message["parent_header"]["msg_id"] == asked:
                states.append(message["content"]["execution_state"])
        self.assertEqual(states, ["busy", "idle"])

    def test_a_page_learns_what_is_trained_without_one(self):
        note = self.folder / "runs" / ".left" / "1" / "training.json"
        note.parent.mkdir(parents=True)
        note.write_text(json.dumps({"method": "mappo", "run": "0123", "notebook": "mine.ipynb"}))
        told = lambda: self.client.kernel_info(reply=True, timeout=LONG)["content"]["cermic_left"]
        self.assertEqual(told(), [])
        with open(note.with_name("process"), "w") as process:
            self.assertEqual(told(), [])
            fcntl.flock(process, fcntl.LOCK_EX)
            self.assertEqual(told(), ["mappo (run 0123)"])
        self.assertEqual(told(), [])

    def test_a_button_is_of_the_next_run_of_its_cell_alone(self):
        press = lambda **content: self.client.shell_channel.send(self.client.session.msg("cermic", content))
        train = lambda: json.loads((self.notes / "cell").read_text())["train"]
        press(cell="table", train="again")
        self.run_cell("say another", name="plain")
        self.assertEqual(train(), "")
        self.run_cell("say one", name="table")
        self.assertEqual(train(), "again")
        self.run_cell("say two", name="table")
        self.assertEqual(train(), "")

    def test_positions_of_controls_reach_the_cell_that_runs(self):
        go = self.folder / "go"
        asked = self.ask(f"wait {go}")
        self.begun()
        self.client.shell_channel.send(self.client.session.msg("cermic", {"controls": {"id": "1", "positions": {"α": "0.5"}}}))
        self.until((self.notes / "controls").exists)
        self.assertEqual(json.loads((self.notes / "controls").read_text()), {"id": "1", "positions": {"α": "0.5"}})
        go.touch()
        self.reply(asked)
        self.run_cell("say next")
        self.assertFalse((self.notes / "controls").exists())

    def test_a_kernel_that_finds_a_port_taken_is_started_at_others(self):
        connections = [json.loads(line) for line in (self.folder / "starts").read_text().splitlines()]
        self.assertEqual([len(connections), self.run_cell("say one")[0]["status"]], [2, "ok"])
        self.assertNotEqual(connections[0]["shell_port"], connections[1]["shell_port"])

    def test_the_relay_ends_with_its_kernel(self):
        self.ask("die")
        self.assertEqual(self.relay.wait(LONG), 3)
        self.assertFalse(self.notes.exists())

    def test_the_relay_ends_with_whoever_started_it(self):
        file, _ = write_connection_file(str(self.folder / "kernel-2.json"))
        server = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
        with subprocess.Popen([sys.executable, "-c", server, sys.executable, str(HERE / "relay.py"), file, str(self.folder / "gonb")], env=self.env) as server:
            other = lambda: [f for f in self.folder.glob("cermic-kernel-*") if f != self.notes]
            self.until(other)
            server.kill()
        self.until(lambda: not other())
        self.assertIsNone(self.relay.poll())
        self.assertTrue(self.notes.exists())

    def until(self, true):
        deadline = time.monotonic() + LONG
        while not true():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()

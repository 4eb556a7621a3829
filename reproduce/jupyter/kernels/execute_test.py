# SPDX-License-Identifier: Apache-2.0
"""Tests of execute.py, with the relay as kernel and a stand-in for GoNB behind it."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent

import nbformat


class Stopped(unittest.TestCase):
    def test_a_signal_in_a_cell_ends_it_and_its_kernel_without_a_word(self):
        for sign in (signal.SIGINT, signal.SIGTERM):
            with tempfile.TemporaryDirectory() as folder, self.subTest(sign=sign):
                self.stop(pathlib.Path(folder), sign)

    def stop(self, folder, sign):
        begun = folder / "begun"
        program = folder / "gonb"
        program.write_text(
            f"#!{sys.executable}\nimport pathlib, sys\nsys.path.insert(0, {str(HERE)!r})\nimport relay_test\n"
            "class Slow(relay_test.Standin):\n    def kernel_info_request(self, message):\n        return dict(super().kernel_info_request(message), language_info={})\n"
            f"    def execute_request(self, message):\n        pathlib.Path({str(begun)!r}).touch()\n"
            "        return super().execute_request(message)\nSlow(sys.argv[2]).serve()\n"
        )
        program.chmod(0o755)
        spec = folder / "kernels" / "gonb"
        spec.mkdir(parents=True)
        argv = [sys.executable, str(HERE / "relay.py"), "{connection_file}", str(program)]
        (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "stand-in", "language": "go", "interrupt_mode": "message"}))
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"wait {folder / 'never'}")])
        nbformat.write(book, str(folder / "book.ipynb"))
        env = dict(os.environ, TMPDIR=str(folder), JUPYTER_PATH=str(folder), NB_HEADLESS="1")
        command = [sys.executable, str(HERE / "execute.py"), str(folder / "out"), "600", str(folder / "book.ipynb")]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            self.until(lambda: begun.exists() or process.poll() is not None)
            process.send_signal(sign)
            self.assertEqual(process.wait(120), 130)
            self.until(lambda: not list(folder.glob("cermic-kernel-*")))  # which the relay takes with it
            self.assertEqual(process.stdout.read(), "")

    def until(self, true):
        deadline = time.monotonic() + 120
        while not true():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()

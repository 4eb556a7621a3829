# SPDX-License-Identifier: Apache-2.0
"""Executes notebooks from top to bottom through the reader's kernel.

    execute.py FOLDER SECONDS NOTEBOOK...

The executed copies go to FOLDER; SECONDS is the time limit of one cell. The exit code is 1 if a cell fails, a kernel
dies, or a cell with the tag "plot" shows no picture, after all notebooks have run. An interrupt or SIGTERM ends the
program at once, with exit code 130; the kernel notices that it is alone, and ends as well.
"""

import os
import signal

for sign in (signal.SIGINT, signal.SIGTERM):  # before anything that takes time
    signal.signal(sign, lambda *_: os._exit(130))

import pathlib
import sys
import threading
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError


def execute(notebook, timeout, folder):
    """Runs all cells of a notebook in place and returns a list of complaints."""
    client = NotebookClient(
        notebook,
        kernel_name="gonb",
        timeout=timeout,
        startup_timeout=300,  # the first start of a kernel may build it
        record_timing=False,  # a second execution should differ in nothing but results
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute()
    except CellTimeoutError:
        return [f"a cell took longer than {timeout} s"]
    except DeadKernelError:
        return ["the kernel died; .bin/kernel.log may say why"]
    except CellExecutionError as failure:
        return [str(failure).strip()]
    return [complaint for i, cell in enumerate(notebook.cells) for complaint in missing_plot(i, cell)]


def missing_plot(i, cell):
    """A complaint if a cell that is meant to show a plot does not."""
    if "plot" not in cell.metadata.get("tags", []):
        return
    if not any("image/png" in output.get("data", {}) for output in cell.get("outputs", [])):
        yield f"cell {i} is tagged as a plot and shows none: {cell.source.splitlines()[0]}"


def main(out, timeout, *paths):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    failed = False
    for path in map(pathlib.Path, paths):
        notebook = nbformat.read(path, as_version=4)
        start = time.monotonic()
        complaints = execute(notebook, int(timeout), path.parent)
        draft = out / (path.name + ".new")
        nbformat.write(notebook, draft)
        draft.replace(out / path.name)
        print(f"{path.stem:<24} {time.monotonic() - start:6.1f} s  {'failed' if complaints else 'ok'}", flush=True)
        for complaint in complaints:
            failed = True
            print("  " + complaint.replace("\n", "\n  "), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    # Not in the main thread, where nbclient would handle signals itself and turn them into errors of the notebook.
    code = [1]

    def work():
        try:
            main(*sys.argv[1:])
        except SystemExit as end:
            code[0] = end.code

    worker = threading.Thread(target=work)
    worker.start()
    while worker.is_alive():
        worker.join(0.2)  # a signal is handled between two waits wherever a wait cannot be interrupted
    sys.exit(code[0])

# SPDX-License-Identifier: Apache-2.0
"""Keeps the outputs of a running notebook out of the files that git tracks.

The notebooks of this repository are committed with their outputs. JupyterLab saves a notebook every two minutes, and
would replace these outputs with new ones. Here the outputs of a saved notebook go to .outputs beside it, which git
ignores, and come back when it is opened. The notebook itself gets the edits. A cell with the same source as in git
keeps its outputs in git; any other cell has its own. A notebook that git does not track is saved unchanged.
"""

import asyncio
import pathlib
import subprocess

import nbformat
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

FOLDER = ".outputs"


def beside(path):
    """The file with the outputs of a notebook."""
    path = pathlib.Path(path)
    return path.parent / FOLDER / path.name


def tracked(path):
    """The notebook in git's index; None if git does not track it, or there is no git."""
    path = pathlib.Path(path)
    try:
        shown = subprocess.run(["git", "show", f":./{path.name}"], cwd=path.parent, capture_output=True, timeout=60)
        return nbformat.reads(shown.stdout.decode(), as_version=4) if shown.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, ValueError, nbformat.ValidationError):
        return None


def with_outputs(notebook, other):
    """A notebook whose code cells have the outputs of another one, where they have the same source."""
    found = {(cell.get("id"), cell.source): cell for cell in other.cells if cell.cell_type == "code"}
    notebook = nbformat.from_dict(notebook)
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and (same := found.get((cell.get("id"), cell.source))):
            notebook.cells[i] = nbformat.from_dict(dict(cell, outputs=same.outputs, execution_count=same.execution_count))
    return notebook


def as_in(published, notebook):
    """The notebook to save, given the one that git tracks."""
    notebook = with_outputs(notebook, published)
    if notebook.metadata.get("kernelspec", {}).get("name") == published.metadata.get("kernelspec", {}).get("name"):
        for key in ("kernelspec", "language_info"):  # which a kernel fills in by its version
            if key in published.metadata:
                notebook.metadata[key] = published.metadata[key]
    return notebook


class Notebooks(AsyncLargeFileManager):
    """JupyterLab's own access to files, except for the outputs of notebooks that git tracks."""

    async def _save_notebook(self, os_path, nb, capture_validation_error=None):
        published, outputs = await asyncio.to_thread(tracked, os_path), beside(os_path)
        if published is None:
            outputs.unlink(missing_ok=True)
        else:
            outputs.parent.mkdir(exist_ok=True)
            await super()._save_notebook(str(outputs), nb)
            nb = as_in(published, nb)
        await super()._save_notebook(os_path, nb, capture_validation_error)

    async def _read_notebook(self, os_path, as_version=4, capture_validation_error=None, raw=False):
        read = await super()._read_notebook(os_path, as_version, capture_validation_error, raw)
        notebook, *rest = read if raw else (read,)
        try:
            notebook = with_outputs(notebook, nbformat.read(beside(os_path), as_version))
        except FileNotFoundError:
            pass
        except Exception as damaged:  # damaged outputs must not make a notebook unreadable
            self.log.warning("%s cannot be read (%s): %s opens with the outputs that it has in git", beside(os_path), damaged, os_path)
        return (notebook, *rest) if raw else notebook

    async def rename_file(self, old_path, new_path):
        old, new = (beside(self._get_os_path(path.strip("/"))) for path in (old_path, new_path))
        await super().rename_file(old_path, new_path)
        if old != new and old.exists():
            new.parent.mkdir(exist_ok=True)
            old.replace(new)

    async def delete_file(self, path):
        outputs = beside(self._get_os_path(path.strip("/")))
        await super().delete_file(path)
        outputs.unlink(missing_ok=True)


class Kernels(AsyncMappingKernelManager):
    """JupyterLab's own access to kernels. When the last page disconnects, it leaves a file for the kernel's relay.

    The file lies beside the kernel's connection file.
    """

    def notify_disconnect(self, kernel_id):
        super().notify_disconnect(kernel_id)
        if self._kernel_connections.get(kernel_id) == 0:
            pathlib.Path(self.get_kernel(kernel_id).connection_file + ".gone").touch()

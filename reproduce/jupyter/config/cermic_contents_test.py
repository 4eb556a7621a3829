# SPDX-License-Identifier: Apache-2.0
"""Tests of cermic_contents.py.

    .venv/bin/python -m unittest discover -s reproduce/jupyter/config -p '*_test.py'
"""

import asyncio
import pathlib
import subprocess
import tempfile
import unittest

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from cermic_contents import Notebooks


def printed(text):
    return [new_output("stream", text=text)]


class Contents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        cells = [new_markdown_cell("# A title"), new_code_cell("one()", outputs=printed("published 1\n"), execution_count=1), new_code_cell("two()", outputs=printed("published 2\n"), execution_count=2)]
        spec = {"display_name": "Go", "language": "go", "name": "gonb"}
        nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": spec, "language_info": {"name": "go", "version": "go1.26.8"}}), self.folder / "book.ipynb")
        (self.folder / ".gitignore").write_text(".outputs/\n.ipynb_checkpoints/\n")
        for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
            subprocess.run(["git", *command], cwd=self.folder, check=True)
        self.contents = Notebooks(root_dir=str(self.folder))

    def open(self, name="book.ipynb"):
        return asyncio.run(self.contents.get(name))["content"]

    def save(self, notebook, name="book.ipynb"):
        asyncio.run(self.contents.save({"type": "notebook", "format": "json", "content": notebook}, name))

    def ran(self, notebook):
        for n, cell in enumerate(notebook.cells[1:], 7):
            cell.outputs, cell.execution_count = printed(f"mine {n}\n"), n
        notebook.metadata["language_info"]["version"] = "go1.27"
        return notebook

    def changed(self):
        return subprocess.run(["git", "status", "--porcelain"], cwd=self.folder, capture_output=True, text=True, check=True).stdout

    def shown(self, notebook):
        return [cell.outputs[0].text for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]

    def test_a_run_changes_no_tracked_file_and_is_there_when_the_notebook_is_opened_again(self):
        self.save(self.ran(self.open()))
        self.assertEqual(self.changed(), "")
        self.assertEqual(self.shown(self.open()), ["mine 7\n", "mine 8\n"])

    def test_an_edit_is_in_the_file_with_its_outputs_and_nothing_else_is(self):
        notebook = self.ran(self.open())
        notebook.cells[2].source = "two(2)"
        notebook.cells[0].source = "# Another title"
        notebook.cells.append(new_code_cell("three()", outputs=printed("mine 9\n")))
        self.save(notebook)
        file = nbformat.read(self.folder / "book.ipynb", 4)
        self.assertEqual([c.source for c in file.cells], ["# Another title", "one()", "two(2)", "three()"])
        self.assertEqual(self.shown(file), ["published 1\n", "mine 8\n", "mine 9\n"])
        self.assertEqual(self.shown(self.open()), ["mine 7\n", "mine 8\n", "mine 9\n"])
        notebook.cells[2].source, notebook.cells[0].source = "two()", "# A title"
        del notebook.cells[3]
        self.save(notebook)
        self.assertEqual(self.changed(), "")

    def test_outputs_of_other_code_are_not_shown(self):
        self.save(self.ran(self.open()))
        file = nbformat.read(self.folder / "book.ipynb", 4)
        file.cells[1].source = "one(1)"  # a newer version of the repository
        nbformat.write(file, self.folder / "book.ipynb")
        self.assertEqual(self.shown(self.open()), ["published 1\n", "mine 8\n"])

    def test_cleared_outputs_stay_cleared(self):
        notebook = self.open()
        for cell in notebook.cells[1:]:
            cell.outputs, cell.execution_count = [], None
        self.save(notebook)
        self.assertEqual((self.changed(), self.shown(self.open())), ("", []))

    def test_other_notebooks_are_saved_as_they_are(self):
        self.save(self.ran(self.open()), "own.ipynb")
        self.assertEqual(self.shown(nbformat.read(self.folder / "own.ipynb", 4)), ["mine 7\n", "mine 8\n"])
        self.assertFalse((self.folder / ".outputs" / "own.ipynb").exists())

    def test_outputs_go_where_their_notebook_goes(self):
        self.save(self.ran(self.open()))
        asyncio.run(self.contents.copy("book.ipynb", "copy.ipynb"))
        self.assertEqual(self.shown(nbformat.read(self.folder / "copy.ipynb", 4)), ["mine 7\n", "mine 8\n"])
        asyncio.run(self.contents.rename("book.ipynb", "new.ipynb"))
        self.assertEqual(self.shown(self.open("new.ipynb")), ["mine 7\n", "mine 8\n"])
        asyncio.run(self.contents.delete_file("new.ipynb"))
        self.assertEqual(list((self.folder / ".outputs").iterdir()), [])

    def test_damaged_outputs_do_no_harm(self):
        self.save(self.ran(self.open()))
        (self.folder / ".outputs" / "book.ipynb").write_text("{")
        self.assertEqual(self.shown(self.open()), ["published 1\n", "published 2\n"])


if __name__ == "__main__":
    unittest.main()

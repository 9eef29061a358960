# SPDX-License-Identifier: BSD-3-Clause
"""Runs the notebooks of docs/notebooks; each has asserts of its own."""

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert all(not cell.get("outputs") for cell in book.cells), "stored with its outputs"
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3", resources=resources).execute()
    kinds = {
        kind
        for cell in book.cells
        for output in cell.get("outputs", ())
        for kind in output.get("data", {output["output_type"]: None})
    }
    assert "stderr" not in {
        output.get("name") for cell in book.cells for output in cell.get("outputs", ())
    }
    assert kinds & {"image/png", "text/html", "stream"}


def test_the_page_lists_all_notebooks():
    page = (FOLDER / "README.md").read_text("utf-8")
    assert len(NOTEBOOKS) == 12
    for path in NOTEBOOKS:
        assert f"[{path.stem}]({path.name})" in page

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cells of docs/first_steps.ipynb, in Jupyter if nbclient and ipykernel are installed, else
one after another in this process. Checks what they print, and that the file has no outputs.

notebook_test.py ROOT BUILD WORK
"""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import sys
import types

root, build, work = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
path = root / "docs/first_steps.ipynb"
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
os.environ.update(
    RAMIFY_ROOT=str(root), RAMIFY_BUILD=str(build), RAMIFY_EXERCISES=str(work / "my answers")
)


def run_in_jupyter():
    """Returns the texts and pages that the cells show."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    where = {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(notebook, timeout=600, resources=where).execute()
    shown = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            shown.append(output.get("text") or output["data"].get("text/html", ""))
    return "".join(shown)


def run_here():
    """Returns what the cells print, and the last page that they make."""
    display = types.ModuleType("IPython.display")
    pages = []
    display.HTML = pages.append
    sys.modules["IPython"] = types.ModuleType("IPython")
    sys.modules["IPython.display"] = display
    names = {}
    printed = io.StringIO()
    os.chdir(path.parent)
    with contextlib.redirect_stdout(printed):
        for cell in json.loads(path.read_text())["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    return printed.getvalue() + "".join(pages)


def main():
    for cell in json.loads(path.read_text())["cells"]:
        assert not cell.get("outputs") and not cell.get("execution_count"), "clear the outputs"
    has_jupyter = all(importlib.util.find_spec(name) for name in ("nbclient", "ipykernel"))
    print("in Jupyter" if has_jupyter else "without Jupyter")
    shown = run_in_jupyter() if has_jupyter else run_here()
    # In this order.
    expected = [
        r"threads of children that ran: 8 ",
        r"the sum is \d+",
        r"of 24 schedules it differs, first under `",
        r"the sum is 140\n.*the same under 24 of 24 schedules",
        r"the launch tree is in ",
        r"<iframe srcdoc=.*&quot;add_up&quot;",
        r"01_first_child: right under 0 of 24 schedules",
        r"no child ran",
        r"64 children ran: all 32 threads of each block launched one",
        r"01_first_child: right under 24 of 24 schedules",
    ]
    if not has_jupyter:  # the page is shown at the end
        expected.append(expected.pop(5))
    position = 0
    for pattern in expected:
        found = re.compile(pattern, re.DOTALL).search(shown, position)
        if found is None:
            print(shown)
            print(f"FAILED: the notebook did not show {pattern!r} here")
            return 1
        position = found.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())

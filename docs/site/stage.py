# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tree that Sphinx reads: the pages of the repository, and pages made from its files.

stage.py SOURCE XML

SOURCE is the folder of the tree, in which each page has the path that it has in the repository.
XML is the folder of Doxygen's files.
"""

import json
import shutil
import sys
from pathlib import Path

import api
import gallery
import lessons
import notebooks
from repository import ROOT, START_PAGE, moved, pages, pictures, read

# The parts of the site: a title, and pages or patterns. A page has its place in the first part that
# names it, so the last pattern of docs gets the pages that no other part names.
PARTS = (
    ("Begin", ("docs/install", "docs/using", "packaging/README", "docs/python", "docs/gallery", "docs/first_steps", "docs/notebooks/README")),
    (
        "Learn",
        ("docs/tutorial", "docs/course*", "docs/cdp2", "lessons/index", "exercises/index")
        + ("examples/ladders/README",),
    ),
    ("How to", ("docs/choosing*", "docs/backends_and_routes", "docs/calls_from_kernels", "docs/own_data")
        + ("docs/capture", "docs/several_gpus", "docs/memory", "docs/errors", "docs/limits")
        + ("docs/determinism", "docs/traces", "docs/troubleshooting")),
    ("Algorithms", ("algorithms/README", "examples/README")),
    ("How it works", ("docs/from_call_to_kernel", "device_runtime/README", "docs/scaling")),
    ("Reference", ("api/index", "benchmarks/README")),
    ("More", ("docs/*", "CONTRIBUTING", "CHANGELOG", "README")),
)  # fmt: skip

# Pages that stand below another page.
CHILDREN = {
    "algorithms/README": ("algorithms/ramify/*",),
    "benchmarks/README": ("benchmarks/*",),
    "examples/ladders/README": ("ladders/*",),
    "CONTRIBUTING": ("tests/*",),
    "exercises/index": ("examples/exercises/README", "examples/exercises/mistakes"),
    "docs/notebooks/README": ("docs/notebooks/*",),
}


def _matching(patterns: tuple[str, ...], left: list[str]) -> list[str]:
    """Remove the names that match from ``left``, and return them."""
    found = []
    for pattern in patterns:
        chosen = [name for name in left if Path(name).match(pattern) or _is_below(name, pattern)]
        found += chosen
        left[:] = [name for name in left if name not in chosen]
    return found


def _is_below(name: str, pattern: str) -> bool:
    return pattern.endswith("/*") and name.startswith(pattern[:-1])


def _toctree(names: list[str], caption: str = "") -> str:
    lines = ["```{toctree}", ":hidden:"]
    if caption:
        lines.append(f":caption: {caption}")
    return "\n".join([*lines, "", *(f"/{name}" for name in names), "```", ""])


def made_pages(xml: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the text of each page that is made, and the page of each public header."""
    reference = api.pages(xml)
    made = {page.name: api.page_text(page) for page in reference}
    headers = {api.path_of(h): page.name for page in reference for h in page.headers}
    made["api/index"] = api.index_text(reference)
    made["api/python"] = api.python_text()
    for kind, page in (("lessons", lessons.lesson_page), ("exercises", lessons.exercise_page)):
        for row in lessons.rows(kind):
            made[f"{kind}/{row.name}"] = page(row)
        made[f"{kind}/index"] = lessons.index_page(kind)
    for name in lessons.ladders():
        made[f"ladders/{name}"] = lessons.ladder_page(name)
    for path in notebooks.paths():
        made[path.removesuffix(".ipynb")] = notebooks.page(path)
    made["docs/gallery"] = gallery.page()
    return made, headers


def main() -> None:
    """Make the tree anew."""
    target, xml = Path(sys.argv[1]), Path(sys.argv[2])
    shutil.rmtree(target, ignore_errors=True)
    texts = {path.removesuffix(".md"): read(path) for path in pages()}
    made, headers = made_pages(xml)
    texts |= made

    left = sorted(texts)
    parents = {name: _matching(patterns, [n for n in left if n != name])
               for name, patterns in CHILDREN.items()}  # fmt: skip
    below = {child for children in parents.values() for child in children}
    left = [n for n in left if n not in below and not n.startswith(("lessons/0", "api/"))]
    left += ["api/index"]
    start = moved(read(START_PAGE), "docs/site", "")
    for caption, patterns in PARTS:
        start += "\n" + _toctree(_matching(patterns, left), caption)
    texts["index"] = start
    for name, children in parents.items():
        texts[name] += "\n" + _toctree(children)

    for name, text in texts.items():
        file = target / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for path in pictures():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target / path)
    (target / "headers.json").write_text(json.dumps(headers))


main()

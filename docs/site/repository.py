# SPDX-License-Identifier: BSD-3-Clause
"""The files of the repository, and the places that they have in the site."""

import os
import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
START_PAGE = "docs/site/start.md"

_LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def files(suffix: str) -> list[str]:
    """Return the paths of the files with this suffix, relative to the root and sorted.

    Folders of builds, hidden folders and answers to exercises are no part of the repository.
    """
    found = []
    for folder, folders, names in os.walk(ROOT):
        if Path(folder) == ROOT:
            folders[:] = [f for f in folders if not f.startswith("build") and f != "my_exercises"]
        folders[:] = [f for f in folders if not f.startswith((".", "__pycache__"))]
        found += [
            (Path(folder) / name).relative_to(ROOT).as_posix()
            for name in names
            if name.endswith(suffix)
        ]
    return sorted(found)


def read(path: str) -> str:
    """Return the text of a file, whose path is relative to the root."""
    return (ROOT / path).read_text(encoding="utf-8")


def pages() -> list[str]:
    """Return the Markdown files that are pages of the site, without the start page."""
    return [path for path in files(".md") if path != START_PAGE]


def pictures() -> list[str]:
    """Return the pictures that pages may show."""
    return [
        path
        for path in files(".png") + files(".svg")
        if path.startswith(("docs/", "benchmarks/", "examples/", "algorithms/"))
    ]


def moved(text: str, old_folder: str, new_folder: str) -> str:
    """Return Markdown text whose relative links are correct in another folder of the tree."""

    def new_link(match: re.Match[str]) -> str:
        target = match[2]
        if target.startswith("#") or "://" in target:
            return match[0]
        path, mark, heading = target.partition("#")
        path = posixpath.relpath(posixpath.join(old_folder, path), new_folder or ".")
        return match[1] + path + mark + heading + match[3]

    return _LINK.sub(new_link, text)


def page_of_source(path: str, headers: dict[str, str]) -> str | None:
    """Return the page of the site that shows a source file, or None.

    headers: the page of each public header in the API reference.
    """
    for kind in ("lessons", "exercises"):
        match = re.fullmatch(rf"examples/{kind}/(\d\w*)\.(cu|sh)", path)
        if match:
            return f"{kind}/{match[1]}"
    match = re.fullmatch(r"examples/ladders/(\w+)/(\d\w*)\.cuh", path)
    if match:
        return f"ladders/{match[1]}"
    if path.startswith("docs/") and path.endswith(".ipynb"):
        return path.removesuffix(".ipynb")
    return headers.get(path)

# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the API reference: one for each family, and one for each header of the runtime."""

from dataclasses import dataclass, field
from pathlib import Path

import doxygen_files
from lessons import definitions, head_comment
from repository import ROOT, read

_LAYERS = {
    "runtime": ("Device runtime", "device_runtime/README.md"),
    "cpu": ("CPU executor", "device_runtime/README.md"),
    "cluster": ("Several processes", "docs/several_gpus.md"),
}


@dataclass
class Page:
    """A page of the reference."""

    name: str  # in the site, such as api/quicksort
    title: str
    about: str  # the page that describes the headers
    headers: list[str] = field(default_factory=list)  # as in an #include


def pages(xml: Path) -> list[Page]:
    """Return the pages, each with its headers: first the families, then the layers below them."""
    found: dict[str, Page] = {}
    for header in doxygen_files.prepare(xml):
        parts = header.split("/")
        if parts[1] in _LAYERS:
            title, about = _LAYERS[parts[1]]
            name = header.removeprefix("ramify/").rsplit(".", 1)
            page = Page(f"api/{name[0]}_{name[1]}", f"`{header}`", about)
        else:
            family = parts[1].split(".")[0]
            about = f"algorithms/ramify/{family}/README.md"
            if not (ROOT / about).exists():
                about = "algorithms/README.md"
            page = Page(f"api/{family}", family.replace("_", " "), about)
        found.setdefault(page.name, page).headers.append(header)
    for page in found.values():
        page.headers.sort(key=lambda header: (header.count("/"), header))
    return sorted(found.values(), key=lambda page: (page.name.count("/"), page.name))


def path_of(header: str) -> str:
    """Return the path of a header in the repository."""
    layer = "device_runtime" if header.split("/")[1] in _LAYERS else "algorithms"
    path = f"{layer}/{header}"
    return path if (ROOT / path).exists() else f"device_runtime/{header}"


def page_text(page: Page) -> str:
    """Return the Markdown of a page."""
    up = "../" * page.name.count("/")
    parts = [f"# {page.title}\n", f"[Description]({up}{page.about})\n"]
    for header in page.headers:
        if len(page.headers) > 1:
            parts.append(f"## `{header}`\n")
        parts.append(definitions(head_comment(path_of(header))))
        parts.append(f"```{{doxygenfile}} {header}\n:project: ramify\n```\n")
    return "\n".join(parts)


def index_text(all_pages: list[Page]) -> str:
    """Return the Markdown of the page that lists all pages of the reference."""
    groups: dict[str, list[Page]] = {"Algorithms": [], "Python": []}
    for page in all_pages:
        layer = page.name.split("/")[1]
        title = _LAYERS[layer][0] if page.name.count("/") == 2 else "Algorithms"
        groups.setdefault(title, []).append(page)
    parts = ["# API reference\n", "All headers that a program includes, and the Python package.\n"]
    for title, members in groups.items():
        names = [page.name.removeprefix("api/") for page in members]
        if title == "Python":
            names = ["python"]
        parts += [f"## {title}\n", "```{toctree}", ":maxdepth: 1", "", *names, "```\n"]
    return "\n".join(parts)


def python_text() -> str:
    """Return the page of the Python package, with every name of its ``__all__``."""
    names = []
    namespace: dict[str, object] = {}
    text = read("packaging/python/ramify/__init__.py")
    exec(text[text.index("__all__") :], namespace)
    for name in namespace["__all__"]:  # type: ignore[attr-defined]
        kind = "autoclass" if name[0].isupper() else "autofunction"
        names.append(f".. {kind}:: ramify.{name}\n")
    body = "\n".join(names)
    return f"# Python package\n\n[Description](../docs/python.md)\n\n```{{eval-rst}}\n{body}```\n"

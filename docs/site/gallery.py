# SPDX-License-Identifier: BSD-3-Clause
"""The gallery: pictures that the programs made, each with the command that makes it."""

import re

from repository import files, read


def _card(title: str, picture: str, text: str, link: str = "") -> str:
    lines = [f":::{{grid-item-card}} {title}", f":img-bottom: {picture}", f":img-alt: {title}"]
    return "\n".join([*lines, "", text, link, ":::", ""])


def _results() -> list[str]:
    """Return a card of each picture at the beginning of README.md."""
    rows = [line.strip("| ").split(" | ") for line in read("README.md").splitlines()]
    for number, row in enumerate(rows):
        found = [re.fullmatch(r"!\[(.*)\]\((.*)\)", cell) for cell in row]
        if all(found):
            texts = rows[number + 2]
            return [
                _card(match[1], f"../{match[2]}", text) for match, text in zip(found, texts)
            ]
    raise ValueError("README.md has no row of pictures")


def _traces() -> list[str]:
    """Return a card of each row of the table of docs/traces.md."""
    rows = re.findall(r"^\| \[(\w+)\]\((traces/\w+\.png)\) \| (`.*`) \|$", read("docs/traces.md"), re.M)
    return [
        _card(name, picture, command, f"[open the trace](traces/index.html?{name})")
        for name, picture, command in rows
    ]


def _plots() -> list[str]:
    """Return a card of each plot that a page of the benchmarks shows."""
    cards = []
    for page in files(".md"):
        if page.startswith("benchmarks/"):
            for title, picture in re.findall(r"^!\[(.*)\]\((plots/.*)\)$", read(page), re.M):
                cards.append(_card(title, f"../benchmarks/{picture}", f"[measurements](../{page})"))
    return cards


def _grid(cards: list[str]) -> str:
    return "::::{grid} 1 1 2 2\n:gutter: 3\n\n" + "\n".join(cards) + "::::\n"


def page() -> str:
    """Return the page."""
    return "\n".join(
        [
            "# Gallery\n",
            "The programs made these pictures. `docs/remake_pictures.sh` makes them anew.\n",
            "## Results\n",
            _grid(_results()),
            "## Launch traces\n",
            "Each grid stands below the grid that launched it, over the times of the grids.\n",
            _grid(_traces()),
            "## Measurements\n",
            _grid(_plots()),
        ]
    )

# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the lessons, the exercises and the ladders, from their sources and pinned outputs."""

import re
from dataclasses import dataclass

from repository import ROOT, moved, read

_README = "examples/README.md"


@dataclass
class Row:
    """A row of a table of lessons or exercises in examples/README.md."""

    number: str  # as in the table
    name: str  # of the source, without its folder and extension
    source: str  # path from the root
    topic: str  # Markdown, relative to the folder of the page
    facts: dict[str, str]  # the other columns, as the topic


def section(title: str) -> str:
    """Return a section of examples/README.md without its title."""
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", read(_README), re.M | re.S)
    if not match:
        raise ValueError(f"{_README} has no section {title}")
    return match[1]


def rows(kind: str) -> list[Row]:
    """Return the rows of the tables of ``lessons`` or ``exercises``."""
    found = []
    head: list[str] = []
    for line in section(kind.capitalize()).splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        match = re.fullmatch(rf"\[(\w+)\]\(({kind}/(\w+)\.\w+)\)", cells[0])
        if cells[0] == kind[:-1]:
            head = cells
        elif match:
            topic, *rest = (moved(cell.rstrip("| "), "examples", kind) for cell in cells[1:])
            facts = dict(zip(head[2:], rest))
            found.append(Row(match[1], match[3], f"examples/{match[2]}", topic, facts))
    if not found:
        raise ValueError(f"{_README} has no table of {kind}")
    return found


def fence(text: str, language: str = "text", *options: str) -> str:
    """Return a block of code. The fence is longer than any in the text."""
    ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 0)
    lines = [f"{ticks}{{code-block}} {language}", *options, "", text.rstrip("\n"), ticks, ""]
    return "\n".join(lines)


def _source(path: str) -> str:
    language = "bash" if path.endswith(".sh") else "cuda"
    return fence(read(path), language, ":linenos:", f":caption: {path}")


def head_comment(path: str) -> list[str]:
    """Return the lines of the comment at the beginning of a source, without the license."""
    mark = "#" if path.endswith(".sh") else "//"
    lines = []
    for line in read(path).replace("#pragma once\n\n", "").splitlines():
        if line.startswith(mark) and not line.startswith("#!") and "SPDX-License" not in line:
            lines.append(line.lstrip(mark[0]).removeprefix(" ").rstrip())
        elif lines:
            break
    return [line for line in lines if line != r"\file"]


def definitions(lines: list[str]) -> str:
    """Return a comment as Markdown. Terms that have a column of their own become a list."""
    result: list[str] = []
    width = 0
    for line in lines:
        match = re.match(r"([A-Z][\w, ]*?)( {2,})(\S.*)", line)
        if match:
            width = len(match[1]) + len(match[2])
            result += ["", match[1], f": {_escaped(match[3])}"]
        elif width and (line.startswith(" " * width) or not line):
            result.append("  " + _escaped(line[width:]))
        elif line.startswith(("    ", "|")):
            result.append(line)
        else:
            if width:
                result.append("")
            width = 0
            result.append(_escaped(line))
    return "\n".join(result) + "\n"


def _escaped(text: str) -> str:
    """Return text of a comment in which only backticks have a meaning in Markdown."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([\\*_<>\[\]|#])", r"\\\1", p) for p in parts)


def _outputs(name: str) -> str:
    """Return the pinned outputs of a lesson, each with the machine that prints it."""
    folder = "tests/lessons"
    kinds = (
        ("", "CPU executor and GPU"),
        (".cpu", "CPU executor"),
        (".cuda", "GPU"),
        (".checked", "GPU whose kernels check the rules"),
        (".four", "four ranks"),
    )
    tabs = [
        (title, read(path))
        for suffix, title in kinds
        if (ROOT / (path := f"{folder}/{name}{suffix}.txt")).exists()
    ]
    return _tabs(tabs)


def _tabs(tabs: list[tuple[str, str]]) -> str:
    if len(tabs) == 1:
        return f"{tabs[0][0]}:\n\n" + fence(tabs[0][1])
    items = [f":::{{tab-item}} {title}\n{fence(text)}:::\n" for title, text in tabs]
    return "::::{tab-set}\n" + "".join(items) + "::::\n"


def _change(name: str) -> str:
    """Return the change of a line that a lesson proposes, and the output after it."""
    path = f"tests/lessons/{name}.sed"
    if not (ROOT / path).exists():
        return ""
    tabs = [
        (title, read(f"tests/lessons/{name}.changed{suffix}.txt"))
        for suffix, title in (("", "CPU executor"), (".cuda", "GPU"))
        if (ROOT / f"tests/lessons/{name}.changed{suffix}.txt").exists()
    ]
    result = "## After the change to try\n\nThe change as a command of `sed`:\n\n"
    return result + fence(read(path), "text") + "\n" + _tabs(tabs)


def _title(row: Row, kind: str) -> str:
    topic = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", row.topic).split(";")[0]
    return f"# {kind} {row.number.lstrip('0')}: {topic}\n"


def _head(row: Row) -> str:
    lines = head_comment(row.source)
    return definitions(lines[1:])


def _facts(row: Row) -> str:
    """Return the columns of a row, without those that the page shows in another form."""
    other = ("read first", "launch tree")
    facts = [f"{name}: {text}" for name, text in row.facts.items() if text and name not in other]
    return ". ".join(f[0].upper() + f[1:] for f in facts) + ".\n"


def _tree(path: str) -> str:
    """Return the picture of a launch tree, if there is one."""
    if not (ROOT / path).exists():
        return ""
    return f":::{{figure}} ../{path}\n:alt: Launch tree\n:class: tree\n\nThe launch tree\n:::\n"


def lesson_page(row: Row) -> str:
    """Return the page of a lesson."""
    run = f"examples/try.sh {row.source}"
    if row.source.endswith(".sh"):
        run = row.source
    return "\n".join(
        [
            _title(row, "Lesson"),
            _facts(row),
            _head(row),
            _tree(f"examples/lessons/trees/{row.name}.svg"),
            fence(run, "sh"),
            "## Program\n",
            _source(row.source),
            "## Output\n",
            "A `*` stands for text that differs between machines. A test compares the output.\n",
            _outputs(row.name),
            _change(row.name),
        ]
    )


def _sections(text: str) -> list[tuple[str, str]]:
    """Return the sections of an answers file, each with the words of its line with ``@``."""
    parts = re.split(r"^@", text, flags=re.MULTILINE)[1:]
    return [tuple(part.split("\n", 1)) for part in parts]  # type: ignore[misc]


def _dropdown(title: str, text: str) -> str:
    return f"::::{{dropdown}} {title}\n{text}\n::::\n"


def exercise_page(row: Row) -> str:
    """Return the page of an exercise. Hints, solution and mistakes are folded."""
    hints, solutions, mistakes = [], [], []
    for head, body in _sections(read(f"examples/exercises/answers/{row.name}.txt")):
        kind, _, words = head.partition(" ")
        if kind == "hint":
            hints.append(_dropdown(f"Hint {len(hints) + 1}", _escaped(body)))
        elif kind == "solution":
            solutions.append(_dropdown("Solution", fence(body, "cuda")))
        elif kind == "wrong":
            mistakes.append(f"The check says `` {words} ``:\n\n" + fence(body, "cuda"))
    number = row.number.lstrip("0")
    parts = [
        _title(row, "Exercise"),
        _facts(row),
        _head(row),
        fence(f"examples/learn.sh next {number}\nexamples/learn.sh check {number}", "sh"),
        "## Program\n",
        _source(row.source),
        "## Hints and solution\n",
        *hints,
        *solutions,
    ]
    if mistakes:
        parts.append(_dropdown("Wrong answers that the check names", "\n".join(mistakes)))
    return "\n".join(parts)


def index_page(kind: str) -> str:
    """Return the page that lists the lessons or the exercises: their section, as a page."""
    text = moved(section(kind.capitalize()), "examples", kind)
    text = re.sub(r"^#(#+) ", r"\1 ", text, flags=re.M)
    names = "\n".join(row.name for row in rows(kind))
    toctree = f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    return f"# {kind.capitalize()}\n{text}\n{toctree}"


def ladders() -> list[str]:
    """Return the names of the ladders, in the order of their page."""
    return re.findall(r"^\| \[1 [^]]*\]\((\w+)/", read("examples/ladders/README.md"), re.M)


def ladder_page(name: str) -> str:
    """Return the page of a ladder: for each rung its comment, its launch tree and its source."""
    text = read("examples/ladders/README.md")
    rung = re.compile(rf"^\| \[(\d+) ([^]]*)\]\(({name}/[^)]*)\) \| (.*) \|$", re.M)
    title = name.replace("_", " ")
    parts = [
        f"# Ladder: {title}\n",
        "[Times and launch trees of all rungs](../examples/ladders/README.md) are on one page.\n",
    ]
    for number, label, source, change in rung.findall(text):
        path = f"examples/ladders/{source}"
        parts.append(f"## {number}. {label}\n\n{moved(change, 'examples/ladders', 'ladders')}.\n")
        parts.append(definitions(head_comment(path)))
        parts.append(_tree(f"examples/ladders/{name}/trees/{number}.svg"))
        parts.append(_dropdown("Source", _source(path)))
    return "\n".join(parts)

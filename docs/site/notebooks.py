# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the notebooks: their texts, their code and their text outputs."""

import json

from lessons import fence
from repository import files, read


def paths() -> list[str]:
    """Return the paths of the notebooks of docs."""
    return [path for path in files(".ipynb") if path.startswith("docs/")]


def page(path: str) -> str:
    """Return the page of a notebook."""
    name = path.rsplit("/", 1)[1]
    parts = []
    for cell in json.loads(read(path))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source + "\n")
        elif cell["cell_type"] == "code" and source.strip():
            is_command = any(line.startswith(("!", "%")) for line in source.splitlines())
            parts.append(fence(source, "text" if is_command else "python"))
            parts += [fence(text) for text in _outputs(cell)]
    parts.insert(1, f"[Download the notebook]({name}?file)\n")
    return "\n".join(parts)


def _outputs(cell: dict) -> list[str]:
    texts = []
    for output in cell.get("outputs", []):
        lines = output.get("text") or output.get("data", {}).get("text/plain", [])
        if lines:
            texts.append("".join(lines))
    return texts

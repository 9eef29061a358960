# SPDX-License-Identifier: BSD-3-Clause
"""Reports of calls."""

import html


class Report:
    """What a call did: where it ran, what it launched, how long it took.

    Each line of the text is a field. ``report["route"]`` is its text, ``report.number("points")``
    its number; ``report.fields`` has all of them. A notebook shows the report as a table.
    """

    def __init__(self, text: str):
        self._text = text
        self.fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)

    def __getitem__(self, name: str) -> str:
        """Return the text of a field. Raises KeyError, which names the fields."""
        if name not in self.fields:
            raise KeyError(f"{name!r} is none of {', '.join(self.fields)}")
        return self.fields[name]

    def number(self, name: str) -> float:
        """Return a field that is a number. Raises KeyError, or ValueError for another field."""
        return float(self[name])

    @property
    def backend(self) -> str:
        """Where the kernels ran: ``cuda`` or ``cpu``."""
        return self["backend"].split(" ")[0]

    @property
    def route(self) -> str:
        """How the recursion was launched: ``device`` or ``flat``."""
        return self["route"].split(" ")[0]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<ramify.Report: backend {self.backend}, route {self.route}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>"
            for name, value in self.fields.items()
        )
        return f"<table>{rows}</table>"

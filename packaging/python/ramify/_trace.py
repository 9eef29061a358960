# SPDX-License-Identifier: BSD-3-Clause
"""Traces: every grid of a call, the grid that launched it, and its times."""

from __future__ import annotations

import html
import os
from typing import NamedTuple

from . import _ramify
from ._arguments import integer


class Grid(NamedTuple):
    """A grid that ran. Times are nanoseconds since the first grid of the trace began.

    Under a reproducible schedule of the CPU executor, times are steps of the schedule.
    """

    kernel: str  #: name of the kernel
    parent: int | None  #: index of the grid that launched it; None: the host did
    depth: int  #: in the launch tree; 0 for a grid that the host launched
    blocks: tuple[int, int, int]  #: grid dimensions
    threads: tuple[int, int, int]  #: block dimensions
    stream: str  #: ``host``, ``NULL``, ``named``, ``fire-and-forget`` or ``tail``
    launched: int  #: when the kernel launched it; the begin, if the host did
    begin: int  #: when its first block began
    end: int  #: when its last warp ended
    complete: int  #: when the grid and all its descendants had ended
    runs: int  #: how often it ran; more than once only in a graph's loop


class Trace:
    """The grids of calls, in the order in which they began.

        trace = ramify.Trace()
        ramify.sort(keys, env=ramify.Environment(route="device", trace=trace))
        trace                     # in a notebook: the launch tree and the timeline
        trace.write("sort.html")  # or .json for Perfetto, or .dot for Graphviz

    capacity:  the maximum number of grids of a call that kernels launch, and of those that the host
               launches, in [1, 2**24]. On a GPU each takes 120 bytes of its memory.

    Only one call at a time may use a trace.
    """

    def __init__(self, capacity: int = 1 << 16):
        self._trace = _ramify.Trace(integer("capacity", capacity, 1, 1 << 24))

    def __len__(self) -> int:
        """Return the number of recorded grids."""
        return self._trace.size()

    @property
    def lost(self) -> int:
        """The number of grids that exceeded the capacity and are missing."""
        return self._trace.lost()

    @property
    def grids(self) -> list[Grid]:
        """All recorded grids; a parent comes before its children."""
        return [Grid(*fields) for fields in self._trace.grids()]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a file: ``.html`` is a page for a browser, ``.json`` for Perfetto, ``.dot`` for
        Graphviz.

        Raises ValueError for another extension, OSError if the file cannot be written.
        """
        self._trace.write(os.fspath(path))

    def __repr__(self) -> str:
        return f"<ramify.Trace: {len(self)} grids, {self.lost} lost>"

    def _repr_html_(self) -> str:
        page = html.escape(self._trace.page("trace"))
        return f'<iframe srcdoc="{page}" width="100%" height="640" style="border:0"></iframe>'

# SPDX-License-Identifier: BSD-3-Clause
"""Calls that do not wait for the GPU."""

from __future__ import annotations

from typing import Any

from . import _ramify
from ._report import Report


class AsyncRun:
    """A call that has started. Functions whose names end in ``_async`` return it.

    result:  what the call computes: an array, or a tuple of arrays. Work that enters the stream
             after the call sees it complete, also before get().

    A CUDA graph can capture the call, as ``torch.cuda.graph`` does. Each launch of the graph makes
    the call again, with the values that its arrays then have. Keep the run as long as the graph may
    be launched: it has the memory of the call.

    The CPU executor completes a call before it returns.
    """

    def __init__(
        self, run: _ramify.StartedRun, result: Any, arguments: tuple[Any, ...], *used: Any
    ):
        """``arguments``: of the call, the environment last. ``used``: other objects that must exist
        until the call is complete."""
        # The destructor of the run waits before memory is released in another stream.
        run.keep((arguments, used), arguments[-1].released_elsewhere)
        self._run = run
        self.result = result
        self._report: Report | None = None

    def get(self) -> Report:
        """Wait for the call, and return its report. Raises the errors that the GPU has found.

        A further call returns the same report. If a graph has captured the call, the report is that
        of the last launch of the graph. Raises RuntimeError while the stream is being captured.
        """
        if self._report is None or self._run.captured():
            self._report = Report(self._run.get())
        return self._report

    def __repr__(self) -> str:
        state = "not waited for" if self._report is None else "complete"
        return f"<ramify.AsyncRun: {state}>"

# SPDX-License-Identifier: BSD-3-Clause
"""The free memory of the host. Linux grants more, and then kills a process that uses it."""

from __future__ import annotations

import os
from pathlib import Path


def free_bytes() -> int:
    """Return how many bytes a process can still use: the least of all limits that can be read."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            limits += [1024 * int(line.split()[1]) for line in lines if "MemAvailable:" in line]
    except OSError:
        pass  # not Linux
    group = Path("/sys/fs/cgroup")  # of a container
    try:
        used = int((group / "memory.current").read_text("ascii"))
        lines = (group / "memory.stat").read_text("ascii").splitlines()
        # The kernel frees the cache of files before it ends a process.
        cache = sum(int(line.split()[1]) for line in lines
                    if line.startswith(("active_file ", "inactive_file ")))
        limits.append(int((group / "memory.max").read_text("ascii")) - max(used - cache, 0))
    except (OSError, ValueError):
        pass  # there is no limit
    return max(min(limits), 0)


def check_result(name: str, elements: int, element_bytes: int) -> None:
    """Raise MemoryError if a result does not fit into the free memory of the host."""
    needed = elements * element_bytes
    if needed < 1 << 26:
        return
    free = free_bytes()
    if needed > free:
        raise MemoryError(
            f"{name}: {elements} elements need {needed} bytes, but only {free} bytes are free"
        )

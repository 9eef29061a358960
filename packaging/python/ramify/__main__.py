# SPDX-License-Identifier: BSD-3-Clause
"""``python -m ramify`` prints the version, the GPU, and what its launches cost."""

import numpy

from . import Environment, Unavailable, __version__, _ramify, gpu_architectures, sort_in_place


def main() -> None:
    print(f"ramify {__version__}")
    print(f"code for GPUs: {', '.join(gpu_architectures) or 'none'}")
    try:
        report = sort_in_place(numpy.zeros(1), env=Environment(backend="cuda"))
        print(f"backend: {report['backend']}")
        print(_ramify.launch_costs(), end="")
    except Unavailable as reason:
        print(f"backend: cpu, the CPU executor, which is for tests ({reason})")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""``python -m ramify`` prints the version, and the launch costs of the GPU."""

from . import Unavailable, __version__, _ramify


def main() -> None:
    print(f"ramify {__version__}")
    try:
        print(_ramify.launch_costs(), end="")
    except Unavailable as reason:
        print(f"GPU: none ({reason}); calls run on the CPU executor")


if __name__ == "__main__":
    main()

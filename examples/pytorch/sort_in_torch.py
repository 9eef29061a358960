#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds sort_op.cpp as an extension of PyTorch, and compares it with torch.sort().

    sort_in_torch.py [FOLDER]

FOLDER gets the compiled extension; the default is PyTorch's cache. An installed Ramify is found by
pkg-config (PKG_CONFIG_PATH). Ends with status 77 if PyTorch, ninja or pkg-config is missing.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

try:
    import torch
    from torch.utils import cpp_extension
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)


def flags(kind):
    """Return the flags of Ramify's compiled quicksort."""
    command = ["pkg-config", kind, "ramify-quicksort"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        sys.exit(f"{shlex.join(command)}: {found.stderr.strip()}; set PKG_CONFIG_PATH")
    return shlex.split(found.stdout)


def build(folder):
    """Compile the extension and return it as a module."""
    has_cuda = torch.version.cuda is not None
    if not torch.cuda.is_available():
        # load() asks for an architecture, though no file is for nvcc.
        os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "9.0")
    # -rdynamic is for programs.
    libraries = [flag for flag in flags("--libs") if flag != "-rdynamic"]
    # Symbols of static libraries stay in the extension. Some compilers link libstdc++ statically:
    # without this flag the extension would use its copy together with that of PyTorch.
    libraries.append("-Wl,--exclude-libs,ALL")
    return cpp_extension.load(
        name="ramify_sort_op",
        sources=[str(pathlib.Path(__file__).with_name("sort_op.cpp"))],
        extra_cflags=[*flags("--cflags"), f"-DRAMIFY_EXAMPLE_HAS_CUDA={int(has_cuda)}"],
        extra_ldflags=libraries,
        with_cuda=has_cuda,
        build_directory=folder,
    )


def check(module, device):
    """Compare sorts of all types with torch.sort(), and the places with the keys."""
    for dtype in (torch.int32, torch.int64, torch.float32, torch.float64):
        for count in (0, 1, 1000, 100_000):
            keys = (torch.randn(count, device=device) * 1000).to(dtype)
            for descending in (False, True):
                result, places = module.sorted(keys, descending=descending)
                assert torch.equal(result, torch.sort(keys, descending=descending).values)
                assert torch.equal(keys[places], result)
                assert torch.equal(torch.sort(places).values, torch.arange(count, device=device))
    # Keys that are not contiguous are copied; other keys are refused before anything is sorted.
    every_second = torch.arange(10, device=device).flip(0)[::2]
    assert module.sorted(every_second)[0].tolist() == [1, 3, 5, 7, 9]
    for bad in (torch.zeros(2, 2, device=device), torch.zeros(2, dtype=torch.uint8, device=device)):
        try:
            module.sorted(bad)
        except RuntimeError as error:
            assert "keys" in str(error), error
        else:
            raise AssertionError(f"keys of {bad.dtype} and shape {tuple(bad.shape)} were accepted")


def check_stream(module):
    """Sort in a stream of PyTorch, right after work that takes long there."""
    stream = torch.cuda.Stream()
    keys = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)  # about 0.1 s
        keys.copy_(torch.arange(1 << 20, 0, -1, device="cuda"))
        result, _ = module.sorted(keys)
        total = result[:10].sum()
    stream.synchronize()
    assert total.item() == 55


def main():
    for tool in ("ninja", "pkg-config"):
        if shutil.which(tool) is None:
            print(f"skipped: there is no {tool}")
            return 77
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    if folder is not None:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    module = build(folder)
    check(module, "cpu")
    print("on the CPU executor: as torch.sort()")
    if torch.cuda.is_available():
        check(module, "cuda")
        check_stream(module)
        print("on the GPU, in PyTorch's current stream: as torch.sort()")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""Recursive algorithms that launch themselves on the GPU.

    import numpy, ramify

    points = numpy.random.default_rng(1).random((1_000_000, 3), dtype=numpy.float32)
    tree = ramify.SpatialTree(points)
    indices, distances = tree.neighbors(10)

NumPy arrays are processed by the CPU executor. Arrays of CuPy, PyTorch and other libraries with
``__dlpack__()`` are processed where they are, without a copy, in the current stream of their
library; results are arrays of the same library. A call returns when its result is complete.
``gpu_architectures`` lists the GPU architectures that the package has code for: ``90-real`` is
machine code, ``75-virtual`` is PTX, which the driver compiles; it is empty without CUDA.
"""

from ._environment import Environment
from ._ramify import CudaError, Unavailable, gpu_architectures
from ._ramify import version as __version__
from ._report import Report
from ._trace import Grid, Trace
from .graphs import Graph, Paths, Search
from .sorting import segmented_sort, sort, sort_in_place, sort_pairs
from .spatial import Lists, Neighbors, SpatialTree
from .trees import TreeNumbers, leaffix, rooted_tree, rootfix

__all__ = [
    "__version__",
    "CudaError",
    "Environment",
    "Graph",
    "Grid",
    "Lists",
    "Neighbors",
    "Paths",
    "Report",
    "Search",
    "SpatialTree",
    "Trace",
    "TreeNumbers",
    "Unavailable",
    "gpu_architectures",
    "leaffix",
    "rooted_tree",
    "rootfix",
    "segmented_sort",
    "sort",
    "sort_in_place",
    "sort_pairs",
]

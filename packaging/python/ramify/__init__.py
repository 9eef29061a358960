# SPDX-License-Identifier: BSD-3-Clause
"""Recursive algorithms that launch themselves on the GPU.

    import numpy, ramify

    points = numpy.random.default_rng(1).random((1_000_000, 3), dtype=numpy.float32)
    tree = ramify.SpatialTree(points)
    indices, distances = tree.neighbors(10)

NumPy arrays are processed by the CPU executor. Arrays of CuPy, PyTorch and other libraries with
``__dlpack__()`` are processed where they are, without a copy, in the current stream of their
library; results are arrays of the same library. A call returns when its result is complete, except
functions whose names end in ``_async``: they do not wait for the GPU, and return an AsyncRun.
``gpu_architectures`` lists the GPU architectures that the package has code for: ``90-real`` is
machine code, ``75-virtual`` is PTX, which the driver compiles; it is empty without CUDA.
"""

from ._environment import Environment
from ._ramify import AmrError, CudaError, Unavailable, gpu_architectures
from ._ramify import version as __version__
from ._report import Report
from ._run import AsyncRun
from ._trace import Grid, Trace
from .bodies import (
    Conserved,
    Gravity,
    NBodyField,
    NBodyOptions,
    NBodySimulation,
    find_collisions,
    gravity,
    gravity_async,
)
from .graphs import Graph, Paths, Search
from .images import Image, mandelbrot, mandelbrot_async
from .integrals import GenzIntegrand, Integral, quadrature
from .meshes import AmrSimulation, Snapshot
from .searches import (
    FlowShop,
    Knapsack,
    Queens,
    TaillardInstance,
    TreeCounts,
    TreeSearch,
    UtsTree,
    count_queens,
    flow_shop,
    knapsack,
    published_trees,
    taillard,
    tree_search,
)
from .sorting import (
    segmented_sort,
    segmented_sort_async,
    sort,
    sort_async,
    sort_in_place,
    sort_in_place_async,
    sort_pairs,
    sort_pairs_async,
)
from .spatial import Lists, Neighbors, SpatialTree
from .surfaces import Mesh, Polylines, tessellate_curves, tessellate_patches, utah_teapot
from .trees import (
    TreeNumbers,
    leaffix,
    leaffix_async,
    rooted_tree,
    rooted_tree_async,
    rootfix,
    rootfix_async,
)

__all__ = [
    "AmrError",
    "AmrSimulation",
    "AsyncRun",
    "Conserved",
    "CudaError",
    "Environment",
    "FlowShop",
    "GenzIntegrand",
    "Graph",
    "Gravity",
    "Grid",
    "Image",
    "Integral",
    "Knapsack",
    "Lists",
    "Mesh",
    "NBodyField",
    "NBodyOptions",
    "NBodySimulation",
    "Neighbors",
    "Paths",
    "Polylines",
    "Queens",
    "Report",
    "Search",
    "Snapshot",
    "SpatialTree",
    "TaillardInstance",
    "Trace",
    "TreeCounts",
    "TreeNumbers",
    "TreeSearch",
    "Unavailable",
    "UtsTree",
    "__version__",
    "count_queens",
    "find_collisions",
    "flow_shop",
    "gpu_architectures",
    "gravity",
    "gravity_async",
    "knapsack",
    "leaffix",
    "leaffix_async",
    "mandelbrot",
    "mandelbrot_async",
    "published_trees",
    "quadrature",
    "rooted_tree",
    "rooted_tree_async",
    "rootfix",
    "rootfix_async",
    "segmented_sort",
    "segmented_sort_async",
    "sort",
    "sort_async",
    "sort_in_place",
    "sort_in_place_async",
    "sort_pairs",
    "sort_pairs_async",
    "taillard",
    "tessellate_curves",
    "tessellate_patches",
    "tree_search",
    "utah_teapot",
]

# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries than NumPy: results are of the same library, in the same place."""

import numpy
import pytest
import ramify


def test_strict_arrays():
    xp = pytest.importorskip("array_api_strict")
    keys = xp.asarray([3.0, 1.0, 2.0])
    found = ramify.sort(keys)
    assert type(found) is type(keys) and found.dtype == xp.float64
    assert numpy.from_dlpack(found).tolist() == [1, 2, 3]
    points = numpy.random.default_rng(1).random((300, 3))
    expected = ramify.SpatialTree(points).ball_list(points, 0.1)
    lists = ramify.SpatialTree(xp.asarray(points)).ball_list(xp.asarray(points), 0.1)
    numpy.testing.assert_array_equal(numpy.from_dlpack(lists.offsets), expected.offsets)
    numpy.testing.assert_array_equal(numpy.from_dlpack(lists.indices), expected.indices)
    with pytest.raises(ValueError, match="values: the array is of numpy on the host, but keys is"):
        ramify.sort_pairs(keys, numpy.zeros(3))


class Library:
    """The calls of an array library that the tests of a GPU need."""

    def __init__(self, name):
        self.name, self.module = name, pytest.importorskip(name)
        try:
            gpus = (
                self.module.cuda.device_count()
                if name == "torch"
                else self.module.cuda.runtime.getDeviceCount()
            )
        except Exception:  # CuPy has an error of its own if there is no driver
            gpus = 0
        if gpus == 0:
            pytest.skip("there is no GPU")

    def on_gpu(self, array):
        if self.name == "torch":
            return self.module.from_numpy(array).cuda()
        return self.module.asarray(array)

    def on_host(self, array):
        return array.cpu().numpy() if self.name == "torch" else array.get()

    def stream(self):
        """Return a context in which a new stream is the current one."""
        if self.name == "torch":
            return self.module.cuda.stream(self.module.cuda.Stream())
        return self.module.cuda.Stream(non_blocking=True)

    def fill_slowly(self, array, values):
        """Write the values to the array after work that takes some milliseconds."""
        big = self.on_gpu(numpy.ones((4096, 4096), "float32"))
        for _ in range(20):
            big = big @ big * 1e-4
        array[...] = values


@pytest.fixture(params=["torch", "cupy"])
def library(request):
    return Library(request.param)


def test_sorts_on_a_gpu(library):
    keys = numpy.random.default_rng(1).normal(size=100_000).astype("float32")
    found = ramify.sort(library.on_gpu(keys))
    numpy.testing.assert_array_equal(library.on_host(found), numpy.sort(keys))
    in_place = library.on_gpu(keys)
    assert ramify.sort_in_place(in_place).backend == "cuda"
    numpy.testing.assert_array_equal(library.on_host(in_place), numpy.sort(keys))


def test_calls_follow_the_current_stream(library):
    values = numpy.random.default_rng(2).permutation(1 << 20).astype("int32")
    on_gpu = library.on_gpu(values)
    for _ in range(5):
        with library.stream():
            keys = on_gpu * 0
            library.fill_slowly(keys, on_gpu)
            found = library.on_host(ramify.sort(keys))
        numpy.testing.assert_array_equal(found, numpy.arange(1 << 20))


def test_neighbors_on_a_gpu(library):
    points = numpy.random.default_rng(3).random((20_000, 3)).astype("float32")
    expected = ramify.SpatialTree(points).neighbors(5)
    tree = ramify.SpatialTree(library.on_gpu(points))
    found = tree.neighbors(5)
    numpy.testing.assert_array_equal(library.on_host(found.indices), expected.indices)
    with pytest.raises(ValueError, match="queries: the array is not where the points"):
        tree.query(points[:3])


def test_places_must_agree(library):
    on_gpu, on_host = library.on_gpu(numpy.zeros(3)), numpy.zeros(3)
    with pytest.raises(ValueError, match="values: the array is of numpy on the host, but keys"):
        ramify.sort_pairs(on_gpu, on_host)
    with pytest.raises(ValueError, match="env.backend: 'cpu', but the arrays are on a GPU"):
        ramify.sort(on_gpu, env=ramify.Environment(backend="cpu"))

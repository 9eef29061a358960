# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries than NumPy: results are of the same library, in the same place."""

import contextlib
import gc
import sys
import threading
import types
import weakref

import numpy
import pytest
import ramify
from ramify import _environment
from ramify._arrays import Arrays


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


def test_all_families_accept_strict_arrays():
    xp = pytest.importorskip("array_api_strict")
    rng = numpy.random.default_rng(1)
    points, numbers = rng.random((50, 3)), rng.random(50)
    offsets, targets = numpy.array([0, 1, 2]), numpy.array([1, 0], "int32")
    parents, keys = numpy.array([-1, 0], "int32"), rng.random(2)

    def results(to):
        graph = ramify.Graph(to(offsets), to(targets))
        tree = ramify.SpatialTree(to(points))
        tree.refit(to(points + 1))
        bodies = ramify.NBodySimulation(to(points), to(points), to(numbers))
        bodies.step(1e-4)
        return [
            *graph.breadth_first_search(0),
            *graph.shortest_paths(to(keys), 0),
            graph.connected_components(),
            graph.pagerank(),
            *ramify.rooted_tree(to(parents)),
            ramify.leaffix(to(parents), to(keys)),
            *ramify.sort_pairs(to(numbers), to(numbers)),
            ramify.sort_async(to(numbers)).result,
            ramify.segmented_sort(to(keys), to(offsets)),
            *tree.query(to(points), 2),
            tree.ball_count(to(points), 0.9),
            *tree.query_async(to(points), 2).result,
            tree.clusters(0.1),
            *ramify.gravity(to(points), to(numbers))[:2],
            ramify.find_collisions(to(points), to(numbers * 0.1)),
            bodies.positions,
            bodies.potentials,
            ramify.mandelbrot(out=to(numpy.zeros((20, 30), "uint32")), max_iterations=9).dwells,
            graph.connected_components_async().result,
            *ramify.rooted_tree_async(to(parents)).result,
            *ramify.gravity_async(to(points), to(numbers)).result,
            ramify.mandelbrot_async(to(numpy.zeros((20, 30), "uint32")), max_iterations=9).result,
            *ramify.tessellate_curves(to(rng.random((1, 4, 2)) * 0 + 1))[:2],
            *ramify.tessellate_patches(to(rng.random((1, 4, 4, 3)) * 0 + 1))[:2],
        ]

    for found, expected in zip(results(xp.asarray), results(lambda array: array)):
        assert type(found) is type(xp.asarray(offsets)) and type(expected) is numpy.ndarray
        numpy.testing.assert_array_equal(numpy.from_dlpack(found), expected)


class FakeArray:
    """An array that says it is on GPU 0. It records which streams it is exported for."""

    device = (2, 0)  # kind and number

    def __init__(self, library, elements):
        self.owner, self.elements = library, elements
        self.shape, self.dtype = elements.shape, elements.dtype
        self.flags, self.requires_grad = elements.flags, False

    def __array_namespace__(self):
        return self.owner

    def __setitem__(self, key, value):
        self.owner.events.append("copied")

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None):
        self.owner.events.append(stream)
        if stream in (None, -1):
            raise BufferError("there is no memory on a GPU")  # ends the call


class FakeLibrary(types.SimpleNamespace):
    """A library whose current stream has the address 4096. It records what a call requests."""

    float64, int32 = "float64", "int32"

    def __init__(self, name, device=0):
        self.events = []
        self.array = type("Array", (FakeArray,), {"__module__": name})
        self.cuda = types.SimpleNamespace(
            current_device=lambda: device,
            runtime=types.SimpleNamespace(getDevice=lambda: device),
            current_stream=lambda gpu: types.SimpleNamespace(cuda_stream=4096),
            get_current_stream=lambda gpu: types.SimpleNamespace(ptr=4096),
            ExternalStream=lambda address, gpu: self._stream(address),
            stream=lambda stream: stream,
        )

    def empty(self, shape, dtype=None, device=None):
        self.events.append("allocated")
        return self.array(self, numpy.empty(shape, dtype))

    @contextlib.contextmanager
    def _stream(self, address):
        self.events.append(f"stream {address}")
        yield
        self.events.append("previous stream")


def test_a_call_keeps_its_stream_object():
    class Stream:
        ptr = 8192

    stream = Stream()
    made = _environment.made(ramify.Environment(), "cuda", 8192, stream)
    known = weakref.ref(stream)
    stream.cycle = [stream]  # garbage, but for the environment
    del stream
    gc.collect()
    assert known() is not None
    del made
    gc.collect()
    assert known() is None


@pytest.mark.parametrize(
    "device, stream",
    [((1, 0), None), ((2, 0), -1), ((13, 0), -1)],  # the host, a GPU, managed memory
)
@pytest.mark.parametrize("kind", [BufferError, RuntimeError, KeyboardInterrupt])
def test_an_exception_of_an_array_reaches_the_caller(device, stream, kind):
    library = FakeLibrary("another")
    error = kind("it has no memory")

    class Array(library.array):
        def __dlpack__(self, *, stream=None, max_version=None):
            if stream in (None, -1):
                library.events.append(stream)
                raise error

    Array.device = device
    library.array = Array  # also of results
    numbers, points = (Array(library, numpy.zeros(shape)) for shape in (5, (5, 3)))
    for call in (
        lambda: ramify.sort_in_place(numbers),
        lambda: ramify.sort_in_place(numbers, numbers),
        lambda: ramify.sort_in_place_async(numbers),
        lambda: ramify.find_collisions(points, numbers),
        lambda: ramify.SpatialTree(points),
    ):
        library.events.clear()
        with pytest.raises(kind) as raised:
            call()
        assert raised.value is error
        error.__traceback__ = None  # it refers to the objects of the call
        assert library.events and set(library.events) <= {stream, "allocated"}


def test_a_run_in_a_cycle_keeps_its_arguments():
    class Kept:
        pass

    keys = numpy.arange(9)[::-1].copy()
    run, kept = ramify.sort_async(keys), Kept()
    run._run.keep(kept, False)
    known = weakref.ref(kept)
    kept.run, kept.me = run._run, kept  # garbage, but for the run
    raw = run._run
    del kept, run
    gc.collect()
    assert known() is not None
    raw.keep((), False)
    gc.collect()
    assert known() is None


@pytest.mark.parametrize("name", ["torch", "cupy", "another"])
def test_the_stream_that_a_call_names(name, monkeypatch):
    library = FakeLibrary(name)
    monkeypatch.setitem(sys.modules, name, library)
    keys = library.array(library, numpy.zeros(5))

    def events_of(**fields):
        library.events.clear()
        with pytest.raises(BufferError, match="there is no memory on a GPU"):
            ramify.sort(keys, env=ramify.Environment(**fields))
        return library.events

    def within(address, *events):
        return [f"stream {address}", *events, "previous stream"]

    if name == "another":  # its current stream cannot be found; 1 is the default stream
        assert events_of() == [1, "allocated", 1, "copied", 1, -1]
        assert events_of(stream=8192) == [8192, "allocated", 8192, "copied", 8192, -1]
        return
    assert events_of() == events_of(stream=4096) == ["allocated", "copied", -1]
    copies = within(8192, "allocated") + within(8192, "copied")
    assert events_of(stream=8192) == [8192, *copies, -1]
    for other in (
        types.SimpleNamespace(cuda_stream=8192),
        types.SimpleNamespace(ptr=8192),
        types.SimpleNamespace(__cuda_stream__=lambda: (0, 8192)),
    ):
        assert events_of(stream=other) == [8192, *copies, -1]
    default = within(0, "allocated") + within(0, "copied")
    assert events_of(stream=0) == events_of(stream=1) == [1, *default, -1]


@pytest.mark.parametrize("name", ["torch", "cupy", "another"])
def test_a_graph_copies_its_arrays_in_the_stream_of_each_call(name, monkeypatch):
    library = FakeLibrary(name)
    monkeypatch.setitem(sys.modules, name, library)
    offsets = library.array(library, numpy.array([0, 1, 2]))
    wide = library.array(library, numpy.zeros((2, 2), "int32")[:, 0])
    graph = ramify.Graph(offsets, wide)
    assert "copied" not in library.events
    lengths = library.array(library, numpy.ones(2))
    for call in (
        lambda env: graph.connected_components(env=env),
        lambda env: graph.breadth_first_search(0, env=env),
        lambda env: graph.pagerank(env=env),
        lambda env: graph.shortest_paths(lengths, 0, env=env),
    ):
        library.events.clear()
        with pytest.raises(BufferError):
            call(ramify.Environment(stream=8192))
        assert library.events[0] == 8192 and library.events.count("copied") == 1
        before = library.events[library.events.index("copied") - 1]
        assert before == (8192 if name == "another" else "stream 8192")


def test_a_run_waits_if_another_stream_releases_its_tree(monkeypatch):
    library = FakeLibrary("torch")
    monkeypatch.setitem(sys.modules, "torch", library)
    array = library.array(library, numpy.zeros(5))
    tree, query = Arrays(None, points=array), Arrays(None, queries=array)
    query.use_memory_of(tree)
    assert not query.env.released_elsewhere
    tree = tree.at(ramify.Environment(stream=8192))
    query.use_memory_of(tree)
    assert query.env.released_elsewhere
    assert tree.env.released_elsewhere  # the library releases the points in another stream


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_the_current_device_must_have_the_arrays(name, monkeypatch):
    library = FakeLibrary(name, device=1)
    monkeypatch.setitem(sys.modules, name, library)
    with pytest.raises(ValueError, match="the arrays are on GPU 0, but the current device is GPU 1"):
        ramify.sort(library.array(library, numpy.zeros(5)))
    assert library.events == []


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

    def synchronize(self):
        """Wait for all work on the GPU."""
        if self.name == "torch":
            self.module.cuda.synchronize()
        else:
            self.module.cuda.Device().synchronize()

    def stream(self):
        """Return a context in which a new stream is the current one."""
        if self.name == "torch":
            return self.module.cuda.stream(self.module.cuda.Stream())
        return self.module.cuda.Stream(non_blocking=True)

    def stream_of(self, context):
        """Return the stream of a context that stream() has returned."""
        return context.stream if self.name == "torch" else context

    def fill_slowly(self, array, values):
        """Write the values to the array after work that takes some milliseconds."""
        big = self.on_gpu(numpy.ones((4096, 4096), "float32"))
        for _ in range(20):
            big = big @ big * 1e-4
        array[...] = values

    def is_busy(self):
        """Return whether the current stream has work that is not complete."""
        if self.name == "torch":
            return not self.module.cuda.current_stream().query()
        return not self.module.cuda.get_current_stream().done

    def capture(self, call):
        """Let a graph capture a call. Return its result, and a function that launches the graph
        and waits for it."""
        if self.name == "torch":
            graph = self.module.cuda.CUDAGraph()
            with self.module.cuda.graph(graph):
                result = call()
        else:
            stream = self.module.cuda.Stream(non_blocking=True)
            with stream:
                stream.begin_capture()
                result = call()
                graph = stream.end_capture()

        def launch():
            if self.name == "torch":
                graph.replay()
                self.module.cuda.synchronize()
            else:
                graph.launch(stream)
                stream.synchronize()

        return result, launch


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


def test_started_calls_do_not_wait(library):
    values = numpy.random.default_rng(5).permutation(1 << 20).astype("int32")
    offsets = library.on_gpu(numpy.array([0, 1000, 1 << 20]))
    on_gpu = library.on_gpu(values)
    ramify.sort(on_gpu)  # measures launches, once
    ramify.segmented_sort(on_gpu, offsets)
    for _ in range(5):
        with library.stream():
            keys = on_gpu * 0
            library.fill_slowly(keys, on_gpu)
            run = ramify.sort_async(keys)
            ramify.sort_async(keys)  # dropped at once
            segments = ramify.segmented_sort_async(keys, offsets)
            assert library.is_busy()
            following = run.result + 1  # work of the library sees the sorted keys
            assert run.get().number("keys") == 1 << 20
            numpy.testing.assert_array_equal(library.on_host(following), 1 + numpy.arange(1 << 20))
            found = library.on_host(segments.result)
        numpy.testing.assert_array_equal(found[:1000], numpy.sort(values[:1000]))
        numpy.testing.assert_array_equal(found[1000:], numpy.sort(values[1000:]))


def test_calls_in_another_stream(library):
    values = numpy.random.default_rng(9).permutation(1 << 20).astype("int32")
    on_gpu = library.on_gpu(values)
    other = library.stream()
    env = ramify.Environment(stream=library.stream_of(other))
    ramify.sort(on_gpu, env=env)  # measures launches
    runs = []  # a run that is dropped waits for the stream that is named
    for attempt in range(5):
        with library.stream():
            keys = on_gpu * 0
            library.fill_slowly(keys, on_gpu)
            run = ramify.sort_async(keys, env=env)  # waits for the current stream, on the GPU
            pairs = ramify.sort_pairs_async(keys[::2], keys[1::2], env=env)  # copies are made
            runs += [run, pairs]
            # First calls load kernels, which may wait, and CuPy compiles its own.
            assert attempt == 0 or library.is_busy()
        with other:
            following = library.on_host(run.result + 1)
            found = library.on_host(pairs.result[1])
        numpy.testing.assert_array_equal(following, 1 + numpy.arange(1 << 20))
        numpy.testing.assert_array_equal(found, values[1::2][numpy.argsort(values[::2])])


def test_copies_of_a_graph_are_complete_in_another_current_stream(library):
    n = 200_000
    offsets = library.on_gpu(numpy.arange(n + 1))
    wide = library.on_gpu(numpy.stack([numpy.arange(n) // 2, numpy.zeros(n)], 1).astype("int32"))
    expected = ramify.Graph(numpy.arange(n + 1), numpy.arange(n, dtype="int32") // 2)
    expected = expected.connected_components()
    ramify.Graph(offsets, wide[:, 0]).connected_components()  # measures launches
    library.synchronize()
    for _ in range(3):
        with library.stream():
            library.fill_slowly(library.on_gpu(numpy.zeros(1)), 1)
            graph = ramify.Graph(offsets, wide[:, 0])
        with library.stream():
            found = library.on_host(graph.connected_components())
        numpy.testing.assert_array_equal(found, expected)


def test_results_of_bodies_belong_to_the_current_stream(library):
    rng = numpy.random.default_rng(12)
    positions, masses = rng.random((1000, 3)), rng.random(1000)
    given = [library.on_gpu(a) for a in (positions, positions * 0, masses)]
    library.synchronize()
    with library.stream():
        bodies = ramify.NBodySimulation(*given)
    expected = ramify.NBodySimulation(positions, positions * 0, masses).potentials
    for _ in range(3):
        with library.stream():
            # A result may have memory that earlier work of this stream still writes.
            freed = library.on_gpu(numpy.zeros((1000, 3)))
            library.fill_slowly(freed, 1)
            del freed
            found, potentials = bodies.positions, bodies.potentials
            numpy.testing.assert_array_equal(library.on_host(found), positions)
        numpy.testing.assert_allclose(library.on_host(potentials), expected, rtol=0.05)


def test_a_tree_exists_until_its_queries_are_complete(library):
    rng = numpy.random.default_rng(10)
    points, others = rng.random((2, 200_000, 3), dtype="float32")
    expected = ramify.SpatialTree(points).query(points, 4)
    on_gpu, other_points = library.on_gpu(points), library.on_gpu(others)
    ramify.SpatialTree(on_gpu).query(on_gpu, 4)  # measures launches
    others_ran = 0
    stopped = threading.Event()

    def count():
        nonlocal others_ran
        while not stopped.wait(1e-4):
            others_ran += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        for attempt in range(5):
            tree = ramify.SpatialTree(on_gpu)
            with library.stream():
                queries = on_gpu * 0
                library.fill_slowly(queries, on_gpu)
                run = tree.query_async(queries, 4)
                assert attempt == 0 or library.is_busy()  # first calls may wait
                found = run.result
                before = others_ran
                del tree, run  # waits, and lets other threads run
                assert attempt == 0 or others_ran > before + 3
            ramify.SpatialTree(other_points)  # perhaps in the same memory
            numpy.testing.assert_array_equal(library.on_host(found.indices), expected.indices)
    finally:
        stopped.set()
        thread.join()


def test_threads_wait_for_one_run(library):
    values = numpy.random.default_rng(11).permutation(1 << 20).astype("int32")
    keys = library.on_gpu(values)
    ramify.sort(keys)
    with library.stream():
        library.fill_slowly(keys, library.on_gpu(values))
        run = ramify.sort_async(keys)
        assert_threads_get_one_report(run)
        numpy.testing.assert_array_equal(library.on_host(run.result), numpy.arange(1 << 20))


def assert_threads_get_one_report(run):
    reports = []
    threads = [threading.Thread(target=lambda: reports.append(run.get())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reports) == 4 and len({str(report) for report in reports}) == 1


def test_threads_wait_for_one_run_on_the_host():
    assert_threads_get_one_report(ramify.sort_async(numpy.arange(1000.0)))


@pytest.mark.parametrize("route", ["device", "flat"])
def test_a_graph_sorts_other_data_in_each_launch(library, route):
    n, rng = 300_000, numpy.random.default_rng(6)
    env = ramify.Environment(route=route)
    keys = library.on_gpu(numpy.zeros(n, "float32"))
    indices = library.on_gpu(numpy.arange(n, dtype="int64"))
    offsets = library.on_gpu(numpy.array([0, 0, 5, n], "int32"))
    ramify.sort_pairs(keys, indices, env=env)  # measures launches

    def call():
        sort = ramify.sort_pairs_async(keys, indices, env=env)
        with pytest.raises(RuntimeError, match="captured"):
            sort.get()
        segments = ramify.segmented_sort_async(keys, offsets, values=indices, env=env)
        return sort, segments, sort.result[0] * 2

    (sort, segments, doubled), launch = library.capture(call)
    for splits in ([0, 0, 5, n], [10, 100_000, 100_000, n - 1], [0, n, n, n]):
        values = rng.normal(size=n).astype("float32")
        keys[...] = library.on_gpu(values)
        offsets[...] = library.on_gpu(numpy.array(splits, "int32"))
        library.synchronize()
        launch()
        numpy.testing.assert_array_equal(library.on_host(doubled), 2 * numpy.sort(values))
        numpy.testing.assert_array_equal(
            values[library.on_host(sort.result[1])], library.on_host(sort.result[0])
        )
        expected = values.copy()
        for first, last in zip(splits[:-1], splits[1:]):
            expected[first:last].sort()
        numpy.testing.assert_array_equal(library.on_host(segments.result[0]), expected)
        numpy.testing.assert_array_equal(values[library.on_host(segments.result[1])], expected)
        assert sort.get().route == route and segments.get().number("segments") == 3
    offsets[...] = library.on_gpu(numpy.array([0, n + 1, 5, n], "int32"))
    library.synchronize()
    launch()
    with pytest.raises(ValueError, match="segment"):
        segments.get()


def test_neighbors_on_a_gpu(library):
    points = numpy.random.default_rng(3).random((20_000, 3)).astype("float32")
    expected = ramify.SpatialTree(points).neighbors(5)
    tree = ramify.SpatialTree(library.on_gpu(points))
    found = tree.neighbors(5)
    numpy.testing.assert_array_equal(library.on_host(found.indices), expected.indices)
    with pytest.raises(ValueError, match="queries: the array is not where the points"):
        tree.query(points[:3])


def test_a_graph_finds_neighbors_of_other_queries(library):
    rng = numpy.random.default_rng(7)
    points = rng.random((20_000, 3)).astype("float32")
    on_host, tree = ramify.SpatialTree(points), ramify.SpatialTree(library.on_gpu(points))
    queries = library.on_gpu(numpy.zeros((3000, 3), "float32"))
    tree.query(queries, 4)

    def call():
        return tree.query_async(queries, 4), tree.ball_count_async(queries, 0.1)

    (nearest, counts), launch = library.capture(call)
    own, launch_own = library.capture(lambda: tree.neighbors_async(3))
    for _ in range(3):
        values = rng.random((3000, 3)).astype("float32")
        queries[...] = library.on_gpu(values)
        library.synchronize()
        launch()
        expected = on_host.query(values, 4)
        numpy.testing.assert_array_equal(
            library.on_host(nearest.result.indices), expected.indices
        )
        numpy.testing.assert_array_equal(
            library.on_host(counts.result), on_host.ball_count(values, 0.1)
        )
        assert nearest.get().backend == counts.get().backend == "cuda"
    launch_own()
    numpy.testing.assert_array_equal(
        library.on_host(own.result.indices), on_host.neighbors(3).indices
    )


def test_started_queries_follow_the_current_stream(library):
    points = numpy.random.default_rng(8).random((50_000, 2)).astype("float32")
    on_gpu = library.on_gpu(points)
    tree = ramify.SpatialTree(on_gpu)
    expected = ramify.SpatialTree(points).query(points, 2)
    tree.query(on_gpu, 2)
    with library.stream():
        queries = on_gpu * 0
        library.fill_slowly(queries, on_gpu)
        run = tree.query_async(queries, 2)
        assert library.is_busy()
        found = library.on_host(run.result.indices)
    numpy.testing.assert_array_equal(found, expected.indices)


def test_other_families_do_not_wait(library):
    rng = numpy.random.default_rng(13)
    n = 20_000
    parents = numpy.array([-1, *(v // 2 for v in range(n - 1))], "int32")
    targets = rng.integers(0, n, 3 * n, dtype="int32")
    offsets = numpy.arange(0, 3 * n + 1, 3)
    values, points = rng.integers(-9, 9, n), rng.random((n, 3), dtype="float32")
    late = [targets, parents, values, points]  # what the slow kernel writes
    runs = []  # a run that is dropped waits if its arrays are of another stream, as the tree here

    def started_run(start, arguments):
        runs.append(start(*arguments))
        return runs[-1].result

    def results(graph, tree, parents, values, points, masses, out, started):
        calls = [
            (graph.breadth_first_search, graph.breadth_first_search_async, (0,)),
            (graph.connected_components, graph.connected_components_async, ()),
            (graph.pagerank, graph.pagerank_async, ()),
            (ramify.rooted_tree, ramify.rooted_tree_async, (parents,)),
            (ramify.leaffix, ramify.leaffix_async, (parents, values)),
            (ramify.gravity, ramify.gravity_async, (points, masses)),
            (tree.clusters, tree.clusters_async, (0.05, 3)),
        ]
        found = [
            started_run(start, arguments) if started else wait(*arguments)
            for wait, start, arguments in calls
        ]
        found.append(
            started_run(ramify.mandelbrot_async, (out,))
            if started
            else ramify.mandelbrot(out=out).dwells
        )
        rows = [each if isinstance(each, tuple) else (each,) for each in found]
        return [rows[0][0], *(row[0] for row in rows[1:])]  # levels, labels, ranks, levels, ...

    masses, out = numpy.ones(n, "float32"), numpy.zeros((120, 160), "uint32")
    expected = results(
        ramify.Graph(offsets, targets), ramify.SpatialTree(points), *late[1:], masses, out, False
    )
    on_gpu = [library.on_gpu(array) for array in (*late, masses, out, offsets)]
    tree = ramify.SpatialTree(on_gpu[3])
    warm = results(ramify.Graph(on_gpu[6], on_gpu[0]), tree, *on_gpu[1:6], False)
    library.synchronize()
    for attempt in range(4):
        with library.stream():
            copies = [array + 0 for array in on_gpu[:4]]
            for copy in copies:
                copy[...] = 0
            library.fill_slowly(copies[0], on_gpu[0])
            for copy, array in zip(copies[1:], on_gpu[1:]):
                copy[...] = array
            graph = ramify.Graph(on_gpu[6], copies[0])
            found = results(graph, tree, *copies[1:], *on_gpu[4:6], True)
            assert attempt == 0 or library.is_busy()  # first calls may wait
            seen = [library.on_host(array) for array in found]
            runs.clear()
        for i in (0, 1, 3, 4, 6):  # integers
            numpy.testing.assert_array_equal(seen[i], expected[i])
        numpy.testing.assert_allclose(seen[2], expected[2], rtol=1e-6)
        numpy.testing.assert_allclose(seen[5], library.on_host(warm[5]), rtol=1e-3, atol=1e-3)
        numpy.testing.assert_array_equal(seen[7], library.on_host(warm[7]))


def test_graphs_capture_other_families(library):
    n = 5000
    parents = library.on_gpu(numpy.array([-1, *(v // 2 for v in range(n - 1))], "int32"))
    values = library.on_gpu(numpy.zeros(n, "int64"))
    ramify.leaffix(parents, values)  # measures launches
    run, launch = library.capture(lambda: ramify.leaffix_async(parents, values))
    for seed in range(2):
        given = numpy.random.default_rng(seed).integers(-9, 9, n)
        values[...] = library.on_gpu(given)
        library.synchronize()
        launch()
        expected = ramify.leaffix(library.on_host(parents), given)
        numpy.testing.assert_array_equal(library.on_host(run.result), expected)
        assert run.get().backend == "cuda"


def test_bodies_and_images_on_a_gpu(library):
    rng = numpy.random.default_rng(4)
    positions, masses = rng.random((3000, 3)), rng.random(3000)
    expected = ramify.gravity(positions, masses, ramify.NBodyOptions(method="direct"))
    found = ramify.gravity(library.on_gpu(positions), library.on_gpu(masses))
    assert found.report.backend == "cuda"
    accelerations = library.on_host(found.accelerations)
    scale = numpy.linalg.norm(expected.accelerations, axis=1).mean()
    numpy.testing.assert_allclose(accelerations, expected.accelerations, atol=0.05 * scale)
    out = library.on_gpu(numpy.zeros((120, 160), "uint32"))
    image = ramify.mandelbrot(out=out, max_iterations=100)
    assert image.dwells is out and image.report.backend == "cuda"
    on_host = ramify.mandelbrot(160, 120, max_iterations=100, env=ramify.Environment(backend="cpu"))
    assert (library.on_host(out) != on_host.dwells).mean() < 0.01


def test_places_must_agree(library):
    on_gpu, on_host = library.on_gpu(numpy.zeros(3)), numpy.zeros(3)
    with pytest.raises(ValueError, match="values: the array is of numpy on the host, but keys"):
        ramify.sort_pairs(on_gpu, on_host)
    with pytest.raises(ValueError, match="env.backend: 'cpu', but the arrays are on a GPU"):
        ramify.sort(on_gpu, env=ramify.Environment(backend="cpu"))

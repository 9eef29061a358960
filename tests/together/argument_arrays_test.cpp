// SPDX-License-Identifier: BSD-3-Clause
// Rules that hold for the arrays of all families: which are misaligned, and which memory kernels
// can access.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <ramify/graph.cuh>
#include <ramify/mandelbrot.cuh>
#include <ramify/nbody.cuh>
#include <ramify/quicksort.cuh>
#include <ramify/quicksort.hpp>
#include <ramify/quicksort_out_of_core.cuh>
#include <ramify/rooted_tree.cuh>
#include <ramify/segmented_sort.cuh>
#include <ramify/spatial_tree.cuh>
#include <ramify/tessellation.cuh>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "async_calls.cuh"
#include "exceptions.hpp"

#if !RAMIFY_ON_CUDA
#include <ramify/cpu/executor.hpp>
#endif

using tests::names;

BOOST_AUTO_TEST_SUITE(arrays_of_all_families)

BOOST_AUTO_TEST_CASE(misaligned_arrays_are_refused) {
  using namespace run_objects;
  const arrays a;
  const auto off = [](auto* pointer) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<decltype(pointer)>(reinterpret_cast<std::uintptr_t>(pointer) + 2);
  };
  const auto refuses = [](const std::string& message, const auto& call) {
    BOOST_TEST_CONTEXT(message) {
      BOOST_CHECK_EXCEPTION((void)call(), std::invalid_argument, names(message));
    }
  };
  const std::size_t few = 8;  // so that no call reads beyond the arrays where the check is missing
  refuses("quicksort: keys must be aligned to 4 bytes",
          [&] { return quicksort(off(a.values.data()), few); });
  refuses("quicksort: values must be aligned to 4 bytes",
          [&] { return quicksort_pairs(a.keys.data(), off(a.values.data()), few); });
  refuses("segmented_sort: ends must be aligned to 4 bytes", [&] {
    return segmented_sort(a.values.data(), few, a.labels.data(), off(a.labels.data()), few);
  });
  refuses("mandelbrot: dwells must be aligned to 4 bytes",
          [&] { return mandelbrot({.width = 2, .height = 2}, off(a.dwells.data())); });
  const tree_shape off_tree = tree_shape::of_parents(
      std::span<const std::int32_t>(off(std::as_const(a).parents.data()), few));
  refuses("rooted_tree: parents must be aligned to 4 bytes",
          [&] { return rooted_tree(off_tree, {.levels = a.labels.data()}); });
  refuses("rooted_tree: levels must be aligned to 4 bytes",
          [&] { return rooted_tree(a.tree(), {.levels = off(a.labels.data())}); });
  refuses("graph: offsets must be aligned to 8 bytes", [&] {
    return pagerank(graph_view::directed({off(a.offsets.data()), few + 1}, {a.targets.data(), few}),
                    a.ranks.data());
  });
  refuses("graph: weights must be aligned to 4 bytes", [&] {
    return shortest_paths(a.graph(), {off(a.lengths.data()), n - 1}, 0,
                          {.distances = a.distances.data()});
  });
  refuses("spatial_tree: points must be aligned to 4 bytes",
          [&] { return ramify::spatial_tree(off(a.points.data()), few).view().point_count; });
  const ramify::spatial_tree tree(a.points.data(), n);
  refuses("ids must be aligned to 4 bytes", [&] {
    return all_nearest_neighbors(tree.view(), 1, true, off(a.ids.data()), a.distances.data());
  });
  refuses("barnes_hut: masses must be aligned to 4 bytes", [&] {
    return barnes_hut<float>().accelerations(a.points.data(), off(a.masses.data()), few,
                                             a.forces.data());
  });
  refuses("nbody_system: velocities must be aligned to 4 bytes", [&] {
    return nbody_system<float>(a.points.data(), off(a.points.data()), a.masses.data(), few).size();
  });
  refuses("find_collisions: radii must be aligned to 4 bytes",
          [&] { return find_collisions(a.points.data(), off(a.masses.data()), few, nullptr, 0); });
  refuses("find_collisions: pairs must be aligned to 4 bytes", [&] {
    auto* const pairs = reinterpret_cast<body_pair*>(a.ids.data());
    return find_collisions(a.points.data(), 1.0f, few, off(pairs), few);
  });
  refuses("find_collisions: count must be aligned to 8 bytes", [&] {
    auto* const count = reinterpret_cast<std::uint64_t*>(a.offsets.data());
    return find_collisions(a.points.data(), 1.0f, few, nullptr, 0, off(count));
  });
  const auto curves = tests::upload(std::vector<cubic_curve>(2));
  refuses("curves must be aligned to 8 bytes",
          [&] { return tessellate_curves(off(curves.data()), 1).report.host_grids; });

  // In host memory.
  std::vector<std::uint32_t> host(few + 1, 1);
  refuses("quicksort_out_of_core: keys must be aligned to 4 bytes", [&] {
    return quicksort_out_of_core(off(host.data()), few, ascending{}, {.device_memory = 1 << 20});
  });
  refuses("keys must be aligned to 4 bytes",
          [&] { return quicksort(std::span(off(host.data()), few)); });
}

#if !RAMIFY_ON_CUDA

// executor_config.refuse_host_memory: the executor accepts the memory that a GPU accepts.
BOOST_AUTO_TEST_CASE(host_memory_is_refused_on_request) {
  using namespace run_objects;
  const std::vector<std::uint32_t> unsorted{3, 1, 2};
  const std::vector<std::uint32_t> sorted{1, 2, 3};
  std::vector<std::uint32_t> host = unsorted;
  const device_buffer<std::uint32_t> device = tests::upload(unsorted);
  const pinned_buffer<std::uint32_t> pinned(3);
  std::copy(unsorted.begin(), unsorted.end(), pinned.data());
  const auto type_of = [](const void* pointer) {
    cudaPointerAttributes found{};
    check(cudaPointerGetAttributes(&found, pointer), "reading attributes");
    return found.type;
  };
  BOOST_TEST(type_of(device.data()) == cudaMemoryTypeDevice);
  BOOST_TEST(type_of(device.data() + 2) == cudaMemoryTypeDevice);
  BOOST_TEST(type_of(device.data() + 3) == cudaMemoryTypeUnregistered);
  BOOST_TEST(type_of(pinned.data()) == cudaMemoryTypeHost);
  BOOST_TEST(type_of(host.data()) == cudaMemoryTypeUnregistered);

  auto config = cpu::current_executor_config();
  config.refuse_host_memory = true;
  {
    const cpu::scoped_executor_config scope(config);
    BOOST_CHECK_EXCEPTION(ramify::quicksort(host.data(), 3), std::invalid_argument,
                          names("quicksort: keys is ordinary host memory"));
    BOOST_TEST(host == unsorted);
    ramify::quicksort(device.data(), 3);
    BOOST_TEST(tests::download(device) == sorted);
    ramify::quicksort(pinned.data(), 3);
    BOOST_TEST(std::equal(sorted.begin(), sorted.end(), pinned.data()));
    // The facade accepts any memory.
    ramify::quicksort(host);
    BOOST_TEST(host == sorted);
  }
  host = unsorted;
  ramify::quicksort(host.data(), 3);
  BOOST_TEST(host == sorted);
}

#endif

BOOST_AUTO_TEST_SUITE_END()

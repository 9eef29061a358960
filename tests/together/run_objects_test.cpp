// SPDX-License-Identifier: BSD-3-Clause
// Rules that hold for the runs and for the arrays of all families: when get() may be called, which
// arrays are misaligned, and which memory kernels can access.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <ramify/amr.cuh>
#include <ramify/branch_and_bound.cuh>
#include <ramify/fork_join.cuh>
#include <ramify/graph.cuh>
#include <ramify/mandelbrot.cuh>
#include <ramify/nbody.cuh>
#include <ramify/quadrature.cuh>
#include <ramify/quicksort.cuh>
#include <ramify/quicksort.hpp>
#include <ramify/quicksort_out_of_core.cuh>
#include <ramify/rooted_tree.cuh>
#include <ramify/runtime/result_state.hpp>
#include <ramify/spatial_tree.cuh>
#include <ramify/tessellation.cuh>
#include <ramify/tree_search.cuh>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device_vectors.cuh"

#if !RAMIFY_ON_CUDA
#include <ramify/cpu/executor.hpp>
#endif

namespace run_objects {

using namespace ramify;

/// A tree of numbers: the children of n are its halves.
struct halves {
  __host__ __device__ unsigned degree(unsigned n) const { return n < 2 ? 0 : 2; }
  __host__ __device__ unsigned child(unsigned n, unsigned i) const { return (n + i) / 2; }
  __host__ __device__ unsigned leaf(unsigned n) const { return n; }
  __host__ __device__ unsigned combine(unsigned, const unsigned* r, unsigned) const {
    return r[0] + r[1];
  }
  __host__ __device__ std::int64_t bound(unsigned) const { return 0; }
  __host__ __device__ std::int64_t value(unsigned n) const { return n; }
};
struct one {
  __host__ __device__ unsigned operator()(unsigned, unsigned) const { return 1; }
};
struct sum {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct square {
  __host__ __device__ double operator()(const quadrature_point<1>& p) const { return p[0] * p[0]; }
};

constexpr std::size_t n = 300;

/// Input and output arrays of all families, in device memory.
struct arrays {
  device_buffer<float> keys = tests::upload(std::vector<float>(n, 1.0f));
  device_buffer<std::uint32_t> values = tests::upload(std::vector<std::uint32_t>(n, 7u));
  device_buffer<float> masses = tests::upload(std::vector<float>(n, 1.0f));
  device_buffer<point<float, 3>> points = tests::upload(places());
  device_buffer<point<float, 3>> forces{n, nullptr};
  device_buffer<std::uint32_t> ids{n, nullptr};
  device_buffer<float> distances{n, nullptr};
  // The path 0 - 1 - ... - n-1, as a tree and as a graph.
  device_buffer<std::int32_t> parents = tests::upload(numbers_from<std::int32_t>(-1, n));
  device_buffer<std::int64_t> offsets = tests::upload(ends());
  device_buffer<std::int32_t> targets = tests::upload(numbers_from<std::int32_t>(1, n - 1));
  device_buffer<float> lengths = tests::upload(std::vector<float>(n - 1, 1.0f));
  device_buffer<std::int32_t> labels{n, nullptr};
  device_buffer<double> ranks{n, nullptr};
  device_buffer<std::uint32_t> dwells{64, nullptr};

  template <class T>
  static std::vector<T> numbers_from(T first, std::size_t count) {
    std::vector<T> all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
  }
  static std::vector<std::int64_t> ends() {
    auto all = numbers_from<std::int64_t>(0, n);
    all.push_back(n - 1);
    return all;
  }
  static std::vector<point<float, 3>> places() {
    std::vector<point<float, 3>> all;
    for (std::size_t i = 0; i < n; ++i) {
      const auto x = static_cast<float>(i);
      all.push_back({{x, x * x, 1.0f}});
    }
    return all;
  }
  [[nodiscard]] tree_shape tree() const {
    return tree_shape::of_parents(std::span<const std::int32_t>(parents.data(), n));
  }
  [[nodiscard]] graph_view graph() const {
    return graph_view::directed({offsets.data(), n + 1}, {targets.data(), n - 1});
  }
};

auto says(const std::string& text) {
  return [text](const std::exception& error) {
    BOOST_TEST_MESSAGE(error.what());
    return std::string(error.what()).find(text) != std::string::npos;
  };
}

/// Checks the rule of get() for the runs that `start` starts.
template <class Start>
void expect_rule(const char* run_name, const Start& start) {
  BOOST_TEST_CONTEXT(run_name) {
    auto run = start();
    auto moved = std::move(run);
    // NOLINTNEXTLINE(bugprone-use-after-move)
    BOOST_CHECK_EXCEPTION((void)run.get(), std::logic_error, says("get() of a moved-from run"));
    BOOST_CHECK_NO_THROW((void)moved.get());
    BOOST_CHECK_EXCEPTION((void)moved.get(), std::logic_error, says("get() was called before"));
    BOOST_CHECK_EXCEPTION((void)moved.get(), std::logic_error, says("get() was called before"));
    const auto unfinished = start();
  }
}

}  // namespace run_objects

BOOST_AUTO_TEST_SUITE(run_objects_of_all_families)

BOOST_AUTO_TEST_CASE(get_returns_once) {
  using namespace run_objects;
  const arrays a;
  for (const auto strategy : {quicksort_strategy::sample_sort, quicksort_strategy::binary}) {
    for (const std::size_t count : {std::size_t{0}, n}) {
      expect_rule("quicksort", [&] {
        return quicksort_pairs_async(a.keys.data(), a.values.data(), count, ascending{}, nullptr,
                                     {.strategy = strategy});
      });
    }
  }
  for (const auto strategy : {traverse_strategy::work_sharing, traverse_strategy::task_per_node}) {
    expect_rule("traverse", [&] {
      return traverse_async(40u, halves{}, one{}, sum{}, 0u, nullptr, {.strategy = strategy});
    });
  }
  expect_rule("fork_join", [] { return fork_join_async(40u, halves{}); });
  expect_rule("branch_and_bound", [] { return branch_and_bound_async(40u, halves{}); });
  expect_rule("quadrature", [] {
    return quadrature_async(quadrature_box<1>{{0}, {1}}, square{}, nullptr,
                            {.max_evaluations = 10'000});
  });
  const mandelbrot_view view{.width = 8, .height = 8};
  for (const auto method : {mandelbrot_method::mariani_silver, mandelbrot_method::exhaustive}) {
    expect_rule("mandelbrot", [&] {
      return mandelbrot_async(view, a.dwells.data(), nullptr, {.method = method});
    });
  }
  expect_rule("rooted_tree",
              [&] { return rooted_tree_async(a.tree(), {.levels = a.labels.data()}); });
  expect_rule("rooted_tree without nodes",
              [] { return rooted_tree_async(tree_shape::of_parents({}), {}); });
  expect_rule("breadth_first_search", [&] {
    return breadth_first_search_async(a.graph(), 0, {.levels = a.labels.data()});
  });
  expect_rule("shortest_paths", [&] {
    return shortest_paths_async(a.graph(), {a.lengths.data(), n - 1}, 0, {});
  });
  expect_rule("connected_components",
              [&] { return connected_components_async(a.graph(), a.labels.data()); });
  expect_rule("pagerank", [&] { return pagerank_async(a.graph(), a.ranks.data()); });
  expect_rule("pagerank without vertices", [] { return pagerank_async({}, nullptr); });
  for (const std::size_t count : {std::size_t{0}, n}) {
    expect_rule("spatial_tree", [&] { return spatial_tree_async(a.points.data(), count); });
    expect_rule("barnes_hut", [&] {
      return barnes_hut<float>().accelerations_async(a.points.data(), a.masses.data(), count,
                                                     a.forces.data());
    });
  }
  expect_rule("direct_gravity", [&] {
    return direct_gravity_async<float>(a.points.data(), a.masses.data(), n, a.forces.data(),
                                       nullptr, nullptr);
  });
  nbody_system<float> system(a.points.data(), a.points.data(), a.masses.data(), n);
  expect_rule("nbody_system", [&] { return system.step_async(1e-6); });

  // An advance that is destroyed before get() makes its amr_run unusable, so each has its own.
  using gas = euler<double, 2>;
  amr_config config;
  config.mesh.max_level = 1;
  std::vector<amr_run<gas>> flows;
  flows.reserve(2);
  expect_rule("amr_run", [&] {
    return flows.emplace_back(gas{}, gradient_criterion<gas>{}, sod<double, 2>{}, config)
        .advance_async(1);
  });
}

// A run whose get() has thrown may be asked again, and one that a graph has captured, too.
BOOST_AUTO_TEST_CASE(get_may_be_called_again) {
  using ramify::detail::result_state;
  const auto get = [](result_state& result, bool fails) {
    const auto call = result.begin_get();
    if (fails) throw std::runtime_error("get() fails");
  };
  result_state once("sort");
  BOOST_CHECK_THROW(get(once, true), std::runtime_error);
  BOOST_CHECK_NO_THROW(get(once, false));
  BOOST_CHECK_EXCEPTION(get(once, false), std::logic_error,
                        run_objects::says("sort: get() was called before"));
  result_state captured("sort", true);
  for (int launches = 3; launches > 0; --launches) BOOST_CHECK_NO_THROW(get(captured, false));
  result_state moved = std::move(captured);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  BOOST_CHECK_THROW(get(captured, false), std::logic_error);
  BOOST_CHECK_NO_THROW(get(moved, false));
}

BOOST_AUTO_TEST_CASE(misaligned_arrays_are_refused) {
  using namespace run_objects;
  const arrays a;
  const auto off = [](auto* pointer) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<decltype(pointer)>(reinterpret_cast<std::uintptr_t>(pointer) + 2);
  };
  const auto refuses = [](const std::string& message, const auto& call) {
    BOOST_TEST_CONTEXT(message) {
      BOOST_CHECK_EXCEPTION((void)call(), std::invalid_argument, says(message));
    }
  };
  float* const keys = a.keys.data();
  const std::size_t few = 8;  // so that no call reads beyond the arrays where the check is missing
  refuses("quicksort: keys must be aligned to 4 bytes", [&] { return quicksort(off(keys), few); });
  refuses("quicksort: values must be aligned to 4 bytes",
          [&] { return quicksort_pairs(keys, off(a.values.data()), few); });
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
  const auto curves = tests::upload(std::vector<cubic_curve>(2));
  refuses("curves must be aligned to 8 bytes",
          [&] { return tessellate_curves(off(curves.data()), 1).report.host_grids; });

  // In host memory.
  std::vector<float> host(few + 1, 1.0f);
  refuses("quicksort_out_of_core: keys must be aligned to 4 bytes",
          [&] { return quicksort_out_of_core(off(host.data()), few); });
  refuses("keys must be aligned to 4 bytes",
          [&] { return quicksort(std::span(off(host.data()), few)); });
}

#if !RAMIFY_ON_CUDA

// executor_config.refuse_host_memory: the executor accepts the memory that a GPU accepts.
BOOST_AUTO_TEST_CASE(host_memory_is_refused_on_request) {
  using namespace run_objects;
  const std::vector<float> unsorted{3, 1, 2};
  const std::vector<float> sorted{1, 2, 3};
  std::vector<float> host = unsorted;
  const device_buffer<float> device = tests::upload(unsorted);
  const pinned_buffer<float> pinned(3);
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
                          says("quicksort: keys is ordinary host memory"));
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

// SPDX-License-Identifier: BSD-3-Clause
// Each call of the compiled interface refuses a stream of another backend: on the CPU executor,
// whose streams order nothing, a stream of CUDA, before it launches a grid; on a GPU a stream of
// the executor.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <functional>
#include <ramify/amr.hpp>
#include <ramify/branch_and_bound.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/graph.hpp>
#include <ramify/mandelbrot.hpp>
#include <ramify/nbody.hpp>
#include <ramify/quadrature.hpp>
#include <ramify/quicksort.hpp>
#include <ramify/rooted_tree.hpp>
#include <ramify/segmented_sort.hpp>
#include <ramify/spatial_tree.hpp>
#include <ramify/tessellation.hpp>
#include <ramify/tree_search.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "effort.hpp"
#include "exceptions.hpp"

using namespace ramify;

namespace {

/// A handle that is never used: the call must refuse it.
stream_ref stream_of_other_backend() {
  if (tests::backend_under_test() == backend::cuda) {
    return reinterpret_cast<cpu::builtins::stream_handle*>(std::uintptr_t{16});
  }
  return reinterpret_cast<CUstream_st*>(std::uintptr_t{2});  // cudaStreamPerThread
}

/// Small inputs and outputs of all families.
struct arguments {
  std::vector<float> keys{3, 2, 1};
  std::vector<std::uint32_t> ids = std::vector<std::uint32_t>(4096);
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(8);
  std::vector<std::array<float, 3>> points{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  std::vector<std::array<float, 3>> vectors = std::vector<std::array<float, 3>>(3);
  std::vector<float> reals = std::vector<float>(3, 1.0f);
  std::vector<double> doubles = std::vector<double>(3, 1.0);
  std::vector<double> folds = std::vector<double>(3);
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(3);
  std::vector<std::int32_t> parents{-1, 0, 1};
  std::vector<std::int64_t> offsets{0, 1, 2, 2};
  std::vector<std::int32_t> targets{1, 2};
  std::vector<float> lengths{1, 1};

  [[nodiscard]] graph_view graph() const { return graph_view::directed(offsets, targets); }
  [[nodiscard]] tree_shape tree() const { return tree_shape::of_parents(parents); }
};

struct facade_call {
  std::string name;
  std::function<void(const environment&)> call;
};

std::vector<facade_call> calls_of_arrays(arguments& a) {
  return {
      {"quicksort", [&](const auto& env) { quicksort(a.keys, sort_order::ascending, env); }},
      {"quicksort_pairs",
       [&](const auto& env) {
         quicksort_pairs(a.keys, std::span(a.ids).first(3), sort_order::ascending, env);
       }},
      {"segmented_sort",
       [&](const auto& env) {
         segmented_sort(a.keys, std::array{0u, 1u, 3u}, sort_order::ascending, env);
       }},
      {"rooted_tree", [&](const auto& env) { rooted_tree(a.tree(), {.levels = a.labels}, env); }},
      {"leaffix",
       [&](const auto& env) {
         leaffix<double>(a.tree(), a.doubles, a.folds, tree_operator::sum, env);
       }},
      {"rootfix",
       [&](const auto& env) {
         rootfix<double>(a.tree(), a.doubles, a.folds, tree_operator::sum, env);
       }},
      {"breadth_first_search",
       [&](const auto& env) { breadth_first_search(a.graph(), 0, {.levels = a.labels}, env); }},
      {"breadth_first_searches",
       [&](const auto& env) {
         breadth_first_searches(a.graph(), std::array{std::int64_t{0}}, a.labels, env);
       }},
      {"shortest_paths",
       [&](const auto& env) {
         shortest_paths(a.graph(), std::span<const float>(a.lengths), 0, {.distances = a.reals},
                        env);
       }},
      {"connected_components",
       [&](const auto& env) { connected_components(a.graph(), a.labels, env); }},
      {"pagerank", [&](const auto& env) { pagerank(a.graph(), a.folds, env); }},
      {"mandelbrot", [&](const auto& env) { mandelbrot({.width = 64, .height = 64}, a.ids, env); }},
      {"gravity", [&](const auto& env) { gravity<float>(a.points, a.reals, a.vectors, {}, env); }},
  };
}

std::vector<facade_call> calls_of_objects(arguments& a) {
  return {
      {"spatial_index", [&](const auto& env) { spatial_index<float, 3>(a.points, env); }},
      {"nbody_simulation",
       [&](const auto& env) { nbody_simulation<float>(a.points, a.vectors, a.reals, env); }},
      {"amr_simulation",
       [&](const auto& env) { amr_simulation(recommended_setup(amr_problem::sod, 2), env); }},
      {"tree_search", [](const auto& env) { (void)tree_search({.root_branches = 5}, env); }},
      {"knapsack",
       [](const auto& env) {
         (void)knapsack({.items = {{.weight = 5, .profit = 9}}, .capacity = 7}, env);
       }},
      {"flow_shop",
       [](const auto& env) {
         (void)flow_shop({.jobs = 2, .machines = 1, .times = {3, 2}}, env);
       }},
      {"count_queens", [](const auto& env) { (void)count_queens(6, env); }},
      {"quadrature",
       [](const auto& env) {
         (void)quadrature(random_genz(genz_family::gaussian, 2, 1, 1.0), env);
       }},
      {"tessellate_curves",
       [](const auto& env) {
         (void)tessellate_curves(std::vector<cubic_curve>{{{{0, 0}, {0, 1}, {1, 1}, {1, 0}}}}, env);
       }},
      {"tessellate_patches", [](const auto& env) { (void)tessellate_patches(utah_teapot(), env); }},
  };
}

/// The queries of an index, which have environments of their own.
std::vector<facade_call> calls_of_queries(arguments& a, spatial_index<float, 3>& index) {
  const auto ids = std::span(a.ids).first(3);
  return {
      {"radius_count", [&, ids](const auto& env) { index.radius_count(a.points, 1, ids, env); }},
      {"radius_list", [&](const auto& env) { (void)index.radius_list(a.points, 1, env); }},
      {"radius_rows",
       [&, ids](const auto& env) {
         index.radius_rows(a.points, 1, 1, ids, std::span(a.ids).subspan(3, 3), env);
       }},
      {"nearest", [&, ids](const auto& env) { index.nearest(a.points, 1, ids, a.reals, env); }},
      {"all_nearest_neighbors",
       [&, ids](const auto& env) { index.all_nearest_neighbors(1, true, ids, a.reals, env); }},
      {"find_clusters", [&, ids](const auto& env) { index.find_clusters(1, ids, 1, env); }},
      {"refit", [&](const auto& env) { index.refit(a.points, env); }},
  };
}

void expect_refusals(const std::vector<facade_call>& calls) {
  const environment good{.backend = tests::backend_under_test()};
  environment bad = good;
  bad.stream = stream_of_other_backend();
  for (const facade_call& each : calls) {
    BOOST_TEST_CONTEXT(each.name) {
      const auto before = cpu::grids_begun();
      BOOST_CHECK_EXCEPTION(each.call(bad), std::invalid_argument,
                            tests::names("environment.stream is a stream of another backend"));
      BOOST_TEST(cpu::grids_begun() == before);
      BOOST_CHECK_NO_THROW(each.call(good));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(calls_refuse_streams_of_other_backends) {
  arguments a;
  expect_refusals(calls_of_arrays(a));
  expect_refusals(calls_of_objects(a));
  spatial_index<float, 3> index(a.points, {.backend = tests::backend_under_test()});
  expect_refusals(calls_of_queries(a, index));
}

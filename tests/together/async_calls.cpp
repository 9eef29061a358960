// SPDX-License-Identifier: BSD-3-Clause
#include "async_calls.cuh"

#include <array>
#include <list>
#include <memory>
#include <ramify/amr.cuh>
#include <ramify/branch_and_bound.cuh>
#include <ramify/fork_join.cuh>
#include <ramify/graph.cuh>
#include <ramify/mandelbrot.cuh>
#include <ramify/nbody.cuh>
#include <ramify/quadrature.cuh>
#include <ramify/quicksort.cuh>
#include <ramify/rooted_tree.cuh>
#include <ramify/segmented_sort.cuh>
#include <ramify/spatial_tree.cuh>
#include <ramify/tree_search.cuh>

namespace run_objects {
namespace {

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
struct scaled_square {
  __host__ __device__ double operator()(const quadrature_point<1>& p, float factor) const {
    return factor * p[0] * p[0];
  }
};
struct keep_last {
  std::uint32_t* points;
  __device__ void operator()(const spatial_match<float>& m) const { points[m.query] = m.point; }
};

/// Returns a row of the table.
template <class Start>
async_call row(const std::string& name, std::size_t scratch_bytes, const Start& start) {
  return {name, scratch_bytes,
          [start](const environment& env) { return tests::any_run_of(start(env)); }};
}

}  // namespace

std::vector<async_call> calls_of_all_families(const arrays& a) {
  std::vector<async_call> all;
  const auto add = [&](const std::string& name, std::size_t scratch_bytes, const auto& start) {
    all.push_back(row(name, scratch_bytes, start));
  };
  const auto add_flat = [&](const std::string& name, std::size_t scratch_bytes, const auto& start) {
    add(name, scratch_bytes, start);
    all.back().has_route = false;
  };
  for (const auto strategy : all_choices<quicksort_strategy>()) {
    const quicksort_options options{.strategy = strategy};
    add("quicksort, " + std::string(to_string(strategy)),
        quicksort_scratch_bytes<float, std::uint32_t>(n, options), [&a, options](const auto& env) {
          return quicksort_pairs_async(a.keys.data(), a.values.data(), n, ascending{}, options,
                                       env);
        });
  }
  add("segmented_sort", segmented_sort_scratch_bytes<float, std::uint32_t>(n, n),
      [&a](const auto& env) {
        return segmented_sort_pairs_async(a.keys.data(), a.values.data(), n, a.offsets.data(),
                                          a.offsets.data() + 1, n, ascending{}, env);
      });
  all.back().has_loop = false;
  for (const auto strategy : all_choices<traverse_strategy>()) {
    const traverse_options options{.strategy = strategy};
    add("traverse, " + std::string(to_string(strategy)),
        traverse_scratch_bytes<unsigned, halves, one, sum, unsigned>(options),
        [options](const auto& env) {
          return traverse_async(40u, halves{}, one{}, sum{}, 0u, options, env);
        });
  }
  using some_roots = tree_roots<std::uint32_t>;
  add("traverse, roots", traverse_scratch_bytes<some_roots, halves, one, sum, unsigned>(),
      [&a](const auto& env) {
        return traverse_async(some_roots(a.values.data(), 3), halves{}, one{}, sum{}, 0u, env);
      });
  const uts_parameters few_nodes{.type = uts_type::binomial, .root_branches = 5, .probability = 0};
  add("tree_search", tree_search_scratch_bytes(),
      [few_nodes](const auto& env) { return tree_search_async(few_nodes, env); });
  add("fork_join", fork_join_scratch_bytes<unsigned, halves>(),
      [](const auto& env) { return fork_join_async(40u, halves{}, env); });
  add("fork_join, roots", fork_join_scratch_bytes<some_roots, halves>(), [&a](const auto& env) {
    return fork_join_async(some_roots(a.values.data(), 3), halves{}, a.ids.data(), env);
  });
  add("branch_and_bound", branch_and_bound_scratch_bytes<unsigned, halves>(),
      [](const auto& env) { return branch_and_bound_async(40u, halves{}, env); });
  // A graph cannot capture it.
  const auto solutions = std::make_shared<std::vector<branch_and_bound_solution<unsigned>>>(3);
  add("branch_and_bound, roots", 0, [&a, solutions](const auto& env) {
    return branch_and_bound_async(some_roots(a.values.data(), 3), halves{}, solutions->data(), env);
  });
  const quadrature_options few{.max_evaluations = 10'000};
  add("quadrature", quadrature_scratch_bytes<1, square>(few), [few](const auto& env) {
    return quadrature_async(quadrature_box<1>{{0}, {1}}, square{}, few, env);
  });
  const auto estimates = std::make_shared<std::vector<quadrature_estimate>>(3);
  add_flat("quadrature, batch", quadrature_scratch_bytes<1, scaled_square, float>(3),
           [&a, estimates](const auto& env) {
             return quadrature_async(quadrature_box<1>{{0}, {1}}, scaled_square{}, a.masses.data(),
                                     3, estimates->data(), env);
           });
  const mandelbrot_view view{.width = 8, .height = 8};
  for (const auto method : all_choices<mandelbrot_method>()) {
    const mandelbrot_options options{.method = method};
    add("mandelbrot, " + std::string(to_string(method)), mandelbrot_scratch_bytes(view, options),
        [&a, view, options](const auto& env) {
          return mandelbrot_async(view, a.dwells.data(), options, env);
        });
    all.back().has_route = method != mandelbrot_method::exhaustive;
  }
  add("rooted_tree", rooted_tree_scratch_bytes(a.tree(), {.levels = a.labels.data()}),
      [&a](const auto& env) {
        return rooted_tree_async(a.tree(), {.levels = a.labels.data()}, env);
      });
  add("breadth_first_search", bfs_scratch_bytes(a.graph()), [&a](const auto& env) {
    return breadth_first_search_async(a.graph(), 0, {.levels = a.labels.data()}, env);
  });
  add("breadth_first_searches", searches_scratch_bytes(a.graph()), [&a](const auto& env) {
    const std::array<std::int64_t, 1> source{0};
    return breadth_first_searches_async(a.graph(), source, a.labels.data(), env);
  });
  add("shortest_paths", sssp_scratch_bytes(a.graph()), [&a](const auto& env) {
    return shortest_paths_async(a.graph(), std::span<const float>(a.lengths.data(), n - 1), 0,
                                sssp_arrays{.distances = a.distances.data()}, env);
  });
  add("connected_components", components_scratch_bytes(a.graph()), [&a](const auto& env) {
    return connected_components_async(a.graph(), a.labels.data(), env);
  });
  add("pagerank", pagerank_scratch_bytes(a.graph()),
      [&a](const auto& env) { return pagerank_async(a.graph(), a.ranks.data(), env); });
  add("spatial_tree", spatial_tree_scratch_bytes<float, 3>(n),
      [&a](const auto& env) { return spatial_tree_async(a.points.data(), n, env); });
  const auto tree = std::make_shared<spatial_tree<float, 3>>(a.points.data(), n);
  const std::size_t query_bytes = spatial_query_scratch_bytes<float, 3>(n);
  add_flat("radius_count", query_bytes, [&a, tree](const auto& env) {
    return radius_count_async(tree->view(), a.points.data(), n, 2, a.ids.data(), env);
  });
  add_flat("radius_rows", query_bytes, [&a, tree](const auto& env) {
    return radius_rows_async(tree->view(), a.points.data(), n, 2,
                             {1, a.ids.data(), a.values.data()}, env);
  });
  add_flat("nearest", query_bytes, [&a, tree](const auto& env) {
    return nearest_async(tree->view(), a.points.data(), n, 1, a.ids.data(), a.distances.data(),
                         env);
  });
  add_flat("all_nearest_neighbors", 0, [&a, tree](const auto& env) {
    return all_nearest_neighbors_async(tree->view(), 1, true, a.ids.data(), a.distances.data(),
                                       env);
  });
  add_flat("find_clusters", find_clusters_scratch_bytes(n), [&a, tree](const auto& env) {
    return find_clusters_async(tree->view(), 2, a.ids.data(), 1, env);
  });
  const pairs_within pairs{2};
  add_flat("query, pairs", query_scratch_bytes(tree->view(), pairs),
           [&a, tree, pairs](const auto& env) {
             return query_async(tree->view(), pairs, keep_last{a.ids.data()}, env);
           });
  const in_balls_of balls(a.points.data(), a.masses.data(), n);
  add_flat("query, regions", query_scratch_bytes(tree->view(), balls),
           [&a, tree, balls](const auto& env) {
             return query_async(tree->view(), balls, keep_last{a.ids.data()}, env);
           });
  // A graph cannot capture it.
  add_flat("radius_list", 0, [&a, tree](const auto& env) {
    return radius_list_async(tree->view(), a.points.data(), n, 2, env);
  });
  add("barnes_hut", barnes_hut_scratch_bytes<float>(n), [&a](const auto& env) {
    // The run keeps what it needs of the object.
    return barnes_hut<float>().accelerations_async(a.points.data(), a.masses.data(), n,
                                                   a.forces.data(), nullptr, env);
  });
  add_flat("direct_gravity", direct_gravity_scratch_bytes(), [&a](const auto& env) {
    return direct_gravity_async<float>(a.points.data(), a.masses.data(), n, a.forces.data(),
                                       nullptr, env);
  });
  // A graph cannot capture it.
  add("find_collisions", 0, [&a](const auto& env) {
    return find_collisions_async(a.points.data(), a.masses.data(), n, nullptr, 0, nullptr, env);
  });
  // The steps of a system and of a mesh have the environment of the object.
  const auto systems = std::make_shared<std::list<nbody_system<float>>>();
  add("nbody_system", 0, [&a, systems](const auto& env) {
    return systems->emplace_back(a.points.data(), a.points.data(), a.masses.data(), n, env)
        .step_async(1e-6);
  });
  using gas = euler<double, 2>;
  const auto flows = std::make_shared<std::list<amr_run<gas>>>();
  add("amr_run", 0, [flows](const auto& env) {
    amr_options options;
    options.mesh.max_level = 1;
    return flows->emplace_back(gas{}, gradient_criterion<gas>{}, sod<double, 2>{}, options, env)
        .advance_async(1);
  });
  return all;
}

std::vector<async_call> calls_without_work(const arrays& a) {
  return {
      row("quicksort", 0,
          [&a](const environment& env) {
            return quicksort_async(a.values.data(), 1, ascending{}, env);
          }),
      row("segmented_sort", 0,
          [&a](const environment& env) {
            return segmented_sort_async(a.values.data(), n, a.offsets.data(), a.offsets.data(), 0,
                                        ascending{}, env);
          }),
      row("rooted_tree", 0,
          [](const environment& env) {
            return rooted_tree_async(tree_shape::of_parents({}), {}, env);
          }),
      row("pagerank", 0, [](const environment& env) { return pagerank_async({}, nullptr, env); }),
      row("spatial_tree", 0,
          [&a](const environment& env) { return spatial_tree_async(a.points.data(), 0, env); }),
      row("nearest", 0,
          [](const environment& env) {
            return nearest_async<float, 3>({}, nullptr, 0, 1, nullptr, nullptr, env);
          }),
      row("all_nearest_neighbors", 0,
          [](const environment& env) {
            return all_nearest_neighbors_async<float, 3>({}, 1, true, nullptr, nullptr, env);
          }),
      row("find_clusters", 0,
          [](const environment& env) {
            return find_clusters_async<float, 3>({}, 1, nullptr, 1, env);
          }),
      row("barnes_hut", 0,
          [&a](const environment& env) {
            return barnes_hut<float>().accelerations_async(a.points.data(), a.masses.data(), 0,
                                                           a.forces.data(), nullptr, env);
          }),
      row("direct_gravity", 0,
          [&a](const environment& env) {
            return direct_gravity_async<float>(a.points.data(), a.masses.data(), 0, a.forces.data(),
                                               nullptr, env);
          }),
      row("find_collisions", 0,
          [&a](const environment& env) {
            return find_collisions_async(a.points.data(), a.masses.data(), 0, nullptr, 0, nullptr,
                                         env);
          }),
      row("quadrature, batch", 0, [](const environment& env) {
        return quadrature_async(quadrature_box<1>{{0}, {1}}, scaled_square{},
                                static_cast<const float*>(nullptr), 0, nullptr, env);
      })};
}

}  // namespace run_objects

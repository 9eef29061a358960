// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <ramify/mandelbrot.cuh>
#include <ramify/nbody.cuh>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/spatial_tree.cuh>
#include <random>
#include <utility>

#include "../spatial_tree/spatial_types.hpp"
#include "printing.hpp"
#include "stream_calls.cuh"

namespace stream_completion {
namespace {

using place = point<float, 3>;

/// Returns points in a cube with edges of 1, of which every `sparse`-th is in the whole cube, and
/// the others are in a group with the diameter `size`.
std::vector<place> cloud(std::size_t n, std::size_t sparse, float size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> in_unit(0, 1);
  std::vector<place> points(n);
  for (std::size_t i = 0; i < n; ++i) {
    const float scale = i % sparse == 0 ? 1 : size;
    for (float& x : points[i].x) x = 0.25f + scale * in_unit(random);
  }
  return points;
}

/// Copies the number of nodes, the points of a tree, and their indices, if the build is complete.
__global__ void copy_tree(spatial_tree_view<float, 3> tree, word* nodes, place* points, word* ids) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i == 0) *nodes = tree.nodes_built();
  if (i >= tree.point_count || tree.nodes_built() == 0) return;
  points[i] = tree.points[i];
  ids[i] = tree.ids[i];
}

stream_call build_of(const std::string& name, const std::vector<place>& first,
                     const std::vector<place>& second) {
  const std::size_t n = first.size();
  const spatial_tree_options options{.max_nodes = 2 * n};
  return {.name = "spatial_tree, " + name,
          .inputs = list_of(input_array(first, second)),
          .results = list_of(results_of<word>(1), results_of<place>(n), results_of<word>(n)),
          .scratch_bytes = spatial_tree_scratch_bytes<float, 3>(n, options),
          .start =
              [n, options](const stream_call& c, const environment& env) {
                auto run =
                    spatial_tree_async(elements<const place>(c.inputs[0].data), n, options, env);
                detail::launch_each(copy_tree, n, env.stream.as<cudaStream_t>(), "copying a tree",
                                    spatial_tree_view_in<float, 3>(env.memory, n, options),
                                    c.results[0].data(), elements<place>(c.results[1]),
                                    c.results[2].data());
                return any_run_of(std::move(run));
              },
          .requires_memory = true};
}

/// A query of a tree, with `first` and `second` as the queries of two calls.
template <class Start>
stream_call query_of(const std::string& name, std::size_t scratch_bytes,
                     std::vector<word_array> results, const std::vector<place>& first,
                     const std::vector<place>& second, const Start& start) {
  const auto points = tests::upload(cloud(2 * first.size(), 4, 0.1f, 9));
  const auto tree = std::make_shared<spatial_tree<float, 3>>(points.data(), points.size());
  return {.name = name,
          .inputs = list_of(input_array(first, second)),
          .results = std::move(results),
          .scratch_bytes = scratch_bytes,
          .start = [tree, start, n = first.size()](const stream_call& c, const environment& env) {
            const auto* queries = elements<const place>(c.inputs[0].data);
            return any_run_of(start(tree->view(), queries, n, c.results, env));
          }};
}

stream_call gravity_of(const std::string& name, std::size_t n, bool by_tree, auto start) {
  return {.name = name,
          .inputs = list_of(input_array(cloud(n, 4, 0.1f, 1), cloud(n, 4, 0.1f, 2)),
                            input_array(std::vector<float>(n, 1.0f))),
          .results = list_of(results_of<place>(n), results_of<float>(n)),
          .scratch_bytes =
              by_tree ? barnes_hut_scratch_bytes<float>(n) : direct_gravity_scratch_bytes(),
          .start =
              [n, start](const stream_call& c, const environment& env) {
                return any_run_of(start(elements<const place>(c.inputs[0].data),
                                        elements<const float>(c.inputs[1].data), n,
                                        elements<place>(c.results[0]),
                                        elements<float>(c.results[1]), env));
              },
          .tolerance = 1e-3,
          .has_one_grid = !by_tree};
}

}  // namespace

void add_clouds(std::vector<stream_call>& all) {
  const std::size_t n = sized(100'000, 10'000);
  all.push_back(build_of("uniform cloud", cloud(n, 1, 1, 1), cloud(n, 1, 1, 2)));
  all.push_back(build_of("equal points", cloud(n, n, 0, 1), cloud(n, n, 0, 2)));
  all.push_back(build_of("dense group", cloud(n, 100, 1e-4f, 1), cloud(n, 100, 1e-4f, 2)));
  const auto first = cloud(n, 1, 1, 3);
  const auto second = cloud(n, 4, 0.1f, 4);
  const std::size_t bytes = spatial_query_scratch_bytes<float, 3>(n);
  all.push_back(query_of("radius_count", bytes, list_of(results_of<word>(n)), first, second,
                         [](const auto& tree, const place* queries, std::size_t m,
                            const std::vector<word_array>& results, const environment& env) {
                           return radius_count_async(tree, queries, m, 0.01f, results[0].data(),
                                                     env);
                         }));
  all.push_back(query_of("radius_rows", bytes,
                         list_of(results_of<word>(3 * n), results_of<word>(n)), first, second,
                         [](const auto& tree, const place* queries, std::size_t m,
                            const std::vector<word_array>& results, const environment& env) {
                           return radius_rows_async(tree, queries, m, 0.01f,
                                                    {3, results[0].data(), results[1].data()}, env);
                         }));
  all.push_back(query_of("nearest", bytes,
                         list_of(results_of<word>(4 * n), results_of<float>(4 * n)), first, second,
                         [](const auto& tree, const place* queries, std::size_t m,
                            const std::vector<word_array>& results, const environment& env) {
                           return nearest_async(tree, queries, m, 4, results[0].data(),
                                                elements<float>(results[1]), env);
                         }));
}

void add_bodies(std::vector<stream_call>& all) {
  all.push_back(gravity_of("barnes_hut", sized(20'000, 2'000), true, [](const auto&... arguments) {
    // The run keeps what it needs of the object.
    return barnes_hut<float>().accelerations_async(arguments...);
  }));
  all.push_back(gravity_of(
      "direct_gravity", sized(5'000, 500), false,
      [](const auto&... arguments) { return direct_gravity_async<float>(arguments...); }));
}

void add_images(std::vector<stream_call>& all) {
  const auto side = static_cast<std::uint32_t>(sized(512, 64));
  const mandelbrot_view view{.width = side, .height = side};
  for (const auto method : all_choices<mandelbrot_method>()) {
    const mandelbrot_options options{.method = method, .max_iterations = 200};
    all.push_back({.name = "mandelbrot, " + std::string(to_string(method)),
                   .inputs = {},
                   .results = list_of(results_of<word>(view.pixels())),
                   .scratch_bytes = mandelbrot_scratch_bytes(view, options),
                   .start =
                       [view, options](const stream_call& c, const environment& env) {
                         return any_run_of(
                             mandelbrot_async(view, c.results[0].data(), options, env));
                       },
                   .has_one_grid = method == mandelbrot_method::exhaustive});
  }
}

void add_faulty_clouds(std::vector<faulty_call>& all) {
  std::vector<place> points = cloud(1'000, 1, 1, 1);
  points[17].x[1] = std::numeric_limits<float>::infinity();
  all.push_back({build_of("infinite point", points, points), "17"});
  all.push_back(
      {query_of("nearest, infinite query", spatial_query_scratch_bytes<float, 3>(points.size()),
                list_of(results_of<word>(points.size()), results_of<float>(points.size())), points,
                points,
                [](const auto& tree, const place* queries, std::size_t m,
                   const std::vector<word_array>& results, const environment& env) {
                  return nearest_async(tree, queries, m, 1, results[0].data(),
                                       elements<float>(results[1]), env);
                }),
       "queries[17]"});
  stream_call gravity =
      gravity_of("barnes_hut, infinite point", 1'000, true, [](const auto&... arguments) {
        return barnes_hut<float>().accelerations_async(arguments...);
      });
  gravity.inputs[0] = input_array(points);
  all.push_back({std::move(gravity), "17"});
}

namespace {

/// A system of bodies with handed-in memory, and a snapshot of its positions.
struct moving_bodies {
  moving_bodies(std::size_t n, environment env)
      : stream(env.stream.as<cudaStream_t>()),
        memory(nbody_system_scratch_bytes<float>(n), stream),
        snapshot(n, stream) {
    env.memory = memory;
    const std::vector<point<float, 3>> at_rest(n);
    system = {cloud(n, 4, 0.1f, 1).data(), at_rest.data(), std::vector<float>(n, 1.0f).data(), n,
              env};
  }

  [[nodiscard]] async_run<nbody_report> step() { return system.step_async(1e-3); }
  void take_snapshot() const {
    check(cudaMemcpyAsync(snapshot.data(), system.positions(), snapshot.size() * sizeof(place),
                          cudaMemcpyDeviceToDevice, stream),
          "copying the positions");
  }
  [[nodiscard]] bool snapshot_is_near(const moving_bodies& other) const {
    const auto is_near = [](const place& a, const place& b) {
      const auto at = [](const place& p, int axis) { return static_cast<double>(p.x[axis]); };
      return std::fabs(at(a, 0) - at(b, 0)) + std::fabs(at(a, 1) - at(b, 1)) < 1e-4;
    };
    return std::ranges::equal(tests::download(snapshot), tests::download(other.snapshot), is_near);
  }

  cudaStream_t stream;
  device_buffer<std::byte> memory;
  device_buffer<place> snapshot;
  nbody_system<float> system{nullptr, nullptr, nullptr, 0};
};

/// Takes a step of `bodies` whose results only get() completes, and then a snapshot.
void take_waiting_step(moving_bodies& bodies) {
  static_cast<void>(bodies.step().get());
  bodies.take_snapshot();
  check(cudaStreamSynchronize(bodies.stream), "waiting for a step");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(completion_of_steps)

BOOST_AUTO_TEST_CASE(a_step_is_complete_before_get) {
  const std::size_t n = sized(20'000, 1'000);
  const host_stream own;
  for (const route taken : all_choices<route>()) {
    const environment env{.stream = own.get(), .route = taken};
    environment waiting = env;
    waiting.completion = completion::by_get;
    moving_bodies expected(n, waiting);
    moving_bodies bodies(n, env);
    bodies.take_snapshot();
    BOOST_TEST_CONTEXT(to_string(taken)) {
      take_waiting_step(expected);
      BOOST_TEST(!bodies.snapshot_is_near(expected));
      launch_slow_kernel(own.get());
      auto run = bodies.step();
      bodies.take_snapshot();
      own.synchronize();
      BOOST_TEST(bodies.snapshot_is_near(expected));
      const std::string reason = run.get().completion_reason;
      BOOST_TEST(reason.find(graph_loop_obstacle()) != std::string::npos);
      if (graph_loop_obstacle().empty()) BOOST_TEST(reason == "");
    }
  }
}

#if RAMIFY_ON_CUDA

// Each launch of the graph takes a step and a snapshot.
BOOST_AUTO_TEST_CASE(graphs_capture_complete_steps) {
  if (!graph_loop_obstacle().empty()) return;
  const host_stream own;
  for (const route taken : all_choices<route>()) {
    const environment env{.stream = own.get(), .route = taken};
    moving_bodies expected(20'000, env);
    moving_bodies bodies(20'000, env);
    BOOST_TEST_CONTEXT(to_string(taken)) {
      std::optional<async_run<nbody_report>> run;
      const captured_graph graph(own.get(), [&] {
        run = bodies.step();
        bodies.take_snapshot();
      });
      for (int launches = 0; launches < 2; ++launches) {
        take_waiting_step(expected);
        launch_slow_kernel(own.get());
        graph.launch(own.get());
        own.synchronize();
        BOOST_TEST(bodies.snapshot_is_near(expected));
        BOOST_CHECK_NO_THROW((void)run->get());
      }
    }
  }
}

#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stream_completion

// SPDX-License-Identifier: BSD-3-Clause
// Shortest paths with lengths of type double and with 64-bit integers, and the cost of a bucket.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "algorithm_calls.cuh"

using namespace tests;

namespace {

using wide_types = boost::mpl::list<double, std::uint64_t>;
using integers = std::vector<std::uint64_t>;

/// The distance of a vertex that no path reaches.
template <class T>
constexpr T unreached = std::is_integral_v<T> ? std::numeric_limits<T>::max()
                                              : std::numeric_limits<T>::infinity();

/// Returns lengths of the edges: zero, small, or so large that float cannot hold their sums.
template <class T>
std::vector<T> wide_weights(const host_graph& graph) {
  std::mt19937_64 random(graph.vertices());
  std::vector<T> weights(graph.targets.size());
  for (T& w : weights) {
    const auto number = random() >> 14;  // 50 bits
    w = random() % 3 == 0 ? T{0} : static_cast<T>(random() % 2 == 0 ? number : number % 20);
    if (random() % 20 == 0) w = unreached<T>;
  }
  return weights;
}

/// Returns a directed path of n vertices: each edge has the next length.
host_graph directed_path(std::size_t n, std::size_t isolated = 0) {
  tests::edge_list edges;
  for (std::size_t v = 1; v < n; ++v) {
    edges.emplace_back(static_cast<std::int32_t>(v - 1), static_cast<std::int32_t>(v));
  }
  return {"directed path", n + isolated, edges, false};
}

template <class T>
std::vector<T> distances_of(const host_graph& graph, const std::vector<T>& weights) {
  const basic_paths_call<T> call(graph, {}, weights);
  const auto report = call.start().get();
  BOOST_TEST(call.fault(&report) == "");
  return download(call.distances);
}

#if !RAMIFY_ON_CUDA  // a GPU reads the bits of all vertices in each bucket

namespace internals = ramify::detail::graph;
using path_end = internals::path_end<float>;
using path_state = internals::round_state<internals::sssp_state<float>>;

/// The members of a program that the phase next_bucket reads.
struct bucket_program {
  struct {
    const path_end* ends;
    internals::far_vertices far;
    bool adapts;
  } search;
  path_state* state;
  internals::frontier_writer next;
  unsigned* words_read;

  [[nodiscard]] __device__ internals::frontier_writer writer_of(unsigned /*round*/) const {
    return next;
  }
};

/// The phase next_bucket; counts the words of the bitmap that it reads.
struct counting_bucket : internals::next_bucket<float> {
  __device__ explicit counting_bucket(const bucket_program& program)
      : internals::next_bucket<float>(program), words_read(program.words_read) {}

  [[nodiscard]] __device__ unsigned vertices_of(unsigned word) const {
    atomicAdd(words_read, 1u);
    return internals::next_bucket<float>::vertices_of(word);
  }

  unsigned* words_read;
};

__global__ void mark_as_far(internals::far_vertices far, unsigned first, unsigned second) {
  far.mark(first);
  far.mark(second);
}
__global__ void begin_bucket(bucket_program program) {
  internals::visit_words<counting_bucket>(program, ramify::detail::runtime::part_of_grid());
}

#endif

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_paths)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_graph_with_lengths_of_64_bits, T, wide_types) {
  int piece = 0;
  for (const host_graph& graph : graphs_of_each_kind(150)) {
    for (const route taken : routes) {
      for (const edge_strategy strategy : ramify::all_choices<edge_strategy>()) {
        if (piece++ % stride(3) != 0) continue;
        BOOST_TEST_CONTEXT(graph.name << ", " << to_string(strategy) << ", " << to_string(taken)) {
          const basic_paths_call<T> call(graph,
                                         with_base<sssp_settings>(settings_of(taken, strategy)),
                                         wide_weights<T>(graph));
          const auto report = call.start().get();
          BOOST_TEST(call.fault(&report) == "");
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(widths_of_buckets_with_lengths_of_64_bits, T, wide_types) {
  const host_graph graph = kronecker(6, 6);
  for (const double delta : {1e-300, 0.5, 7.0, 1e15, 1e300}) {
    for (const edge_strategy strategy : {edge_strategy::balanced, edge_strategy::aggregated}) {
      auto chosen = with_base<sssp_settings>(settings_of(route::flat, strategy));
      chosen.delta = delta;
      std::vector<T> weights(graph.targets.size());
      for (std::size_t e = 0; e < weights.size(); ++e) weights[e] = static_cast<T>(e * 77 % 101);
      const basic_paths_call<T> call(graph, chosen, weights);
      const auto report = call.start().get();
      BOOST_TEST(call.fault(&report) == "");
    }
  }
}

// 2^24 + 1 and 2^53 + 1 are the first integers that float and double cannot hold.
BOOST_AUTO_TEST_CASE(sums_of_integers_are_exact) {
  const host_graph graph = directed_path(3);
  BOOST_TEST(distances_of<float>(graph, {16777216, 1})[2] == 16777216.0f);  // documented rounding
  BOOST_TEST(distances_of<double>(graph, {16777216, 1})[2] == 16777217.0);
  BOOST_TEST(distances_of(graph, integers{16777216, 1})[2] == 16777217u);
  BOOST_TEST(distances_of(graph, integers{9007199254740992, 1})[2] == 9007199254740993u);
  const std::uint64_t most = 18446744073709551613u;  // 2^64 - 3
  BOOST_TEST(distances_of(graph, integers{most - 5, 5})[2] == most);
  BOOST_TEST(distances_of(graph, integers{most, unreached<std::uint64_t>})[2] ==
             unreached<std::uint64_t>);
}

BOOST_AUTO_TEST_CASE(integer_distances_that_are_too_large_are_refused) {
  const std::uint64_t most = 18446744073709551613u;  // 2^64 - 3
  const host_graph graph = directed_path(4);
  for (const integers& weights :
       {integers{most, 1, 1}, integers{7, most, 0}, integers{1u << 31, most, most}}) {
    for (const route taken : routes) {
      for (const edge_strategy strategy : {edge_strategy::balanced, edge_strategy::child_grid}) {
        const basic_paths_call<std::uint64_t> call(
            graph, with_base<sssp_settings>(settings_of(taken, strategy)), weights);
        BOOST_CHECK_EXCEPTION((void)call.start().get(), std::invalid_argument,
                              names("graph: the distance of vertex 2 is too large"));
        BOOST_TEST(call.is_unchanged());
        BOOST_TEST(slots_in_use() == 0u);
      }
    }
  }
  // A longer path that is too long does no harm.
  const host_graph detour("detour", 3, {{0, 1}, {1, 2}, {0, 2}}, false);
  BOOST_TEST(distances_of(detour, integers{most, 9, 9})[2] == 9u);
}

// All edges of a cycle are edges of shortest paths: parents must not follow the cycle.
BOOST_AUTO_TEST_CASE(parents_form_a_tree_if_lengths_vanish) {
  const host_graph graph = loops_and_repeats(40);
  const std::size_t m = graph.targets.size();
  for (const double length : {0.0, -0.0, 5e-324, 1e308, unreached<double>}) {
    (void)distances_of(graph, std::vector<double>(m, length));
  }
  std::vector<double> absorbed(m, 1);  // 1e20 + 1 is 1e20
  absorbed[0] = absorbed[1] = absorbed[2] = absorbed[3] = 1e20;
  (void)distances_of(graph, absorbed);
  (void)distances_of(graph, integers(m, 0));
}

BOOST_AUTO_TEST_CASE(bad_lengths_of_type_double_are_refused) {
  const host_graph graph = random_graph(200, 600);
  for (const double bad : {-1.0, -5e-324, std::nan("")}) {
    std::vector<double> weights(600, 1);
    weights[300] = weights[77] = bad;
    const basic_paths_call<double> call(graph, {}, weights);
    BOOST_CHECK_EXCEPTION((void)call.start().get(), std::invalid_argument,
                          names("graph: weights[77] is " + std::to_string(bad)));
    BOOST_TEST(call.is_unchanged());
  }
}

BOOST_AUTO_TEST_CASE(the_width_of_buckets_decides_their_number) {
  const host_graph graph = directed_path(400);
  for (const auto& [delta, buckets] : {std::pair{1e9, 1u}, {1.0, 400u}}) {
    const paths_call call(graph, {{{}, delta}, {}}, std::vector<float>(graph.targets.size(), 1));
    BOOST_TEST(call.start().get().buckets == buckets);
  }
}

#if !RAMIFY_ON_CUDA

// The bitmap of 200,000 vertices has 6,250 words. A bucket reads the 32 words of each group of
// 1,024 vertices that has a far vertex, before and after it visits them, and no other word.
BOOST_AUTO_TEST_CASE(a_bucket_reads_only_groups_with_far_vertices) {
  constexpr unsigned n = 200'000, first = 5'000, second = 150'000;
  std::vector<path_end> ends(n, path_end::of(unreached<float>, path_end::none));
  ends[first] = path_end::of(1.5f, 0);
  ends[second] = path_end::of(7.5f, 0);
  std::vector<unsigned> words(n / 32), groups(n / 32768 + 1);
  std::vector<std::int64_t> offsets(n + 1);
  std::vector<std::int32_t> frontier(2);
  std::vector<internals::edge_count> first_edge(2);
  internals::frontier_size size{};
  path_state state;
  state.vertices = n;
  state.own.delta = 1;
  unsigned words_read = 0;
  const internals::far_vertices far{words.data(), groups.data()};
  const bucket_program program{
      {ends.data(), far, false},
      &state,
      {{offsets.data(), nullptr}, {frontier.data(), first_edge.data()}, &size},
      &words_read};
  const auto run = [](auto kernel, unsigned threads, const auto&... arguments) {
    ramify::check(ramify::launch(kernel, {1, threads}, nullptr, arguments...).code(), "launch");
    ramify::check(cudaStreamSynchronize(nullptr), "waiting");
  };
  run(mark_as_far, 1, far, first, second);
  const auto words_of_bucket = [&](float begin, float nearest) {
    state.own.bucket_end = begin;
    state.own.nearest_far = internals::length_bits<float>::of(nearest);
    words_read = 0;
    run(begin_bucket, internals::tuning::threads, program);
    return words_read;
  };
  BOOST_TEST(words_of_bucket(1, 1.5f) == 128u);
  BOOST_TEST(size.vertices() == 1u);
  BOOST_TEST(words_of_bucket(7, 7.5f) == 64u);
  BOOST_TEST(size.vertices() == 2u);
  BOOST_TEST(words_of_bucket(8, 9) == 0u);
  BOOST_TEST((frontier == std::vector<std::int32_t>{first, second}));
}

#endif

BOOST_AUTO_TEST_SUITE_END()

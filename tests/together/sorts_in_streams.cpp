// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <ramify/quicksort.cuh>
#include <ramify/segmented_sort.cuh>
#include <ramify/traverse.cuh>
#include <random>

#include "stream_calls.cuh"

namespace stream_completion {
namespace {

// ---- sorts ----

/// A root of so few keys is a leaf of `binary`, and a small root of `sample_sort`.
constexpr std::size_t few_keys = 3'000;

using key_rule = std::function<word(std::mt19937&)>;

std::vector<word> keys_by(const key_rule& rule, std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<word> keys(n);
  std::ranges::generate(keys, [&] { return rule(random); });
  return keys;
}

stream_call sort_of(const std::string& name, const std::vector<word>& first,
                    const std::vector<word>& second, const quicksort_options& options) {
  const std::size_t n = first.size();
  return {.name = "quicksort of " + std::to_string(n) + " " + name + ", " +
                  std::string(to_string(options.strategy)),
          .inputs = list_of(input_array(first, second)),
          .results = {},
          .scratch_bytes = quicksort_scratch_bytes<word>(n, options),
          .start =
              [n, options](const stream_call& c, const environment& env) {
                return any_run_of(quicksort_async(elements<word>(c.inputs[0].data), n, ascending{},
                                                  options, env));
              },
          .needs_no_slots = n == few_keys,
          .needs_no_loop = options.strategy == quicksort_strategy::sample_sort};
}

/// The value of a key depends on the key, so that the order of equal keys does not matter.
std::vector<word> values_of(std::vector<word> keys) {
  for (word& key : keys) key = ~key;
  return keys;
}

stream_call pairs_of(const std::vector<word>& first, const std::vector<word>& second,
                     const quicksort_options& options) {
  const std::size_t n = first.size();
  return {.name = "quicksort_pairs of " + std::to_string(n) + ", " +
                  std::string(to_string(options.strategy)),
          .inputs =
              list_of(input_array(first, second), input_array(values_of(first), values_of(second))),
          .results = {},
          .scratch_bytes = quicksort_scratch_bytes<float, word>(n, options),
          .start =
              [n, options](const stream_call& c, const environment& env) {
                return any_run_of(quicksort_pairs_async(elements<float>(c.inputs[0].data),
                                                        elements<word>(c.inputs[1].data), n,
                                                        ascending{}, options, env));
              },
          .needs_no_loop = options.strategy == quicksort_strategy::sample_sort};
}

/// Returns the offsets of segments of n elements: short ones, and a long one.
std::vector<word> offsets_of(std::size_t n, std::size_t segments, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<word> offsets(segments + 1, 0);
  for (std::size_t i = 1; i <= segments; ++i) {
    const std::size_t length = i == segments / 2 ? n / 2 : random() % 100;
    offsets[i] = static_cast<word>(std::min(n, offsets[i - 1] + length));
  }
  return offsets;
}

stream_call segmented_sort_of(const std::vector<word>& first, const std::vector<word>& second) {
  const std::size_t n = first.size();
  constexpr std::size_t segments = 500;
  return {.name = "segmented_sort of " + std::to_string(n),
          .inputs = list_of(input_array(first, second),
                            input_array(offsets_of(n, segments, 1), offsets_of(n, segments, 2))),
          .results = {},
          .scratch_bytes = segmented_sort_scratch_bytes<word>(n, segments),
          .start =
              [n](const stream_call& c, const environment& env) {
                const word* const offsets = elements<word>(c.inputs[1].data);
                return any_run_of(segmented_sort_async(elements<word>(c.inputs[0].data), n, offsets,
                                                       offsets + 1, segments, ascending{}, env));
              },
          .needs_no_loop = true};
}

// ---- traversals ----

/// A tree of numbered nodes: a bushy one, whose subtrees have different sizes, or a comb, in which
/// each node of a path has a leaf as its other child.
struct numbered_tree {
  bool is_comb;
  unsigned nodes;

  __host__ __device__ unsigned degree(unsigned v) const {
    if (is_comb) return v % 2 == 0 && v + 2 < nodes ? 2 : 0;
    const bool is_pruned = v > 64 && (v * 2654435769u >> 16) % 8 == 0;
    return 2 * v + 2 < nodes && !is_pruned ? 2 : 0;
  }
  __host__ __device__ unsigned child(unsigned v, unsigned i) const {
    return is_comb ? v + 1 + i : 2 * v + 1 + i;
  }
};

/// Writes a number for each node.
struct write_number {
  const word* factors;
  word* to;

  __host__ __device__ word operator()(unsigned v, unsigned degree) const {
    to[v] = factors[v] * 5 + degree;
    return 1;
  }
};

stream_call traversal_of(const std::string& name, const numbered_tree& tree,
                         const traverse_options& options) {
  const auto any = [](std::mt19937& random) { return static_cast<word>(random()); };
  return {.name = "traverse " + name + ", " + std::string(to_string(options.strategy)),
          .inputs = list_of(input_array(keys_by(any, tree.nodes, 1), keys_by(any, tree.nodes, 2))),
          .results = list_of(results_of<word>(tree.nodes)),
          .scratch_bytes =
              traverse_scratch_bytes<unsigned, numbered_tree, write_number, plus, word>(options),
          .start = [tree, options](const stream_call& c, const environment& env) {
            const write_number visit{c.inputs[0].data.data(), c.results[0].data()};
            return any_run_of(traverse_async(0u, tree, visit, plus{}, word{0}, options, env));
          }};
}

}  // namespace

void add_sorts(std::vector<stream_call>& all) {
  const key_rule any = [](std::mt19937& random) { return static_cast<word>(random()); };
  const key_rule few = [](std::mt19937& random) { return static_cast<word>(random() % 5); };
  // The bits of floats in [0, 2). The other tables sort pairs with keys of this type, too, so the
  // program has one sort of pairs.
  const key_rule positive = [](std::mt19937& random) { return static_cast<word>(random() >> 2); };
  // Each power of two has as many keys as the next one: most keys are in a small part of the range.
  const key_rule skewed = [](std::mt19937& random) {
    return static_cast<word>(random() >> random() % 32);
  };
  const std::size_t n = sized(300'000, 20'000);  // more than a small root has
  for (const auto strategy : all_choices<quicksort_strategy>()) {
    const quicksort_options options{.strategy = strategy};
    const auto add = [&](const std::string& name, const key_rule& rule, std::size_t count) {
      all.push_back(sort_of(name, keys_by(rule, count, 1), keys_by(rule, count, 2), options));
    };
    add("uniform keys", any, n);
    add("equal keys", few, n);
    add("skewed keys", skewed, n);
    add("uniform keys", any, few_keys);
    all.push_back(pairs_of(keys_by(positive, n, 1), keys_by(positive, n, 2), options));
  }
  all.push_back(segmented_sort_of(keys_by(any, n, 1), keys_by(any, n, 2)));
}

void add_traversals(std::vector<stream_call>& all) {
  for (const auto strategy : all_choices<traverse_strategy>()) {
    const auto bushy = static_cast<unsigned>(sized(200'000, 20'000));
    all.push_back(traversal_of("a bushy tree", {false, bushy}, {.strategy = strategy}));
    const auto comb = static_cast<unsigned>(sized(2'001, 501));
    all.push_back(traversal_of("a comb", {true, comb}, {.strategy = strategy}));
  }
}

void add_faulty_traversals(std::vector<faulty_call>& all) {
  all.push_back({traversal_of("with a short list", {false, 5'000},
                              {.capacity = 10, .strategy = traverse_strategy::task_per_node}),
                 "raise traverse_options.capacity, which is 10"});
}

}  // namespace stream_completion

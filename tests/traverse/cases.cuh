// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/traverse.cuh>
#include <ramify/tree_search.cuh>

#include "cases.hpp"
#include "device_vectors.cuh"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;
using namespace ramify::detail::tree_search;

/// The children of a number.
struct expand_number {
  numbered_tree tree;

  [[nodiscard]] __host__ __device__ unsigned degree(unsigned node) const {
    using enum numbered_tree::shape;
    const unsigned n = tree.n;
    switch (tree.kind) {
      case path: return node + 1 < n ? 1 : 0;
      case star: return node == 0 ? n - 1 : 0;
      case complete: {
        const unsigned long long first = 1ull * tree.arity * node + 1;
        return first >= n ? 0 : (n - first < tree.arity ? unsigned(n - first) : tree.arity);
      }
      case caterpillar: {  // the path is the first half, the leaves the second
        const unsigned half = (n + 1) / 2;
        return node >= half ? 0 : (node + 1 < half) + (node + half < n);
      }
      case combs: {  // node 1 + 40 i is on a path, those behind it are its leaves
        if (node == 0) return tree.arity;
        const unsigned place = (node - 1) / 40;
        return (node - 1) % 40 != 0 ? 0 : place % n + 1 < n ? 40 : 39;
      }
    }
    return 0;
  }

  [[nodiscard]] __host__ __device__ unsigned child(unsigned node, unsigned i) const {
    using enum numbered_tree::shape;
    const unsigned n = tree.n;
    switch (tree.kind) {
      case path: return node + 1;
      case star: return i + 1;
      case complete: return tree.arity * node + 1 + i;
      case caterpillar: {
        const unsigned half = (n + 1) / 2;
        return i == 0 && node + 1 < half ? node + 1 : node + half;
      }
      case combs: {
        if (node == 0) return 1 + 40 * n * i;
        const bool goes_on = (node - 1) / 40 % n + 1 < n;
        return goes_on && i == 0 ? node + 40 : node + i + (goes_on ? 0 : 1);
      }
    }
    return 0;
  }
};

struct mark_visit {
  unsigned* visits;
  __device__ unsigned operator()(unsigned node, unsigned /*degree*/) const {
    atomicAdd(&visits[node], 1u);
    return 1;
  }
};

struct sum {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

inline traverse_report mark(const numbered_tree& tree, const traverse_setting& setting,
                            std::vector<unsigned>& visits) {
  const auto limit = scoped_limit(setting.pending_launches);
  visits.assign(tree.nodes(), 0);
  const auto on_device = upload(visits);
  const auto found = traverse(0u, expand_number{tree}, mark_visit{on_device.data()}, sum{}, 0u,
                              nullptr, setting.config);
  download(on_device, visits);
  if (found.value != tree.nodes()) visits.clear();
  return found.report;
}

/// A node as large as may be, full of its number.
struct page_node {
  unsigned words[175];
};

struct expand_page {
  expand_number numbers;

  [[nodiscard]] __host__ __device__ static page_node make(unsigned number) {
    page_node page{};
    for (unsigned i = 0; i < 175; ++i) page.words[i] = number * 175 + i;
    return page;
  }
  [[nodiscard]] __host__ __device__ static bool is_sound(const page_node& page) {
    for (unsigned i = 0; i < 175; ++i) {
      if (page.words[i] != page.words[0] + i) return false;
    }
    return page.words[0] % 175 == 0;
  }
  [[nodiscard]] __host__ __device__ unsigned degree(const page_node& page) const {
    return numbers.degree(page.words[0] / 175);
  }
  [[nodiscard]] __host__ __device__ page_node child(const page_node& page, unsigned i) const {
    return make(numbers.child(page.words[0] / 175, i));
  }
};

struct check_page {
  __host__ __device__ unsigned long long operator()(const page_node& page, unsigned) const {
    return expand_page::is_sound(page) ? 1 : 0;
  }
};

inline traverse_report count_pages(const numbered_tree& tree, const traverse_setting& setting,
                                   std::uint64_t& sound) {
  const auto found = traverse(expand_page::make(0), expand_page{{tree}}, check_page{}, sum{}, 0ull,
                              nullptr, setting.config);
  sound = found.value;
  return found.report;
}

struct number_visit {
  __host__ __device__ unsigned long long operator()(unsigned node, unsigned) const {
    return node + 1;
  }
};
struct digest {  // associative no more than commutative
  __host__ __device__ unsigned long long operator()(unsigned long long a,
                                                    unsigned long long b) const {
    return a * 1'000'003 + b;
  }
};

inline std::uint64_t fold_in_order_of_visits(unsigned n, const traverse_setting& setting) {
  const expand_number tree{{numbered_tree::shape::complete, n, 3}};
  return traverse(0u, tree, number_visit{}, digest{}, 0ull, nullptr, setting.config).value;
}

inline traverse_report search(const uts_parameters& tree, const traverse_setting& setting,
                              uts_counts& counts) {
  const auto limit = scoped_limit(setting.pending_launches);
  const auto found = tree_search(tree, nullptr, setting.config);
  counts = found.value;
  return found.report;
}

inline traverse_report search_without_slots(const uts_parameters& tree, uts_counts& counts) {
  const all_slots_taken taken(*current_launch_limits().pending_launches);
  return search(tree, {.config = {.route = route::device}}, counts);
}

inline std::array<uts_counts, 2> search_two(const uts_parameters& first,
                                            const uts_parameters& second) {
  const host_stream streams[2];
  const std::size_t bytes =
      traverse_scratch_bytes<uts_node, uts_expand, uts_visit, uts_reduce, uts_counts>();
  const device_buffer<std::byte> scratch[2] = {{bytes, streams[0].get()},
                                               {bytes, streams[1].get()}};
  const auto start = [&](const uts_parameters& tree, int i) {
    return traverse_async(uts_root(tree), uts_expand(tree), uts_visit{}, uts_reduce{}, uts_counts{},
                          streams[i].get(), {.route = route::device}, {scratch[i].data(), bytes});
  };
  auto run_of_first = start(first, 0);
  auto run_of_second = start(second, 1);
  const uts_counts of_second = run_of_second.get().value;
  return {run_of_first.get().value, of_second};
}

inline std::size_t least_capacity() {
  const auto is_enough = [](std::size_t capacity) {
    try {
      (void)traverse_scratch_bytes<unsigned, expand_number, mark_visit, sum, unsigned>(
          {.capacity = capacity});
      return true;
    } catch (const std::invalid_argument&) {
      return false;
    }
  };
  std::size_t refused = 1;
  std::size_t enough = std::size_t{1} << 30;
  while (enough - refused > 1) {
    const std::size_t middle = (refused + enough) / 2;
    (is_enough(middle) ? enough : refused) = middle;
  }
  return enough;
}

#if RAMIFY_ON_CUDA
inline captured_marks mark_captured(const numbered_tree& tree, route taken, unsigned launches,
                                    bool get_each) {
  const host_stream stream;
  captured_marks result;
  result.visits.assign(tree.nodes(), 0);
  const auto visits = upload(result.visits);
  using run_type = traverse_run<unsigned, expand_number, mark_visit, sum, unsigned>;
  const traverse_config config{.route = taken};
  const device_buffer<std::byte> scratch(run_type::scratch_bytes(config), nullptr);
  check(cudaDeviceSynchronize(), "preparing");
  std::optional<run_type> run;
  const captured_graph graph(stream.get(), [&] {
    (void)run.emplace(0u, expand_number{tree}, mark_visit{visits.data()}, sum{}, 0u, stream.get(),
                      config, scratch_memory{scratch.data(), scratch.size()});
  });
  for (unsigned i = 1; i <= launches; ++i) {
    graph.launch(stream.get());
    if (!get_each && i < launches) continue;
    const auto found = run->get();
    result.values.push_back(found.value);
    result.report = found.report;
  }
  download(visits, result.visits);
  return result;
}
#endif

inline void provoke(bad_traversal what) {
  const numbered_tree tree{numbered_tree::shape::path, 10};
  const device_buffer<std::byte> scratch(1000, nullptr);
  const device_buffer<unsigned> visits(10, nullptr);
  const auto start = [&](const traverse_config& config, scratch_memory memory,
                         cudaStream_t stream) {
    return traverse_async(0u, expand_number{tree}, mark_visit{visits.data()}, sum{}, 0u, stream,
                          config, memory);
  };
  const auto with = [&](const traverse_config& config, scratch_memory memory) {
    (void)start(config, memory, nullptr).get();
  };
#if RAMIFY_ON_CUDA
  const auto captured = [&](const traverse_config& config, bool has_scratch, bool get) {
    const host_stream stream;
    const std::size_t bytes =
        traverse_scratch_bytes<unsigned, expand_number, mark_visit, sum, unsigned>(config);
    const device_buffer<std::byte> enough(bytes, nullptr);
    check(cudaDeviceSynchronize(), "preparing");
    const scratch_memory memory{has_scratch ? enough.data() : nullptr, bytes};
    const captured_graph graph(stream.get(), [&] {
      auto run = start(config, memory, stream.get());
      if (get) (void)run.get();
    });
  };
#endif
  switch (what) {
    case bad_traversal::scratch_too_small: with({}, {scratch.data(), 1000}); break;
    case bad_traversal::scratch_misaligned:
      with({}, {scratch.data() + 8, std::size_t{1} << 40});
      break;
    case bad_traversal::capacity_too_small: with({.capacity = 10}, {}); break;
    case bad_traversal::flat_loop_unknown:
      with({.flat_loop = static_cast<flat_loop>(7)}, {});
      break;
#if RAMIFY_ON_CUDA
    case bad_traversal::captured_without_scratch: captured({}, false, false); break;
    case bad_traversal::captured_by_host:
      captured({.route = route::flat, .flat_loop = flat_loop::host}, true, false);
      break;
    case bad_traversal::captured_spawned:
      captured({.strategy = traverse_strategy::task_per_node}, true, false);
      break;
    case bad_traversal::got_while_captured: captured({}, true, true); break;
#else
    default: break;
#endif
  }
}

namespace sha1_kernels {

__global__ void digest_message(const std::uint32_t* message, std::uint32_t* digest) {
  std::uint32_t words[6];
  for (int i = 0; i < 6; ++i) words[i] = message[i];
  const sha1_digest result = sha1_of_words<6>(words);
  for (int i = 0; i < 5; ++i) digest[i] = result.word[i];
}

}  // namespace sha1_kernels

inline std::array<std::uint32_t, 5> sha1(const std::array<std::uint32_t, 6>& message) {
  const auto words = upload(std::vector<std::uint32_t>(message.begin(), message.end()));
  const device_buffer<std::uint32_t> on_device(5, nullptr);
  check(
      launch(sha1_kernels::digest_message, {1, 1}, nullptr, words.data(), on_device.data()).code(),
      "launching a digest");
  std::vector<std::uint32_t> digest(5);
  download(on_device, digest);
  return {digest[0], digest[1], digest[2], digest[3], digest[4]};
}

inline const traverse_cases& cases() {
  // While a lease is held, nothing but the runs themselves gives slots back.
  static const slot_lease kept(2048);
  static const traverse_cases all {
    mark, count_pages, fold_in_order_of_visits, search, search_without_slots, search_two,
#if RAMIFY_ON_CUDA
        mark_captured,
#else
        nullptr,  // the executor has no graphs
#endif
        provoke, sha1, least_capacity, slots_in_use
  };
  return all;
}

}  // namespace tests::inline RAMIFY_BUILD

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the sorts of points and of queries by Morton code.
///
/// On a GPU they are CUB's radix sort, which the host starts on either route: this family teaches
/// the tree, not the sort. CUB's sort is stable, so points with equal codes stay in the order of
/// their indices. On the CPU executor they are Ramify's quicksort, by code and then by index.
///
/// If only the device has the number of points, the quicksort sorts their codes on a GPU, too: the
/// host would have to pass the size of a radix sort.
///
/// A build of 2^22 points or more whose host may wait samples the codes first. Codes in order need
/// no sort. If nearly all points differ in the upper 32 bits of their codes, CUB sorts by these,
/// which takes half of the time, and sort_runs() completes the sort.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/spatial_tree/code_runs.cuh>
#include <ramify/spatial_tree/config.hpp>

#if RAMIFY_ON_CUDA
#include <cub/device/device_radix_sort.cuh>
#endif

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

#if RAMIFY_ON_CUDA

/// The bits [first, end) of keys by which a sort orders them.
struct key_bits {
  int first;
  int end;
};

/// Sorts keys by some of their bits, and an index for each, in place. Asynchronous.
/// \param keys       the keys, and memory for as many
/// \param ids        the indices, and memory for as many
/// \param bytes      size of the scratch memory; it is written if `scratch` is null, and nothing is
///                   sorted
/// \throws cuda_error
template <class Key>
void radix_sort(void* scratch, std::size_t& bytes, cub::DoubleBuffer<Key> keys,
                cub::DoubleBuffer<std::uint32_t> ids, std::uint32_t n, key_bits bits,
                cudaStream_t stream) {
  check(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, ids, n, bits.first, bits.end, stream),
        "sorting Morton codes");
  if (scratch == nullptr || keys.selector == 0) return;
  // CUB may leave the result in the other memory; it does so with few keys.
  const auto copy_back = [&](auto& buffers) {
    check(cudaMemcpyAsync(buffers.Alternate(), buffers.Current(), n * sizeof *buffers.Current(),
                          cudaMemcpyDeviceToDevice, stream),
          "copying sorted Morton codes");
  };
  copy_back(keys);
  copy_back(ids);
}

/// Returns the size of the scratch memory of radix_sort(), in bytes. \throws cuda_error
template <class Key>
[[nodiscard]] std::size_t radix_sort_bytes(std::uint32_t n, int bits) {
  std::size_t bytes = 0;
  radix_sort<Key>(nullptr, bytes, {}, {}, n, {0, bits}, nullptr);
  return bytes;
}

/// Scratch memory of a radix sort of n pairs of a key and an index.
template <class Key>
struct radix_sort_scratch {
  Key* keys;
  std::uint32_t* ids;
  memory_ref sort;

  radix_sort_scratch(memory_layout& memory, std::uint32_t n, int bits)
      : keys(memory.take<Key>(n)),
        ids(memory.take<std::uint32_t>(n)),
        sort(memory.take_scratch(radix_sort_bytes<Key>(n, bits))) {}
};

/// The codes of the points of a build, and their sort by CUB. It must not be moved.
template <int dim>
class code_radix_sort {
  static constexpr int bits = static_cast<int>(spatial_shape<dim>::bits) * dim;
  /// The least number of codes of which a sample is worth a wait of the host. A sample of fewer
  /// codes cost clustered points more than uniform points gained (benchmarks/spatial_tree.md).
  static constexpr std::uint32_t least_sampled = 1u << 22;

 public:
  using codes_type = code_arrays;
  /// Whether sort_runs() may have to complete the sort.
  static constexpr bool may_have_runs = true;

  /// Scratch memory for n points.
  struct scratch {
    std::uint64_t* codes;
    std::uint32_t* ids;
    radix_sort_scratch<std::uint64_t> sort;
    code_statistics* sampled;

    scratch(memory_layout& memory, std::uint32_t n)
        : codes(memory.take<std::uint64_t>(n)),
          ids(memory.take<std::uint32_t>(n)),
          sort(memory, n, bits),
          sampled(memory.take<code_statistics>(1)) {}
    [[nodiscard]] codes_type array() const { return {codes, ids}; }
  };

  /// Puts the sort into the stream. If `control` is not null and there are at least least_sampled
  /// codes, it samples them, waits for the stream, and counts the sample's grid in `control`.
  /// Otherwise asynchronous. \throws cuda_error
  void start(const scratch& memory, const runtime::element_count& count,
             const runtime::run_choices& choices, run_control* control = nullptr) {
    const auto n = static_cast<std::uint32_t>(count.upper_bound);
    cudaStream_t stream = choices.stream;
    const code_statistics sampled = control != nullptr && n >= least_sampled
                                        ? sample(memory, n, stream, *control)
                                        : code_statistics{1, 1};
    has_runs_ = sampled.descents != 0 && sampled.repeats == 0;
    if (sampled.descents != 0) {
      sort(memory, n, {has_runs_ ? lower_code_bits<dim> : 0, bits}, stream);
    }
  }
  /// Returns whether sort_runs() must complete the sort.
  [[nodiscard]] bool has_runs() const { return has_runs_; }
  /// Sorts the codes if sort_runs() has not completed the sort. Asynchronous. \throws cuda_error
  void complete(const scratch& memory, std::uint32_t n, cudaStream_t stream) const {
    sort(memory, n, {0, bits}, stream);
  }
  /// Returns an empty report: the sort does not need the host, and its grids are not counted.
  [[nodiscard]] run_report get() const { return {}; }

 private:
  static void sort(const scratch& memory, std::uint32_t n, key_bits by, cudaStream_t stream) {
    std::size_t bytes = memory.sort.sort.bytes();
    radix_sort<std::uint64_t>(memory.sort.sort.data(), bytes, {memory.codes, memory.sort.keys},
                              {memory.ids, memory.sort.ids}, n, by, stream);
  }
  /// Runs sample_codes() and waits for it. The table is in the memory of the sort.
  static code_statistics sample(const scratch& memory, std::uint32_t n, cudaStream_t stream,
                                run_control& control) {
    static_assert(least_sampled >= code_table::size);
    clear_memory(memory.sampled, 1, stream, "clearing the statistics of codes");
    check(cudaMemsetAsync(memory.sort.keys, 0xff, code_table::size * sizeof(std::uint64_t), stream),
          "clearing a table of codes");
    launch_each(sample_codes<dim>, n, stream, "sampling the codes", memory.array(), n,
                code_table::stride(n), memory.sort.keys, memory.sampled, control.ticket());
    control.count_grids(1, 0);
    return read_back(memory.sampled, stream, "reading the statistics of codes");
  }

  bool has_runs_ = false;
};

#endif

/// The codes of the points of a build, and their sort by Ramify's quicksort. It must not be moved.
/// Count is the type of the number of points: std::size_t, or device_count.
template <class Count>
class code_quicksort {
  using less = morton_code::less;

 public:
  using codes_type = code_elements;
  static constexpr bool may_have_runs = false;  ///< the quicksort is a sort by all bits

  /// Scratch memory for n points.
  struct scratch {
    morton_code* codes;
    memory_ref sort;

    scratch(memory_layout& memory, std::uint32_t n)
        : codes(memory.take<morton_code>(n)),
          sort(memory.take_scratch(
              quicksort_scratch_bytes<morton_code, no_value, less>(number({n})))) {}
    [[nodiscard]] codes_type array() const { return {codes}; }
  };

  /// Puts the sort into the stream. Asynchronous. \throws cuda_error
  /// \param n  if Count is device_count, the number that read_count() writes
  void start(const scratch& memory, const runtime::element_count& n,
             const runtime::run_choices& choices, const run_control* = nullptr) {
    static_cast<void>(run_.emplace(
        quicksort_async(memory.codes, number(n), less{}, choices.of_part(memory.sort))));
    is_captured_ = choices.captured;
  }
  /// Returns false.
  [[nodiscard]] bool has_runs() const { return false; }
  /// Does nothing: get() completes the sort.
  void complete(const scratch&, std::uint32_t, cudaStream_t) const {}
  /// Waits for the sort, completes it, and returns its report. \throws cuda_error
  [[nodiscard]] const run_report& get() {
    if (run_) report_ = run_->get();
    if (!is_captured_) run_.reset();
    return report_;
  }

 private:
  [[nodiscard]] static Count number(const runtime::element_count& n) {
    if constexpr (std::same_as<Count, device_count>) {
      return {static_cast<const std::uint64_t*>(n.address), n.upper_bound};
    } else {
      return n.upper_bound;
    }
  }

  std::optional<async_run<quicksort_report>> run_;  // empty after get(), unless a graph captures it
  bool is_captured_ = false;
  run_report report_;
};

/// The sort of a build. Count is the type of the number of points: std::size_t, or device_count.
template <int dim, class Count>
struct sort_of_build {
  using type = code_quicksort<Count>;
};
#if RAMIFY_ON_CUDA
template <int dim>
struct sort_of_build<dim, std::size_t> {
  using type = code_radix_sort<dim>;
};
#endif
template <int dim, class Count = std::size_t>
using code_sort = typename sort_of_build<dim, Count>::type;

/// Returns the scratch memory of sort_queries() over n queries, in bytes. \throws cuda_error
template <class = void>
[[nodiscard]] std::size_t sort_queries_bytes(std::size_t n) {
#if RAMIFY_ON_CUDA
  return layout_bytes<radix_sort_scratch<std::uint32_t>>(static_cast<std::uint32_t>(n), 32);
#else
  return quicksort_scratch_bytes<std::uint32_t, std::uint32_t>(n);
#endif
}

/// Sorts the indices of n < 2^32 queries by their codes. Waits for the stream on the CPU executor.
/// Adds the grids of the CPU executor to a report. \throws cuda_error
/// \param memory  sort_queries_bytes(); if it is empty or a resource, the sort allocates it
template <class = void>
void sort_queries(std::uint32_t* codes, std::uint32_t* order, std::size_t n,
                  const runtime::run_choices& query, const memory_ref& memory,
                  [[maybe_unused]] run_report& report) {
#if RAMIFY_ON_CUDA
  const auto count = static_cast<std::uint32_t>(n);
  constexpr int bits = 32;
  const run_memory<radix_sort_scratch<std::uint32_t>> own(memory, query.stream, query.algorithm,
                                                          count, bits);
  std::size_t bytes = own.parts.sort.bytes();
  radix_sort<std::uint32_t>(own.parts.sort.data(), bytes, {codes, own.parts.keys},
                            {order, own.parts.ids}, count, {0, bits}, query.stream);
#else
  environment env = query.of_part(memory);
  env.route = route::flat;
  report.host_grids += quicksort_pairs(codes, order, n, ascending{}, env).host_grids;
#endif
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

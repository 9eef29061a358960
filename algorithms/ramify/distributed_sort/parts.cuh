// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of a distributed sort: sort, choose splitters, exchange, merge.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_sort/config.hpp>
#include <ramify/distributed_sort/merge_runs.cuh>
#include <ramify/distributed_sort/splitters.cuh>
#include <ramify/quicksort/tuning.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch_each.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/staging.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD {

/// A part of the largest rank may be 1/20 longer than the mean: each of the two splitters of a part
/// may be ranks * stride / 2 elements off, so the stride is n / (20 ranks^2).
inline constexpr std::uint64_t samples_per_rank_and_part = 20;

/// More runs are sorted: a merge pass halves their number, and a sort of 2^28 keys takes about as
/// long as six passes over them.
inline constexpr std::size_t max_merged_runs = 64;

/// The elements of this rank in device memory.
template <class Key, class Value>
struct rank_elements {
  static constexpr bool has_values = !std::is_same_v<Value, no_value>;

  device_buffer<Key> keys;
  device_buffer<Value> values;  ///< empty if there are none

  [[nodiscard]] std::uint64_t size() const { return keys.size(); }
  [[nodiscard]] static rank_elements make(std::uint64_t n, cudaStream_t stream) {
    return {device_buffer<Key>(n, stream), device_buffer<Value>(has_values ? n : 0, stream)};
  }
};

/// A distributed sort on one rank. `local_sort(elements)` sorts elements of this rank and returns
/// the report.
template <class Key, class Value, class Compare, class LocalSort>
class sort_run {
  using elements = rank_elements<Key, Value>;
  using order = quicksort::sort_order<Key, Compare>;

 public:
  sort_run(communicator& comm, Compare compare, cudaStream_t stream,
           const distributed_sort_config& config, const LocalSort& local_sort)
      : comm_(comm),
        compare_(compare),
        stream_(stream),
        config_(config),
        local_sort_(local_sort),
        ranks_(static_cast<unsigned>(comm.size())),
        rank_(static_cast<unsigned>(comm.rank())) {}

  /// Sorts the elements of all ranks; `mine` becomes the part of this rank. Collective.
  [[nodiscard]] distributed_sort_report sort(elements& mine) {
    // 1. Sort the elements of each rank.
    distributed_sort_report report;
    static_cast<quicksort_report&>(report) = local_sort_(mine);
    std::vector<std::uint64_t> sizes = comm_.all_gather(mine.size());
    const std::uint64_t n = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    report.keys = n;
    if (ranks_ > 1 && n > 0) {
      // 2. Choose splitters, and find them among the elements of each rank.
      const std::vector<std::uint64_t> counts = choose_parts(mine, sizes, n, report);
      // 3. Send each part to its rank.
      const std::vector<std::uint64_t> received = redistribute(mine, counts);
      // 4. Merge the sorted runs that have come from the ranks.
      if (!merge(mine, received, report)) {
        const quicksort_report second = local_sort_(mine);
        add_part(report, second);
        report.merge_sorted_segments += second.merge_sorted_segments;
      }
      // 5. Move the ends of the parts.
      sizes = comm_.all_gather(mine.size());
      if (config_.parts == sorted_parts::equal) {
        static_cast<void>(redistribute(mine, counts_of_equal_parts(sizes, n)));
        sizes = comm_.all_gather(mine.size());
      }
    }
    report.part_keys = mine.size();
    report.first_key = std::accumulate(sizes.begin(), sizes.begin() + rank_, std::uint64_t{0});
    if (n > 0) {
      report.part_imbalance =
          static_cast<double>(std::ranges::max(sizes)) * ranks_ / static_cast<double>(n);
    }
    return report;
  }

 private:
  /// Returns the number of elements that this rank sends to each rank. Adds its grids to the
  /// report.
  [[nodiscard]] std::vector<std::uint64_t> choose_parts(const elements& mine,
                                                        const std::vector<std::uint64_t>& sizes,
                                                        std::uint64_t n,
                                                        distributed_sort_report& report) {
    const phase_range range("distributed sort: splitters");
    // 1. The samples of all ranks.
    const std::uint64_t wanted = samples_per_rank_and_part * ranks_ * ranks_;
    const std::uint64_t stride = std::max(n / wanted, std::uint64_t{1});
    std::vector<std::uint64_t> counts(ranks_);
    std::vector<std::uint64_t> begins(ranks_ + 1);
    for (unsigned r = 0; r < ranks_; ++r) {
      counts[r] = sample_count(sizes[r], stride);
      begins[r + 1] = begins[r] + counts[r];
    }
    const std::uint64_t count = begins.back();
    trace_recorder recorder(config_.sort.trace, stream_);
    const device_buffer<Key> own(counts[rank_], stream_);
    if (counts[rank_] > 0) {
      launch_each(take_samples<Key>, counts[rank_], stream_, "taking samples", mine.keys.data(),
                  stride, counts[rank_], own.data(), recorder.ticket());
      ++report.host_grids;
    }
    const device_buffer<Key> all(count, stream_);
    comm_.all_gather_v(own.data(), counts, all.data(), stream_);
    // 2. The splitters, and their places among the elements of this rank.
    const device_buffer<std::uint64_t> device_begins(begins.size(), stream_);
    copy_to_device(device_begins.data(), begins.data(), begins.size() * sizeof begins[0], stream_);
    const sample_runs<Key> runs{all.data(), device_begins.data(), ranks_, stride};
    const std::uint64_t splitter_count = ranks_ - 1;
    const device_buffer<std::uint64_t> splitters(splitter_count, stream_);
    const device_buffer<std::uint64_t> bounds(splitter_count, stream_);
    clear_memory(splitters.data(), splitter_count, stream_, "clearing splitters");
    launch_each(choose_splitters<Key, Compare>, count, stream_, "choosing splitters", runs, count,
                compare_, splitters.data(), recorder.ticket());
    launch_each(find_bounds<Key, Compare>, splitter_count, stream_, "finding splitters",
                mine.keys.data(), mine.size(), rank_, runs, splitters.data(), splitter_count,
                compare_, bounds.data(), recorder.ticket());
    report.host_grids += 2;
    std::vector<std::uint64_t> ends(ranks_, mine.size());
    copy_to_host(ends.data(), bounds.data(), splitter_count * sizeof ends[0], stream_);
    check(cudaStreamSynchronize(stream_), "waiting for splitters");
    recorder.read();
    // The bounds ascend, unless the comparator is not a strict weak order.
    std::inclusive_scan(ends.begin(), ends.end(), ends.begin(),
                        [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
    std::adjacent_difference(ends.begin(), ends.end(), ends.begin());
    return ends;
  }

  /// Returns the number of elements that this rank sends to each rank, so that each rank gets
  /// n / ranks elements, and each of the first n % ranks ranks gets one more.
  [[nodiscard]] std::vector<std::uint64_t> counts_of_equal_parts(
      const std::vector<std::uint64_t>& sizes, std::uint64_t n) const {
    const std::uint64_t begin =
        std::accumulate(sizes.begin(), sizes.begin() + rank_, std::uint64_t{0});
    const std::uint64_t end = begin + sizes[rank_];
    const auto begin_of = [&](std::uint64_t part) {
      return n / ranks_ * part + std::min<std::uint64_t>(n % ranks_, part);
    };
    std::vector<std::uint64_t> counts(ranks_);
    for (unsigned r = 0; r < ranks_; ++r) {
      counts[r] = std::clamp(begin_of(r + 1), begin, end) - std::clamp(begin_of(r), begin, end);
    }
    return counts;
  }

  /// Merges sorted runs, `sizes[0]` elements, then `sizes[1]`, and so on. Adds the grids to the
  /// report. Returns false, with the elements in another order, if sorting them takes less time, or
  /// if the comparator is not a strict weak order.
  [[nodiscard]] bool merge(elements& mine, const std::vector<std::uint64_t>& sizes,
                           distributed_sort_report& report) {
    const phase_range range("distributed sort: merge");
    std::vector<std::uint64_t> ends;  // of the runs
    for (std::uint64_t end = 0; const std::uint64_t size : sizes) {
      if (size > 0) ends.push_back(end += size);
    }
    if (ends.size() > max_merged_runs) return false;
    trace_recorder recorder(config_.sort.trace, stream_);
    const device_buffer<unsigned> differs(1, stream_);
    clear_memory(differs.data(), 1, stream_, "clearing a flag");
    elements next = elements::make(ends.size() > 1 ? mine.size() : 0, stream_);
    bool is_consistent = true;
    while (ends.size() > 1 && is_consistent) {
      std::vector<std::uint64_t> merged_ends;
      for (std::size_t i = 0; i < ends.size(); i += 2) {
        const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
        const std::uint64_t end = ends[std::min(i + 1, ends.size() - 1)];
        merge_pair(mine, next, {begin, ends[i], end}, differs.data(), recorder.ticket());
        ++report.host_grids;
        merged_ends.push_back(end);
      }
      if constexpr (!order::known_strict_weak) {
        is_consistent = read_back(differs.data(), stream_, "merging runs") == 0;
      }
      if (is_consistent) std::swap(mine, next);
      ends = std::move(merged_ends);
    }
    check(cudaStreamSynchronize(stream_), "merging runs");
    recorder.read();
    return is_consistent;
  }

  /// Launches the merge of two runs. The second one may be empty.
  void merge_pair(const elements& from, const elements& to, const run_pair& runs, unsigned* differs,
                  const trace_ticket& ticket) {
    using tile = merge_tile<typename order::code>;
    const auto blocks = static_cast<unsigned>((runs.end - runs.begin - 1) / tile::size + 1);
    check(launch(merge_runs<Key, Value, order>, {blocks, tile::threads}, stream_,
                 key_value_arrays<Key, Value>{from.keys.data(), from.values.data()},
                 key_value_arrays<Key, Value>{to.keys.data(), to.values.data()}, runs,
                 order{compare_}, differs, ticket)
              .code(),
          "merging runs");
  }

  /// Sends the first counts[0] elements to rank 0, the next counts[1] to rank 1, and so on. Returns
  /// the numbers of elements that this rank has got from each rank; they are in this order.
  std::vector<std::uint64_t> redistribute(elements& mine,
                                          const std::vector<std::uint64_t>& counts) {
    const phase_range range("distributed sort: exchange");
    const std::vector<std::uint64_t> received = comm_.all_to_all(counts);
    const std::uint64_t n = std::accumulate(received.begin(), received.end(), std::uint64_t{0});
    elements next = elements::make(n, stream_);
    comm_.all_to_all_v(mine.keys.data(), counts, next.keys.data(), received, stream_);
    if constexpr (elements::has_values) {
      comm_.all_to_all_v(mine.values.data(), counts, next.values.data(), received, stream_);
    }
    mine = std::move(next);
    return received;
  }

  communicator& comm_;
  Compare compare_;
  cudaStream_t stream_;
  const distributed_sort_config& config_;
  const LocalSort& local_sort_;
  unsigned ranks_, rank_;
};

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD

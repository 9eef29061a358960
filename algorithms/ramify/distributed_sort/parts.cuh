// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of a distributed sort: sort, choose splitters, exchange, merge.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_sort/config.hpp>
#include <ramify/distributed_sort/run_merger.cuh>
#include <ramify/distributed_sort/splitters.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/runtime/staging.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <string>
#include <utility>
#include <vector>

namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD {

/// A part of the largest rank may be 1/20 longer than the mean: each of the two splitters of a part
/// may be ranks * stride / 2 elements off, so the stride is n / (20 ranks^2).
inline constexpr std::uint64_t samples_per_rank_and_part = 20;

/// More runs are sorted: a merge pass halves their number, and a sort of 2^28 keys takes about as
/// long as six passes over them.
inline constexpr std::size_t max_merged_runs = 64;

/// A distributed sort on one rank. `local_sort(elements)` sorts elements of this rank and returns
/// the report.
template <class Key, class Value, class Compare, class LocalSort>
class sort_run {
  using elements = rank_elements<Key, Value>;
  using order = quicksort::sort_order<Key, Compare>;
  using merger = run_merger<Key, Value, order>;

 public:
  /// \throws std::invalid_argument if the stream is one of another backend
  sort_run(communicator& comm, Compare compare, sorted_parts parts, const environment& env,
           const LocalSort& local_sort)
      : comm_(comm),
        compare_(compare),
        parts_(parts),
        stream_(stream_of(env, "distributed_sort")),
        trace_(env.trace),
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
      // 3. Send each part to its rank, and merge the sorted runs that have come from the ranks.
      if (!exchange_and_merge(mine, counts, report)) {
        const quicksort_report second = local_sort_(mine);
        add_part(report, second);
        report.merge_sorted_segments += second.merge_sorted_segments;
      }
      // 4. Move the ends of the parts.
      sizes = comm_.all_gather(mine.size());
      if (parts_ == sorted_parts::equal) {
        redistribute(mine, counts_of_equal_parts(sizes, n));
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
    trace_recorder recorder(trace_, stream_);
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

  /// Sends the first counts[0] elements to rank 0, the next counts[1] to rank 1, and so on, and
  /// merges this rank's run with the runs that it gets; `mine` becomes the result. Adds the grids
  /// to the report. Returns false if `mine` has all elements, but is not sorted: if sorting takes
  /// less time than merging, or if the comparator is not a strict weak order.
  [[nodiscard]] bool exchange_and_merge(elements& mine, const std::vector<std::uint64_t>& counts,
                                        distributed_sort_report& report) {
    const phase_range range("distributed sort: exchange and merge");
    // 1. The own run stays where it is. More than one pass of merges needs memory for all elements.
    const std::vector<std::uint64_t> received = comm_.all_to_all(counts);
    const std::uint64_t n = std::accumulate(received.begin(), received.end(), std::uint64_t{0});
    elements others = elements::make(ranks_ > 2 ? n : n - received[rank_], stream_);
    exchange(mine, counts, received, false, others);
    std::vector<typename merger::run> runs;  // in the order of the ranks
    std::uint64_t begin = 0;
    for (unsigned r = 0; r < ranks_; ++r) {
      if (r == rank_) {
        const auto own = std::accumulate(counts.begin(), counts.begin() + r, std::uint64_t{0});
        runs.push_back({mine.arrays_from(own), received[r]});
      } else {
        runs.push_back({others.arrays_from(begin), received[r]});
        begin += received[r];
      }
    }
    std::erase_if(runs, [](const auto& run) { return run.size == 0; });
    // 2. Merge the runs.
    elements part = elements::make(n, stream_);
    trace_recorder recorder(trace_, stream_);
    merger by_pairs(order{compare_}, n, stream_);
    bool is_sorted = false;
    if (runs.size() <= max_merged_runs) {
      is_sorted = by_pairs.merge(std::move(runs), part, others, recorder.ticket());
      report.host_grids += by_pairs.grids();
    } else {
      by_pairs.copy(runs, part);
    }
    comm_.synchronize(stream_);
    recorder.read();
    mine = std::move(part);
    return is_sorted;
  }

  /// Sends the first counts[0] elements to rank 0, the next counts[1] to rank 1, and so on. `mine`
  /// becomes what this rank gets, in the order of the ranks.
  void redistribute(elements& mine, const std::vector<std::uint64_t>& counts) {
    const phase_range range("distributed sort: move the ends");
    const std::vector<std::uint64_t> received = comm_.all_to_all(counts);
    elements got = elements::make(
        std::accumulate(received.begin(), received.end(), std::uint64_t{0}), stream_);
    exchange(mine, counts, received, true, got);
    mine = std::move(got);
  }

  /// Sends parts of `mine` as redistribute() does. Writes what this rank gets to `got`:
  /// received[0] elements from rank 0, then received[1] from rank 1, and so on, but no elements
  /// from this rank itself unless `with_own`.
  void exchange(const elements& mine, const std::vector<std::uint64_t>& counts,
                const std::vector<std::uint64_t>& received, bool with_own, const elements& got) {
    const auto exchange_array = [&]<class T>(const T* from, T* to) {
      std::vector<outgoing_message<T>> out;
      std::vector<incoming_message<T>> in;
      for (unsigned r = 0; r < ranks_; ++r) {
        const bool takes_part = r != rank_ || with_own;
        if (takes_part && counts[r] > 0) out.push_back({static_cast<int>(r), from, counts[r]});
        if (takes_part && received[r] > 0) in.push_back({static_cast<int>(r), to, received[r]});
        from += counts[r];
        if (takes_part) to += received[r];
      }
      comm_.begin_exchange<T>(out, in, stream_).end();
    };
    exchange_array(mine.keys.data(), got.keys.data());
    if constexpr (elements::has_values) exchange_array(mine.values.data(), got.values.data());
  }

  communicator& comm_;
  Compare compare_;
  sorted_parts parts_;
  cudaStream_t stream_;
  launch_trace* trace_;
  const LocalSort& local_sort_;
  unsigned ranks_, rank_;
};

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of quicksort_in_place().
///
/// The call partitions an array whose second copy does not fit in the scratch memory in place. Such
/// a partition is a level. It partitions buckets again until they fit in a batch. Then one grid,
/// after one that samples, sorts all that are short (in_place_ring.cuh). Batches sort the others
/// (in_place_batch.cuh), with as many adjacent ones as fit in a share of the scratch memory. A
/// bucket of equal keys is not sorted.

#include <algorithm>
#include <cstddef>
#include <list>
#include <ramify/quicksort/in_place_batch.cuh>
#include <ramify/quicksort/in_place_permutation.cuh>
#include <ramify/quicksort/in_place_plan.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/stream.cuh>
#include <vector>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Launches grids in a stream, and counts them.
struct in_place_grids {
  cudaStream_t stream;
  std::uint64_t launched = 0;

  /// Launches a grid with a thread for each of `count` items. \throws cuda_error
  template <class... Parameters, class... Arguments>
  void over(void (*kernel)(Parameters...), std::size_t count, const Arguments&... arguments) {
    runtime::launch_each(kernel, count, stream, "partitioning in place", arguments...);
    ++launched;
  }

  /// Launches the number of blocks that are resident at the same time, at least `least` and at most
  /// `count`. \throws cuda_error
  template <class Level>
  void blocks(void (*kernel)(Level), unsigned threads, std::size_t shared, unsigned count,
              const Level& level, unsigned least = 0) {
    const unsigned number =
        std::min(std::max(resident_blocks(kernel, threads, shared), least), count);
    if (number == 0) return;
    check(launch(kernel, {number, threads, shared}, stream, level).code(), "partitioning in place");
    ++launched;
  }
};

/// Moves the slots that a level has collected to their places. About one slot in `reach` begins a
/// part of a chain. Returns the state of the level, for which it waits; the moves are asynchronous.
/// \throws cuda_error
template <class Level>
typename Level::state_type move_slots(in_place_grids& grids, const Level& level, unsigned reach) {
  using tuning = typename Level::tuning;
  for (;; reach *= 4) {
    grids.over(in_place_starts<Level>, level.output_slots(), level, reach);
    const auto state = read_back(level.state, grids.stream, "reading the sizes of buckets");
    if (state.saved <= level.max_saved) {
      grids.blocks(in_place_save<Level>, tuning::move_threads, 0, state.starts, level);
      grids.blocks(in_place_move<Level>, tuning::move_threads, 0, state.starts, level);
      return state;
    }
    // More starts than expected must be saved. With a longer reach there are fewer.
    grids.over(in_place_forget_starts<Level>, level.output_slots(), level);
  }
}

/// One sort in place.
template <class Key, class Value, class Compare>
class in_place_sort {
  using arrays = key_value_arrays<Key, Value>;
  using memory = in_place_memory<Key, Value, Compare>;
  using tuning = typename memory::tuning;
  using order = typename memory::order;
  using level_type = in_place_level<Key, Value, order>;
  using sorter = in_place_batch_sorter<Key, Value, Compare>;

 public:
  /// Chooses the route of the batches.
  in_place_sort(run_setup& setup, const in_place_plan& plan, const arrays& data, Compare compare)
      : setup_(setup),
        plan_(plan),
        data_(data),
        compare_(compare),
        ring_(plan.bytes),
        scratch_(setup.given, plan.bytes, setup.stream, setup.algorithm) {
    setup.prefer_host("too few levels for a graph to pay");
    setup.choose_route(sample_sort_level_grids,
                       route_choice{route::flat, "the host launches all grids of a batch"});
  }

  /// Sorts n elements, and waits. Call it once.
  quicksort_report run(std::size_t n) {
    if (n <= plan_.batch) {
      add(sort(data_, n).get());
    } else {
      partition({0, n}, 0);
      sort_parts_with_ring();
      sort_parts();
    }
    report_.keys = n;
    report_.scratch_bytes = plan_.bytes;
    return report_;
  }

 private:
  using range = in_place_range;

  /// Each level keeps at least one key out of the next one, and usually all but one of a few
  /// hundred. With a comparator that is no strict weak order, the buckets of this level are cut.
  static constexpr unsigned max_levels = 64;

  [[nodiscard]] arrays at(std::size_t i) const {
    if constexpr (arrays::has_values) return {data_.keys + i, data_.values + i};
    return {data_.keys + i, nullptr};
  }

  /// Adds a range to the parts. Adjacent short ranges are one part, so that there are few.
  void add_part_of_array(const range& r) {
    if (r.size() < 2) return;
    const bool follows = !parts_.empty() && parts_.back().end == r.begin;
    const std::size_t most =
        ring_.longest != 0 ? ring_.longest / 2 : plan_.batch / (few_segments::max / 2);
    if (follows && r.end - parts_.back().begin <= std::min(most, plan_.batch)) {
      parts_.back().end = r.end;
    } else {
      parts_.push_back(r);
    }
  }

  /// Partitions a range until its buckets fit in a batch. Join: the host waits for each level,
  /// because the sizes of the buckets decide what follows.
  void partition(const range& r, unsigned depth) {
    if (depth == max_levels) {
      for (std::size_t begin = r.begin; begin < r.end; begin += plan_.batch) {
        add_part_of_array({begin, std::min(begin + plan_.batch, r.end)});
      }
      return;
    }
    const auto state = run_level(r);
    if (state.order != unordered) return;
    std::size_t begin = r.begin;
    const unsigned buckets =
        (state.tree.equality != 0 ? 2u : 1u) * ((1u << state.tree.levels) - 1) + 1;
    for (unsigned b = 0; b < buckets; ++b) {
      const range bucket{begin, begin + state.counts[b]};
      begin = bucket.end;
      const bool keys_are_equal = state.tree.equality != 0 && b % 2 == 1;
      if (keys_are_equal || bucket.size() < 2) continue;
      if (bucket.size() <= plan_.batch) {
        add_part_of_array(bucket);
      } else {
        partition(bucket, depth + 1);
      }
    }
  }

  /// Moves the elements of a range to their buckets, unless they are in order or in the opposite
  /// order. Waits until the sizes of the buckets are there; the last grids may still run.
  typename level_type::state_type run_level(const range& r) {
    const phase_range phase("quicksort: partition in place");
    memory_layout layout(scratch_.data());
    memory of_level(layout, r.size());
    level_type level{of_level.arrays, order{compare_}};
    level.data = at(r.begin);
    level.buckets = buckets_of_level(r.size());
    const auto sampled = static_cast<unsigned>(
        std::min<std::size_t>(std::size_t{memory::oversampling} * level.buckets, r.size()));

    in_place_grids grids{setup_.stream};
    grids.over(in_place_sample<level_type>, sampled, level, of_level.sample, sampled);
    add(ramify::quicksort_async(of_level.sample, sampled, compare_,
                                setup_.of_part(of_level.scratch))
            .get());
    grids.over(in_place_begin<level_type>, level.output_slots(), level,
               static_cast<const Key*>(of_level.sample), sampled);
    // A block counts less than 2^32 elements, so that no count overflows.
    grids.blocks(in_place_count<level_type>, tuning::threads, 0, level.tiles(), level,
                 static_cast<unsigned>(r.size() >> 30));
    const unsigned found = read_back(&level.state->order, setup_.stream, "reading the order");
    typename level_type::state_type state{};
    state.order = found;
    if (found == unordered) {
      grids.blocks(in_place_bounds<level_type>, tuning::threads, 0, 1, level);
      constexpr std::size_t bytes = distribute_shared<level_type>::bytes();
      set_max_dynamic_shared(in_place_distribute<level_type>, bytes);
      grids.blocks(in_place_distribute<level_type>, tuning::threads, bytes, level.tiles(), level);
      state = move_slots(grids, level, memory::reach);
    } else if ((found & nondecreasing) == 0) {
      grids.blocks(in_place_reverse<level_type>, tuning::threads, 0, level.tiles(), level);
    }
    report_.host_grids += grids.launched;
    return state;
  }

  /// Returns the number of buckets of a level, equality buckets apart.
  [[nodiscard]] unsigned buckets_of_level(std::size_t size) const {
    constexpr std::size_t max = tuning::max_buckets;
    // The ring sorts the buckets if they are short enough, also those longer than the average.
    if (size / max < ring_.longest * 7 / 10) {
      return static_cast<unsigned>(std::min(size / ring_.usual + 2, max));
    }
    // Half a batch for each bucket, so that few buckets are longer than a batch.
    const std::size_t wanted = size / std::max<std::size_t>(plan_.batch / 2, 1) + 1;
    return static_cast<unsigned>(std::min(std::bit_ceil(wanted), max));
  }

  /// Starts quicksort() of the whole array.
  [[nodiscard]] async_run<quicksort_report> sort(const arrays& data, std::size_t n) const {
    const environment env = setup_.of_part({scratch_.data(), plan_.bytes});
    if constexpr (arrays::has_values) {
      return quicksort_pairs_async(data.keys, data.values, n, compare_, env);
    } else {
      return quicksort_async(data.keys, n, compare_, env);
    }
  }

  void add(const quicksort_report& part) {
    if (!has_report_) {
      const std::uint64_t grids = report_.host_grids;
      report_ = part;
      report_.host_grids += grids;
      has_report_ = true;
      return;
    }
    add_part(report_, part, "a part");
    report_.merge_sorted_segments += part.merge_sorted_segments;
  }

  /// Sorts the parts that are short enough with a ring, and keeps the others. Waits.
  void sort_parts_with_ring() {
    const phase_range phase("quicksort: sort parts with a ring");
    std::vector<range> short_ones;
    std::vector<range> left;
    for (const range& r : parts_) (r.size() <= ring_.longest ? short_ones : left).push_back(r);
    ring_sorter<Key, Value, Compare> ring(setup_.stream, data_, compare_, scratch_.data(),
                                          plan_.bytes);
    ring.run(short_ones, left);
    report_.host_grids += ring.grids();
    std::ranges::sort(left, {}, &range::begin);
    parts_ = std::move(left);
  }

  /// Sorts the parts in batches. Several run at the same time. On the device route, and with a
  /// trace, they run one after another, because they share the launch slots and the trace. Waits
  /// for all.
  void sort_parts() {
    const phase_range phase("quicksort: sort parts");
    if (parts_.empty()) {
      check(cudaStreamSynchronize(setup_.stream), "waiting for a sort in place");
      return;
    }
    const bool one_by_one = setup_.choice.taken == route::device || setup_.trace != nullptr;
    host_event partitioned = host_event::without_time();
    partitioned.record(setup_.stream);
    std::list<sorter> sorters;
    for (std::size_t i = 0; i < (one_by_one ? 1 : concurrent_batches); ++i) {
      sorters.emplace_back(setup_, static_cast<std::byte*>(scratch_.data()) + i * plan_.share(),
                           plan_.batch, compare_, partitioned);
    }
    auto next = sorters.begin();
    for (std::size_t i = 0; i < parts_.size();) {
      const std::size_t begin = parts_[i].begin;
      few_segments batch{};
      for (; i < parts_.size() && parts_[i].end - begin <= plan_.batch &&
             batch.count < few_segments::max;
           ++i) {
        batch.ranges[batch.count++] = {parts_[i].begin - begin, parts_[i].end - begin};
      }
      next->start(at(begin), batch);
      if (++next == sorters.end()) next = sorters.begin();
    }
    for (sorter& each : sorters) {
      each.finish();
      add(each.report());
    }
  }

  run_setup& setup_;
  const in_place_plan plan_;
  const arrays data_;
  const Compare compare_;
  const ring_limits<Key, Value> ring_;
  const scratch_space scratch_;
  std::vector<range> parts_;
  quicksort_report report_;
  bool has_report_ = false;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of quicksort_in_place().
///
/// An array whose second copy does not fit in the scratch memory is partitioned in place: a level.
/// So are its buckets, until they fit. Then quicksort() sorts them, several at the same time, each
/// in a share of the scratch memory. A bucket of equal keys is not sorted.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
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

  /// Launches at most as many blocks as are resident, for at most `count` items.
  /// \throws cuda_error
  template <class Level>
  void blocks(void (*kernel)(Level), unsigned threads, std::size_t shared, unsigned count,
              const Level& level) {
    const unsigned number = std::min(resident_blocks(kernel, threads, shared), count);
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

 public:
  in_place_sort(const run_setup& setup, const in_place_plan& plan, const arrays& data,
                Compare compare)
      : setup_(setup),
        plan_(plan),
        data_(data),
        compare_(compare),
        scratch_(setup.given, plan.bytes, setup.stream, setup.algorithm) {}

  /// Sorts n elements, and waits. Call it once.
  quicksort_report run(std::size_t n) {
    if (n <= plan_.part) {
      add(start(range{0, n}, setup_.stream, {scratch_.data(), plan_.bytes}).get());
    } else {
      partition({0, n}, 0);
      sort_parts();
    }
    report_.keys = n;
    report_.scratch_bytes = plan_.bytes;
    return report_;
  }

 private:
  struct range {
    std::size_t begin;
    std::size_t end;
    [[nodiscard]] std::size_t size() const { return end - begin; }
  };

  /// Each level keeps at least one key out of the next one, and usually all but one of a few
  /// hundred. With a comparator that is no strict weak order, the buckets of this level are cut.
  static constexpr unsigned max_levels = 64;

  [[nodiscard]] arrays at(std::size_t i) const {
    if constexpr (arrays::has_values) return {data_.keys + i, data_.values + i};
    return {data_.keys + i, nullptr};
  }

  /// Returns whether a part of n elements can be sorted in its share of the scratch memory. A part
  /// with fewer elements than another one may need more memory.
  [[nodiscard]] bool fits(std::size_t n) const {
    return n <= plan_.part && bytes_of_part<Key, Value, Compare>(n) <= plan_.share();
  }

  /// Adds a range to the parts. A part is a range of adjacent buckets.
  void add_part_of_array(const range& r) {
    if (r.size() < 2) return;
    if (!parts_.empty() && parts_.back().end == r.begin && fits(r.end - parts_.back().begin)) {
      parts_.back().end = r.end;
    } else {
      parts_.push_back(r);
    }
  }

  /// Partitions a range until its buckets can be sorted as parts. Join: the host waits for each
  /// level, because the sizes of the buckets decide what follows.
  void partition(const range& r, unsigned depth) {
    if (depth == max_levels) {
      for (std::size_t begin = r.begin; begin < r.end;) {
        std::size_t size = std::min(plan_.part, r.end - begin);
        while (size > 1 && !fits(size)) size = (size + 1) / 2;
        add_part_of_array({begin, begin + size});
        begin += size;
      }
      return;
    }
    const auto state = run_level(r);
    std::size_t begin = r.begin;
    const unsigned buckets =
        (state.tree.equality != 0 ? 2u : 1u) * ((1u << state.tree.levels) - 1) + 1;
    for (unsigned b = 0; b < buckets; ++b) {
      const range bucket{begin, begin + state.counts[b]};
      begin = bucket.end;
      const bool keys_are_equal = state.tree.equality != 0 && b % 2 == 1;
      if (keys_are_equal || bucket.size() < 2) continue;
      if (fits(bucket.size())) {
        add_part_of_array(bucket);
      } else {
        partition(bucket, depth + 1);
      }
    }
  }

  /// Moves the elements of a range to their buckets. Waits until their sizes are there; the last
  /// grids may still run.
  typename level_type::state_type run_level(const range& r) {
    const phase_range phase("quicksort: partition in place");
    memory_layout layout(scratch_.data());
    memory of_level(layout, r.size());
    level_type level{of_level.arrays, order{compare_}};
    level.data = at(r.begin);
    // Half a part for each bucket, so that few buckets are longer than a part.
    const std::size_t wanted = r.size() / std::max<std::size_t>(plan_.part / 2, 1) + 1;
    level.buckets =
        static_cast<unsigned>(std::min<std::size_t>(std::bit_ceil(wanted), tuning::max_buckets));
    const auto sampled = static_cast<unsigned>(
        std::min<std::size_t>(std::size_t{memory::oversampling} * level.buckets, r.size()));

    in_place_grids grids{setup_.stream};
    grids.over(in_place_sample<level_type>, sampled, level, of_level.sample, sampled);
    add(ramify::quicksort_async(of_level.sample, sampled, compare_,
                                environment_of(setup_.stream, of_level.scratch))
            .get());
    grids.over(in_place_begin<level_type>, level.output_slots(), level,
               static_cast<const Key*>(of_level.sample), sampled);
    grids.blocks(in_place_count<level_type>, tuning::threads, 0, level.tiles(), level);
    grids.blocks(in_place_bounds<level_type>, tuning::threads, 0, 1, level);
    constexpr std::size_t bytes = distribute_shared<level_type>::bytes();
    set_max_dynamic_shared(in_place_distribute<level_type>, bytes);
    grids.blocks(in_place_distribute<level_type>, tuning::threads, bytes, level.tiles(), level);
    const auto state = move_slots(grids, level, memory::reach);
    report_.host_grids += grids.launched;
    return state;
  }

  [[nodiscard]] environment environment_of(cudaStream_t stream, const memory_ref& scratch) const {
    environment env = setup_.of_part(scratch);
    env.stream = stream;
    return env;
  }

  [[nodiscard]] async_run<quicksort_report> start(const range& r, cudaStream_t stream,
                                                  const memory_ref& scratch) const {
    const arrays part = at(r.begin);
    const environment env = environment_of(stream, scratch);
    if constexpr (arrays::has_values) {
      return quicksort_pairs_async(part.keys, part.values, r.size(), compare_, env);
    } else {
      return quicksort_async(part.keys, r.size(), compare_, env);
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

  /// Sorts the parts. Several run at the same time, in streams of their own; a part waits for the
  /// one that has its share of the scratch memory. On the device route, and with a trace, they run
  /// one after another, because they share the launch slots and the trace. Waits for all.
  void sort_parts() {
    const phase_range phase("quicksort: sort parts");
    const bool one_by_one = setup_.wanted == route::device || setup_.trace != nullptr;
    const std::size_t sorts = one_by_one ? 1 : concurrent_sorts;
    host_event partitioned = host_event::without_time();
    partitioned.record(setup_.stream);
    std::array<host_stream, concurrent_sorts> streams;
    std::array<std::optional<async_run<quicksort_report>>, concurrent_sorts> runs;
    for (const host_stream& stream : streams) partitioned.block(stream.get());
    for (std::size_t i = 0; i < parts_.size() + sorts; ++i) {
      auto& run = runs[i % sorts];
      if (run) add(run->get());
      run.reset();
      if (i >= parts_.size()) continue;
      const memory_ref scratch{static_cast<std::byte*>(scratch_.data()) + i % sorts * plan_.share(),
                               plan_.share()};
      run = start(parts_[i], streams[i % sorts].get(), scratch);
    }
  }

  const run_setup& setup_;
  const in_place_plan plan_;
  const arrays data_;
  const Compare compare_;
  const scratch_space scratch_;
  std::vector<range> parts_;
  quicksort_report report_;
  bool has_report_ = false;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// in_place_batch_sorter: sorts parts of an array that fit in scratch memory together, a *batch*,
/// with a few large grids instead of a few small ones for each.
///
/// A batch is a segmented sort whose segments the host has (few_segments). Nothing is copied to the
/// device or back between batches: the host launches all levels of a batch ahead, and the leaf grid
/// merge-sorts what is left, which only a hostile input leaves.

#include <cstddef>
#include <optional>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/segmented_sort/memory.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

using segmented_sort::few_segments;

/// The program of a batch.
template <class Key, class Value, class Compare>
using in_place_batch_program =
    segmented_sort::segmented_program<Key, Value, sort_order<Key, Compare>, few_segments>;

/// The scratch memory of batches of up to n elements.
template <class Key, class Value, class Compare>
struct in_place_batch_memory {
  using program = in_place_batch_program<Key, Value, Compare>;
  using tuning = typename program::base::tuning;

  in_place_batch_memory(memory_layout& layout, std::size_t n)
      : control(layout.take<std::byte>(run_control::scratch_bytes)),
        sort(layout, n, device_sizes<typename program::base>(),
             3 * position{tuning::min_piece} / 2) {}

  std::byte* control;
  segmented_sort::segmented_sort_memory<program> sort;
};

/// Sorts batches one after another, in a stream of its own.
template <class Key, class Value, class Compare>
class in_place_batch_sorter {
  using memory = in_place_batch_memory<Key, Value, Compare>;
  using batch_program = typename memory::program;
  using program = without_loop<batch_program>;

 public:
  using arrays = key_value_arrays<Key, Value>;

  /// The batches have up to n elements. `choices` has the route. The sorter begins after the work
  /// before `begin`. \throws cuda_error
  in_place_batch_sorter(const run_choices& choices, void* scratch, std::size_t n, Compare compare,
                        const host_event& begin)
      : layout_(scratch),
        memory_(layout_, n),
        choices_(in_own_stream(choices, begin)),
        control_(memory_.control, choices_, layout_.size()),
        compare_{compare} {}
  in_place_batch_sorter(const in_place_batch_sorter&) = delete;
  in_place_batch_sorter& operator=(const in_place_batch_sorter&) = delete;
  /// Waits, because the scratch memory is not free before. An error is that of a later call.
  ~in_place_batch_sorter() { static_cast<void>(cudaStreamSynchronize(stream_.get())); }

  /// Starts to sort segments of `data`. On the device route it first waits for the batch before.
  /// \throws cuda_error, device_launch_error
  void start(const arrays& data, const few_segments& segments) {
    if (chain_ && control_.on_device_route()) finish();
    batch_program batch = memory_.sort.program(
        data, compare_, segments, segmented_sort::sizes_of_first_round<batch_program>(), true);
    batch.segments.follows = chain_.has_value();
    batch.sizes.levels_ahead = levels_ahead(segments);
    chain_.emplace(control_, program{batch}, choices_.loop);
    if (control_.on_device_route()) {
      clear_memory(control_.link().progress, 1, control_.stream(), "beginning a batch");
      chain_->launch_first_round({});
    }
    chain_->start();
  }

  /// Waits for the batches, if there were any. \throws cuda_error, device_launch_error
  void finish() {
    if (chain_) chain_->finish();
  }

  /// Returns the report of the batches, after finish().
  [[nodiscard]] quicksort_report report() {
    control_.read_trace();
    quicksort_report report;
    static_cast<run_report&>(report) = control_.report();
    if (chain_) report.merge_sorted_segments = chain_->state().merge_sorted;
    return report;
  }

 private:
  [[nodiscard]] run_choices in_own_stream(const run_choices& choices, const host_event& begin) {
    begin.block(stream_.get());
    run_choices own = choices;
    own.stream = stream_.get();
    return own;
  }

  /// Returns the number of levels that the longest segment needs, and one more if there are
  /// several: repeated keys often need it.
  [[nodiscard]] static unsigned levels_ahead(const few_segments& segments) {
    unsigned most = 0;
    for (unsigned i = 0; i < segments.count; ++i) {
      const auto& s = segments.ranges[i];
      most = std::max(most, levels_of_segment<typename memory::tuning>(s.end - s.begin));
    }
    return most < 2 ? most : most + 1;
  }

  memory_layout layout_;
  memory memory_;
  host_stream stream_;
  run_choices choices_;
  run_control control_;
  sort_order<Key, Compare> compare_;
  std::optional<launch_chain<program>> chain_;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the sort of parts with a ring of scratch memory, see in_place_ring.cuh.

#include <algorithm>
#include <cstddef>
#include <ramify/quicksort/in_place_level.cuh>
#include <ramify/quicksort/in_place_ring_sort.cuh>
#include <ramify/quicksort/order.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <vector>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// A range of the array.
struct in_place_range {
  std::size_t begin;
  std::size_t end;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Returns the elements of the region of a part. The extents are 1.66 times as long as the buckets
/// if 90 distinct keys are sampled for each bucket, and 1.85 times with 60, to which the shared
/// memory of the sample limits parts of many buckets. If they are longer than the region in sum,
/// all are shortened in proportion.
[[nodiscard]] inline std::size_t ring_region_size(std::size_t size, std::size_t buckets) {
  return size + size / 4 * 3 + 40 * buckets;
}

/// The lengths of parts for which `bytes` bytes of scratch memory are a ring.
template <class Key, class Value>
struct ring_limits {
  using tuning = ring_tuning<Key, Value>;
  /// Parts whose regions are in the ring at a time, usually. With 4, blocks wait longer for a free
  /// region.
  static constexpr std::size_t regions = 6;

  /// The maximum length of a part; 0: no part can be sorted with it. A part of this length with
  /// many repeated keys may have a bucket that is longer than its extent (about 1 in 20), and is
  /// left.
  std::size_t longest = 0;
  std::size_t usual = 0;  ///< the length at which to aim

  explicit ring_limits(std::size_t bytes) {
    // A quarter of the memory is for the tables.
    const std::size_t elements = bytes / 4 * 3 / in_place_tuning<Key, Value>::element_bytes;
    const std::size_t slack = 40 * std::size_t{tuning::max_buckets} + 256;
    const auto fits = [&](std::size_t count) {
      return count < slack ? 0 : (count - slack) * 4 / 7;
    };
    longest = std::min<std::size_t>(fits(elements / 2), tuning::max_part);
    usual =
        std::max<std::size_t>(std::min(fits(elements / regions), longest * 7 / 10), longest / 4);
  }
};

/// The parts and the tickets of a grid.
class ring_schedule {
 public:
  std::vector<ring_part> parts;
  std::vector<ring_step> steps;

  /// The ring has `capacity` elements. `resident` blocks of the grid run at the same time, and a
  /// tile has `tile` elements.
  ring_schedule(std::vector<ring_part> all, std::size_t capacity, unsigned resident, unsigned tile)
      : parts(std::move(all)), capacity_(capacity) {
    std::vector<unsigned> distributed(parts.size());  // the ticket after the tiles
    for (unsigned p = 0; p < parts.size(); ++p) {
      place(p);
      add(p, false, (parts[p].size + tile - 1) / tile);
      distributed[p] = tickets_;
      // A leaf ticket that is taken while tiles of its part are not complete would wait.
      while (sorted_ < p && tickets_ - distributed[sorted_] >= resident) sort_next();
    }
    while (sorted_ < parts.size()) sort_next();
    steps.push_back({tickets_, 0, 0});
  }

  [[nodiscard]] unsigned tickets() const { return tickets_; }

 private:
  void add(unsigned p, bool sorts_leaves, unsigned tickets) {
    steps.push_back({tickets_, p, sorts_leaves ? 1u : 0u});
    tickets_ += tickets;
  }
  void sort_next() {
    add(sorted_, true, parts[sorted_].leaves());
    ++sorted_;
  }

  /// Gives part p the next region of the ring. The leaves of the parts that had it have earlier
  /// tickets than the tiles of p.
  void place(unsigned p) {
    ring_part& part = parts[p];
    // Part p - 1 waits for the parts before oldest_. Of these, only part oldest_ - 1 may overlap
    // the region of p, too.
    part.waits_begin = oldest_ == 0 ? 0 : oldest_ - 1;
    if (head_ + part.region_size > capacity_) {
      while (oldest_ < p && parts[oldest_].region >= head_) ++oldest_;
      head_ = 0;
    }
    part.region = head_;
    head_ += part.region_size;
    while (oldest_ < p && parts[oldest_].region < head_ &&
           parts[oldest_].region + parts[oldest_].region_size > part.region) {
      ++oldest_;
    }
    part.waits_end = oldest_;
    while (sorted_ < part.waits_end) sort_next();
  }

  std::size_t capacity_;
  std::size_t head_ = 0;
  unsigned oldest_ = 0;  ///< the first part that still has its region
  unsigned sorted_ = 0;  ///< the first part whose leaves have no tickets
  unsigned tickets_ = 0;
};

/// Sorts parts with a ring.
template <class Key, class Value, class Compare>
class ring_sorter {
  using order = sort_order<Key, Compare>;
  using sort = ring_sort<Key, Value, order>;
  using tuning = typename sort::tuning;
  using arrays = typename sort::arrays;

 public:
  /// The scratch memory has `bytes` bytes.
  ring_sorter(cudaStream_t stream, const arrays& data, Compare compare, void* scratch,
              std::size_t bytes)
      : stream_(stream), data_(data), order_{compare}, scratch_(scratch), bytes_(bytes) {}

  /// Sorts the ranges, each of which must be within ring_limits. Appends those that it has left as
  /// they were to `left`. Waits. \throws cuda_error
  void run(const std::vector<in_place_range>& ranges, std::vector<in_place_range>& left) {
    for (std::size_t first = 0; first < ranges.size();) first = run_some(ranges, first, left);
  }

  [[nodiscard]] std::uint64_t grids() const { return grids_; }

 private:
  /// Sorts as many ranges as have space for their tables, from `first` on. Returns their end.
  std::size_t run_some(const std::vector<in_place_range>& ranges, std::size_t first,
                       std::vector<in_place_range>& left) {
    std::vector<ring_part> parts;
    std::size_t tables = 0;
    std::size_t trees = 0;
    std::size_t end = first;
    for (; end < ranges.size(); ++end) {
      const in_place_range& r = ranges[end];
      const std::size_t buckets =
          std::clamp<std::size_t>((r.size() - 1) / tuning::bucket_size + 1, 2, tuning::max_buckets);
      ring_part part{};
      part.begin = r.begin;
      part.size = static_cast<unsigned>(r.size());
      part.buckets = static_cast<unsigned>(buckets);
      part.tables = static_cast<unsigned>(tables);
      part.trees = static_cast<unsigned>(trees);
      part.region_size = static_cast<unsigned>(ring_region_size(r.size(), buckets));
      tables += 2 * part.leaves();
      trees += part.leaves();
      parts.push_back(part);
      if (size_of_tables(parts.size(), tables, trees) > bytes_ / 4 && end > first) {
        parts.pop_back();
        break;
      }
    }
    launch_grids(std::move(parts), tables, trees);
    for (std::size_t i = first; i < end; ++i) {
      if (states_[i - first].progress == ring_overflows) left.push_back(ranges[i]);
    }
    return end;
  }

  /// The tables of some parts.
  struct memory {
    memory(memory_layout& layout, std::size_t count, std::size_t tables, std::size_t codes)
        : parts(layout.take<ring_part>(count)),
          steps(layout.take<ring_step>(2 * count + 1)),
          states(layout.take<ring_part_state>(count)),
          trees(layout.take<typename sort::code>(codes)),
          extents(layout.take<unsigned>(tables)),
          filled(layout.take<unsigned>(tables)),
          tickets_taken(layout.take<unsigned>(1)) {}

    ring_part* parts;
    ring_step* steps;
    ring_part_state* states;
    typename sort::code* trees;
    unsigned* extents;
    unsigned* filled;
    unsigned* tickets_taken;
  };

  [[nodiscard]] static std::size_t size_of_tables(std::size_t count, std::size_t tables,
                                                  std::size_t trees) {
    memory_layout layout(nullptr);
    const memory measured(layout, count, tables, trees);
    return layout.size();
  }

  /// Sorts parts, whose tables have the given numbers of entries. Waits.
  void launch_grids(std::vector<ring_part> parts, std::size_t tables, std::size_t trees) {
    // 1. Lay out the scratch memory: the tables, then the ring.
    const std::size_t count = parts.size();
    memory_layout layout(scratch_);
    const memory of_run(layout, count, tables, trees);
    const std::size_t capacity = (bytes_ - layout.size() - 2 * memory_layout::alignment) /
                                 in_place_tuning<Key, Value>::element_bytes;
    constexpr std::size_t shared = ring_shared_bytes<sort>();
    set_max_dynamic_shared(in_place_ring_sort<sort>, shared);
    const unsigned resident = resident_blocks(in_place_ring_sort<sort>, tuning::threads, shared);
    const ring_schedule schedule(std::move(parts), capacity, resident, tuning::tile);
    Key* const keys = layout.take<Key>(capacity);
    Value* const values = layout.take<Value>(tuning::has_values ? capacity : 0);
    const sort ring{order_,
                    data_,
                    {keys, values},
                    static_cast<unsigned>(count),
                    schedule.tickets(),
                    of_run.parts,
                    of_run.steps,
                    of_run.states,
                    of_run.trees,
                    of_run.extents,
                    of_run.filled,
                    of_run.tickets_taken};
    copy(of_run.parts, schedule.parts);
    copy(of_run.steps, schedule.steps);

    // 2. Launch the grids.
    launch_sample(ring);
    const launch_shape shape{std::min(resident, ring.ticket_count), unsigned{tuning::threads},
                             shared};
    check(launch(in_place_ring_sort<sort>, shape, stream_, ring).code(), doing);
    ++grids_;

    // 3. Read which parts have been sorted.
    states_.resize(count);
    check(cudaMemcpyAsync(states_.data(), of_run.states, count * sizeof(ring_part_state),
                          cudaMemcpyDeviceToHost, stream_),
          doing);
    check(cudaStreamSynchronize(stream_), doing);
  }

  void launch_sample(const sort& ring) {
    using sample = ring_sample<sort>;
    using merge_sort = typename sample::merge_sort;
    constexpr unsigned threads = sample::tuning::sample_threads;
    const std::size_t allowed =
        set_max_dynamic_shared(in_place_ring_sample<sort>, merge_sort::bytes(merge_sort::capacity));
    const auto most =
        static_cast<unsigned>((allowed - merge_sort::bytes(0)) / sizeof(typename sort::code));
    const unsigned blocks =
        std::min(ring.part_count, resident_blocks(in_place_ring_sample<sort>, threads, allowed));
    check(
        launch(in_place_ring_sample<sort>, {blocks, threads, allowed}, stream_, ring, most).code(),
        doing);
    ++grids_;
  }

  template <class T>
  void copy(T* to, const std::vector<T>& from) const {
    check(
        cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream_),
        "copying the parts of an array");
  }

  static constexpr const char* doing = "sorting parts of an array";
  cudaStream_t stream_;
  arrays data_;
  order order_;
  void* scratch_;
  std::size_t bytes_;
  std::vector<ring_part_state> states_;
  std::uint64_t grids_ = 0;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

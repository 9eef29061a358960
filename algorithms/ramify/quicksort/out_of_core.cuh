// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sort of host arrays that do not fit in device memory: two trips over the link.
///
///   1. Sort trip    each run, as many elements as fit, is sorted on the device and copied to
///                   temporary host memory. The first key of each block of a run is a sample.
///   2. Divide       the samples of all runs are sorted. A bucket is the blocks of the next m
///                   samples in this order. So all blocks of later buckets begin with keys that are
///                   not before the last of these samples.
///   3. Merge trip   the blocks of a bucket are copied to the device and sorted. Elements that are
///                   not after its last sample are complete, and are copied to the output. The
///                   others, less than a block of each run, stay on the device for the next
///                   bucket.
///
///     runs       [1 4 | 6 9]  [2 3 | 5 7]          blocks of 2 keys; samples 1 6 2 5
///     buckets    blocks of 1 2, then of 5 6        in sorted order, two in a bucket
///     merge      1 4 2 3 --> 1 2 out, 3 4 stay;    3 4 5 7 6 9 --> 3 4 5 6 7 9
///
/// So all buckets have the same size, for any keys. While a part is sorted, the next one is copied
/// to the device, and the previous one to the host: three slots, three streams, of which the one of
/// the caller sorts.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <ramify/quicksort/out_of_core_plan.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/detail/partition_point.cuh>
#include <ramify/runtime/staging.cuh>
#include <ramify/runtime/stream.cuh>
#include <vector>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Writes the first key of each block of a run, and the number of the run. A thread has a block.
template <class Key>
__global__ void take_samples(const Key* keys, std::size_t blocks, std::size_t block, unsigned run,
                             Key* samples, unsigned* run_of_sample) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= blocks) return;
  samples[i] = keys[i * block];
  run_of_sample[i] = run;
}

/// Counts the sorted keys that are not after `sample`, by bisection. One thread.
template <class Key, class Order>
__global__ void count_complete(const Key* keys, std::size_t n, const Key* sample, Order order,
                               unsigned long long* count) {
  const typename Order::code last = order.encode(*sample);
  *count = runtime::partition_point(
      std::size_t{0}, n, [&](std::size_t i) { return !order(last, order.encode(keys[i])); });
}

/// One sort. The destructor waits for its copies.
template <class Key, class Value, class Compare>
class out_of_core_sort {
  using arrays = key_value_arrays<Key, Value>;
  using memory = out_of_core_memory<Key, Value, Compare>;
  using order = sort_order<Key, Compare>;

 public:
  /// `data` and `temporary` are host arrays of plan.n elements. `options` are those of each part.
  /// Waits for earlier work in the caller's stream, which may write the arrays.
  out_of_core_sort(const run_setup& setup, const out_of_core_plan& plan, const arrays& data,
                   const arrays& temporary, Compare compare, const quicksort_options& options)
      : plan_(plan),
        data_(data),
        temporary_(temporary),
        compare_(compare),
        options_(options),
        sorting_(setup.stream),
        memory_(setup.given, setup.stream, setup.algorithm, plan, options),
        of_part_(setup.of_part(device_.scratch)) {
    check(cudaStreamSynchronize(sorting_), "waiting for earlier work in the stream");
  }
  out_of_core_sort(const out_of_core_sort&) = delete;
  out_of_core_sort& operator=(const out_of_core_sort&) = delete;
  ~out_of_core_sort() {
    for (const cudaStream_t stream : {arriving_.get(), sorting_, leaving_.get()}) {
      static_cast<void>(cudaStreamSynchronize(stream));  // an error was thrown before
    }
  }

  /// Runs both trips, and waits for them. Call it once.
  quicksort_report run() {
    sort_runs();
    if (plan_.runs() > 1) merge_runs();
    report_.keys = plan_.n;
    report_.scratch_bytes = memory_.scratch.size();
    return report_;
  }

 private:
  /// A part of a trip on the device. The arrays belong to one part until it has left.
  struct slot {
    arrays elements;
    host_event arrived = host_event::without_time();
    host_event sorted = host_event::without_time();
    host_event left = host_event::without_time();
  };

  /// Elements [begin, begin + size) of a slot.
  struct range {
    std::size_t begin;
    std::size_t size;
  };

  [[nodiscard]] static arrays at(const arrays& a, std::size_t i) {
    if constexpr (arrays::has_values) return {a.keys + i, a.values + i};
    return {a.keys + i, nullptr};
  }
  static void copy_in(const arrays& to, const arrays& from, std::size_t n, cudaStream_t stream) {
    copy_to_device(to.keys, from.keys, n * sizeof(Key), stream);
    if constexpr (arrays::has_values) {
      copy_to_device(to.values, from.values, n * sizeof(Value), stream);
    }
  }
  static void copy_out(const arrays& to, const arrays& from, std::size_t n, cudaStream_t stream) {
    copy_to_host(to.keys, from.keys, n * sizeof(Key), stream);
    if constexpr (arrays::has_values) {
      copy_to_host(to.values, from.values, n * sizeof(Value), stream);
    }
  }

  /// Runs a trip of `parts` parts. For each part i: arrive(i, elements) enqueues its copies to the
  /// device, sort(i, elements) sorts it, waits, and returns the range to be copied to the host,
  /// leave(i, elements) enqueues this copy. All three get the elements on the device.
  template <class Arrive, class Sort, class Leave>
  void make_trip(std::size_t parts, const Arrive& arrive, const Sort& sort, const Leave& leave) {
    for (std::size_t i = 0; i <= parts; ++i) {
      if (i < parts) {
        slot& next = slots_[i % 3];
        next.left.block(arriving_.get());
        arrive(i, next.elements);
        next.arrived.record(arriving_.get());
      }
      if (i == 0) continue;
      slot& current = slots_[(i - 1) % 3];
      current.arrived.block(sorting_);
      const range complete = sort(i - 1, current.elements);
      current.sorted.record(sorting_);
      current.sorted.block(leaving_.get());
      leave(at(current.elements, complete.begin), complete.size);
      current.left.record(leaving_.get());
    }
    leaving_.synchronize();
  }

  void sort_on_device(const arrays& elements, std::size_t n) {
    quicksort_report part;
    if constexpr (arrays::has_values) {
      part = quicksort_pairs(elements.keys, elements.values, n, compare_, options_, of_part_);
    } else {
      part = ramify::quicksort(elements.keys, n, compare_, options_, of_part_);
    }
    add(part);
  }
  void add(const quicksort_report& part) {
    if (parts_++ == 0) {
      report_ = part;
      return;
    }
    add_part(report_, part, "a part");
    report_.merge_sorted_segments += part.merge_sorted_segments;
  }

  void sort_runs() {
    const phase_range phase("quicksort: sort trip");
    const arrays& target = plan_.runs() > 1 ? temporary_ : data_;
    std::size_t written = 0;
    make_trip(
        plan_.runs(),
        [&](std::size_t i, const arrays& elements) {
          copy_in(elements, at(data_, i * plan_.run), plan_.size_of_run(i), arriving_.get());
        },
        [&](std::size_t i, const arrays& elements) -> range {
          const std::size_t n = plan_.size_of_run(i);
          sort_on_device(elements, n);
          const std::size_t first = i * plan_.blocks_of_run(0);
          runtime::launch_each(take_samples<Key>, plan_.blocks_of_run(i), sorting_,
                               "taking samples", elements.keys, plan_.blocks_of_run(i),
                               plan_.block(), static_cast<unsigned>(i), device_.samples + first,
                               device_.run_of_sample + first);
          ++report_.host_grids;
          return {0, n};
        },
        [&](const arrays& elements, std::size_t n) {
          copy_out(at(target, written), elements, n, leaving_.get());
          written += n;
        });
  }

  /// Sorts the samples. Returns the number of the run of each.
  std::vector<unsigned> sort_samples() {
    std::vector<unsigned> runs(plan_.blocks());
    add(quicksort_pairs(device_.samples, device_.run_of_sample, runs.size(), compare_, options_,
                        of_part_));
    copy_to_host(runs.data(), device_.run_of_sample, runs.size() * sizeof(unsigned), sorting_);
    check(cudaStreamSynchronize(sorting_), "reading the runs of samples");
    return runs;
  }

  void merge_runs() {
    const phase_range phase("quicksort: merge trip");
    const std::vector<unsigned> run_of_sample = sort_samples();
    std::vector<std::size_t> begin(plan_.runs(), 0);  // of the part of a run that has not arrived
    std::array<std::size_t, 3> arrived{};             // elements of a bucket, in its slot
    arrays kept{};                                    // the elements that stay on the device
    std::size_t kept_size = 0;
    std::size_t written = 0;
    make_trip(
        plan_.buckets(),
        [&](std::size_t bucket, const arrays& elements) {
          arrived[bucket % 3] = bring_blocks(bucket, run_of_sample, begin, elements);
        },
        [&](std::size_t bucket, const arrays& elements) -> range {
          const std::size_t first = plan_.max_kept() - kept_size;
          const std::size_t n = kept_size + arrived[bucket % 3];
          move_kept(at(elements, first), kept, kept_size);
          sort_on_device(at(elements, first), n);
          const std::size_t complete = complete_elements(bucket, elements.keys + first, n);
          kept = at(elements, first + complete);
          kept_size = n - complete;
          return {first, complete};
        },
        [&](const arrays& elements, std::size_t n) {
          copy_out(at(data_, written), elements, n, leaving_.get());
          written += n;
        });
  }

  /// Enqueues the copies of a bucket's blocks, which follow the place of the kept elements. Returns
  /// the number of elements.
  std::size_t bring_blocks(std::size_t bucket, const std::vector<unsigned>& run_of_sample,
                           std::vector<std::size_t>& begin, const arrays& elements) {
    std::vector<std::size_t> blocks(plan_.runs(), 0);
    const std::size_t first = bucket * plan_.blocks_of_bucket();
    const std::size_t end = std::min(first + plan_.blocks_of_bucket(), run_of_sample.size());
    for (std::size_t i = first; i < end; ++i) ++blocks[run_of_sample[i]];
    std::size_t n = 0;
    for (std::size_t run = 0; run < blocks.size(); ++run) {
      const std::size_t size =
          std::min(blocks[run] * plan_.block(), plan_.size_of_run(run) - begin[run]);
      copy_in(at(elements, plan_.max_kept() + n), at(temporary_, run * plan_.run + begin[run]),
              size, arriving_.get());
      begin[run] += size;
      n += size;
    }
    return n;
  }

  void move_kept(const arrays& to, const arrays& from, std::size_t n) {
    if (n == 0) return;
    const auto move = [&](void* target, const void* source, std::size_t bytes) {
      check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, sorting_),
            "moving elements to the next bucket");
    };
    move(to.keys, from.keys, n * sizeof(Key));
    if constexpr (arrays::has_values) move(to.values, from.values, n * sizeof(Value));
  }

  /// Returns how many of the n sorted elements no later bucket precedes. Waits.
  std::size_t complete_elements(std::size_t bucket, const Key* keys, std::size_t n) {
    const std::size_t end = (bucket + 1) * plan_.blocks_of_bucket();
    if (end >= plan_.blocks()) return n;
    check(launch(count_complete<Key, order>, {1, 1}, sorting_, keys, n, device_.samples + end - 1,
                 order{compare_}, device_.count)
              .code(),
          "counting complete elements");
    ++report_.host_grids;
    const std::size_t complete = read_back(device_.count, sorting_, "counting elements");
    // Only a comparator that is not a strict weak order leaves more.
    return std::max(complete, n - std::min(n, plan_.max_kept()));
  }

  const out_of_core_plan plan_;
  const arrays data_, temporary_;
  const Compare compare_;
  const quicksort_options options_;
  host_stream arriving_, leaving_;
  const cudaStream_t sorting_;
  run_memory<memory> memory_;
  const memory& device_ = memory_.parts;
  const environment of_part_;
  std::array<slot, 3> slots_{slot{device_.slots[0]}, slot{device_.slots[1]},
                             slot{device_.slots[2]}};
  quicksort_report report_;
  std::uint64_t parts_ = 0;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

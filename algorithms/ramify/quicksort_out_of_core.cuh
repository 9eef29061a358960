// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quicksort of host arrays that do not fit in device memory.
///
///     std::vector<float> keys(10'000'000'000);
///     ramify::quicksort_out_of_core(keys.data(), keys.size(), ramify::ascending{},
///                                   {.device_memory = std::size_t{16} << 30});
///
/// Keys, values   n elements each in host memory, of types as in <ramify/quicksort.cuh>.
/// Order          As there: any strict weak order, as a device functor. The sort is not stable.
/// Device memory  At most quicksort_options::device_memory, from environment::memory or from
///                Ramify's stream-ordered pool. The elements that fit at once are a run: a fourth
///                to a fifth of it.
/// Host memory    n more elements, if there is more than one run. The memory is allocated, or comes
///                from quicksort_options::temporary.
/// Speed          Each element crosses the link twice in each direction, while other elements are
///                sorted and cross it in the other direction. Both directions are busy only if the
///                keys, the values and the temporary memory are pinned (cudaMallocHost).
///                Other memory is staged through pinned chunks, in one direction at a time.
/// Stream         The host waits for earlier work in environment::stream before it reads the
///                arrays. Sorts run in this stream, and copies in streams of the call. The call
///                returns after the arrays are sorted. A graph cannot capture it.
/// Errors         std::invalid_argument for a bad argument, or for device memory in which n
///                elements cannot be sorted, both before any memory is written; std::bad_alloc;
///                unavailable; cuda_error; device_launch_error. If one of the last two is thrown,
///                the content of the arrays is unspecified.
/// Complexity     That of two sorts of n elements in runs.
/// Not for        Arrays that fit in device memory, for which <ramify/quicksort.cuh> is faster.
/// Source         Regular samples of sorted runs: H. Shi, J. Schaeffer, J. Parallel Distrib.
///                Comput. 14 (1992) 361.

#include <ramify/runtime/detail/requirements.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <ramify/quicksort/out_of_core.cuh>
#include <stdexcept>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Host memory: pinned, or ordinary.
class temporary_memory {
 public:
  temporary_memory(std::size_t bytes, bool is_pinned) {
    if (is_pinned) {
      pinned_ = pinned_buffer<std::byte>(bytes);
    } else {
      ordinary_.reset(::operator new(bytes, alignment));
    }
  }
  [[nodiscard]] void* data() const {
    return ordinary_ != nullptr ? ordinary_.get() : static_cast<void*>(pinned_.data());
  }

 private:
  static constexpr std::align_val_t alignment{memory_layout::alignment};
  struct deleter {
    void operator()(void* memory) const { ::operator delete(memory, alignment); }
  };
  std::unique_ptr<void, deleter> ordinary_;
  pinned_buffer<std::byte> pinned_;
};

/// Returns whether a host array is pinned. \throws std::invalid_argument naming it if it is an
/// array of the device
inline bool is_pinned_host_array([[maybe_unused]] const void* array,
                                 [[maybe_unused]] const char* name) {
#if RAMIFY_ON_CUDA
  const cudaMemoryType kind = memory_of(array, name);
  if (kind == cudaMemoryTypeDevice || kind == cudaMemoryTypeManaged) {
    throw std::invalid_argument(std::string(name) +
                                " are in device or managed memory; a sort in parts is for host "
                                "memory (quicksort() sorts device memory in place)");
  }
  return kind == cudaMemoryTypeHost;
#else
  return false;
#endif
}

template <class Key, class Value>
struct temporary_arrays {
  using arrays = key_value_arrays<Key, Value>;

  temporary_arrays(memory_layout& memory, std::size_t n)
      : elements{memory.take<Key>(n), memory.take<Value>(arrays::has_values ? n : 0)} {}

  arrays elements;
};

template <class Key, class Value, class Compare>
quicksort_report sort_out_of_core(const key_value_arrays<Key, Value>& data, std::size_t n,
                                  Compare compare, const quicksort_options& options,
                                  const environment& env) {
  using temporaries = temporary_arrays<Key, Value>;
  validate(options);
  check_field(n >> 40 == 0, "quicksort_out_of_core: n", n, "less than 2^40");
  const run_setup setup("quicksort_out_of_core", by_get(env));
  if (setup.captured) {
    throw unavailable("quicksort_out_of_core: a graph cannot capture a sort of host memory");
  }
  quicksort_report report;
  static_cast<run_report&>(report) =
      report_of_this_build({route::flat, "fewer than two keys are sorted already"});
  report.strategy = options.strategy;
  report.keys = n;
  if (n < 2) return report;
  check_alignment(data.keys, alignof(Key), "quicksort_out_of_core: keys");
  bool is_pinned = is_pinned_host_array(data.keys, "quicksort_out_of_core: keys");
  if constexpr (!std::is_same_v<Value, no_value>) {
    check_alignment(data.values, alignof(Value), "quicksort_out_of_core: values");
    is_pinned = is_pinned_host_array(data.values, "quicksort_out_of_core: values") && is_pinned;
    check_overlap(data.keys, data.values, n);
  }
  const auto plan = plan_out_of_core<Key, Value, Compare>(n, options);
  // The sort's destructor waits for copies, so it runs before the temporary memory is freed.
  std::unique_ptr<temporary_memory> own;
  void* temporary = options.temporary;
  if (plan.runs() > 1 && temporary == nullptr) {
    own = std::make_unique<temporary_memory>(layout_bytes<temporaries>(n), is_pinned);
    temporary = own->data();
  }
  memory_layout layout(temporary);
  const temporaries host(layout, n);
  if (options.temporary != nullptr) {
    check_overlaps(
        "quicksort_out_of_core",
        std::array{output_array(data.keys, n, "keys"), output_array(data.values, n, "values"),
                   output_array(static_cast<std::byte*>(temporary), layout.size(),
                                "quicksort_options.temporary")});
  }
  report = out_of_core_sort<Key, Value, Compare>(setup, plan, data, host.elements, compare,
                                                 in_place_options(options))
               .run();
  report.runs = plan.runs();
  report.buckets = plan.runs() > 1 ? plan.buckets() : 0;
  return report;
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Sorts n keys of a host array in place, in parts that fit in options.device_memory. Waits.
///
/// \param env  its memory: as many bytes as quicksort_report::scratch_bytes states, which are at
///             most options.device_memory
/// \throws std::invalid_argument, std::bad_alloc, unavailable, cuda_error, device_launch_error
template <class Key, class Compare>
quicksort_report quicksort_out_of_core(Key* keys, std::size_t n, Compare compare,
                                       const quicksort_options& options,
                                       const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return detail::quicksort::sort_out_of_core<Key, no_value>({keys, nullptr}, n, compare, options,
                                                              env);
  }
}

/// Sorts n keys of a host array in place, and moves each value with its key, in parts that fit in
/// options.device_memory. Waits.
///
/// \param env  its memory: as for quicksort_out_of_core()
/// \throws std::invalid_argument, std::bad_alloc, unavailable, cuda_error, device_launch_error
template <class Key, class Value, class Compare>
quicksort_report quicksort_pairs_out_of_core(Key* keys, Value* values, std::size_t n,
                                             Compare compare, const quicksort_options& options,
                                             const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return detail::quicksort::sort_out_of_core<Key, Value>({keys, values}, n, compare, options,
                                                           env);
  }
}

/// Returns the bytes of quicksort_options::temporary for n elements. Value is no_value for keys
/// without values.
template <class Key, class Value = no_value>
[[nodiscard]] std::size_t quicksort_out_of_core_temporary_bytes(std::size_t n) {
  return layout_bytes<detail::quicksort::temporary_arrays<Key, Value>>(n);
}

}  // namespace ramify::inline RAMIFY_BUILD

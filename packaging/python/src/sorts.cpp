// SPDX-License-Identifier: BSD-3-Clause
// Sorts of arrays, and of segments of arrays.
#include <nanobind/stl/string.h>

#include <ramify/quicksort.hpp>
#include <ramify/segmented_sort.hpp>
#include <type_traits>

#include "arrays.hpp"

namespace ramify::python {

namespace {

sort_order order_of(bool descending) {
  return descending ? sort_order::descending : sort_order::ascending;
}

/// Calls `visit` with the keys.
template <class Visit>
void visit_keys(const output& keys, Visit visit) {
  visit_elements<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>(keys,
                                                                                          visit);
}

/// Calls `visit` with the values as unsigned integers: a sort moves their bits.
template <class Visit>
void visit_values(const output& values, Visit visit) {
  if (values.itemsize() == 4) {
    visit(std::span(static_cast<std::uint32_t*>(values.data()), values.size()));
  } else {
    visit(std::span(static_cast<std::uint64_t*>(values.data()), values.size()));
  }
}

/// Calls `visit` with the keys, and with the values if there are any.
template <class Visit>
void visit_arrays(const output& keys, const output& values, Visit visit) {
  visit_keys(keys, [&](auto key_span) {
    if (!values.is_valid()) {
      visit(key_span);
    } else {
      visit_values(values, [&](auto value_span) { visit(key_span, value_span); });
    }
  });
}

/// Calls `visit` with the offsets.
template <class Visit>
void visit_offsets(const input& offsets, Visit visit) {
  visit_elements<const std::int32_t, const std::uint32_t, const std::int64_t, const std::uint64_t>(
      offsets, visit);
}

// With `starts`, the functions return before the call is complete.

template <bool starts>
auto sort(const output& keys, const output& values, bool descending, const std::string& strategy,
          const environment& env) {
  const quicksort_options options{.strategy = parse_quicksort_strategy(strategy)};
  const sort_order order = order_of(descending);
  return outcome_of([&] {
    std::conditional_t<starts, started_run, quicksort_report> made;
    visit_arrays(keys, values, [&](auto... spans) {
      if constexpr (sizeof...(spans) == 1) {
        if constexpr (starts) made = quicksort_async(spans..., order, options, env);
        if constexpr (!starts) made = quicksort(spans..., order, options, env);
      } else {
        if constexpr (starts) made = quicksort_pairs_async(spans..., order, options, env);
        if constexpr (!starts) made = quicksort_pairs(spans..., order, options, env);
      }
    });
    return made;
  });
}

template <bool starts>
auto sort_segments(const output& keys, const output& values, const input& offsets, bool descending,
                   const environment& env) {
  const sort_order order = order_of(descending);
  return outcome_of([&] {
    std::conditional_t<starts, started_run, segmented_sort_report> made;
    visit_offsets(offsets, [&](auto at) {
      visit_arrays(keys, values, [&](auto... spans) {
        if constexpr (sizeof...(spans) == 1) {
          if constexpr (starts) made = segmented_sort_async(spans..., at, order, env);
          if constexpr (!starts) made = segmented_sort(spans..., at, order, env);
        } else {
          if constexpr (starts) made = segmented_sort_pairs_async(spans..., at, order, env);
          if constexpr (!starts) made = segmented_sort_pairs(spans..., at, order, env);
        }
      });
    });
    return made;
  });
}

}  // namespace

void add_sorts(nb::module_& module) {
  const auto define = [&](const char* name, auto function) {
    module.def(name, function, nb::arg("keys").noconvert(), nb::arg("values").noconvert().none(),
               nb::arg("descending"), nb::arg("strategy"), nb::arg("env"));
  };
  define("sort", &sort<false>);
  define("sort_async", &sort<true>);
  const auto define_segmented = [&](const char* name, auto function) {
    module.def(name, function, nb::arg("keys").noconvert(), nb::arg("values").noconvert().none(),
               nb::arg("offsets").noconvert(), nb::arg("descending"), nb::arg("env"));
  };
  define_segmented("segmented_sort", &sort_segments<false>);
  define_segmented("segmented_sort_async", &sort_segments<true>);
}

}  // namespace ramify::python

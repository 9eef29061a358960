// SPDX-License-Identifier: BSD-3-Clause
// Sorts of arrays, and of segments of arrays.
#include <nanobind/stl/string.h>

#include <ramify/quicksort.hpp>
#include <ramify/segmented_sort.hpp>

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

std::string sort(const output& keys, const output& values, bool descending,
                 const std::string& strategy, const environment& env) {
  const quicksort_options options{.strategy = parse_quicksort_strategy(strategy)};
  const sort_order order = order_of(descending);
  return report_of([&] {
    quicksort_report report;
    visit_arrays(keys, values, [&](auto key_span, auto... value_span) {
      if constexpr (sizeof...(value_span) == 0) {
        report = quicksort(key_span, order, options, env);
      } else {
        report = quicksort_pairs(key_span, value_span..., order, options, env);
      }
    });
    return report;
  });
}

started_run start_sort(const output& keys, const output& values, bool descending,
                       const std::string& strategy, const environment& env) {
  const quicksort_options options{.strategy = parse_quicksort_strategy(strategy)};
  const sort_order order = order_of(descending);
  return without_lock([&] {
    started_run run;
    visit_arrays(keys, values, [&](auto key_span, auto... value_span) {
      if constexpr (sizeof...(value_span) == 0) {
        run = quicksort_async(key_span, order, options, env);
      } else {
        run = quicksort_pairs_async(key_span, value_span..., order, options, env);
      }
    });
    return run;
  });
}

std::string sort_segments(const output& keys, const output& values,
                          const input& offsets, bool descending, const environment& env) {
  const sort_order order = order_of(descending);
  return report_of([&] {
    segmented_sort_report report;
    visit_offsets(offsets, [&](auto offset_span) {
      visit_arrays(keys, values, [&](auto key_span, auto... value_span) {
        if constexpr (sizeof...(value_span) == 0) {
          report = segmented_sort(key_span, offset_span, order, env);
        } else {
          report = segmented_sort_pairs(key_span, value_span..., offset_span, order, env);
        }
      });
    });
    return report;
  });
}

started_run start_to_sort_segments(const output& keys, const output& values,
                                   const input& offsets, bool descending, const environment& env) {
  const sort_order order = order_of(descending);
  return without_lock([&] {
    started_run run;
    visit_offsets(offsets, [&](auto offset_span) {
      visit_arrays(keys, values, [&](auto key_span, auto... value_span) {
        if constexpr (sizeof...(value_span) == 0) {
          run = segmented_sort_async(key_span, offset_span, order, env);
        } else {
          run = segmented_sort_pairs_async(key_span, value_span..., offset_span, order, env);
        }
      });
    });
    return run;
  });
}

}  // namespace

void add_sorts(nb::module_& module) {
  const auto define = [&](const char* name, auto function) {
    module.def(name, function, nb::arg("keys").noconvert(), nb::arg("values").noconvert().none(),
               nb::arg("descending"), nb::arg("strategy"), nb::arg("env"));
  };
  define("sort", &sort);
  define("sort_async", &start_sort);
  const auto define_segmented = [&](const char* name, auto function) {
    module.def(name, function, nb::arg("keys").noconvert(), nb::arg("values").noconvert().none(),
               nb::arg("offsets").noconvert(), nb::arg("descending"), nb::arg("env"));
  };
  define_segmented("segmented_sort", &sort_segments);
  define_segmented("segmented_sort_async", &start_to_sort_segments);
}

}  // namespace ramify::python

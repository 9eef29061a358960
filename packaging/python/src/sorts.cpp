// SPDX-License-Identifier: BSD-3-Clause
// Sorts of arrays, and of segments of arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
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

std::string sort(const output& keys, const std::optional<output>& values, bool descending,
                 const std::string& strategy, const environment& env) {
  const quicksort_options options{.strategy = parse_quicksort_strategy(strategy)};
  const sort_order order = order_of(descending);
  return report_of([&] {
    quicksort_report report;
    visit_keys(keys, [&](auto key_span) {
      if (!values) {
        report = quicksort(key_span, order, options, env);
        return;
      }
      visit_values(*values, [&](auto value_span) {
        report = quicksort_pairs(key_span, value_span, order, options, env);
      });
    });
    return report;
  });
}

std::string sort_segments(const output& keys, const std::optional<output>& values,
                          const input& offsets, bool descending, const environment& env) {
  const sort_order order = order_of(descending);
  return report_of([&] {
    segmented_sort_report report;
    visit_elements<const std::int32_t, const std::uint32_t, const std::int64_t,
                   const std::uint64_t>(offsets, [&](auto offset_span) {
      visit_keys(keys, [&](auto key_span) {
        if (!values) {
          report = segmented_sort(key_span, offset_span, order, env);
          return;
        }
        visit_values(*values, [&](auto value_span) {
          report = segmented_sort_pairs(key_span, value_span, offset_span, order, env);
        });
      });
    });
    return report;
  });
}

}  // namespace

void add_sorts(nb::module_& module) {
  module.def("sort", &sort, nb::arg("keys").noconvert(), nb::arg("values").noconvert().none(),
             nb::arg("descending"), nb::arg("strategy"), nb::arg("env"));
  module.def("segmented_sort", &sort_segments, nb::arg("keys").noconvert(),
             nb::arg("values").noconvert().none(), nb::arg("offsets").noconvert(),
             nb::arg("descending"), nb::arg("env"));
}

}  // namespace ramify::python

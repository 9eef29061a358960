// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees and forests, as arrays of parents.
#include <nanobind/stl/string.h>

#include <ramify/rooted_tree.hpp>
#include <type_traits>

#include "arrays.hpp"

namespace ramify::python {

namespace {

// With `starts`, the functions return before the call is complete.

template <bool starts>
auto numbers(const input& parents, const output& levels, const output& sizes,
             const output& preorder, const output& postorder, const environment& env) {
  return outcome_of([&] {
    const tree_shape shape = tree_shape::of_parents(elements<const std::int32_t>(parents));
    const tree_number_spans to{.levels = elements<std::int32_t>(levels),
                               .subtree_sizes = elements<std::int32_t>(sizes),
                               .preorder = elements<std::int32_t>(preorder),
                               .postorder = elements<std::int32_t>(postorder)};
    if constexpr (starts) {
      return rooted_tree_async(shape, to, env);
    } else {
      return rooted_tree(shape, to, env);
    }
  });
}

template <bool starts>
auto fold(const input& parents, const input& values, const output& folds,
          const std::string& combine, bool of_subtrees, const environment& env) {
  const auto with = parse_choice<tree_operator>("operator", combine);
  return outcome_of([&] {
    std::conditional_t<starts, started_run, rooted_tree_report> made;
    const tree_shape shape = tree_shape::of_parents(elements<const std::int32_t>(parents));
    visit_elements<const double, const std::int64_t>(values, [&](auto span) {
      using T = std::remove_const_t<typename decltype(span)::element_type>;
      const std::span<T> to = elements<T>(folds);
      if constexpr (starts) {
        made = of_subtrees ? leaffix_async<T>(shape, span, to, with, env)
                           : rootfix_async<T>(shape, span, to, with, env);
      } else {
        made = of_subtrees ? leaffix<T>(shape, span, to, with, env)
                           : rootfix<T>(shape, span, to, with, env);
      }
    });
    return made;
  });
}

}  // namespace

void add_rooted_trees(nb::module_& module) {
  const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
  const auto define_numbers = [&](const char* name, auto function) {
    module.def(name, function, array("parents"), array("levels"), array("sizes"), array("preorder"),
               array("postorder"), nb::arg("env"));
  };
  define_numbers("rooted_tree", &numbers<false>);
  define_numbers("rooted_tree_async", &numbers<true>);
  const auto define_fold = [&](const char* name, auto function) {
    module.def(name, function, array("parents"), array("values"), array("folds"),
               nb::arg("combine"), nb::arg("of_subtrees"), nb::arg("env"));
  };
  define_fold("fold_tree", &fold<false>);
  define_fold("fold_tree_async", &fold<true>);
}

}  // namespace ramify::python

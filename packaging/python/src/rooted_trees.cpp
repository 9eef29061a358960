// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees and forests, as arrays of parents.
#include <nanobind/stl/string.h>

#include <ramify/rooted_tree.hpp>

#include "arrays.hpp"

namespace ramify::python {

namespace {

std::string numbers(const input& parents, const output& levels, const output& sizes,
                    const output& preorder, const output& postorder, const environment& env) {
  return report_of([&] {
    return rooted_tree(tree_shape::of_parents(elements<const std::int32_t>(parents)),
                       {.levels = elements<std::int32_t>(levels),
                        .subtree_sizes = elements<std::int32_t>(sizes),
                        .preorder = elements<std::int32_t>(preorder),
                        .postorder = elements<std::int32_t>(postorder)},
                       env);
  });
}

std::string fold(const input& parents, const input& values, const output& folds,
                 const std::string& combine, bool of_subtrees, const environment& env) {
  const auto with = parse_choice<tree_operator>("operator", combine);
  return report_of([&] {
    rooted_tree_report report;
    const tree_shape shape = tree_shape::of_parents(elements<const std::int32_t>(parents));
    visit_elements<const double, const std::int64_t>(values, [&](auto span) {
      using T = std::remove_const_t<typename decltype(span)::element_type>;
      report = of_subtrees ? leaffix<T>(shape, span, elements<T>(folds), with, env)
                           : rootfix<T>(shape, span, elements<T>(folds), with, env);
    });
    return report;
  });
}

}  // namespace

void add_rooted_trees(nb::module_& module) {
  const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
  module.def("rooted_tree", &numbers, array("parents"), array("levels"), array("sizes"),
             array("preorder"), array("postorder"), nb::arg("env"));
  module.def("fold_tree", &fold, array("parents"), array("values"), array("folds"),
             nb::arg("combine"), nb::arg("of_subtrees"), nb::arg("env"));
}

}  // namespace ramify::python

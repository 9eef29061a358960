// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/rooted_tree.hpp>

#include <stdexcept>
#include <string>

#include "facade/backend_choice.hpp"
#include "rooted_tree/on_backend.hpp"

namespace ramify {
namespace {

/// Checks that an array has one element for each node. \throws std::invalid_argument
void check_size(const tree_shape& shape, std::size_t size, const char* name) {
  if (size == shape.nodes) return;
  throw std::invalid_argument("rooted_tree: " + std::to_string(shape.nodes) + " nodes, but " +
                              std::to_string(size) + " " + name);
}

template <class T>
rooted_tree_report run(const tree_shape& shape, const tree_number_arrays& numbers,
                       const tree_folds<T, tree_operator>& folds,
                       const rooted_tree_options& options) {
  validate(options);
  detail::rooted_tree::check_arrays(shape, numbers, folds, options);
  return detail::facade::on_backend(options.backend, options.trace != nullptr, [&](auto where) {
    return detail::facade::rooted_tree_on<where, T>(shape, numbers, folds, options);
  });
}

/// Checks what all folds have in common. \throws std::invalid_argument
template <class T>
void check_fold(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                tree_operator combine) {
  check_enumerator(combine, "rooted_tree: combine");
  check_size(shape, values.size(), "values");
  check_size(shape, folds.size(), "folds");
}

}  // namespace

rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_spans& numbers,
                               const rooted_tree_options& options) {
  const auto data_of = [&](std::span<std::int32_t> array, const char* name) -> std::int32_t* {
    if (array.empty()) return nullptr;
    check_size(shape, array.size(), name);
    return array.data();
  };
  return run<double>(
      shape,
      {data_of(numbers.levels, "levels"), data_of(numbers.subtree_sizes, "subtree_sizes"),
       data_of(numbers.preorder, "preorder"), data_of(numbers.postorder, "postorder")},
      {}, options);
}

template <tree_facade_value T>
rooted_tree_report leaffix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const rooted_tree_options& options) {
  check_fold(shape, values, folds, combine);
  return run<T>(shape, {}, {values.data(), combine, folds.data(), nullptr}, options);
}

template <tree_facade_value T>
rooted_tree_report rootfix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const rooted_tree_options& options) {
  check_fold(shape, values, folds, combine);
  return run<T>(shape, {}, {values.data(), combine, nullptr, folds.data()}, options);
}

// The value types that on_backend.cuh is compiled for.
#define RAMIFY_INSTANTIATE(T)                                                                 \
  template rooted_tree_report leaffix<T>(const tree_shape&, std::span<const T>, std::span<T>, \
                                         tree_operator, const rooted_tree_options&);          \
  template rooted_tree_report rootfix<T>(const tree_shape&, std::span<const T>, std::span<T>, \
                                         tree_operator, const rooted_tree_options&);
RAMIFY_INSTANTIATE(double)
RAMIFY_INSTANTIATE(std::int64_t)
#undef RAMIFY_INSTANTIATE

}  // namespace ramify

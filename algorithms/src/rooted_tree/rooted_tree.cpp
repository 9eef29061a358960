// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/rooted_tree.hpp>

#include <stdexcept>
#include <string>

#include "facade/backend_choice.hpp"
#include "rooted_tree/on_backend.hpp"

namespace ramify {
namespace {

/// The arrays of a call. Outputs must have as many elements as the forest has nodes.
class call_arrays {
 public:
  /// Checks the options, too. \throws std::invalid_argument
  call_arrays(const tree_shape& shape, const rooted_tree_options& options) : nodes_(shape.nodes) {
    validate(options);
    if (to_string(options.backend) == "?") {
      throw std::invalid_argument("rooted_tree_options.backend is none of the enumerators");
    }
    detail::rooted_tree::check_shape(shape, options);
    add(shape.parents, "parents", false);
    add(shape.offsets, "offsets", false);
    add(shape.children, "children", false);
  }
  template <class T>
  void add(std::span<T> array, const char* name, bool is_output) {
    all_.add(array.data(), array.size_bytes(), name, is_output);
  }
  template <class T>
  void add_output(std::span<T> array, const char* name) {
    if (array.empty()) return;
    check_size(array.size(), name);
    add(array, name, true);
  }
  void check_size(std::size_t size, const char* name) const {
    if (size == nodes_) return;
    throw std::invalid_argument("rooted_tree: " + std::to_string(nodes_) + " nodes, but " +
                                std::to_string(size) + " " + name);
  }
  void check_overlap() const { all_.check_overlap(); }

 private:
  std::size_t nodes_;
  detail::rooted_tree::argument_arrays all_;
};

template <class T>
rooted_tree_report fold(const tree_shape& shape, const detail::facade::tree_fold_spans<T>& spans,
                        tree_operator combine, const rooted_tree_options& options) {
  if (combine != tree_operator::sum && combine != tree_operator::minimum &&
      combine != tree_operator::maximum) {
    throw std::invalid_argument("rooted_tree: combine is none of the enumerators");
  }
  call_arrays arrays(shape, options);
  arrays.check_size(spans.values.size(), "values");
  arrays.check_size(spans.leaffix.size() + spans.rootfix.size(), "folds");
  arrays.add(spans.values, "values", false);
  arrays.add_output(spans.leaffix, "folds");
  arrays.add_output(spans.rootfix, "folds");
  arrays.check_overlap();
  return detail::facade::on_backend(options.backend, options.trace != nullptr, [&](auto where) {
    return detail::facade::fold_tree_on<where, T>(shape, spans, combine, options);
  });
}

}  // namespace

rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_spans& numbers,
                               const rooted_tree_options& options) {
  call_arrays arrays(shape, options);
  arrays.add_output(numbers.levels, "levels");
  arrays.add_output(numbers.subtree_sizes, "subtree_sizes");
  arrays.add_output(numbers.preorder, "preorder");
  arrays.add_output(numbers.postorder, "postorder");
  arrays.check_overlap();
  return detail::facade::on_backend(options.backend, options.trace != nullptr, [&](auto where) {
    return detail::facade::number_tree_on<where>(shape, numbers, options);
  });
}

template <tree_facade_value T>
rooted_tree_report leaffix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const rooted_tree_options& options) {
  return fold<T>(shape, {values, folds, {}}, combine, options);
}

template <tree_facade_value T>
rooted_tree_report rootfix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const rooted_tree_options& options) {
  return fold<T>(shape, {values, {}, folds}, combine, options);
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

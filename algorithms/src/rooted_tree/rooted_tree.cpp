// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/rooted_tree.hpp>

#include <ramify/runtime/detail/arguments.hpp>

#include "facade/backend_choice.hpp"
#include "facade/started_call.hpp"
#include "rooted_tree/on_backend.hpp"

namespace ramify::inline RAMIFY_ABI {
namespace {

/// The number of elements of each array of a call.
detail::required_count nodes_of(const tree_shape& shape) {
  return {"rooted_tree", shape.nodes, "nodes"};
}

template <class T>
rooted_tree_report run(const tree_shape& shape, const tree_number_arrays& numbers,
                       const tree_folds<T, tree_operator>& folds,
                       const rooted_tree_options& options, const environment& env) {
  validate(env);
  detail::rooted_tree::check_arrays(shape, numbers, folds, options);
  return detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::rooted_tree_on<where, T>(shape, numbers, folds, options, env);
  });
}

template <class T>
async_run<rooted_tree_report> start(const char* name, const tree_shape& shape,
                                    const tree_number_arrays& numbers,
                                    const tree_folds<T, tree_operator>& folds,
                                    const rooted_tree_options& options, const environment& env) {
  validate(env);
  detail::rooted_tree::check_arrays(shape, numbers, folds, options);
  return detail::facade::start_on_backend(name, env, [&](auto where) {
    return detail::facade::start_rooted_tree_on<where, T>(shape, numbers, folds, options, env);
  });
}

/// Returns the arrays of the numbers. \throws std::invalid_argument
tree_number_arrays arrays_of(const tree_shape& shape, const tree_number_spans& numbers) {
  const detail::required_count nodes = nodes_of(shape);
  return {nodes.data_of(numbers.levels, "levels"),
          nodes.data_of(numbers.subtree_sizes, "subtree_sizes"),
          nodes.data_of(numbers.preorder, "preorder"),
          nodes.data_of(numbers.postorder, "postorder")};
}

/// Checks what all folds have in common. \throws std::invalid_argument
template <class T>
void check_fold(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                tree_operator combine) {
  check_enumerator(combine, "rooted_tree: combine");
  nodes_of(shape).check(values.size(), "values");
  nodes_of(shape).check(folds.size(), "folds");
}

}  // namespace

rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_spans& numbers,
                               const rooted_tree_options& options, const environment& env) {
  return run<double>(shape, arrays_of(shape, numbers), {}, options, env);
}

async_run<rooted_tree_report> rooted_tree_async(const tree_shape& shape,
                                                const tree_number_spans& numbers,
                                                const rooted_tree_options& options,
                                                const environment& env) {
  return start<double>("rooted_tree", shape, arrays_of(shape, numbers), {}, options, env);
}

template <tree_facade_value T>
rooted_tree_report leaffix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const rooted_tree_options& options,
                           const environment& env) {
  check_fold(shape, values, folds, combine);
  return run<T>(shape, {}, {values.data(), combine, folds.data(), nullptr}, options, env);
}

template <tree_facade_value T>
rooted_tree_report rootfix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const rooted_tree_options& options,
                           const environment& env) {
  check_fold(shape, values, folds, combine);
  return run<T>(shape, {}, {values.data(), combine, nullptr, folds.data()}, options, env);
}

template <tree_facade_value T>
async_run<rooted_tree_report> leaffix_async(const tree_shape& shape, std::span<const T> values,
                                            std::span<T> folds, tree_operator combine,
                                            const rooted_tree_options& options,
                                            const environment& env) {
  check_fold(shape, values, folds, combine);
  return start<T>("leaffix", shape, {}, {values.data(), combine, folds.data(), nullptr}, options,
                  env);
}

template <tree_facade_value T>
async_run<rooted_tree_report> rootfix_async(const tree_shape& shape, std::span<const T> values,
                                            std::span<T> folds, tree_operator combine,
                                            const rooted_tree_options& options,
                                            const environment& env) {
  check_fold(shape, values, folds, combine);
  return start<T>("rootfix", shape, {}, {values.data(), combine, nullptr, folds.data()}, options,
                  env);
}

// The value types that on_backend.cuh is compiled for.
#define RAMIFY_INSTANTIATE(T)                                                                 \
  template async_run<rooted_tree_report> leaffix_async<T>(                                    \
      const tree_shape&, std::span<const T>, std::span<T>, tree_operator,                     \
      const rooted_tree_options&, const environment&);                                        \
  template async_run<rooted_tree_report> rootfix_async<T>(                                    \
      const tree_shape&, std::span<const T>, std::span<T>, tree_operator,                     \
      const rooted_tree_options&, const environment&);                                        \
  template rooted_tree_report leaffix<T>(const tree_shape&, std::span<const T>, std::span<T>, \
                                         tree_operator, const rooted_tree_options&,           \
                                         const environment&);                                 \
  template rooted_tree_report rootfix<T>(const tree_shape&, std::span<const T>, std::span<T>, \
                                         tree_operator, const rooted_tree_options&,           \
                                         const environment&);
RAMIFY_INSTANTIATE(double)
RAMIFY_INSTANTIATE(std::int64_t)
#undef RAMIFY_INSTANTIATE

}  // namespace ramify::inline RAMIFY_ABI

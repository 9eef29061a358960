// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rooted trees of the facade, on the backend of the compiler that compiles this file.

#include <ramify/rooted_tree.cuh>
#include <type_traits>

#include "facade/device_arrays.cuh"
#include "rooted_tree/on_backend.hpp"

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// An operator that is chosen at run time. One kernel for three operators is a third of the code,
/// for a few more instructions.
template <class T>
struct runtime_operator {
  tree_operator chosen;
  __host__ __device__ T operator()(T a, T b) const {
    switch (chosen) {
      case tree_operator::minimum: return b < a ? b : a;
      case tree_operator::maximum: return a < b ? b : a;
      default: break;
    }
    if constexpr (std::is_integral_v<T>) {
      using wraps_around = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<wraps_around>(a) + static_cast<wraps_around>(b));
    } else {
      return a + b;
    }
  }
};

/// A forest in memory that kernels can read: the caller's arrays, or copies of them.
class shape_on_device {
 public:
  shape_on_device(const tree_shape& shape, facade_call& call)
      : nodes_(shape.nodes),
        parents_(shape.parents, call, "parents"),
        offsets_(shape.offsets, call, "offsets"),
        children_(shape.children, call, "children") {}
  [[nodiscard]] tree_shape get() const {
    return {nodes_, parents_.get(), offsets_.get(), children_.get()};
  }

 private:
  std::size_t nodes_;
  on_device<const std::int32_t> parents_, offsets_, children_;
};

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD

namespace ramify::detail::facade {

template <>
rooted_tree_report number_tree_on<this_build>(const tree_shape& shape,
                                              const tree_number_spans& numbers,
                                              const rooted_tree_options& options) {
  facade_call call(options.pending_launches);
  const detail::rooted_tree::shape_on_device input(shape, call);
  const on_device levels(numbers.levels, array_role::output, call, "levels");
  const on_device sizes(numbers.subtree_sizes, array_role::output, call, "subtree_sizes");
  const on_device preorder(numbers.preorder, array_role::output, call, "preorder");
  const on_device postorder(numbers.postorder, array_role::output, call, "postorder");
  const tree_number_arrays arrays{levels.data(), sizes.data(), preorder.data(), postorder.data()};
  auto report = ramify::rooted_tree(input.get(), arrays, call.stream(), options);
  for (const auto* output : {&levels, &sizes, &preorder, &postorder}) output->copy_back();
  static_cast<run_times&>(report) = call.finish();
  return report;
}

template <build where, class T>
rooted_tree_report fold_tree_on(const tree_shape& shape, const tree_fold_spans<T>& arrays,
                                tree_operator combine, const rooted_tree_options& options) {
  static_assert(where == this_build);
  facade_call call(options.pending_launches);
  const detail::rooted_tree::shape_on_device input(shape, call);
  const on_device values(arrays.values, call, "values");
  const on_device leaffix(arrays.leaffix, array_role::output, call, "leaffix");
  const on_device rootfix(arrays.rootfix, array_role::output, call, "rootfix");
  const detail::rooted_tree::runtime_operator<T> chosen{combine};
  const auto folds = make_tree_folds(values.data(), chosen, leaffix.data(), rootfix.data());
  auto report = ramify::rooted_tree(input.get(), {}, folds, call.stream(), options);
  leaffix.copy_back();
  rootfix.copy_back();
  static_cast<run_times&>(report) = call.finish();
  return report;
}

// The value types of the facade, on this backend.
template rooted_tree_report fold_tree_on<this_build, double>(const tree_shape&,
                                                             const tree_fold_spans<double>&,
                                                             tree_operator,
                                                             const rooted_tree_options&);
template rooted_tree_report fold_tree_on<this_build, std::int64_t>(
    const tree_shape&, const tree_fold_spans<std::int64_t>&, tree_operator,
    const rooted_tree_options&);

}  // namespace ramify::detail::facade

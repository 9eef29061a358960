// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's rooted trees on the backend of whichever compiler reads this.

#include <ramify/rooted_tree.cuh>
#include <type_traits>

#include "facade/device_arrays.cuh"
#include "rooted_tree/on_backend.hpp"

namespace ramify::inline RAMIFY_BUILD {

/// An operator chosen at run time: a third as many kernels for a few more instructions.
template <class T>
struct chosen_operator {
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

/// A forest where kernels can read it.
class tree_input_shape {
 public:
  tree_input_shape(const tree_shape& shape, facade_call& call)
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

inline rooted_tree_report number_tree_here(const tree_shape& shape,
                                           const tree_number_spans& numbers,
                                           const rooted_tree_options& options) {
  facade_call call(options.pending_launches);
  const tree_input_shape input(shape, call);
  const on_device levels(numbers.levels, array_role::output, call, "levels");
  const on_device sizes(numbers.subtree_sizes, array_role::output, call, "subtree_sizes");
  const on_device preorder(numbers.preorder, array_role::output, call, "preorder");
  const on_device postorder(numbers.postorder, array_role::output, call, "postorder");
  auto report =
      rooted_tree(input.get(), {levels.data(), sizes.data(), preorder.data(), postorder.data()},
                  call.stream(), {options.route, options.single_root, options.trace});
  for (const auto* output : {&levels, &sizes, &preorder, &postorder}) output->copy_back();
  static_cast<run_times&>(report) = call.finish();
  return report;
}

template <class T>
rooted_tree_report fold_tree_here(const tree_shape& shape, std::span<const T> values,
                                  std::span<T> leaffix, std::span<T> rootfix, tree_operator combine,
                                  const rooted_tree_options& options) {
  facade_call call(options.pending_launches);
  const tree_input_shape input(shape, call);
  const on_device device_values(values, call, "values");
  const on_device from_leaves(leaffix, array_role::output, call, "leaffix");
  const on_device from_roots(rootfix, array_role::output, call, "rootfix");
  const tree_folds<T, chosen_operator<T>> folds{
      device_values.data(), {combine}, from_leaves.data(), from_roots.data()};
  auto report = rooted_tree(input.get(), {}, folds, call.stream(),
                            {options.route, options.single_root, options.trace});
  from_leaves.copy_back();
  from_roots.copy_back();
  static_cast<run_times&>(report) = call.finish();
  return report;
}

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::facade {

template <>
rooted_tree_report number_tree_on<this_build>(const tree_shape& shape,
                                              const tree_number_spans& numbers,
                                              const rooted_tree_options& options) {
  return number_tree_here(shape, numbers, options);
}

template <build where, class T>
rooted_tree_report fold_tree_on(const tree_shape& shape, std::span<const T> values,
                                std::span<T> leaffix, std::span<T> rootfix, tree_operator combine,
                                const rooted_tree_options& options) {
  static_assert(where == this_build);
  return fold_tree_here(shape, values, leaffix, rootfix, combine, options);
}

}  // namespace ramify::facade

// The folds that the facade has, for this backend.
namespace ramify::facade {
template rooted_tree_report fold_tree_on<this_build, double>(
    const tree_shape&, std::span<const double>, std::span<double>, std::span<double>, tree_operator,
    const rooted_tree_options&);
template rooted_tree_report fold_tree_on<this_build, std::int64_t>(
    const tree_shape&, std::span<const std::int64_t>, std::span<std::int64_t>,
    std::span<std::int64_t>, tree_operator, const rooted_tree_options&);
}  // namespace ramify::facade

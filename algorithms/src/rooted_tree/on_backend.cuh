// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Runs the rooted trees of the facade on one backend: nvcc compiles this file for the GPU, a C++
/// compiler for the CPU executor.

#include <ramify/rooted_tree.cuh>
#include <ramify/version.hpp>
#include <type_traits>

#include "facade/device_arrays.cuh"
#include "facade/start_call.cuh"
#include "rooted_tree/on_backend.hpp"

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// An operator that is chosen at run time. One kernel for all three operators is a third of the
/// code, and executes only a few more instructions.
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

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <build where, class T>
rooted_tree_report rooted_tree_on(const tree_shape& shape, const tree_number_arrays& numbers,
                                  const tree_folds<T, tree_operator>& folds,
                                  const rooted_tree_options& options, const environment& env) {
  static_assert(where == this_build);
  facade_call call(env);
  const on_device parents(shape.parents, call, "parents");
  const on_device offsets(shape.offsets, call, "offsets");
  const on_device children(shape.children, call, "children");
  const auto output = [&](auto* array, const char* name) {
    return on_device(array, shape.nodes, call, name, shape.count.has_value());
  };
  const auto levels = output(numbers.levels, "levels");
  const auto sizes = output(numbers.subtree_sizes, "subtree_sizes");
  const auto preorder = output(numbers.preorder, "preorder");
  const auto postorder = output(numbers.postorder, "postorder");
  const on_device values(std::span(folds.values, folds.values == nullptr ? 0 : shape.nodes), call,
                         "values");
  const auto leaffix = output(folds.leaffix, "leaffix");
  const auto rootfix = output(folds.rootfix, "rootfix");
  const auto report = ramify::rooted_tree(
      {shape.nodes, parents.get(), offsets.get(), children.get(), shape.count},
      {levels.data(), sizes.data(), preorder.data(), postorder.data()},
      make_tree_folds(values.data(), detail::rooted_tree::runtime_operator<T>{folds.combine},
                      leaffix.data(), rootfix.data()),
      options, env);
  return call.finish(report, levels, sizes, preorder, postorder, leaffix, rootfix);
}

template <build where, class T>
started_call<rooted_tree_report> start_rooted_tree_on(const tree_shape& shape,
                                                      const tree_number_arrays& numbers,
                                                      const tree_folds<T, tree_operator>& folds,
                                                      const rooted_tree_options& options,
                                                      const environment& env) {
  static_assert(where == this_build);
  const auto with_operator =
      make_tree_folds(folds.values, detail::rooted_tree::runtime_operator<T>{folds.combine},
                      folds.leaffix, folds.rootfix);
  return start_call<rooted_tree_report>(
      env, [&] { return rooted_tree_scratch_bytes(shape, numbers, with_operator); },
      [&](const environment& here) {
        return ramify::rooted_tree_async(shape, numbers, with_operator, options, here);
      });
}

// The value types of the facade, on this backend.
#define RAMIFY_INSTANTIATE(T)                                                            \
  template rooted_tree_report rooted_tree_on<this_build, T>(                             \
      const tree_shape&, const tree_number_arrays&, const tree_folds<T, tree_operator>&, \
      const rooted_tree_options&, const environment&);                                   \
  template started_call<rooted_tree_report> start_rooted_tree_on<this_build, T>(         \
      const tree_shape&, const tree_number_arrays&, const tree_folds<T, tree_operator>&, \
      const rooted_tree_options&, const environment&);
RAMIFY_INSTANTIATE(double)
RAMIFY_INSTANTIATE(std::int64_t)
#undef RAMIFY_INSTANTIATE

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

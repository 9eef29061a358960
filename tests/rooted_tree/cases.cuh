// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ramify/rooted_tree.cuh>

#include "cases.hpp"
#include "device_vectors.cuh"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

struct compose {
  __host__ __device__ affine operator()(const affine& first, const affine& second) const {
    return {second.a * first.a, second.a * first.b + second.b};
  }
};

inline rooted_tree_report run_tree(const tree_shape& shape, const std::vector<affine>& values,
                                   tree_results& results, const rooted_tree_options& options) {
  const auto limits = scoped_limit(options.pending_launches);
  const auto input = [](std::span<const std::int32_t> array) {
    return upload(std::vector<std::int32_t>(array.begin(), array.end()));
  };
  const auto parents = input(shape.parents);
  const auto offsets = input(shape.offsets);
  const auto children = input(shape.children);
  const auto on_device = [](const device_buffer<std::int32_t>& array) {
    return std::span<const std::int32_t>(array.data(), array.size());
  };
  const auto device_values = upload(values);
  const auto levels = upload(results.levels);
  const auto subtree_sizes = upload(results.subtree_sizes);
  const auto preorder = upload(results.preorder);
  const auto postorder = upload(results.postorder);
  const auto leaffix = upload(results.leaffix);
  const auto rootfix = upload(results.rootfix);
  const auto all_down = [&] {
    download(levels, results.levels);
    download(subtree_sizes, results.subtree_sizes);
    download(preorder, results.preorder);
    download(postorder, results.postorder);
    download(leaffix, results.leaffix);
    download(rootfix, results.rootfix);
  };
  const tree_shape device_shape{shape.nodes, on_device(parents), on_device(offsets),
                                on_device(children)};
  const tree_number_arrays numbers{levels.data(), subtree_sizes.data(), preorder.data(),
                                   postorder.data()};
  const auto folds =
      make_tree_folds<affine>(device_values.data(), compose{}, leaffix.data(), rootfix.data());
  // As much scratch memory as is promised to be enough, and not a byte more.
  const std::size_t bytes = rooted_tree_scratch_bytes(device_shape, numbers, folds);
  const device_buffer<std::byte> scratch(bytes, nullptr);
  rooted_tree_report report;
  try {
    report = rooted_tree(device_shape, numbers, folds, nullptr,
                         {options.route, options.single_root}, {scratch.data(), bytes});
  } catch (...) {
    all_down();  // so that a test sees whether they were touched
    throw;
  }
  all_down();
  return report;
}

inline rooted_tree_report run_tree_without_slots(const tree_shape& shape,
                                                 const std::vector<affine>& values,
                                                 tree_results& results,
                                                 const rooted_tree_options& options) {
  const all_slots_taken by_somebody_else(*current_launch_limits().pending_launches);
  return run_tree(shape, values, results, options);
}

inline void provoke_tree(bad_tree_argument argument) {
  const std::vector<std::int32_t> host(100, -1);
  const auto parents = upload(host);
  const device_buffer<std::int32_t> numbers(150, nullptr);
  const device_buffer<std::byte> scratch(100'000, nullptr);
  const auto shape = tree_shape::of_parents({parents.data(), 100});
  std::int32_t* const out = numbers.data();
  switch (argument) {
    case bad_tree_argument::null_values: {
      const device_buffer<affine> folds(100, nullptr);
      (void)rooted_tree(shape, {},
                        make_tree_folds<affine>(nullptr, compose{}, folds.data(), nullptr));
      break;
    }
    case bad_tree_argument::overlap:
      (void)rooted_tree(shape, {.levels = out, .preorder = out + 50});
      break;
    case bad_tree_argument::output_is_input:
      (void)rooted_tree(shape, {.levels = parents.data()});
      break;
    case bad_tree_argument::scratch_too_small:
      (void)rooted_tree(shape, {.levels = out}, nullptr, {}, {scratch.data(), 300});
      break;
    case bad_tree_argument::scratch_misaligned:
      (void)rooted_tree(shape, {.levels = out}, nullptr, {}, {scratch.data() + 8, 90'000});
      break;
    case bad_tree_argument::host_memory:
      (void)rooted_tree(tree_shape::of_parents(host), {.levels = out});
      break;
  }
}

inline const rooted_tree_cases& cases() {
  // While a lease is held, nothing but the runs themselves gives slots back.
  static const slot_lease kept(2048);
  static const rooted_tree_cases all{
      run_tree,
      run_tree_without_slots,
      provoke_tree,
      slots_in_use,
      [](std::size_t n) {
        return rooted_tree_scratch_bytes(
            tree_shape::of_parents({static_cast<const std::int32_t*>(nullptr), n}));
      },
  };
  return all;
}

}  // namespace tests::inline RAMIFY_BUILD

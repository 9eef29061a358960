// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// An extension of PyTorch that sorts a tensor with Ramify: on the GPU in PyTorch's current stream,
/// without a copy to the host, or on the CPU executor. sort_in_torch.py builds and checks it.

#include <torch/extension.h>

#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.hpp>
#include <span>
#include <tuple>

#if RAMIFY_EXAMPLE_HAS_CUDA  // PyTorch has CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace {

/// Returns where a call on this tensor runs: its device, and PyTorch's current stream there. Work
/// that PyTorch has put into the stream before is then complete for the sort, as for any operator.
ramify::environment environment_of(const torch::Tensor& tensor) {
#if RAMIFY_EXAMPLE_HAS_CUDA
  if (tensor.is_cuda()) {
    return {.backend = ramify::backend::cuda,
            .stream = c10::cuda::getCurrentCUDAStream(tensor.device().index()).stream()};
  }
#endif
  TORCH_CHECK(tensor.is_cpu(), "keys are on ", tensor.device(),
              ", which this extension cannot use");
  return {.backend = ramify::backend::cpu};
}

template <class Key>
void sort(torch::Tensor& keys, torch::Tensor& places, bool descending) {
  const auto n = static_cast<std::size_t>(keys.numel());
  const auto order = descending ? ramify::sort_order::descending : ramify::sort_order::ascending;
  // PyTorch has no unsigned integers of 64 bits; places are never negative.
  auto* const values = reinterpret_cast<std::uint64_t*>(places.data_ptr<std::int64_t>());
  ramify::quicksort_pairs(std::span(keys.data_ptr<Key>(), n), std::span(values, n), order,
                          environment_of(keys));
}

/// Returns the sorted keys and their places in `keys`, as torch.sort() does; the sort is not
/// stable. `keys` has one dimension and elements of type int32, int64, float32 or float64. Returns
/// after the sort is complete. Raises RuntimeError for another tensor.
std::tuple<torch::Tensor, torch::Tensor> sorted(const torch::Tensor& keys, bool descending) {
  TORCH_CHECK(keys.dim() == 1, "keys have ", keys.dim(), " dimensions; one is needed");
  static_cast<void>(environment_of(keys));
#if RAMIFY_EXAMPLE_HAS_CUDA
  c10::cuda::OptionalCUDAGuard guard;  // the device of the keys is current during the call
  if (keys.is_cuda()) guard.set_device(keys.device());
#endif
  torch::Tensor result = keys.detach().clone(torch::MemoryFormat::Contiguous);
  torch::Tensor places = torch::arange(keys.numel(), keys.options().dtype(torch::kInt64));
  switch (keys.scalar_type()) {
    case torch::kInt32: sort<std::int32_t>(result, places, descending); break;
    case torch::kInt64: sort<std::int64_t>(result, places, descending); break;
    case torch::kFloat32: sort<float>(result, places, descending); break;
    case torch::kFloat64: sort<double>(result, places, descending); break;
    default:
      TORCH_CHECK(false, "keys are of type ", keys.scalar_type(), ", which cannot be sorted");
  }
  return {result, places};
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  // Other threads of Python run during the sort.
  module.def("sorted", &sorted, pybind11::arg("keys"), pybind11::arg("descending") = false,
             pybind11::call_guard<pybind11::gil_scoped_release>());
}

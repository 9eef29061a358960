// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The memory of regions that grows with their number.

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <ramify/quadrature/program.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/error.hpp>
#include <utility>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// Memory for regions, which the host enlarges between rounds.
template <unsigned d>
class growing_regions {
 public:
  /// Allocates memory for `count` regions, in the order of `stream`: from `source` if it is a
  /// resource, or else from Ramify's pool. \throws cuda_error; the exceptions of the resource
  growing_regions(const memory_ref& source, std::size_t count, cudaStream_t stream)
      : source_(source),
        stream_(stream),
        bytes_(space_for(count)),
        arrays_(arrays_in(bytes_, count)) {}

  [[nodiscard]] const region_memory<d>& arrays() const { return arrays_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }

  /// Enlarges the memory so that it holds `needed` regions, and four times as many as before if
  /// `most` allows that and there is memory for them. Copies the first `count` regions and the list
  /// of splits, in the order of the stream. Returns false if there is no memory for `needed`
  /// regions. \throws cuda_error for another failure; the exceptions of the resource, except
  /// std::bad_alloc
  [[nodiscard]] bool grow(std::size_t needed, std::size_t most, std::size_t count) {
    const std::size_t wanted = std::min(std::max(needed, std::size_t{4} * arrays_.capacity), most);
    return try_grow(wanted, count) || (wanted > needed && try_grow(needed, count));
  }

 private:
  [[nodiscard]] scratch_space space_for(std::size_t count) const {
    return {source_, layout_bytes<region_memory<d>>(count), stream_, "quadrature"};
  }
  [[nodiscard]] static region_memory<d> arrays_in(const scratch_space& bytes, std::size_t count) {
    memory_layout layout(bytes.data());
    return {layout, count};
  }

  [[nodiscard]] bool try_grow(std::size_t capacity, std::size_t count) {
    std::optional<scratch_space> grown;
    try {
      grown.emplace(space_for(capacity));
    } catch (const std::bad_alloc&) {
      return false;
    } catch (const cuda_error& e) {
      static_cast<void>(cudaGetLastError());  // the call after this one must not report the error
      if (e.code() == cudaErrorMemoryAllocation) return false;
      throw;
    }
    const region_memory<d> to = arrays_in(*grown, capacity);
    const auto copy = [&](auto* into, const auto* from) {
      check(cudaMemcpyAsync(into, from, count * sizeof *from, cudaMemcpyDeviceToDevice, stream_),
            "copying regions to larger memory");
    };
    copy(to.regions.boxes, arrays_.regions.boxes);
    copy(to.regions.estimates, arrays_.regions.estimates);
    copy(to.regions.round_offs, arrays_.regions.round_offs);
    copy(to.regions.spreads, arrays_.regions.spreads);
    copy(to.regions.axes, arrays_.regions.axes);
    copy(to.regions.smooth, arrays_.regions.smooth);
    copy(to.split_list, arrays_.split_list);
    bytes_ = std::move(*grown);  // frees the old memory after the copies
    arrays_ = to;
    return true;
  }

  memory_ref source_;
  cudaStream_t stream_;
  scratch_space bytes_;
  region_memory<d> arrays_;
};

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD

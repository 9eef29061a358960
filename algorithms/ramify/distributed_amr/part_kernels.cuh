// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels of a part of a mesh (mesh_part.cuh): they copy regions of blocks from and to message
/// buffers, and combine what the ranks have found.

#include <ramify/amr/regrid.cuh>
#include <ramify/amr/run_view.cuh>
#include <ramify/distributed_amr/part_plan.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

inline constexpr int pack_threads = 128;  ///< per block, for kernels with one block per region

// ---- the kinds of regions ----------------------------------------------------------------------

/// The layers of cells at a face of a block that ghost cells and their slopes are in, from one or
/// two arrays.
template <class View>
struct face_layers {
  using cells = typename View::cells;
  static constexpr int layers = ghost_layers<typename View::physics_type>;
  static constexpr int of_array = View::physics_type::variables * layers * cells::per_face;

  typename View::values_type u;
  typename View::values_type second{};
  int arrays = 1;

  [[nodiscard]] __host__ __device__ int size() const { return arrays * of_array; }
  /// Returns the address of the i-th value.
  [[nodiscard]] __device__ typename View::real* at(const View&, const block_region& region,
                                                   int i) const {
    const int line = i % cells::per_face;
    const int depth = i / cells::per_face % layers;
    const int v = i % of_array / (cells::per_face * layers);
    const int along = region.face % 2 == 0 ? depth : View::cells_along - 1 - depth;
    const typename View::values_type& from = i < of_array ? u : second;
    return from.data + from.offset(region.node, v, cells::on_line(region.face / 2, line, along));
  }
};

/// The flux register of a face of a block.
template <class View>
struct face_register {
  using cells = typename View::cells;

  [[nodiscard]] __host__ __device__ static int size() {
    return View::physics_type::variables * cells::per_face;
  }
  [[nodiscard]] __device__ static typename View::real* at(const View& view,
                                                          const block_region& region, int i) {
    return view.flux_register_of(region.node, region.face, i / cells::per_face) +
           i % cells::per_face;
  }
};

/// All cells of a block.
template <class View>
struct whole_block {
  using cells = typename View::cells;

  [[nodiscard]] __host__ __device__ static int size() {
    return View::physics_type::variables * cells::count;
  }
  [[nodiscard]] __device__ static typename View::real* at(const View& view,
                                                          const block_region& region, int i) {
    return view.u_new.data + view.u_new.offset(region.node, 0, 0) + i;
  }
};

// ---- messages ----------------------------------------------------------------------------------

/// Copies regions to a message buffer, one block each. The layout is [region][value].
template <class View, class Kind>
__global__ void pack_regions(View view, Kind kind, const block_region* regions,
                             typename View::real* packed) {
  const traced here(view.trace, __func__);
  const block_region region = regions[blockIdx.x];
  const int size = kind.size();
  for (int i = static_cast<int>(threadIdx.x); i < size; i += pack_threads) {
    packed[std::size_t{blockIdx.x} * std::size_t(size) + std::size_t(i)] =
        *kind.at(view, region, i);
  }
}

/// Copies regions from a message buffer: the inverse of pack_regions().
template <class View, class Kind>
__global__ void unpack_regions(View view, Kind kind, const block_region* regions,
                               const typename View::real* packed) {
  const traced here(view.trace, __func__);
  const block_region region = regions[blockIdx.x];
  const int size = kind.size();
  for (int i = static_cast<int>(threadIdx.x); i < size; i += pack_threads) {
    *kind.at(view, region, i) =
        packed[std::size_t{blockIdx.x} * std::size_t(size) + std::size_t(i)];
  }
}

// ---- rates -------------------------------------------------------------------------------------

inline constexpr int combined_rates = max_levels + 1;  ///< numbers that all ranks reduce

/// Writes this rank's largest rates, and its first invalid cell in an order that a maximum keeps: 0
/// for none. `leaf_numbers` are the numbers of its leaves among all leaves. One thread.
template <class View>
__global__ void pack_rates(View view, const unsigned* leaf_numbers, unsigned long long* numbers) {
  const traced here(view.trace, __func__);
  run_state& state = *view.state;
  for (int level = 0; level < max_levels; ++level) numbers[level] = state.clock.max_rate[level];
  const unsigned long long cell = state.fault.invalid_cell;
  constexpr unsigned count = View::cells::count;
  numbers[max_levels] =
      cell == no_invalid_cell ? 0 : ~(1ull * leaf_numbers[cell / count] * count + cell % count);
}

/// Reads the maxima of all ranks. One thread.
template <class View>
__global__ void unpack_rates(View view, const unsigned long long* numbers) {
  const traced here(view.trace, __func__);
  run_state& state = *view.state;
  for (int level = 0; level < max_levels; ++level) state.clock.max_rate[level] = numbers[level];
  state.fault.invalid_cell = ~numbers[max_levels];
}

// ---- tags --------------------------------------------------------------------------------------

inline constexpr unsigned tags_per_word = 16;  ///< two bits each

/// Writes what this rank's tag_blocks() found, two bits for each of `count` blocks: whether it is
/// tagged, and whether it may be coarsened. The bits of other ranks' blocks are 0, so the sum over
/// all ranks has the bits of all blocks. One thread per word.
template <class View>
__global__ void pack_tags(View view, unsigned count, unsigned* words) {
  const traced here(view.trace, __func__);
  const unsigned word = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = word * tags_per_word;
  if (first >= count || view.state->next != phase::tag) return;  // launched ahead
  unsigned bits = 0;
  for (unsigned i = 0; i < tags_per_word && first + i < count; ++i) {
    const int node = block_to_tag(view, first + i);
    if (!view.owns(node)) continue;
    const unsigned found =
        (view.lists.is_tagged[node] != 0 ? 1u : 0u) | (view.lists.idle[node] != 0 ? 2u : 0u);
    bits |= found << (2 * i);
  }
  words[word] = bits;
}

/// Tags the blocks that other ranks have tagged, and counts their regrids in a row without need.
/// One thread per block.
template <class View>
__global__ void unpack_tags(View view, unsigned count, const unsigned* words) {
  const traced here(view.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || view.state->next != phase::tag) return;  // launched ahead
  const int node = block_to_tag(view, i);
  if (view.owns(node)) return;
  const unsigned found = words[i / tags_per_word] >> (2 * (i % tags_per_word)) & 3u;
  if ((found & 1u) != 0 && tag(view, node)) {
    for (int direction = 0; direction < view.tree.directions; ++direction) {
      balance_tags(view, node, direction);
    }
  }
  unsigned& idle = view.lists.idle[node];
  idle = (found & 2u) != 0 ? idle + 1 : 0;
}

/// Writes the near sides of this rank's blocks for tag_buffers(), one word for each of `count`
/// blocks; 0 for the blocks of other ranks. One thread per block.
template <class View>
__global__ void pack_near_sides(View view, unsigned count, unsigned* words) {
  const traced here(view.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || view.state->next != phase::tag) return;  // launched ahead
  const int node = block_to_tag(view, i);
  words[i] = view.owns(node) ? view.near_sides[node] : 0;
}

/// Reads the near sides of all blocks. One thread per block.
template <class View>
__global__ void unpack_near_sides(View view, unsigned count, const unsigned* words) {
  const traced here(view.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || view.state->next != phase::tag) return;  // launched ahead
  view.near_sides[block_to_tag(view, i)] = words[i];
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The mesh of tessellate_patches(): triangles with shared vertices, from the leaves of the
/// recursion.
///
///   1. Each corner of each leaf gets its point. Corners of the same vertex get equal bits.
///   2. A hash table assigns equal corners to the same slot. A sort numbers the vertices.
///   3. Triangles with two equal vertices are marked. A sort moves them to the end.

#include <algorithm>
#include <bit>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/detail/hash.cuh>
#include <ramify/tessellation/leaves.cuh>
#include <ramify/tessellation/patches.cuh>
#include <ramify/tessellation/run.cuh>

namespace ramify::detail::tessellation::inline RAMIFY_BUILD {

/// The order of vertices.
struct by_coordinates {
  __device__ bool operator()(const surface_point& a, const surface_point& b) const {
    return precedes(a, b);
  }
};

/// The order of triangles.
struct by_vertices {
  __device__ bool operator()(const mesh_triangle& a, const mesh_triangle& b) const {
    const auto& [a0, a1, a2] = a.vertices;
    const auto& [b0, b1, b2] = b.vertices;
    return a0 != b0 ? a0 < b0 : a1 != b1 ? a1 < b1 : a2 < b2;
  }
};

/// Computes the point of each corner.
template <class Triangle>
__global__ void place_corners(const bicubic_patch* patches, const Triangle* leaves, std::size_t n,
                              surface_point* points, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Triangle& t = leaves[i / 3];
  points[i] = patch_point(patches[t.patch], t.corners[i % 3]);
}

/// A hash table of corners with different points. An empty slot has the index ~0u.
struct corner_table {
  unsigned* slots;
  unsigned mask;  ///< the number of slots, a power of two, less one

  /// Returns the number of slots for n corners. n must be less than 2^32.
  [[nodiscard]] static std::size_t slots_for(std::size_t n) {
    return std::min(std::bit_ceil(n + n / 2), std::size_t{1} << 32);
  }

  [[nodiscard]] static __device__ unsigned long long hash_of(const surface_point& p) {
    unsigned long long bits[3];
    memcpy(bits, &p, sizeof bits);
    unsigned long long hash = runtime::splitmix64_finalize(bits[0]);
    hash = runtime::splitmix64_finalize(hash ^ bits[1]);
    return runtime::splitmix64_finalize(hash ^ bits[2]);
  }

  /// Returns the slot of a corner's point. Sets `is_first` if the corner is the first one with this
  /// point, in the order of the insertions.
  [[nodiscard]] __device__ unsigned insert(const surface_point* points, unsigned corner,
                                           bool& is_first) const {
    const surface_point p = points[corner];
    unsigned slot = static_cast<unsigned>(hash_of(p)) & mask;
    for (;; slot = (slot + 1) & mask) {
      unsigned there = load_relaxed(slots[slot]);
      if (there == ~0u) there = atomicCAS(slots + slot, ~0u, corner);
      is_first = there == ~0u;
      if (is_first || points[there] == p) return slot;
    }
  }
};

/// Finds the slot of each corner, and lists the first corner of each slot in any order.
template <class Point>
__global__ void find_equal_corners(const Point* points, std::size_t n, corner_table table,
                                   unsigned* slot_of, unsigned* first_corners,
                                   unsigned long long* vertex_count, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bool is_first = false;
  slot_of[i] = table.insert(points, static_cast<unsigned>(i), is_first);
  if (is_first) first_corners[next_index(vertex_count)] = static_cast<unsigned>(i);
}

/// Copies the point and the slot of each listed corner.
template <class Point>
__global__ void gather_vertices(const Point* points, const unsigned* slot_of,
                                const unsigned* first_corners, std::size_t n, Point* vertices,
                                unsigned* slots, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned corner = first_corners[i];
  vertices[i] = points[corner];
  slots[i] = slot_of[corner];
}

/// Replaces the corner in each slot by the number of its vertex.
template <class Index>
__global__ void number_vertices(const Index* slots, std::size_t n, corner_table table,
                                trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) table.slots[slots[i]] = static_cast<unsigned>(i);
}

/// Writes the triangles, each with its smallest vertex first. A triangle with two equal vertices
/// becomes the last one in the order of triangles, and is counted.
template <class Triangle>
__global__ void write_triangles(const unsigned* slot_of, const unsigned* vertex_in, std::size_t n,
                                Triangle* triangles, unsigned long long* degenerate,
                                trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned a = vertex_in[slot_of[3 * i]];
  const unsigned b = vertex_in[slot_of[3 * i + 1]];
  const unsigned c = vertex_in[slot_of[3 * i + 2]];
  if (a == b || b == c || c == a) {
    triangles[i] = {{~0u, ~0u, ~0u}};
    atomicAdd(degenerate, 1ULL);
  } else if (a < b && a < c) {
    triangles[i] = {{a, b, c}};
  } else if (b < c) {
    triangles[i] = {{b, c, a}};
  } else {
    triangles[i] = {{c, a, b}};
  }
}

/// The vertices of a mesh, the slot of each corner, and the vertex of each slot.
struct welded_corners {
  device_buffer<surface_point> vertices;
  device_buffer<unsigned> slot_of;
  device_buffer<unsigned> vertex_in;
};

/// Executes steps 1 and 2.
template <class Triangle>
welded_corners weld_corners(tessellation_call& call, const bicubic_patch* patches,
                            const Triangle* leaves, std::size_t triangles) {
  const phase_range range("tessellation: weld");
  cudaStream_t const stream = call.stream();
  const std::size_t n = 3 * triangles;
  const device_buffer<surface_point> points(n, stream);
  call.launch("placing the corners", place_corners<Triangle>, n, patches, leaves, n, points.data());
  welded_corners welded{{},
                        device_buffer<unsigned>(n, stream),
                        device_buffer<unsigned>(corner_table::slots_for(n), stream)};
  const corner_table table{welded.vertex_in.data(),
                           static_cast<unsigned>(welded.vertex_in.size() - 1)};
  check(cudaMemsetAsync(table.slots, 0xff, welded.vertex_in.size() * sizeof(unsigned), stream),
        "clearing a hash table");
  const device_buffer<unsigned> first_corners(n, stream);
  const device_buffer<unsigned long long> counter(1, stream);
  clear_memory(counter.data(), 1, stream, "clearing the number of vertices");
  call.launch("finding equal corners", find_equal_corners<surface_point>, n, points.data(), n,
              table, welded.slot_of.data(), first_corners.data(), counter.data());
  const std::size_t count = read_back(counter.data(), stream, "reading the number of vertices");
  welded.vertices = device_buffer<surface_point>(count, stream);
  const device_buffer<unsigned> slots(count, stream);
  call.launch("gathering the vertices", gather_vertices<surface_point>, count, points.data(),
              welded.slot_of.data(), first_corners.data(), count, welded.vertices.data(),
              slots.data());
  add_part(call.report,
           quicksort_pairs(welded.vertices.data(), slots.data(), count, by_coordinates{},
                           call.of_part()),
           "the sort of the vertices");
  call.launch("numbering the vertices", number_vertices<unsigned>, count, slots.data(), count,
              table);
  return welded;
}

/// Executes step 3. Returns the triangles of the mesh.
template <class = void>
device_buffer<mesh_triangle> triangles_of(tessellation_call& call, const welded_corners& corners) {
  const phase_range range("tessellation: triangles");
  cudaStream_t const stream = call.stream();
  const std::size_t n = corners.slot_of.size() / 3;
  const device_buffer<mesh_triangle> all(n, stream);
  const device_buffer<unsigned long long> degenerate(1, stream);
  clear_memory(degenerate.data(), 1, stream, "clearing the number of degenerate triangles");
  call.launch("writing the triangles", write_triangles<mesh_triangle>, n, corners.slot_of.data(),
              corners.vertex_in.data(), n, all.data(), degenerate.data());
  add_part(call.report, ramify::quicksort(all.data(), n, by_vertices{}, call.of_part()),
           "the sort of the triangles");
  call.report.degenerate =
      read_back(degenerate.data(), stream, "reading the number of degenerate triangles");
  call.report.pieces = n - call.report.degenerate;
  device_buffer<mesh_triangle> kept(call.report.pieces, stream);
  if (kept.size() == 0) return kept;
  check(cudaMemcpyAsync(kept.data(), all.data(), kept.size() * sizeof(mesh_triangle),
                        cudaMemcpyDeviceToDevice, stream),
        "copying the triangles");
  return kept;
}

}  // namespace ramify::detail::tessellation::inline RAMIFY_BUILD

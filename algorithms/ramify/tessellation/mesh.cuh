// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The mesh of tessellate_patches(): triangles with shared vertices, from the leaves of the
/// recursion.
///
///   1. Each corner of each leaf gets its point. Corners that are one vertex have equal bits.
///   2. A sort brings equal points together. A scan over the first ones numbers the vertices.
///   3. Triangles with two equal vertices are marked. A sort moves them to the end.

#include <ramify/quicksort.cuh>
#include <ramify/runtime/scan.cuh>
#include <ramify/tessellation/patches.cuh>
#include <ramify/tessellation/run.cuh>

namespace ramify::detail::tessellation::inline RAMIFY_BUILD {

/// The order of vertices.
struct by_coordinates {
  __device__ bool operator()(const surface_point& a, const surface_point& b) const {
    return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
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

/// Computes the point of each corner. `corners` becomes the list of all indices.
template <class Triangle>
__global__ void place_corners(const bicubic_patch* patches, const Triangle* leaves, std::size_t n,
                              surface_point* points, unsigned* corners, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Triangle& t = leaves[i / 3];
  points[i] = patch_point(patches[t.patch], t.corners[i % 3]);
  corners[i] = static_cast<unsigned>(i);
}

/// Marks the first one of equal points, which are in order.
template <class Point>
__global__ void mark_first(const Point* points, std::size_t n, std::uint32_t* is_first,
                           trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) is_first[i] = i == 0 || points[i] != points[i - 1] ? 1 : 0;
}

/// Writes the vertices, and the vertex of each corner. `before` has the number of vertices before
/// each point.
template <class Point>
__global__ void number_vertices(const Point* points, const unsigned* corners,
                                const std::uint32_t* is_first, const std::uint64_t* before,
                                std::size_t n, Point* vertices, unsigned* vertex_of,
                                trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::uint64_t vertex = before[i] + is_first[i] - 1;
  vertex_of[corners[i]] = static_cast<unsigned>(vertex);
  if (is_first[i] != 0) vertices[vertex] = points[i];
}

/// Writes the triangles, each with its smallest vertex first. A triangle with two equal vertices
/// becomes the last one in the order of triangles, and is counted.
template <class Triangle>
__global__ void write_triangles(const unsigned* vertex_of, std::size_t n, Triangle* triangles,
                                unsigned long long* degenerate, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned a = vertex_of[3 * i];
  const unsigned b = vertex_of[3 * i + 1];
  const unsigned c = vertex_of[3 * i + 2];
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

/// The vertices of a mesh, and the vertex of each corner.
struct welded_corners {
  device_buffer<surface_point> vertices;
  device_buffer<unsigned> vertex_of;
};

/// Steps 1 and 2.
template <class Triangle>
welded_corners weld_corners(tessellation_call& call, const bicubic_patch* patches,
                            const Triangle* leaves, std::size_t triangles) {
  const phase_range range("tessellation: weld");
  cudaStream_t const stream = call.stream();
  const std::size_t n = 3 * triangles;
  const device_buffer<surface_point> points(n, stream);
  const device_buffer<unsigned> corners(n, stream);
  call.launch("placing the corners", place_corners<Triangle>, n, patches, leaves, n, points.data(),
              corners.data());
  add_part(call.report,
           quicksort_pairs(points.data(), corners.data(), n, by_coordinates{}, stream,
                           call.sort_config()),
           "the sort of the points");
  const device_buffer<std::uint32_t> is_first(n + 1, stream);
  const device_buffer<std::uint64_t> before(n + 1, stream);
  call.launch("marking vertices", mark_first<surface_point>, n, points.data(), n, is_first.data());
  scan_counts(is_first.data(), n + 1, before.data(), stream);
  const std::uint64_t count =
      read_back(before.data() + n, stream, "reading the number of vertices");
  welded_corners welded{device_buffer<surface_point>(count, stream),
                        device_buffer<unsigned>(n, stream)};
  call.launch("numbering the vertices", number_vertices<surface_point>, n, points.data(),
              corners.data(), is_first.data(), before.data(), n, welded.vertices.data(),
              welded.vertex_of.data());
  return welded;
}

/// Step 3. Returns the triangles of the mesh.
inline device_buffer<mesh_triangle> triangles_of(tessellation_call& call,
                                                 const device_buffer<unsigned>& vertex_of) {
  const phase_range range("tessellation: triangles");
  cudaStream_t const stream = call.stream();
  const std::size_t n = vertex_of.size() / 3;
  const device_buffer<mesh_triangle> all(n, stream);
  const device_buffer<unsigned long long> degenerate(1, stream);
  clear_memory(degenerate.data(), 1, stream, "clearing the number of degenerate triangles");
  call.launch("writing the triangles", write_triangles<mesh_triangle>, n, vertex_of.data(), n,
              all.data(), degenerate.data());
  add_part(call.report, ramify::quicksort(all.data(), n, by_vertices{}, stream, call.sort_config()),
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

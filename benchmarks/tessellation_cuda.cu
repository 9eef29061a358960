// SPDX-License-Identifier: BSD-3-Clause
// Tessellation on a GPU: the Utah teapot and 100,000 random curves by route and flatness, compared
// with plain kernels that divide each patch or curve uniformly. Before a time is reported, both
// routes must have the same bits; at 1e-2 and 1e-3, points of the surface or of some curves must be
// within the flatness.
//   benchmark_tessellation_cuda --part teapot
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ramify/tessellation.cuh>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "measure_cuda.cuh"
#include "tessellate/bezier_shapes.hpp"
#include "tessellate/tessellation_check.hpp"

namespace {

using namespace ramify;
using ramify::detail::tessellation::cubic_point;
using ramify::detail::tessellation::dot;
using ramify::detail::tessellation::minus;
using ramify::detail::tessellation::second_difference;

constexpr int repeats = 5;
constexpr unsigned threads = 256;

// ---- the baselines ------------------------------------------------------------------------------

/// The uniform division of a patch or a curve.
struct uniform_division {
  unsigned parts;                  ///< along u, and along v
  unsigned long long first_point;  ///< index in the result
  unsigned long long first_triangle;
};

/// The numbers of points and triangles of a result.
struct totals {
  unsigned long long points, triangles;
};

/// Returns the number of parts at which `bound`, that of one part, is at most `flatness`.
__device__ unsigned parts_for(double bound, double flatness) {
  return static_cast<unsigned>(fmax(1.0, ceil(sqrt(bound / flatness))));
}

/// Returns the length of a vector.
template <class P>
__device__ double length(const P& p) {
  return sqrt(dot(p, p));
}

/// Plans the grid of each patch by the bounds of its second derivatives (Filip, Magedson, Markot).
/// One thread for each patch.
__global__ void plan_patches(const bicubic_patch* patches, unsigned n, double flatness,
                             uniform_division* divisions, totals* all) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  const auto& p = patches[k].points;
  double by_uu = 0, by_uv = 0, by_vv = 0;
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned j = 0; j < 4; ++j) {
      if (i < 2) by_uu = fmax(by_uu, length(second_difference(p[i][j], p[i + 1][j], p[i + 2][j])));
      if (j < 2) by_vv = fmax(by_vv, length(second_difference(p[i][j], p[i][j + 1], p[i][j + 2])));
      if (i == 3 || j == 3) continue;
      by_uv = fmax(by_uv,
                   length(minus(minus(p[i + 1][j + 1], p[i + 1][j]), minus(p[i][j + 1], p[i][j]))));
    }
  }
  const unsigned parts = parts_for(0.75 * by_uu + 2.25 * by_uv + 0.75 * by_vv, flatness);
  const unsigned long long side = parts + 1ULL;
  divisions[k] = {parts, atomicAdd(&all->points, side * side),
                  atomicAdd(&all->triangles, 2ULL * parts * parts)};
}

/// Writes the vertices and triangles of each patch. blockIdx.y is the patch; its blocks share it.
__global__ void write_patches(const bicubic_patch* patches, const uniform_division* divisions,
                              surface_point* vertices, mesh_triangle* triangles) {
  const auto& p = patches[blockIdx.y].points;
  const uniform_division& d = divisions[blockIdx.y];
  const unsigned side = d.parts + 1;
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned k = first; k < side * side; k += step) {
    const double u = static_cast<double>(k / side) / d.parts;
    const double v = static_cast<double>(k % side) / d.parts;
    surface_point of_v[4];
    for (unsigned i = 0; i < 4; ++i) of_v[i] = cubic_point(p[i], v);
    vertices[d.first_point + k] = cubic_point(of_v, u);
  }
  for (unsigned k = first; k < d.parts * d.parts; k += step) {
    const auto a = static_cast<std::uint32_t>(d.first_point) + k / d.parts * side + k % d.parts;
    triangles[d.first_triangle + 2 * k] = {{a, a + side, a + side + 1}};
    triangles[d.first_triangle + 2 * k + 1] = {{a, a + side + 1, a + 1}};
  }
}

/// Plans the parts of each curve by the bound of its second derivative (Wang). One thread for each.
__global__ void plan_curves(const cubic_curve* curves, unsigned n, double flatness,
                            uniform_division* divisions, totals* all) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  const auto& p = curves[k].points;
  const double bound = fmax(length(second_difference(p[0], p[1], p[2])),
                            length(second_difference(p[1], p[2], p[3])));
  const unsigned parts = parts_for(0.75 * bound, flatness);
  divisions[k] = {parts, atomicAdd(&all->points, parts + 1ULL), 0};
}

/// Writes the points of each curve, one warp for each.
__global__ void write_curves(const cubic_curve* curves, unsigned n,
                             const uniform_division* divisions, curve_point* points) {
  const unsigned curve = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (curve >= n) return;
  const uniform_division& d = divisions[curve];
  for (unsigned k = threadIdx.x % 32; k <= d.parts; k += 32) {
    points[d.first_point + k] = cubic_point(curves[curve].points, static_cast<double>(k) / d.parts);
  }
}

unsigned blocks_for(std::size_t items) {
  return static_cast<unsigned>((items + threads - 1) / threads);
}

/// Reads the sizes of the result, which the host needs for its memory.
totals read_totals(const device_buffer<totals>& all) {
  return benchmark::download(all.data(), 1)[0];
}

device_buffer<totals> zero_totals() {
  device_buffer<totals> all(1, nullptr);
  check(cudaMemsetAsync(all.data(), 0, sizeof(totals), nullptr), "clearing the totals");
  return all;
}

struct uniform_mesh {
  device_buffer<surface_point> vertices;
  device_buffer<mesh_triangle> triangles;
};

uniform_mesh divide_uniformly(const device_buffer<bicubic_patch>& patches, double flatness,
                              unsigned blocks_of_patch) {
  const auto n = static_cast<unsigned>(patches.size());
  const device_buffer<uniform_division> divisions(n, nullptr);
  const device_buffer<totals> all = zero_totals();
  plan_patches<<<blocks_for(n), threads>>>(patches.data(), n, flatness, divisions.data(),
                                           all.data());
  check(cudaGetLastError(), "launching plan_patches");
  const totals sizes = read_totals(all);
  uniform_mesh mesh{device_buffer<surface_point>(sizes.points, nullptr),
                    device_buffer<mesh_triangle>(sizes.triangles, nullptr)};
  write_patches<<<dim3(blocks_of_patch, n), threads>>>(patches.data(), divisions.data(),
                                                       mesh.vertices.data(), mesh.triangles.data());
  check(cudaGetLastError(), "launching write_patches");
  return mesh;
}

device_buffer<curve_point> divide_uniformly(const device_buffer<cubic_curve>& curves,
                                            double flatness) {
  const auto n = static_cast<unsigned>(curves.size());
  const device_buffer<uniform_division> divisions(n, nullptr);
  const device_buffer<totals> all = zero_totals();
  plan_curves<<<blocks_for(n), threads>>>(curves.data(), n, flatness, divisions.data(), all.data());
  check(cudaGetLastError(), "launching plan_curves");
  device_buffer<curve_point> points(read_totals(all).points, nullptr);
  write_curves<<<blocks_for(std::size_t{32} * n), threads>>>(curves.data(), n, divisions.data(),
                                                             points.data());
  check(cudaGetLastError(), "launching write_curves");
  return points;
}

// ---- checks -------------------------------------------------------------------------------------

/// Returns a flatness as text.
std::string scientific(double x) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.0e", x);
  return text.data();
}

/// \throws std::runtime_error if the distance of a result exceeds the flatness
void require_flat(const std::string& what, double distance, double flatness) {
  if (distance <= flatness) return;
  throw std::runtime_error(what + ": the distance is " + std::to_string(distance) +
                           " with the flatness " + scientific(flatness));
}

constexpr double checked_flatness = 1e-3;  ///< the smallest one whose distances are measured

template <class Mesh>
void check_mesh(const std::string& what, const std::vector<bicubic_patch>& patches,
                const Mesh& mesh, double flatness) {
  if (flatness < checked_flatness) return;
  const auto vertices = benchmark::download(mesh.vertices.data(), mesh.vertices.size());
  const auto triangles = benchmark::download(mesh.triangles.data(), mesh.triangles.size());
  require_flat(what, common::distance_of_surface(patches, vertices, triangles, 31), flatness);
}

// ---- tables -------------------------------------------------------------------------------------

constexpr double flatnesses[] = {1e-2, 1e-3, 1e-4, 1e-5};

template <class T>
bool are_equal(const device_buffer<T>& a, const device_buffer<T>& b) {
  return benchmark::download(a.data(), a.size()) == benchmark::download(b.data(), b.size());
}

double per_second(std::size_t count, const benchmark::timing& time) {
  return static_cast<double>(count) / time.median_ms / 1e3;  // millions
}

void measure_teapot(benchmark::recorder& out) {
  out.table("teapot",
            {"flatness", "method", "route", "took", "ms", "triangles", "vertices", "Mtriangles/s",
             "uniform / this", "rounds", "child grids"},
            "The 32 patches of the Utah teapot, 3.15 high; medians of 5 (least–most). Uniform: as "
            "many parts of each patch as its second derivatives need, by one or 64 blocks; its "
            "patches are not joined, and there are cracks between them");
  const auto patches = utah_teapot();
  const auto on_device = benchmark::upload(patches);
  for (const double flatness : flatnesses) {
    benchmark::timing uniform{};
    for (const unsigned blocks : {1u, 64u}) {
      uniform_mesh mesh;
      uniform = benchmark::host_time_of(repeats, [&] {
        mesh = {};  // is freed before the next one is allocated
        mesh = divide_uniformly(on_device, flatness, blocks);
      });
      check_mesh("uniform", patches, mesh, flatness);
      out.row({scientific(flatness), "uniform, " + std::to_string(blocks) + " blocks a patch", "",
               "flat", uniform, mesh.triangles.size(), mesh.vertices.size(),
               per_second(mesh.triangles.size(), uniform), 1.0, "", 0});
    }
    device_mesh first;
    for (const route taken : {route::device, route::flat}) {
      const auto divide = [&] {
        return tessellate_patches(on_device.data(), on_device.size(), {{}, flatness},
                                  {.route = taken});
      };
      device_mesh mesh = divide();
      check_mesh(std::string(to_string(taken)), patches, mesh, flatness);
      if (taken == route::flat && !(are_equal(mesh.vertices, first.vertices) &&
                                    are_equal(mesh.triangles, first.triangles))) {
        throw std::runtime_error("the routes have different meshes");
      }
      const benchmark::timing time = benchmark::host_time_of(repeats, [&] { (void)divide(); });
      out.row({scientific(flatness), "adaptive", to_string(taken), to_string(mesh.report.taken),
               time, mesh.triangles.size(), mesh.vertices.size(),
               per_second(mesh.triangles.size(), time), uniform.median_ms / time.median_ms,
               mesh.report.rounds, mesh.report.child_grids});
      first = std::move(mesh);
    }
  }
}

void measure_curves(benchmark::recorder& out) {
  constexpr std::size_t n = 100'000;
  constexpr std::size_t checked_curves = 1000;
  out.table("curves",
            {"flatness", "method", "route", "took", "ms", "points", "Mpoints/s", "uniform / this",
             "rounds", "child grids"},
            "100,000 random curves of different sizes in a square of side 1; medians of 5 "
            "(least–most). Uniform: as many "
            "parts of each curve as its second derivative needs, one warp a curve");
  const auto curves = common::make_shapes(common::shape_kind::curves, n, 1).curves;
  const auto on_device = benchmark::upload(curves);
  for (const double flatness : flatnesses) {
    device_buffer<curve_point> points;
    const benchmark::timing uniform = benchmark::host_time_of(repeats, [&] {
      points = {};
      points = divide_uniformly(on_device, flatness);
    });
    out.row({scientific(flatness), "uniform", "", "flat", uniform, points.size(),
             per_second(points.size(), uniform), 1.0, "", 0});
    device_polylines first;
    for (const route taken : {route::device, route::flat}) {
      const auto divide = [&] {
        return tessellate_curves(on_device.data(), on_device.size(), {{}, flatness},
                                 {.route = taken});
      };
      device_polylines lines = divide();
      if (taken == route::flat &&
          !(are_equal(lines.points, first.points) && are_equal(lines.offsets, first.offsets))) {
        throw std::runtime_error("the routes have different polylines");
      }
      const auto all = benchmark::download(lines.points.data(), lines.points.size());
      const auto offsets = benchmark::download(lines.offsets.data(), checked_curves + 1);
      for (std::size_t i = 0; i < checked_curves && flatness >= checked_flatness; ++i) {
        const auto line = std::span(all).subspan(offsets[i], offsets[i + 1] - offsets[i]);
        require_flat("curve " + std::to_string(i), common::distance_of_curve(curves[i], line, 101),
                     flatness);
      }
      const benchmark::timing time = benchmark::host_time_of(repeats, [&] { (void)divide(); });
      out.row({scientific(flatness), "adaptive", to_string(taken), to_string(lines.report.taken),
               time, lines.points.size(), per_second(lines.points.size(), time),
               uniform.median_ms / time.median_ms, lines.report.rounds, lines.report.child_grids});
      first = std::move(lines);
    }
  }
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  if (asked.has_part("teapot")) measure_teapot(out);
  if (asked.has_part("curves")) measure_curves(out);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "tessellation_cuda",
                         .about = "Tessellation of Bezier curves and patches on a GPU.",
                         .machine = benchmark::this_gpu,
                         .parts = {"teapot", "curves"}},
                        argc, argv, measure_all);
}

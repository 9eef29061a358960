// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Points of the caller's type: point_traits states how to read a coordinate, copy_positions()
/// copies the positions, and spatial_tree_of() builds a tree. Public: <ramify/spatial_tree.cuh>
/// includes this header.
///
///     struct particle { double mass; float x, y, z; };
///
///     template <>
///     struct ramify::point_traits<particle> {
///       using real = float;
///       static constexpr int dim = 3;
///       __device__ static float coordinate(const particle& p, int axis) {
///         return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
///       }
///     };
///
///     const auto tree = ramify::spatial_tree_of(particles, n);     // spatial_tree<float, 3>
///
/// A tree has its own copy of the positions in any case, so copy_positions() takes the time of one
/// pass over the points in addition. Queries in the positions of such points need a copy, too. A
/// struct of `dim` numbers needs no traits: see point.

#include <cstddef>
#include <ramify/runtime/detail/element_count.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/spatial_tree/geometry.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// How to read the coordinates of a point of type T. The caller specializes it.
template <class T>
struct point_traits;

/// A point itself.
template <class Real, int dimensions>
struct point_traits<point<Real, dimensions>> {
  using real = Real;                      ///< the type of coordinates
  static constexpr int dim = dimensions;  ///< number of coordinates
  /// Returns a coordinate.
  [[nodiscard]] __device__ static Real coordinate(const point<Real, dimensions>& p, int axis) {
    return p.x[axis];
  }
};

/// The type of the position of a T.
template <class T>
using position_of = point<typename point_traits<T>::real, point_traits<T>::dim>;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Copies the positions of objects. Launched with the shape of shape_over(n).
template <class T>
__global__ void read_positions(const T* objects, element_count n, position_of<T>* positions) {
  runtime::for_each_item(n.get(), [&](auto i) {
    position_of<T> position;
    for (int axis = 0; axis < point_traits<T>::dim; ++axis) {
      position.x[axis] = point_traits<T>::coordinate(objects[i], axis);
    }
    positions[i] = position;
  });
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Copies the positions of n objects, one grid in the order of `stream`. A graph can capture it.
/// \param objects    n objects in device, managed or pinned memory, with point_traits
/// \param n          a number, or a device_count; if it exceeds its upper bound, nothing is copied
/// \param positions  n points in such memory, which do not overlap the objects
/// \throws std::invalid_argument, cuda_error
template <class T>
void copy_positions(const T* objects, const detail::element_count& n, position_of<T>* positions,
                    cudaStream_t stream) {
  if (n.upper_bound == 0) return;
  check_device_access(objects, "copy_positions: objects");
  check_device_access(positions, "copy_positions: positions");
  detail::launch_each(detail::spatial_tree::read_positions<T>, n, stream, "copying positions",
                      objects, n, positions);
}

}  // namespace ramify::inline RAMIFY_BUILD

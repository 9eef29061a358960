// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The dwell of a point, which both methods of mandelbrot() compute by the same function, and the
/// image that they write.

#include <algorithm>
#include <cstdint>
#include <ramify/mandelbrot.hpp>
#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD {

/// Returns a * b + c, on a GPU rounded once. No compiler rounds it otherwise in another kernel, so
/// the dwell of a pixel does not depend on the method.
[[nodiscard]] __host__ __device__ inline double multiply_add(double a, double b, double c) {
#if RAMIFY_ON_CUDA && defined(__CUDA_ARCH__)
  return __fma_rn(a, b, c);
#else
  return a * b + c;
#endif
}

/// A complex number. (The functions of std::complex cannot be called from kernels.)
struct complex_point {
  double re;
  double im;

  [[nodiscard]] __host__ __device__ double squared_norm() const {
    return multiply_add(re, re, im * im);
  }
};

/// Returns z^2 + c. A GPU needs four instructions.
[[nodiscard]] __host__ __device__ inline complex_point next(const complex_point& z,
                                                            const complex_point& c) {
  return {multiply_add(z.re, z.re, multiply_add(-z.im, z.im, c.re)),
          multiply_add(z.re + z.re, z.im, c.im)};
}

/// Returns the number of iterations until |z|^2 is more than `bound`, at most `max_iterations`.
///
/// The bound is at least 4 and |c|^2, or z is 0. Then |z| increases in all iterations after it has
/// exceeded the bound. So a test after eight iterations is enough; if it fails, the eight are
/// repeated one by one.
[[nodiscard]] __host__ __device__ inline std::uint32_t dwell_of(complex_point z,
                                                                const complex_point& c,
                                                                double bound,
                                                                std::uint32_t max_iterations) {
  constexpr std::uint32_t stride = 8;
  std::uint32_t done = 0;
  while (max_iterations - done >= stride) {
    complex_point ahead = z;
    RAMIFY_UNROLL
    for (std::uint32_t i = 0; i < stride; ++i) ahead = next(ahead, c);
    if (!(ahead.squared_norm() <= bound)) break;  // also if it overflowed to NaN
    z = ahead;
    done += stride;
  }
  while (done < max_iterations && z.squared_norm() <= bound) {
    z = next(z, c);
    ++done;
  }
  return done;
}

/// Returns whether c is in the main cardioid or in the disk of period 2 of the Mandelbrot set.
[[nodiscard]] __host__ __device__ inline bool is_in_bulbs(const complex_point& c) {
  const double x = c.re - 0.25;
  const double y2 = c.im * c.im;
  const double q = x * x + y2;
  return q * (q + x) <= y2 / 4 || (c.re + 1) * (c.re + 1) + y2 <= 0.0625;
}

/// The set, the pixels' places in the plane, and the arrays that the kernels write.
struct dwell_image {
  std::uint32_t width;
  std::uint32_t height;
  complex_point top_left;  ///< the place of pixel (0, 0)
  double step;
  complex_point c;  ///< of a Julia set
  double bound;     ///< of |z|^2
  bool is_julia;
  bool skip_bulbs;
  std::uint32_t max_iterations;
  std::uint32_t critical_dwell;  ///< the dwell of point 0
  std::uint32_t* dwells;
  pixel_origin* origins;  ///< may be null

  dwell_image(const mandelbrot_view& view, const mandelbrot_options& options,
              std::uint32_t* dwells_of_pixels, pixel_origin* origins_of_pixels)
      : width(view.width),
        height(view.height),
        top_left{view.center.real() - view.step() * (view.width - 1) / 2,
                 view.center.imag() + view.step() * (view.height - 1) / 2},
        step(view.step()),
        c{},
        bound(4),
        is_julia(view.julia.has_value()),
        skip_bulbs(options.skip_bulbs && !is_julia),
        max_iterations(options.max_iterations),
        critical_dwell(options.max_iterations),
        dwells(dwells_of_pixels),
        origins(origins_of_pixels) {
    if (!is_julia) return;
    c = {view.julia->real(), view.julia->imag()};
    bound = std::max(4.0, c.squared_norm());
    critical_dwell = dwell_of({0, 0}, c, bound, max_iterations);
  }

  [[nodiscard]] __device__ double re_of(unsigned x) const {
    return multiply_add(x, step, top_left.re);
  }
  [[nodiscard]] __device__ double im_of(unsigned y) const {
    return multiply_add(y, -step, top_left.im);
  }
  [[nodiscard]] __device__ std::size_t index(unsigned x, unsigned y) const {
    return std::size_t{y} * width + x;
  }

  /// Computes and writes the dwell of a pixel.
  __device__ void iterate(unsigned x, unsigned y, pixel_origin origin) const {
    const complex_point place{re_of(x), im_of(y)};
    std::uint32_t dwell = max_iterations;
    if (is_julia) {
      dwell = dwell_of(place, c, bound, max_iterations);
    } else if (!skip_bulbs || !is_in_bulbs(place)) {
      dwell = dwell_of({0, 0}, place, bound, max_iterations);
    }
    write(x, y, dwell, origin);
  }

  __device__ void write(unsigned x, unsigned y, std::uint32_t dwell, pixel_origin origin) const {
    dwells[index(x, y)] = dwell;
    if (origins != nullptr) origins[index(x, y)] = origin;
  }
};

}  // namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD

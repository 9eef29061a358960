// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The method of Mariani and Silver: if all pixels on the border of a rectangle have one dwell, the
/// rectangle is filled with it. Otherwise the rectangle is divided.
///
///     +--------+        +--+--+        the lines between the parts are iterated once;
///     | border |   -->  |  |  |        each part has its border complete from the start,
///     |        |        +--+--+        and neighbors share it
///     +--------+        +--+--+
///
/// The image is divided into tiles. Before the recursion, a grid iterates the lines between them.
/// The root task has a member for each tile. Each rectangle that is divided is a task, which one
/// block runs.
///
/// This is why a border of the dwell n decides the dwells inside it. The points whose dwell is at
/// least n + 1 are the preimage of a disk; for the Mandelbrot set, they are its counterpart in the
/// parameter plane. This set has no holes, so no point inside the border has a smaller dwell. The
/// set is connected and contains the point 0. So no point inside the border has a larger dwell,
/// unless 0 is inside. For a Julia set, the set of points is connected only if the dwell of 0 is at
/// least n + 1. If 0 is inside, or the set is not connected, the rectangle is divided.
/// A part of the set that is thinner than a pixel can pass between the pixels of a border; then
/// pixels are filled wrongly.

#include <ramify/mandelbrot/division.cuh>
#include <ramify/mandelbrot/dwell.cuh>
#include <ramify/mandelbrot/tuning.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD {

/// The counts of a run, to which all blocks add theirs.
struct rectangle_counts {
  unsigned long long iterated_pixels;
  unsigned long long filled_pixels;
  unsigned long long filled;   ///< rectangles that were filled
  unsigned long long divided;  ///< rectangles that were divided
  unsigned long long small;    ///< rectangles that were iterated, because they are small
};

template <bool can_launch, class Context>
__global__ void divide_rectangles(task_source<rectangle> source,
                                  spawner<rectangle, can_launch> spawn, Context context);

/// The arguments that all grids of a run share.
struct rectangle_context {
  __host__ __device__ static auto kernel() { return divide_rectangles<true, rectangle_context>; }
  __host__ __device__ static auto flat_kernel() {
    return divide_rectangles<false, rectangle_context>;
  }
  static constexpr unsigned max_children = 16;
  static constexpr bool may_be_thin = false;

  dwell_image image;
  division tiles;            ///< of the whole image; one part if a side has one pixel
  unsigned* arrived;         ///< blocks of the root task that are done
  rectangle_counts* counts;  ///< zeroed by the host

  /// Returns whether a rectangle whose border has one dwell may be filled with it.
  [[nodiscard]] __device__ bool may_fill(const rectangle& r, std::uint32_t dwell) const {
    if (dwell == image.max_iterations) return true;
    const bool contains_0 = image.re_of(r.left) <= 0 && image.re_of(r.right) >= 0 &&
                            image.im_of(r.top) >= 0 && image.im_of(r.bottom) <= 0;
    return dwell < image.critical_dwell && !contains_0;
  }
};

/// Iterates the pixels of all lines of the tiles, the border of the image included.
template <class Context>
__global__ void __maxnreg__(max_registers(threads))
    iterate_tile_lines(Context context, trace_ticket trace) {
  const traced here(trace, __func__);
  const dwell_image& image = context.image;
  const auto& [columns, rows] = context.tiles;
  const std::size_t in_rows = std::size_t{rows.parts + 1} * image.width;
  const std::size_t in_all = in_rows + std::size_t{columns.parts + 1} * image.height;
  const std::size_t step = std::size_t{gridDim.x} * threads;
  for (std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x; i < in_all; i += step) {
    if (i < in_rows) {
      const auto line = static_cast<unsigned>(i / image.width);
      // An image of one row has both lines at the same place.
      if (line > 0 && rows.line(line) == rows.line(line - 1)) continue;
      image.iterate(static_cast<unsigned>(i % image.width), rows.line(line), pixel_origin::line);
    } else {
      const auto line = static_cast<unsigned>((i - in_rows) / image.height);
      const auto y = static_cast<unsigned>((i - in_rows) % image.height);
      if (line > 0 && columns.line(line) == columns.line(line - 1)) continue;
      // The pixels where lines cross are iterated with the rows.
      if (rows.is_line(y)) continue;
      image.iterate(columns.line(line), y, pixel_origin::line);
    }
  }
}

/// What happens to a part of a rectangle.
enum class part_kind : unsigned char { filled, small, divided };

/// The shared memory of a block.
struct rectangle_shared {
  static constexpr unsigned max_parts = rectangle_context::max_children;
  part_kind kinds[max_parts];
  std::uint32_t dwells[max_parts];  ///< of filled parts
  unsigned char small[max_parts];   ///< the indices of the small parts
  unsigned small_count;
};

/// A block's work on the rectangles of its grid. All threads of the block must make the same calls.
template <bool can_launch, class Context>
struct rectangle_block {
  rectangle_shared& shared;
  spawner<rectangle, can_launch>& spawn;
  const Context& context;
  rectangle_counts counts{};  ///< thread 0 alone adds to them

  /// Processes a tile of the image.
  __device__ void process_tile(const rectangle& tile) {
    const division whole{{tile.left, tile.right, 1}, {tile.top, tile.bottom, 1}};
    finish_parts(whole);
    if (shared.kinds[0] == part_kind::divided) divide(tile);
  }

  /// Divides a rectangle that must not be filled.
  __device__ void divide(const rectangle& r) {
    // 1. Divide: iterate the lines between the parts.
    const division parts = division::of(r);
    iterate_lines(r, parts);
    __threadfence();  // the children of thread 0 read the lines
    __syncthreads();
    // 2. Base cases: parts whose border has one dwell are filled, small ones are iterated.
    finish_parts(parts);
    // 3. Recurse into the other parts. Join: none is needed. A child writes only inside its own
    //    border, and the caller's stream waits for all grids.
    if (threadIdx.x != 0) return;
    ++counts.divided;
    for (unsigned i = 0; i < parts.parts(); ++i) {
      if (shared.kinds[i] != part_kind::divided) continue;
      spawn(divide_rectangles<can_launch, Context>, parts.part(i), 1, context, "divide_rectangles");
    }
  }

  /// Adds this block's counts to those of the run. Called by thread 0.
  __device__ void add_counts() const {
    const auto add = [](unsigned long long& to, unsigned long long count) {
      if (count != 0) atomicAdd(&to, count);
    };
    add(context.counts->iterated_pixels, counts.iterated_pixels);
    add(context.counts->filled_pixels, counts.filled_pixels);
    add(context.counts->filled, counts.filled);
    add(context.counts->divided, counts.divided);
    add(context.counts->small, counts.small);
  }

 private:
  /// Iterates the pixels of the lines between parts, each once: those of the horizontal lines, then
  /// those of the vertical ones without the crossings.
  __device__ void iterate_lines(const rectangle& r, const division& parts) {
    const unsigned width = r.inner_width();
    const unsigned height = r.inner_height();
    const unsigned in_rows = (parts.rows.parts - 1) * width;
    const unsigned in_all = in_rows + (parts.columns.parts - 1) * height;
    for (unsigned i = threadIdx.x; i < in_all; i += threads) {
      const bool is_row = i < in_rows;
      const unsigned k = is_row ? i : i - in_rows;
      const unsigned x = is_row ? r.left + 1 + k % width : parts.columns.line(1 + k / height);
      const unsigned y = is_row ? parts.rows.line(1 + k / width) : r.top + 1 + k % height;
      if (!is_row && parts.rows.is_line(y)) continue;
      context.image.iterate(x, y, pixel_origin::line);
    }
    if (threadIdx.x == 0) {
      counts.iterated_pixels += in_all - (parts.rows.parts - 1) * (parts.columns.parts - 1);
    }
  }

  /// Chooses the kind of each part, fills the uniform parts, and iterates the small ones.
  __device__ void finish_parts(const division& parts) {
    if (threadIdx.x == 0) shared.small_count = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x / 32; i < parts.parts(); i += threads / 32) {
      choose_kind(parts.part(i), i);
    }
    __syncthreads();
    for (unsigned i = 0; i < parts.parts(); ++i) {
      if (shared.kinds[i] == part_kind::filled) fill(parts.part(i), shared.dwells[i]);
    }
    iterate_small(parts);
  }

  /// Chooses the kind of part number `i`. Called by all lanes of a warp.
  __device__ void choose_kind(const rectangle& r, unsigned i) {
    const unsigned lane = threadIdx.x % 32;
    const std::uint32_t first = dwell_at(r.left, r.top);
    bool differs = false;
    for (unsigned k = lane; k < r.horizontal_sides(); k += 32) {
      differs = differs || dwell_at(r.left + k / 2, k % 2 == 0 ? r.top : r.bottom) != first;
    }
    for (unsigned k = lane; k < r.vertical_sides(); k += 32) {
      differs = differs || dwell_at(k % 2 == 0 ? r.left : r.right, r.top + k / 2) != first;
    }
    const bool is_uniform = __ballot_sync(full_warp_mask, differs) == 0;
    if (lane != 0) return;
    const std::size_t inner = r.inner_pixels();
    const bool is_small = inner < min_inner_pixels || spawn.too_small(inner);
    shared.kinds[i] = is_uniform && context.may_fill(r, first) ? part_kind::filled
                      : is_small                               ? part_kind::small
                                                               : part_kind::divided;
    shared.dwells[i] = first;
    if (shared.kinds[i] != part_kind::small) return;
    shared.small[atomicAdd(&shared.small_count, 1u)] = static_cast<unsigned char>(i);
  }

  /// Writes the pixels inside a border. Each warp writes rows.
  __device__ void fill(const rectangle& r, std::uint32_t dwell) {
    for (unsigned y = r.top + 1 + threadIdx.x / 32; y < r.bottom; y += threads / 32) {
      for (unsigned x = r.left + 1 + threadIdx.x % 32; x < r.right; x += 32) {
        context.image.write(x, y, dwell, pixel_origin::filled);
      }
    }
    if (threadIdx.x != 0 || r.inner_pixels() == 0) return;
    counts.filled_pixels += r.inner_pixels();
    ++counts.filled;
  }

  /// Iterates the pixels inside the small parts. All threads share the pixels of all these parts,
  /// whose sides differ by one pixel at most.
  __device__ void iterate_small(const division& parts) {
    const std::size_t width = parts.columns.most_between_lines();
    const std::size_t pixels = width * parts.rows.most_between_lines();  // of the largest part
    const unsigned small = shared.small_count;
    for (std::size_t i = threadIdx.x; i < small * pixels; i += threads) {
      const rectangle r = parts.part(shared.small[i / pixels]);
      const unsigned x = r.left + 1 + static_cast<unsigned>(i % pixels % width);
      const unsigned y = r.top + 1 + static_cast<unsigned>(i % pixels / width);
      if (x < r.right && y < r.bottom) context.image.iterate(x, y, pixel_origin::iterated);
    }
    if (threadIdx.x != 0) return;
    for (unsigned i = 0; i < small; ++i) {
      const std::size_t inner = parts.part(shared.small[i]).inner_pixels();
      counts.iterated_pixels += inner;
      if (inner != 0) ++counts.small;
    }
  }

  [[nodiscard]] __device__ std::uint32_t dwell_at(unsigned x, unsigned y) const {
    return context.image.dwells[context.image.index(x, y)];
  }
};

/// Runs the tasks of a grid, each in one block: the tiles of the image, or rectangles that are
/// divided. If it cannot launch, it is the flat kernel, which the loop of a graph launches.
template <bool can_launch, class Context>
__global__ void __maxnreg__(max_registers(threads, resident_blocks))
    divide_rectangles(task_source<rectangle> source, spawner<rectangle, can_launch> spawn,
                      Context context) {
  const traced here(spawn.trace, __func__);
  __shared__ rectangle_shared shared;
  rectangle_block<can_launch, Context> block{shared, spawn, context};
  for (const auto& [task, rank] : source.members()) {
    if (!task.is_root()) {
      block.divide(task);
      if (threadIdx.x == 0) spawn.task_ends();
      continue;
    }
    block.process_tile(context.tiles.part(rank));
    if (last_to_arrive(*context.arrived, context.tiles.parts()) && threadIdx.x == 0) {
      spawn.task_ends();
    }
  }
  if (threadIdx.x != 0) return;
  block.add_counts();
  spawn.block_ends(divide_rectangles<can_launch, Context>, source, context, __func__);
}

}  // namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD

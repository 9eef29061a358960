// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// query_call: the host side of one call over many queries. It checks them, sorts them along the
/// Morton curve where that pays, chooses the metric, launches, and reports.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/runtime/launch_each.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/spatial_tree/ball_passes.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <ramify/spatial_tree/code_sort.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/metric_choice.cuh>
#include <ramify/spatial_tree/morton.cuh>
#include <ramify/spatial_tree/nearest.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The highest 32 bits of a query's Morton code.
template <class Real, int dim>
[[nodiscard]] __device__ std::uint32_t code_of_query(const morton_encoder<dim>& encoder,
                                                     const point<Real, dim>& query) {
  return static_cast<std::uint32_t>(encoder.encode(query) >> (spatial_shape<dim>::bits * dim - 32));
}

/// Threads of a block of encode_queries().
inline constexpr unsigned encoding_threads = 256;

/// Writes the code and the index of each query, and adds up the ranges of the codes in each warp.
/// One thread per query, in whole warps.
template <class Real, int dim>
__global__ void encode_queries(const point<Real, dim>* queries, unsigned long long n,
                               box<Real, dim> bounds, std::uint32_t* codes, std::uint32_t* order,
                               unsigned long long* ranges) {
  __shared__ unsigned long long of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  // 1. Encode. Threads beyond the last query have the code of the last one.
  const auto i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const morton_encoder<dim> encoder(bounds);
  const std::uint32_t code = code_of_query(encoder, queries[i < n ? i : n - 1]);
  if (i < n) {
    codes[i] = code;
    order[i] = static_cast<std::uint32_t>(i);
  }
  // 2. The warp finds the range of its codes.
  std::uint32_t least = code;
  std::uint32_t greatest = code;
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    least = min(least, __shfl_xor_sync(full_warp_mask, least, static_cast<int>(distance)));
    greatest = max(greatest, __shfl_xor_sync(full_warp_mask, greatest, static_cast<int>(distance)));
  }
  // 3. Lane 0 adds it to the sum of the block, and thread 0 adds that to the sum of all.
  if (threadIdx.x % 32 == 0) atomicAdd(&of_block, 0ULL + greatest - least);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(ranges, of_block);
}

/// An array in the scratch memory of a query.
template <class T>
class query_array {
 public:
  query_array(std::size_t count, const runtime::run_choices& query)
      : memory_(query.given, count * sizeof(T), query.stream, query.algorithm) {}
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }

 private:
  scratch_space memory_;
};

/// The host side of one call over n queries: checks, launches, and the report.
class query_call {
 public:
  /// The queries are the points of the tree, unless check_queries() is called with others. `name`
  /// must outlive this object.
  /// \throws std::invalid_argument if the build of `tree` may be incomplete, for a bad field of
  ///         `options`, or for a field of `env` that queries do not use; unavailable; cuda_error
  template <class Real, int dim>
  query_call(const char* name, const spatial_tree_view<Real, dim>& tree, std::size_t n,
             const spatial_query_options& options, const environment& env)
      : setup_(name, env), n_(n), options_(options) {
    validate(options);
    check_environment(env);
    if (tree.built != nullptr) fail("the build of the tree may be incomplete: call get() first");
    check_periods(options_.period, tree.bounds, setup_.algorithm);
    report_.pending_launch_limit = setup_.limit;
  }

  [[nodiscard]] cudaStream_t stream() const { return setup_.stream; }

  /// Allocates `count` > 0 objects of scratch memory. \throws cuda_error
  template <class T>
  [[nodiscard]] query_array<T> allocate(std::size_t count) const {
    return {count, setup_};
  }

  /// Checks that all queries are finite, and returns them with the order in which threads process
  /// them. The order is valid as long as this object lives. Waits for the stream if there are any
  /// queries. \throws std::invalid_argument, cuda_error
  template <class Real, int dim>
  query_batch<Real, dim> check_queries(const point<Real, dim>* queries, bool are_balls) {
    if (n_ >> 32 != 0) fail("n must be less than 2^32");
    if (n_ == 0) return {queries, nullptr, 0};
    const std::string field = named("queries");
    check_device_access(queries, field.c_str());
    const auto partial = allocate<point_bounds<Real, dim>>(bounds_blocks(n_));
    const auto arrived = allocate<unsigned>(1);
    launch_find_bounds(queries, n_, partial.data(), arrived.data(), stream(), {});
    const auto found = read_checked_bounds(partial.data(), field.c_str(), stream());
    const box<Real, dim>& bounds = found.bounds;
    ++report_.host_grids;
    for (int axis = 0; axis < dim; ++axis) {
      lower_[axis] = bounds.lower.x[axis];
      upper_[axis] = bounds.upper.x[axis];
    }
    least_nonzero_ = found.least_nonzero;
    are_own_ = false;
    // Threads of the CPU executor do not need the order.
    const bool needs_order =
        RAMIFY_ON_CUDA || (are_balls && options_.ball_method == query_method::packets);
    if (options_.sort && needs_order) order_along_curve(queries, bounds);
    return {queries, order_ ? order_->data() : nullptr, n_};
  }
  template <class Real>
  void check_radius(Real radius) const {
    if (!(radius >= 0)) fail("radius is " + std::to_string(radius) + "; it must be 0 or more");
  }
  /// Checks the number of elements of a row of a result.
  void check_row(const char* field, std::size_t k) const {
    if (k != 0 && k >> 31 == 0) return;
    fail(std::string(field) + " is " + std::to_string(k) + "; it must be in [1, 2^31 - 1]");
  }
  template <class T>
  void check_result(const T* array, const char* field) const {
    if (n_ > 0) check_device_access(array, named(field).c_str());
  }

  /// Launches `kernel` with one thread for each query, in whole warps, if there are any.
  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), const Arguments&... arguments) {
    if (n_ == 0) return;
    launch_in_whole_blocks<packet_threads>(kernel, "querying a spatial tree", arguments...);
  }

  /// Runs a pass over the balls around the queries.
  template <class Real, int dim, class Pass>
  void run_pass(const spatial_tree_view<Real, dim>& tree, const query_batch<Real, dim>& batch,
                Real radius, const Pass& pass) {
    with_ball_metric(tree, radius, [&](const auto& metric, Real radius2) {
      run_pass_in(metric, tree, batch, radius2, pass);
    });
  }

  /// Runs a pass over the balls in a metric that with_ball_metric() chose.
  template <class Metric, class Real, int dim, class Pass>
  void run_pass_in(const Metric& metric, const spatial_tree_view<Real, dim>& tree,
                   const query_batch<Real, dim>& batch, Real radius2, const Pass& pass) {
    run(uses_packets(tree.point_count) ? visit_balls<true, Real, dim, Metric, Pass>
                                       : visit_balls<false, Real, dim, Metric, Pass>,
        tree, batch, metric, radius2, pass);
  }

  /// Calls use(metric, radius2) with the metric for the balls of the queries.
  template <class Real, int dim, class Use>
  void with_ball_metric(const spatial_tree_view<Real, dim>& tree, Real radius, const Use& use) {
    const auto chosen = choice_of_metric(tree).of_balls(radius);
    if (chosen.is_plain) {
      use(plain_metric{}, chosen.radius2);
    } else {
      use(chosen.scaled, chosen.radius2);
    }
  }

  /// Runs a search for the nearest neighbors.
  template <class Real, int dim>
  void run_nearest(const spatial_tree_view<Real, dim>& tree,
                   const nearest_queries<Real, dim>& batch, std::uint32_t* ids, Real* distances2) {
    const auto chosen = choice_of_metric(tree).of_neighbors();
    const auto search = [&](const auto& metric) {
      using metric_type = std::remove_cvref_t<decltype(metric)>;
      run(kernel_of_nearest<Real, dim, metric_type>(batch.k), tree, batch, metric, ids, distances2);
    };
    if (chosen.is_plain) {
      search(plain_metric{});
    } else {
      search(chosen.scaled);
    }
    if (n_ == 0 || !chosen.is_plain || options_.squared) return;
    const std::size_t elements = n_ * batch.k;
    launch_each(take_roots<Real>, elements, stream(), "taking roots of distances", distances2,
                static_cast<unsigned long long>(elements));
    ++report_.host_grids;
  }

  /// Launches `kernel` with one thread for each of m > 0 items, in whole warps. \throws cuda_error
  template <class... Parameters, class... Arguments>
  void run_each(void (*kernel)(Parameters...), std::size_t m, const Arguments&... arguments) {
    launch_each(kernel, (m + 31) / 32 * 32, stream(), "querying a spatial tree", arguments...);
    ++report_.host_grids;
  }

  /// Returns the points of the tree as queries, in its order. Threads of the CPU executor do not
  /// need the order.
  template <class Real, int dim>
  query_batch<Real, dim> own_points(const spatial_tree_view<Real, dim>& tree) {
    is_along_curve_ = RAMIFY_ON_CUDA;
    return {tree.points, nullptr, n_};
  }

  /// Waits for the stream and returns the report.
  run_report finish() {
    check(cudaStreamSynchronize(stream()), "waiting for the queries of a spatial tree");
    return report_;
  }

 private:
  /// Returns the choice of the metric for the queries.
  template <class Real, int dim>
  [[nodiscard]] metric_choice<Real, dim> choice_of_metric(
      const spatial_tree_view<Real, dim>& tree) const {
    box<Real, dim> queries = tree.bounds;
    Real least = tree.least_nonzero;
    if (!are_own_ && least_nonzero_ < double(least)) least = static_cast<Real>(least_nonzero_);
    for (int axis = 0; axis < dim && !are_own_; ++axis) {
      queries.lower.x[axis] = static_cast<Real>(lower_[axis]);
      queries.upper.x[axis] = static_cast<Real>(upper_[axis]);
    }
    return {queries, tree.bounds, least, options_.period};
  }

  /// Returns whether warps visit the tree for the balls. Few queries of a large tree are too far
  /// apart: a packet would visit several times as many nodes as its queries.
  [[nodiscard]] bool uses_packets(std::size_t points_of_tree) const {
    if (options_.ball_method != query_method::automatic) {
      return options_.ball_method == query_method::packets;
    }
    return is_along_curve_ && n_ >= points_of_tree / 4;
  }

  /// Refuses what a query does not use. \throws std::invalid_argument
  void check_environment(const environment& env) const {
    if (setup_.captured) {
      throw unavailable(named("a graph cannot capture a query, which waits for its stream"));
    }
    if (env.memory.data() != nullptr) {
      fail("environment.memory is memory; a query allocates from a resource or from the pool");
    }
    if (env.route == route::device) {
      fail("environment.route is device; queries launch no grids from kernels");
    }
    if (env.flat_loop == flat_loop::graph) {
      fail("environment.flat_loop is graph; queries have no loop");
    }
    if (env.trace != nullptr) fail("environment.trace is not null; queries record no grids");
    if (env.pending_launches != 0) {
      fail("environment.pending_launches is not 0; queries launch no grids from kernels");
    }
  }

  [[nodiscard]] std::string named(const std::string& what) const {
    return std::string(setup_.algorithm) + ": " + what;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(named(what));
  }

  /// Launches `kernel` with one thread for each query, and with threads beyond the last one that
  /// complete its block.
  template <unsigned threads, class... Parameters, class... Arguments>
  void launch_in_whole_blocks(void (*kernel)(Parameters...), const char* doing,
                              const Arguments&... arguments) {
    launch_each<threads>(kernel, (n_ + threads - 1) / threads * threads, stream(), doing,
                         arguments...);
    ++report_.host_grids;
  }

  /// Sorts the indices of the queries by their codes, unless the warps' ranges of codes are short.
  /// After a sort their sum is at most 2^32. Twice as much is short, and one warp in 32 may have
  /// any queries.
  template <class Real, int dim>
  void order_along_curve(const point<Real, dim>* queries, const box<Real, dim>& bounds) {
    const auto codes = allocate<std::uint32_t>(n_);
    const auto ranges = allocate<unsigned long long>(1);
    order_.emplace(n_, setup_);
    clear_memory(ranges.data(), 1, stream(), "clearing a sum");
    launch_in_whole_blocks<encoding_threads>(
        encode_queries<Real, dim>, "computing the codes of queries", queries,
        static_cast<unsigned long long>(n_), bounds, codes.data(), order_->data(), ranges.data());
    report_.scratch_bytes = n_ * 2 * sizeof(std::uint32_t);
    is_along_curve_ = true;
    constexpr unsigned long long longest = 1ULL << 32;
    constexpr std::size_t queries_of_32_warps = 1024;
    if (read_back(ranges.data(), stream(), "reading the order of the queries") <=
        (2 + n_ / queries_of_32_warps) * longest) {
      order_.reset();
      return;
    }
    sort_queries(codes.data(), order_->data(), n_, setup_, report_);
  }

  phase_range range_{"spatial_tree: query"};
  runtime::run_setup setup_;
  std::size_t n_;
  spatial_query_options options_;
  std::optional<query_array<std::uint32_t>> order_;
  bool are_own_ = true;  // the queries are the points of the tree
  double lower_[3]{};    // corners of the box around other queries
  double upper_[3]{};
  double least_nonzero_ = 0;     // magnitude of their coordinates
  bool is_along_curve_ = false;  // threads process the queries in this order
  run_report report_ = report_of_this_build({route::flat, "queries launch no child grids"});
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

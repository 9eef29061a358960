// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Queries of a spatial_tree for CUDA code: the points in a ball, and the k nearest neighbors.
/// <ramify/spatial_tree.cuh> includes this header.
///
///     points        <-- [(0, 0), (1, 0), (0, 3)]        queries <-- [(0, 1), (9, 9)]
///     radius_count(tree.view(), queries, 2, 1.5f, counts);
///     counts        --> [2, 0]
///     nearest(tree.view(), queries, 2, 2, ids, distances2);
///     ids           --> [[0, 1], [2, 1]]                distances2 --> [[1, 2], [117, 145]]
///
/// Queries    n < 2^32 finite points in device memory, in any order. A GPU sorts them along the
///            Morton curve if they are not in this order, unless config.sort is false. The points
///            of the tree, which all_nearest_neighbors() takes, are in this order.
/// Ball       closed: it contains the points p with distance2(query, p) <= radius * radius,
///            computed in Real. geometry.cuh states the arithmetic; brute force can get the same
///            bits.
/// Results    in device memory; they must not overlap the input. Ids are indices into the caller's
///            points. The results are the same on every run, route, schedule and backend.
/// Stream     earlier work in the stream is ordered before the call. Every call waits for the
///            stream.
/// Launches   one grid checks the queries, one computes their codes, and one grid is launched per
///            pass over the tree, with one thread per query; in addition the grids of the sort.
///            radius_list() also calls CUB's device scan, whose grids are not in the report. No
///            grid launches another, so the report has the route "flat". A warp visits the tree for
///            its 32 queries together, with a stack of at most 225 nodes; or each thread does, and
///            then needs up to 1.8 KB (3D double: 3.6 KB) of local memory on a GPU, which the
///            driver reserves for all resident threads.
/// Scratch    64 KB for the bounds of the queries; for a sort 8 bytes per query, and those of the
///            sort (ramify/quicksort.cuh). From Ramify's stream-ordered pool.
/// Errors     std::invalid_argument for a null array, k == 0, a negative or NaN radius, and for a
///            NaN or an infinity in a query (the message names it), before any result is written;
///            cuda_error.
/// Complexity O(log n + results) per query for evenly distributed points; brute force in the worst
///            case.
/// Not for    lists of balls that contain most of the points; very large k, because the candidate
///            heap is in the output array.

#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/launch_each.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/scan.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/morton.cuh>
#include <ramify/spatial_tree/nearest.cuh>
#include <ramify/spatial_tree/packets.cuh>
#include <ramify/spatial_tree/radius.cuh>
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

/// Writes the code and the index of each query, and counts the queries whose code is less than that
/// of the query before them. One thread per query.
template <class Real, int dim>
__global__ void encode_queries(const point<Real, dim>* queries, unsigned long long n,
                               box<Real, dim> bounds, std::uint32_t* codes, std::uint32_t* order,
                               unsigned long long* descents) {
  __shared__ unsigned of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  const auto i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    const morton_encoder<dim> encoder(bounds);
    codes[i] = code_of_query(encoder, queries[i]);
    order[i] = static_cast<std::uint32_t>(i);
    if (i > 0 && codes[i] < code_of_query(encoder, queries[i - 1])) atomicAdd(&of_block, 1u);
  }
  __syncthreads();
  if (threadIdx.x == 0 && of_block > 0) atomicAdd(descents, of_block + 0ULL);
}

/// The host side of one call over n queries: checks, launches, and the report.
class query_call {
 public:
  /// \throws std::invalid_argument if the build of `tree` may be incomplete, or for a bad field of
  ///         `config`
  template <class Real, int dim>
  query_call(const char* name, const spatial_tree_view<Real, dim>& tree, std::size_t n,
             cudaStream_t stream, const spatial_query_config& config)
      : name_(name), n_(n), stream_(stream), config_(config) {
    check_enumerator(config.method, "spatial_query_config.method");
    if (tree.built != nullptr) fail("the build of the tree may be incomplete: call get() first");
    report_.pending_launch_limit = *current_launch_limits().pending_launches;
  }

  /// Checks that all queries are finite, and returns them with the order in which threads process
  /// them. The order is valid as long as this object lives. Waits for the stream if there are any
  /// queries. \throws std::invalid_argument, cuda_error
  template <class Real, int dim>
  query_batch<Real, dim> check_queries(const point<Real, dim>* queries) {
    if (n_ >> 32 != 0) fail("n must be less than 2^32");
    if (n_ == 0) return {queries, nullptr, 0};
    const std::string field = name_ + ": queries";
    check_device_access(queries, field.c_str());
    const box<Real, dim> bounds = checked_bounds(queries, n_, field.c_str(), stream_);
    ++report_.host_grids;
    // The threads of the CPU executor do not need the order.
    const bool needs_order = RAMIFY_ON_CUDA || config_.method == query_method::packets;
    if (config_.sort && needs_order) order_along_curve(queries, bounds);
    return {queries, order_.data(), n_};
  }
  template <class Real>
  void check_radius(Real radius) const {
    if (!(radius >= 0)) fail("radius is " + std::to_string(radius) + "; it must be 0 or more");
  }
  void check_k(std::size_t k) const {
    if (k == 0 || k >> 31 != 0) fail("k is " + std::to_string(k) + "; it must be in [1, 2^31 - 1]");
  }
  void check_result(const void* array, const char* field) const {
    if (n_ > 0) check_device_access(array, (name_ + ": " + field).c_str());
  }

  /// Launches `kernel` with one thread for each query, in whole warps, if there are any.
  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), const Arguments&... arguments) {
    if (n_ == 0) return;
    const auto blocks = static_cast<unsigned>((n_ - 1) / packet_threads + 1);
    check(launch(kernel, {blocks, packet_threads}, stream_, arguments...).code(),
          "querying a spatial tree");
    ++report_.host_grids;
  }

  /// Waits for the stream and returns the report.
  run_report finish() {
    check(cudaStreamSynchronize(stream_), "waiting for the queries of a spatial tree");
    return report_;
  }

  /// Returns whether warps visit the tree for their queries.
  [[nodiscard]] bool uses_packets() const {
    if (config_.method == query_method::automatic) return is_along_curve_;
    return config_.method == query_method::packets;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(name_ + ": " + what);
  }

  /// Sorts the indices of the queries by their codes, unless nearly all warps have queries in this
  /// order already.
  template <class Real, int dim>
  void order_along_curve(const point<Real, dim>* queries, const box<Real, dim>& bounds) {
    const device_buffer<std::uint32_t> codes(n_, stream_);
    const device_buffer<unsigned long long> descents(1, stream_);
    order_ = device_buffer<std::uint32_t>(n_, stream_);
    clear_memory(descents.data(), 1, stream_, "clearing a counter");
    launch_each(encode_queries<Real, dim>, n_, stream_, "computing the codes of queries", queries,
                static_cast<unsigned long long>(n_), bounds, codes.data(), order_.data(),
                descents.data());
    ++report_.host_grids;
    is_along_curve_ = true;
    constexpr std::size_t queries_of_warp = 32;
    if (read_back(descents.data(), stream_, "reading the order of the queries") <=
        n_ / queries_of_warp) {
      order_ = {};
      return;
    }
    const auto sorted = quicksort_pairs(codes.data(), order_.data(), n_, ascending{}, stream_,
                                        {.route = route::flat});
    report_.host_grids += sorted.host_grids;
    report_.scratch_bytes = n_ * 2 * sizeof(std::uint32_t) + sorted.scratch_bytes;
  }

  phase_range range_{"spatial_tree: query"};
  std::string name_;
  std::size_t n_;
  cudaStream_t stream_;
  spatial_query_config config_;
  device_buffer<std::uint32_t> order_;
  bool is_along_curve_ = false;  // threads process the queries in this order
  run_report report_ = report_of_this_build({route::flat, "queries launch no child grids"});
};

/// Maximum k for which a thread keeps its candidates in registers.
inline constexpr unsigned max_k_in_registers = 16;

/// Runs checked nearest-neighbor queries.
template <class Real, int dim>
run_report run_nearest(query_call& call, const spatial_tree_view<Real, dim>& tree,
                       const nearest_queries<Real, dim>& batch, std::uint32_t* ids,
                       Real* distances2) {
  call.check_result(ids, "ids");
  call.check_result(distances2, "distances2");
  call.run(batch.k <= max_k_in_registers
               ? nearest_neighbors<Real, dim, candidate_list<Real, max_k_in_registers>>
               : nearest_neighbors<Real, dim, candidate_heap<Real>>,
           tree, batch, ids, distances2);
  return call.finish();
}

/// Counts the points in the balls of checked queries.
template <class Real, int dim>
void run_count(query_call& call, const spatial_tree_view<Real, dim>& tree,
               const query_batch<Real, dim>& batch, Real radius, std::uint32_t* counts) {
  call.run(call.uses_packets() ? count_within_packets<Real, dim> : count_within<Real, dim>, tree,
           batch, radius * radius, counts);
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Counts the points in the ball around each query.
/// \param queries  n points in device memory
/// \param radius   of all balls, 0 or more
/// \param counts   n counts in device memory
/// Waits for `stream`. Scratch: see above.
/// \throws std::invalid_argument, cuda_error
template <class Real, int dim>
run_report radius_count(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                        std::size_t n, std::type_identity_t<Real> radius, std::uint32_t* counts,
                        cudaStream_t stream = nullptr, const spatial_query_config& config = {}) {
  detail::spatial_tree::query_call call("radius_count", tree, n, stream, config);
  call.check_radius(radius);
  call.check_result(counts, "counts");
  detail::spatial_tree::run_count<Real, dim>(call, tree, call.check_queries(queries), radius,
                                             counts);
  return call.finish();
}

/// The points in many balls, in device memory. The list of ball i is ids[offsets[i]] to
/// ids[offsets[i + 1] - 1].
struct device_neighbor_lists {
  device_buffer<std::uint64_t> offsets;  ///< one more element than there are queries
  device_buffer<std::uint32_t> ids;
  run_report report;
};

/// Lists the points in the ball around each query, in the tree's order: by Morton code, then by id.
/// A first pass counts the points; the lists are then allocated from the stream-ordered pool.
/// \param queries  n points in device memory
/// \param radius   of all balls, 0 or more
/// \return lists whose memory is freed in `stream`, which must outlive them
/// Waits for `stream` twice. Scratch: see above, and 4 bytes per query.
/// \throws std::invalid_argument, cuda_error
template <class Real, int dim>
device_neighbor_lists radius_list(const spatial_tree_view<Real, dim>& tree,
                                  const point<Real, dim>* queries, std::size_t n,
                                  std::type_identity_t<Real> radius, cudaStream_t stream = nullptr,
                                  const spatial_query_config& config = {}) {
  detail::spatial_tree::query_call call("radius_list", tree, n, stream, config);
  call.check_radius(radius);
  const auto batch = call.check_queries(queries);
  // 1. Count the points of each list.
  const device_buffer<std::uint32_t> counts(n + 1, stream);
  clear_memory(counts.data() + n, 1, stream, "writing the end of the counts");
  detail::spatial_tree::run_count<Real, dim>(call, tree, batch, radius, counts.data());
  // 2. Each list begins where the one before it ends.
  device_neighbor_lists lists;
  lists.offsets = device_buffer<std::uint64_t>(n + 1, stream);
  detail::scan_counts(counts.data(), n + 1, lists.offsets.data(), stream);
  lists.ids = device_buffer<std::uint32_t>(
      read_back(lists.offsets.data() + n, stream, "reading the length of the lists"), stream);
  // 3. Write the lists.
  if (lists.ids.size() > 0) {
    call.run(call.uses_packets() ? detail::spatial_tree::list_within_packets<Real, dim>
                                 : detail::spatial_tree::list_within<Real, dim>,
             tree, batch, radius * radius, lists.offsets.data(), lists.ids.data());
  }
  lists.report = call.finish();
  lists.report.scratch_bytes += n * sizeof(std::uint32_t);
  return lists;
}

/// Finds the k points nearest to each query, sorted by distance, then by id. If the tree has fewer
/// than k points, the rest of a row is no_neighbor and infinity.
/// \param queries     n points in device memory
/// \param k           in [1, 2^31 - 1]; up to 16 candidates are kept in registers
/// \param ids         n rows of k ids in device memory
/// \param distances2  n rows of k squared distances in device memory
/// Waits for `stream`. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
run_report nearest(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                   std::size_t n, std::size_t k, std::uint32_t* ids, Real* distances2,
                   cudaStream_t stream = nullptr, const spatial_query_config& config = {}) {
  detail::spatial_tree::query_call call("nearest", tree, n, stream, config);
  call.check_k(k);
  return detail::spatial_tree::run_nearest(
      call, tree, {call.check_queries(queries), static_cast<unsigned>(k), false}, ids, distances2);
}

/// Finds the k nearest neighbors of every point of the tree, sorted by distance, then by id. Row i
/// belongs to the caller's point i. If there are fewer than k neighbors, the rest of a row is
/// no_neighbor and infinity.
/// \param k             in [1, 2^31 - 1]
/// \param exclude_self  a point is not its own neighbor; copies of it are neighbors
/// \param ids           a row of k ids per point, in device memory
/// \param distances2    a row of k squared distances per point, in device memory
/// Waits for `stream`. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
run_report all_nearest_neighbors(const spatial_tree_view<Real, dim>& tree, std::size_t k,
                                 bool exclude_self, std::uint32_t* ids, Real* distances2,
                                 cudaStream_t stream = nullptr,
                                 const spatial_query_config& config = {}) {
  detail::spatial_tree::query_call call("all_nearest_neighbors", tree, tree.point_count, stream,
                                        config);
  call.check_k(k);
  return detail::spatial_tree::run_nearest(
      call, tree, {{nullptr, nullptr, tree.point_count}, static_cast<unsigned>(k), exclude_self},
      ids, distances2);
}

}  // namespace ramify::inline RAMIFY_BUILD

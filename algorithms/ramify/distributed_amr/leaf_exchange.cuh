// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// leaf_exchange: the values of leaves from all ranks to rank 0, and back.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_amr/region_exchange.cuh>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns `size` entries for each leaf in [first, last) in the order of the leaves. `by_rank` has
/// them rank by rank, those of a rank in the order of its leaves.
template <class T>
[[nodiscard]] std::vector<T> in_order_of_leaves(const std::vector<T>& by_rank, std::size_t size,
                                                const std::vector<int>& leaf_owners,
                                                std::size_t first, std::size_t last, int ranks) {
  std::vector<std::size_t> next(std::size_t(ranks) + 1, 0);
  for (std::size_t leaf = first; leaf < last; ++leaf) {
    next[std::size_t(leaf_owners[leaf]) + 1] += size;
  }
  for (std::size_t rank = 1; rank < next.size(); ++rank) next[rank] += next[rank - 1];
  std::vector<T> ordered;
  ordered.reserve(by_rank.size());
  for (std::size_t leaf = first; leaf < last; ++leaf) {
    std::size_t& from = next[std::size_t(leaf_owners[leaf])];
    const auto begin = by_rank.begin() + std::ptrdiff_t(from);
    ordered.insert(ordered.end(), begin, begin + std::ptrdiff_t(size));
    from += size;
  }
  return ordered;
}

/// Moves the values of leaves between rank 0 and the ranks that the leaves belong to, some
/// thousands at a time, which bounds the device memory. All functions are collective.
template <class View>
class leaf_exchange {
  using real = typename View::real;
  using blocks = whole_block<View>;

 public:
  leaf_exchange(communicator& ranks, cudaStream_t stream) : ranks_(&ranks), stream_(stream) {}

  /// Sends values from rank 0, where `packed` has them, [leaf][variable][cell]. `nodes` and
  /// `leaf_owners` are those of the leaves. \throws cluster_error, cuda_error
  void scatter(const View& view, const std::vector<int>& nodes, const std::vector<int>& leaf_owners,
               const std::byte* packed) const {
    for (std::size_t first = 0; first < nodes.size(); first += piece) {
      scatter(view, nodes, leaf_owners, packed, first, std::min(first + piece, nodes.size()));
    }
  }

  /// Returns the values of `count` leaves in Morton order on rank 0, and nothing on the others.
  /// \throws cluster_error, cuda_error
  [[nodiscard]] std::vector<real> collect(const View& view, const part_plan& plan,
                                          std::size_t first_leaf, std::size_t count) const {
    std::vector<real> packed;
    for (std::size_t first = first_leaf; first < first_leaf + count; first += piece) {
      const auto values =
          collect_piece(view, plan, first, std::min(first + piece, first_leaf + count));
      packed.insert(packed.end(), values.begin(), values.end());
    }
    return packed;
  }

  /// Returns the values of the leaves of this rank, in Morton order. Not collective.
  /// \throws cuda_error
  [[nodiscard]] std::vector<real> own_values(const View& view, const part_plan& plan) const {
    std::vector<real> values(plan.leaves.size() * size);
    for (std::size_t first = 0; first < plan.leaves.size(); first += piece) {
      std::vector<block_region> own;
      for (std::size_t i = first; i < std::min(first + piece, plan.leaves.size()); ++i) {
        own.push_back({plan.leaves[i], 0});
      }
      const device_buffer<real> packed(own.size() * size, stream_);
      copy_blocks(pack_regions<View, blocks>, view, own, packed.data());
      read(packed, values.data() + first * size);
    }
    return values;
  }

 private:
  static constexpr std::size_t piece = 4096;
  static constexpr std::size_t size =
      std::size_t{View::physics_type::variables} * View::cells::count;

  [[nodiscard]] bool is_first() const { return ranks_->rank() == 0; }

  void scatter(const View& view, const std::vector<int>& nodes, const std::vector<int>& leaf_owners,
               const std::byte* packed, std::size_t first, std::size_t last) const {
    std::vector<std::vector<std::size_t>> of_rank(std::size_t(ranks_->size()));
    for (std::size_t leaf = first; leaf < last; ++leaf) {
      of_rank[std::size_t(leaf_owners[leaf])].push_back(leaf);
    }
    std::vector<real> by_rank;
    for (std::size_t rank = 0; is_first() && rank < of_rank.size(); ++rank) {
      for (const std::size_t leaf : of_rank[rank]) {
        by_rank.resize(by_rank.size() + size);
        std::memcpy(by_rank.data() + by_rank.size() - size, packed + leaf * size * sizeof(real),
                    size * sizeof(real));
      }
    }
    const device_buffer<real> sent = to_device(by_rank, stream_);
    std::vector<outgoing_message<real>> out;
    const real* from = sent.data();
    for (int to = 0; is_first() && to < ranks_->size(); ++to) {
      const std::size_t count = of_rank[std::size_t(to)].size() * size;
      if (count > 0) out.push_back({to, from, count});
      from += count;
    }
    std::vector<block_region> own;
    for (const std::size_t leaf : of_rank[std::size_t(ranks_->rank())]) {
      own.push_back({nodes[leaf], 0});
    }
    const device_buffer<real> received(own.size() * size, stream_);
    std::vector<incoming_message<real>> in;
    if (!own.empty()) in.push_back({0, received.data(), received.size()});
    ranks_->begin_exchange<real>(out, in, stream_).end();
    copy_blocks(unpack_regions<View, blocks>, view, own, static_cast<const real*>(received.data()));
  }

  [[nodiscard]] std::vector<real> collect_piece(const View& view, const part_plan& plan,
                                                std::size_t first, std::size_t last) const {
    std::vector<block_region> own;
    for (std::size_t i = 0; i < plan.leaves.size(); ++i) {
      const std::size_t leaf = plan.leaf_numbers[i];
      if (leaf >= first && leaf < last) own.push_back({plan.leaves[i], 0});
    }
    const device_buffer<real> sent(own.size() * size, stream_);
    copy_blocks(pack_regions<View, blocks>, view, own, sent.data());
    std::vector<outgoing_message<real>> out;
    if (!own.empty()) out.push_back({0, sent.data(), sent.size()});
    const device_buffer<real> received(is_first() ? (last - first) * size : 0, stream_);
    std::vector<incoming_message<real>> in;
    real* to = received.data();
    for (int from = 0; is_first() && from < ranks_->size(); ++from) {
      const auto leaves = std::count(plan.leaf_owners.begin() + std::ptrdiff_t(first),
                                     plan.leaf_owners.begin() + std::ptrdiff_t(last), from);
      const std::size_t count = std::size_t(leaves) * size;
      if (count > 0) in.push_back({from, to, count});
      to += count;
    }
    ranks_->begin_exchange<real>(out, in, stream_).end();
    std::vector<real> by_rank(received.size());
    if (!is_first()) return by_rank;
    read(received, by_rank.data());
    return in_order_of_leaves(by_rank, size, plan.leaf_owners, first, last, ranks_->size());
  }

  void read(const device_buffer<real>& from, real* to) const {
    check(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(real), cudaMemcpyDeviceToHost,
                          stream_),
          "reading the values of leaves");
    check(cudaStreamSynchronize(stream_), "reading the values of leaves");
  }

  /// Launches a kernel that packs or unpacks blocks, and waits for it.
  template <class Packed>
  void copy_blocks(void (*kernel)(View, blocks, const block_region*, Packed), const View& view,
                   const std::vector<block_region>& own, Packed packed) const {
    const device_buffer<block_region> regions = to_device(own, stream_);
    part_communication::grids_type grids(stream_);
    grids(kernel, {unsigned(own.size()), pack_threads}, view, blocks{},
          static_cast<const block_region*>(regions.data()), packed);
    check(grids.error(), "launching copies of leaves");
    check(cudaStreamSynchronize(stream_), "copying leaves");
  }

  communicator* ranks_;
  cudaStream_t stream_;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

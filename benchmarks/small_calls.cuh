// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The calls of four families whose costs are measured, with small inputs.
///
/// A call has these members:
///   scratch_bytes()        returns the size of the memory to hand in
///   restore(stream)        restores the input in the order of a stream
///   start(env), run(env)   call the _async function and the function that waits
///   check_result(result)   throws std::runtime_error if the result is wrong
///   uncounted_grids()      returns the number of grids that the host launches and that the report
///                          does not count

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <ramify/graph.cuh>
#include <ramify/spatial_tree.cuh>
#include <ramify/traverse.cuh>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph_checks.hpp"
#include "small_sort.cuh"
#include "tree_traversal/tree.hpp"

namespace benchmark {

/// A sort of 5,000 keys.
class sort_call : public small_sort<std::uint32_t> {
 public:
  static constexpr std::string_view name = "sort of 5,000 keys";
  sort_call() : small_sort(5000) {}
  void check_result(const ramify::quicksort_report&) const {
    check_sorted();
    compare_with_host();
  }
  [[nodiscard]] unsigned uncounted_grids() const { return 0; }
};

struct children_of_node {
  __host__ __device__ unsigned degree(const ladder::node& n) const { return ladder::degree(n); }
  __host__ __device__ ladder::node child(const ladder::node& n, unsigned i) const {
    return ladder::child(n, i);
  }
};
struct one {
  __host__ __device__ std::uint64_t operator()(const ladder::node&, unsigned) const { return 1; }
};
struct sum {
  __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return a + b;
  }
};

/// A traversal that counts the nodes of the tree of the ladder.
class traverse_call {
  using result = ramify::traverse_result<std::uint64_t>;

 public:
  static constexpr std::string_view name = "traversal of 66,633 nodes";
  traverse_call() {
    require(nodes_ == 66'633, "the tree has " + std::to_string(nodes_) + " nodes");
  }
  [[nodiscard]] std::size_t scratch_bytes() const {
    return ramify::traverse_scratch_bytes<ladder::node, children_of_node, one, sum,
                                          std::uint64_t>();
  }
  void restore(cudaStream_t) const {}
  [[nodiscard]] ramify::async_run<result> start(const ramify::environment& env) const {
    return ramify::traverse_async(root_, children_of_node{}, one{}, sum{}, std::uint64_t{0}, env);
  }
  [[nodiscard]] result run(const ramify::environment& env) const {
    return ramify::traverse(root_, children_of_node{}, one{}, sum{}, std::uint64_t{0}, env);
  }
  void check_result(const result& found) const {
    require(found.value == nodes_, "counted " + std::to_string(found.value) + " nodes");
  }
  [[nodiscard]] unsigned uncounted_grids() const { return 0; }

 private:
  ladder::node root_ = ladder::root_of(1u << 16);
  std::uint64_t nodes_ = ladder::count_on_host(root_);
};

/// A build of a tree over 10^5 uniform points.
class build_call {
  static constexpr std::uint32_t n = 100'000;
  using position = ramify::point<float, 3>;
  using tree_type = ramify::spatial_tree<float, 3>;

 public:
  static constexpr std::string_view name = "spatial tree over 10^5 points";
  build_call() : points_(n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t axis = 0; axis < 3; ++axis) {
        points_[i].x[axis] = float(scrambled(3 * i + axis) >> 40) * 0x1p-24f;
      }
    }
    on_device_ = upload(points_);
    const tree_type tree(on_device_.data(), n);
    check_nodes(tree.view());
    nodes_ = tree.view().node_count;
    ids_ = download(tree.view().ids, n);
  }
  [[nodiscard]] std::size_t scratch_bytes() const {
    return ramify::spatial_tree_scratch_bytes<float, 3>(n);
  }
  void restore(cudaStream_t) const {}
  [[nodiscard]] ramify::async_run<tree_type> start(const ramify::environment& env) const {
    return ramify::spatial_tree_async(on_device_.data(), n, env);
  }
  [[nodiscard]] tree_type run(const ramify::environment& env) const {
    return {on_device_.data(), n, env};
  }
  void check_result(const tree_type& tree) const {
    require(tree.view().node_count == nodes_ && download(tree.view().ids, n) == ids_,
            "the tree differs from the one that the host has checked");
  }
  /// Returns the number of grids of CUB's sort of the codes of the points.
  [[nodiscard]] unsigned uncounted_grids() const;

 private:
  /// Checks that all points are in the tree, that the boxes of its nodes are tight, and that the
  /// children of a node have its points. \throws std::runtime_error
  void check_nodes(const ramify::spatial_tree_view<float, 3>& view) const {
    const auto nodes = download(view.nodes, view.node_count);
    const auto sorted = download(view.points, n);
    const auto ids = download(view.ids, n);
    std::vector<bool> seen(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      require(ids[i] < n && !seen[ids[i]] && std::ranges::equal(sorted[i].x, points_[ids[i]].x),
              "the tree has other points");
      seen[ids[i]] = true;
    }
    require(nodes[0].begin == 0 && nodes[0].end == n, "the root does not have all points");
    for (const auto& node : nodes) {
      const auto points = std::span(sorted).subspan(node.begin, node.size());
      for (unsigned axis = 0; axis < 3; ++axis) {
        const auto [least, most] =
            std::ranges::minmax(points, {}, [&](const position& p) { return p.x[axis]; });
        require(
            node.bounds.lower.x[axis] == least.x[axis] && node.bounds.upper.x[axis] == most.x[axis],
            "the box of a node is not tight");
      }
      std::uint32_t end = node.begin;
      for (const auto& child : std::span(nodes).subspan(node.first_child, node.children)) {
        require(child.begin == end, "the children of a node do not have its points");
        end = child.end;
      }
      require(node.is_leaf() || end == node.end, "the children of a node do not have its points");
    }
  }

  std::vector<position> points_;
  ramify::device_buffer<position> on_device_;
  std::uint32_t nodes_ = 0;
  std::vector<std::uint32_t> ids_;
};

inline unsigned build_call::uncounted_grids() const {
  constexpr int bits = static_cast<int>(ramify::spatial_shape<3>::bits) * 3;
  const ramify::host_stream stream;
  const ramify::device_buffer<std::uint64_t> codes(2 * n, nullptr);
  const ramify::device_buffer<std::uint32_t> ids(2 * n, nullptr);
  cub::DoubleBuffer<std::uint64_t> keys(codes.data(), codes.data() + n);
  cub::DoubleBuffer<std::uint32_t> values(ids.data(), ids.data() + n);
  std::size_t bytes = 0;
  const auto sort = [&](void* scratch) {
    ramify::check(
        cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, n, 0, bits, stream.get()),
        "sorting codes");
  };
  sort(nullptr);
  const ramify::device_buffer<std::byte> scratch(bytes, nullptr);
  ramify::check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed),
                "capturing a sort");
  sort(scratch.data());
  cudaGraph_t captured = nullptr;
  ramify::check(cudaStreamEndCapture(stream.get(), &captured), "capturing a sort");
  const ramify::detail::unique_graph graph(captured);
  std::size_t count = 0;
  ramify::check(cudaGraphGetNodes(captured, nullptr, &count), "counting the nodes of a graph");
  std::vector<cudaGraphNode_t> nodes(count);
  ramify::check(cudaGraphGetNodes(captured, nodes.data(), &count), "reading the nodes of a graph");
  return static_cast<unsigned>(std::ranges::count_if(nodes, [](cudaGraphNode_t node) {
    cudaGraphNodeType type{};
    ramify::check(cudaGraphNodeGetType(node, &type), "reading the type of a node");
    return type == cudaGraphNodeTypeKernel;
  }));
}

/// A breadth-first search of a Kronecker graph of 98,304 undirected edges.
class search_call {
 public:
  static constexpr std::string_view name = "breadth-first search of 98,304 edges";
  search_call()
      : host_(common::make_random_graph(common::graph_kind::kronecker, 13, 12, 1)),
        offsets_(upload(host_.offsets)),
        targets_(upload(host_.targets)),
        levels_(host_.vertices(), nullptr),
        parents_(host_.vertices(), nullptr) {
    while (host_.degree(common::index(source_)) == 0) ++source_;
    ramify::breadth_first_search(view(), source_, results());
    expected_ = download(levels_.data(), levels_.size());
    const std::string fault =
        common::search_fault(host_, source_, expected_, download(parents_.data(), parents_.size()));
    require(fault.empty(), "breadth-first search: " + fault);
  }
  [[nodiscard]] std::size_t scratch_bytes() const { return ramify::bfs_scratch_bytes(view()); }
  /// Overwrites the levels, so that the check finds those that are not written.
  void restore(cudaStream_t stream) const {
    ramify::check(
        cudaMemsetAsync(levels_.data(), 0x7f, levels_.size() * sizeof(std::int32_t), stream),
        "overwriting levels");
  }
  [[nodiscard]] ramify::async_run<ramify::bfs_report> start(const ramify::environment& env) const {
    return ramify::breadth_first_search_async(view(), source_, results(), env);
  }
  [[nodiscard]] ramify::bfs_report run(const ramify::environment& env) const {
    return ramify::breadth_first_search(view(), source_, results(), env);
  }
  void check_result(const ramify::bfs_report&) const {
    require(download(levels_.data(), levels_.size()) == expected_, "the levels differ");
  }
  [[nodiscard]] unsigned uncounted_grids() const { return 0; }

 private:
  [[nodiscard]] ramify::graph_view view() const {
    return ramify::graph_view::symmetric({offsets_.data(), offsets_.size()},
                                         {targets_.data(), targets_.size()});
  }
  [[nodiscard]] ramify::bfs_arrays results() const {
    return {.levels = levels_.data(), .parents = parents_.data()};
  }

  common::stored_graph host_;
  std::int32_t source_ = 0;
  ramify::device_buffer<std::int64_t> offsets_;
  ramify::device_buffer<std::int32_t> targets_, levels_, parents_;
  std::vector<std::int32_t> expected_;
};

}  // namespace benchmark

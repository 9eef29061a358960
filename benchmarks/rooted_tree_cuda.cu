// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees on the GPU, for several shapes and each route, compared with a copy of the same
// bytes. Times are between events around the call, which waits for the device; the caller provides
// the scratch memory. Each result is checked against a serial reference before it is timed.
//   benchmark_rooted_tree_cuda [largest number of nodes; default 100000000]
#include <algorithm>
#include <numeric>
#include <ramify/rooted_tree.cuh>
#include <ramify/runtime/stream.cuh>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_cuda.cuh"
#include "rooted_tree/forests.hpp"

namespace {

using namespace ramify;
using benchmark::upload;
using numbers = std::vector<std::int32_t>;
using value = std::uint32_t;

constexpr int repeats = 5;

struct plus {
  __host__ __device__ value operator()(value a, value b) const { return a + b; }
};

/// Returns the median time of `work`, after two runs to warm up.
template <class Work>
benchmark::timing time_of(Work work) {
  std::vector<double> times;
  for (int i = -2; i < repeats; ++i) {
    host_event begin;
    host_event end;
    begin.record();
    work();
    end.record();
    if (i >= 0)
      times.push_back(end.milliseconds_since(begin));
    else
      check(cudaDeviceSynchronize(), "warming up");
  }
  return benchmark::summarize(times);
}

/// A tree, and its nodes in an order in which parents are before their children.
struct tree {
  tree(common::forest_kind kind, std::size_t n)
      : name(to_string(kind)), parents(common::make_parents(kind, n, 1)), order(n) {
    std::iota(order.begin(), order.end(), 0);
  }
  /// Returns the same tree with random node numbers, so that no memory access is local.
  [[nodiscard]] tree shuffled() const {
    tree other = *this;
    other.name += ", shuffled";
    std::mt19937_64 random(2);
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(other.order[i - 1], other.order[random() % i]);
    }
    for (std::size_t v = 0; v < parents.size(); ++v) {
      const std::int32_t p = parents[v];
      other.parents[std::size_t(other.order[v])] = p == -1 ? -1 : other.order[std::size_t(p)];
    }
    return other;
  }

  std::string name;
  numbers parents, order;
};

/// Correct results, by a serial traversal.
struct serial_reference {
  explicit serial_reference(const tree& t)
      : levels(t.order.size()),
        sizes(t.order.size(), 1),
        leaffix(t.order.size()),
        rootfix(t.order.size()) {
    for (const std::int32_t node : t.order) {
      const auto v = static_cast<std::size_t>(node);
      leaffix[v] = rootfix[v] = static_cast<value>(v);
      if (t.parents[v] == -1) continue;
      const auto p = static_cast<std::size_t>(t.parents[v]);
      levels[v] = levels[p] + 1;
      rootfix[v] += rootfix[p];
    }
    for (std::size_t i = t.order.size(); i-- > 0;) {
      const auto v = static_cast<std::size_t>(t.order[i]);
      if (t.parents[v] == -1) continue;
      const auto p = static_cast<std::size_t>(t.parents[v]);
      sizes[p] += sizes[v];
      leaffix[p] += leaffix[v];
    }
  }
  numbers levels, sizes;
  std::vector<value> leaffix, rootfix;
};

/// Measurements of one tree in device memory.
class tree_benchmark {
 public:
  tree_benchmark(benchmark::recorder& out, const tree& t)
      : recorder_(out),
        name_(t.name),
        n_(t.parents.size()),
        expected_(t),
        parents_(upload(t.parents)) {
    for (auto& out : out_) out = device_buffer<std::int32_t>(n_, nullptr);
    std::vector<value> values(n_);
    std::iota(values.begin(), values.end(), value{0});
    values_ = upload(values);
    for (auto& fold : folds_) fold = device_buffer<value>(n_, nullptr);
    const auto copy = time_of([&] {
      check(cudaMemcpyAsync(out_[0].data(), parents_.data(), n_ * sizeof(std::int32_t),
                            cudaMemcpyDeviceToDevice),
            "copying");
    });
    copy_ms_ = copy.median_ms;
    row("a copy of parents to sizes", {}, copy, nullptr);
  }

  void measure_all() {
    measure("subtree sizes", {.subtree_sizes = out_[1].data()}, no_folds{}, [&] { check_sizes(); });
    measure("levels, sizes, pre- and postorder",
            {out_[0].data(), out_[1].data(), out_[2].data(), out_[3].data()}, no_folds{}, [&] {
              check_sizes();
              expect(download(out_[0]) == expected_.levels, "levels");
              check_orders();
            });
    const value* values = values_.data();
    measure("leaffix", {}, make_tree_folds(values, plus{}, folds_[0].data(), nullptr),
            [&] { expect(download(folds_[0]) == expected_.leaffix, "leaffix"); });
    measure("rootfix", {}, make_tree_folds(values, plus{}, nullptr, folds_[1].data()),
            [&] { expect(download(folds_[1]) == expected_.rootfix, "rootfix"); });
  }

 private:
  template <class T>
  static std::vector<T> download(const device_buffer<T>& from) {
    std::vector<T> host(from.size());
    ramify::check(
        cudaMemcpy(host.data(), from.data(), host.size() * sizeof(T), cudaMemcpyDeviceToHost),
        "downloading");
    return host;
  }
  void expect(bool correct, const char* what) const {
    if (!correct) throw std::runtime_error("wrong " + std::string(what) + " of the " + name_);
  }
  void check_sizes() const { expect(download(out_[1]) == expected_.sizes, "subtree sizes"); }
  /// Checks both orders. A preorder number is the parent's, plus one, plus the sizes of the
  /// subtrees of earlier siblings. A postorder number satisfies preorder + size = postorder + 1 +
  /// level.
  void check_orders() const {
    const numbers parents = download(parents_);
    const numbers pre = download(out_[2]);
    const numbers post = download(out_[3]);
    std::int32_t next_root = 0;
    numbers next_child(n_);
    for (std::size_t v = 0; v < n_; ++v) next_child[v] = pre[v] + 1;
    for (std::size_t v = 0; v < n_; ++v) {
      std::int32_t& next =
          parents[v] < 0 ? next_root : next_child[static_cast<std::size_t>(parents[v])];
      expect(pre[v] == next, "preorder");
      next += expected_.sizes[v];
      expect(pre[v] + expected_.sizes[v] == post[v] + 1 + expected_.levels[v], "postorder");
    }
  }

  template <class Folds, class Check>
  void measure(const char* what, const tree_number_arrays& requested, const Folds& folds,
               Check check_result) {
    const auto shape = tree_shape::of_parents({parents_.data(), n_});
    const device_buffer<std::byte> scratch(rooted_tree_scratch_bytes(shape, requested, folds),
                                           nullptr);
    for (const auto taken : {route::device, route::flat, route::automatic}) {
      rooted_tree_report report;
      const auto run = [&] {
        report = rooted_tree(shape, requested, folds, {.memory = scratch, .route = taken});
      };
      clear();
      run();
      check_result();
      const auto t = time_of(run);
      row(what, to_string(taken), t, &report);
    }
  }
  void clear() {
    for (auto& out : out_) {
      ramify::check(cudaMemset(out.data(), 0, n_ * sizeof(std::int32_t)), "clearing");
    }
    for (auto& fold : folds_) {
      ramify::check(cudaMemset(fold.data(), 0, n_ * sizeof(value)), "clearing");
    }
  }

  void row(const char* what, std::string_view requested, const benchmark::timing& t,
           const rooted_tree_report* report) const {
    const auto field = [&](auto member) -> benchmark::cell {
      if (report == nullptr) return {};
      return report->*member;
    };
    recorder_.row({name_, n_, what, requested,
                   report == nullptr ? benchmark::cell() : to_string(report->taken), t,
                   double(n_) / t.median_ms / 1e3, t.median_ms / copy_ms_,
                   field(&rooted_tree_report::host_grids), field(&rooted_tree_report::child_grids),
                   field(&rooted_tree_report::rootfix_rounds)});
  }

  benchmark::recorder& recorder_;
  std::string name_;
  std::size_t n_;
  serial_reference expected_;
  device_buffer<std::int32_t> parents_, out_[4];
  device_buffer<value> values_, folds_[2];
  double copy_ms_ = 0;
};

void measure(benchmark::recorder& out, const benchmark::command_line& arguments) {
  const std::size_t largest = arguments.number_or(100'000'000);
  out.table("trees",
            {"tree", "nodes", "computed", "route", "took", "ms", "Mnodes/s", "time / copy",
             "host grids", "child grids", "doublings"},
            "Folds are sums of u32; medians of " + std::to_string(repeats) + " (least–most)");
  using common::forest_kind;
  for (const std::size_t n : {largest / 100, largest / 10, largest}) {
    for (const auto kind :
         {forest_kind::random, forest_kind::path, forest_kind::star, forest_kind::caterpillar}) {
      if (n < largest / 10 && kind != forest_kind::random) continue;
      const tree t(kind, n);
      tree_benchmark(out, t).measure_all();
      if (n == largest / 10) tree_benchmark(out, t.shuffled()).measure_all();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run(
      {.name = "rooted_tree_cuda",
       .about = "Rooted trees on the GPU, compared with a copy of the same bytes.",
       .machine = benchmark::this_gpu,
       .words = "the largest number of nodes; default 10^8"},
      argc, argv, measure);
}

// SPDX-License-Identifier: BSD-3-Clause
// Many small problems on a GPU: a batch in one call, beside a call for each of them. Searches are
// checked by dynamic programming, integrals by their antiderivative, and queries of trees by brute
// force, before a time is reported.
//   benchmark_batches_cuda --part knapsacks
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/branch_and_bound.cuh>
#include <ramify/quadrature.cuh>
#include <ramify/spatial_tree.cuh>
#include <ramify/spatial_tree/batch.cuh>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "measure_cuda.cuh"
#include "search/knapsacks.cuh"

namespace {

using namespace ramify;

constexpr unsigned problems = 1000;
constexpr route routes[] = {route::device, route::flat};

void require(bool valid, const char* what) {
  if (!valid) throw std::runtime_error(what);
}

const std::vector<std::string> columns{"problems", "route", "batch, ms", "calls, ms",
                                       "calls / batch"};

void add_row(benchmark::recorder& out, route taken, const benchmark::timing& batch,
             const benchmark::timing& calls) {
  out.row({problems, to_string(taken), batch, calls, calls.median_ms / batch.median_ms});
}

// ---- knapsacks ----

constexpr unsigned items = 24;
constexpr unsigned capacity = 200;

void measure_knapsacks(benchmark::recorder& out) {
  out.table("knapsacks", columns,
            "1,000 knapsacks of 24 items: one branch_and_bound() of tree_roots, and 1,000 calls; "
            "medians of 3 (least–most)");
  std::vector<examples::knapsack_item> all;
  for (unsigned i = 0; i < problems * items; ++i) {
    const std::uint64_t random = benchmark::scrambled(i);
    const auto weight = static_cast<unsigned>(random % 40 + 1);
    all.push_back({weight, weight + static_cast<unsigned>(random / 64 % 10)});
  }
  const auto on_device = benchmark::upload(all);
  const auto roots = examples::roots_of_knapsacks(problems, capacity);
  const examples::fill_knapsacks<items> problem{on_device.data()};
  for (const route taken : routes) {
    const environment env{.route = taken};
    std::vector<branch_and_bound_solution<examples::partial_knapsack>> best(problems);
    const benchmark::timing batch = benchmark::host_time_of(3, [&] {
      branch_and_bound(tree_roots(roots.data(), problems), problem, best.data(), env);
    });
    for (unsigned p = 0; p < problems; ++p) {
      const auto* const mine = &all[std::size_t{p} * items];
      require(best[p].found && best[p].value == examples::least_loss(mine, items, capacity),
              "a knapsack of the batch has another value");
    }
    std::vector<std::int64_t> values(problems);
    const benchmark::timing calls = benchmark::host_time_of(3, [&] {
      for (unsigned p = 0; p < problems; ++p) {
        values[p] = branch_and_bound(roots[p], problem, env).value;
      }
    });
    for (unsigned p = 0; p < problems; ++p) {
      require(values[p] == best[p].value, "a knapsack of a call has another value");
    }
    add_row(out, taken, batch, calls);
  }
}

// ---- integrals ----

/// 1 / (1 + (s x)^2), a peak at 0.
struct peak {
  [[nodiscard]] __device__ double operator()(const quadrature_point<1>& point,
                                             double steepness) const {
    const double x = steepness * point.x[0];
    return 1 / (1 + x * x);
  }
};
/// The same with one steepness.
struct one_peak {
  double steepness;
  [[nodiscard]] __device__ double operator()(const quadrature_point<1>& point) const {
    return peak{}(point, steepness);
  }
};

void measure_integrals(benchmark::recorder& out) {
  out.table("integrals", columns,
            "1,000 integrals with a parameter, for nine digits: one quadrature() of them all, and "
            "1,000 calls; medians of 3 (least–most)");
  const quadrature_box<1> unit{{0}, {1}};
  const quadrature_options options{.relative_tolerance = 1e-9};
  std::vector<double> steepness;
  for (unsigned p = 1; p <= problems; ++p) steepness.push_back(p);
  const auto check_value = [&](double value, unsigned p) {
    const double exact = std::atan(steepness[p]) / steepness[p];
    require(std::fabs(value / exact - 1) < 1e-9, "an integral differs from the exact one");
  };
  for (const route taken : routes) {
    const environment env{.route = taken};
    std::vector<quadrature_estimate> found(problems);
    const benchmark::timing batch = benchmark::host_time_of(3, [&] {
      quadrature(unit, peak{}, steepness.data(), problems, found.data(), options, env);
    });
    for (unsigned p = 0; p < problems; ++p) check_value(found[p].value, p);
    std::vector<double> values(problems);
    const benchmark::timing calls = benchmark::host_time_of(3, [&] {
      for (unsigned p = 0; p < problems; ++p) {
        values[p] = quadrature(unit, one_peak{steepness[p]}, options, env).value;
      }
    });
    for (unsigned p = 0; p < problems; ++p) check_value(values[p], p);
    add_row(out, taken, batch, calls);
  }
}

// ---- trees ----

using position = point<float, 3>;
using tree_type = ramify::spatial_tree<float, 3>;

/// Sets of uniform points in the unit cube, all of the same size.
class point_sets {
 public:
  point_sets(std::size_t sets, std::size_t size) : sets_(sets), size_(size) {
    for (std::size_t i = 0; i < 3 * sets * size; i += 3) {
      const auto x = [i](unsigned axis) {
        return float(benchmark::scrambled(i + axis) >> 40) * 0x1p-24f;
      };
      points_.push_back({{x(0), x(1), x(2)}});
    }
    std::vector<std::uint64_t> offsets;
    for (std::size_t i = 0; i <= sets; ++i) offsets.push_back(i * size);
    on_device_ = benchmark::upload(points_);
    offsets_ = benchmark::upload(offsets);
    counts_ = device_buffer<std::uint32_t>(size, nullptr);
  }

  [[nodiscard]] spatial_trees<float, 3> build_batch() const {
    return {on_device_.data(), sets_ * size_, offsets_.data(), sets_, size_};
  }
  /// Builds a tree for each set, one after the other.
  [[nodiscard]] std::vector<tree_type> build_each() const {
    std::vector<tree_type> trees;
    trees.reserve(sets_);
    for (std::size_t i = 0; i < sets_; ++i) trees.emplace_back(points_of(i), size_);
    return trees;
  }
  /// Starts a build for each set, and then completes them.
  [[nodiscard]] std::vector<tree_type> start_each() const {
    std::vector<async_run<tree_type>> runs;
    runs.reserve(sets_);
    for (std::size_t i = 0; i < sets_; ++i) {
      runs.push_back(spatial_tree_async(points_of(i), size_));
    }
    std::vector<tree_type> trees;
    trees.reserve(sets_);
    for (auto& run : runs) trees.push_back(run.get());
    return trees;
  }

  /// Compares counts in balls with brute force, in some sets. `view_of` returns the view of a set's
  /// tree. \throws std::runtime_error
  template <class ViewOf>
  void check(const ViewOf& view_of) const {
    constexpr float radius = 0.2f;
    for (std::size_t set = 0; set < sets_; set += sets_ / 10) {
      radius_count(view_of(set), points_of(set), size_, radius, counts_.data());
      const auto counts = benchmark::download(counts_.data(), size_);
      const position* const mine = &points_[set * size_];
      for (std::size_t i = 0; i < size_; i += size_ / 10) {
        std::uint32_t expected = 0;
        for (std::size_t j = 0; j < size_; ++j) {
          expected += distance2(mine[i], mine[j]) <= radius * radius;
        }
        require(counts[i] == expected, "a tree has another count in a ball");
      }
    }
  }

 private:
  [[nodiscard]] const position* points_of(std::size_t set) const {
    return on_device_.data() + set * size_;
  }

  std::size_t sets_, size_;
  std::vector<position> points_;
  device_buffer<position> on_device_;
  device_buffer<std::uint64_t> offsets_;
  device_buffer<std::uint32_t> counts_;
};

void measure_trees(benchmark::recorder& out) {
  out.table(
      "trees",
      {"trees", "points of a tree", "batch, ms", "calls, ms", "calls / batch", "async calls, ms",
       "async calls / batch"},
      "Spatial trees of uniform points in a cube, 3D float: one spatial_trees, a spatial_tree "
      "for each set, and a spatial_tree_async() for each set before the first get(); "
      "batches: medians of 3 (least–most)");
  constexpr std::pair<std::size_t, std::size_t> shapes[] = {
      {1'000, 1'000}, {10'000, 100}, {100, 10'000}};
  for (const auto& [sets, size] : shapes) {
    const point_sets problem(sets, size);
    const auto batch = benchmark::host_time_of(3, [&] { (void)problem.build_batch(); });
    const auto all = problem.build_batch();
    problem.check([&](std::size_t i) { return all.view(i); });
    const auto time_of_loop = [&](const auto& loop) {
      std::vector<tree_type> trees;
      const auto time = benchmark::host_time_of(1, [&] { trees = loop(); });
      problem.check([&](std::size_t i) { return trees[i].view(); });
      return time;
    };
    const auto calls = time_of_loop([&] { return problem.build_each(); });
    const auto started = time_of_loop([&] { return problem.start_each(); });
    out.row({sets, size, batch, calls, calls.median_ms / batch.median_ms, started,
             started.median_ms / batch.median_ms});
  }
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  if (asked.has_part("knapsacks")) measure_knapsacks(out);
  if (asked.has_part("integrals")) measure_integrals(out);
  if (asked.has_part("trees")) measure_trees(out);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "batches_cuda",
                         .about = "Batches of small problems on a GPU.",
                         .machine = benchmark::this_gpu,
                         .parts = {"knapsacks", "integrals", "trees"}},
                        argc, argv, measure_all);
}

// SPDX-License-Identifier: BSD-3-Clause
// Quicksort on the GPU compared with CUB in one run: sizes, types, inputs, routes and strategies.
// quicksort_bench.hpp states how times are measured and results checked.
//   benchmark_quicksort_cuda [--part uniform,small,pairs,strategies,grid,order,million,large]
//                            [--quick]
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_cuda.cuh"
#include "quicksort_bench.hpp"

namespace benchmark {

// Each generated file defines one of these functions.
template <>
std::unique_ptr<quicksort_bench> make_quicksort_bench<key_kind::u32>(std::uint32_t n);
template <>
std::unique_ptr<quicksort_bench> make_quicksort_bench<key_kind::u64>(std::uint32_t n);
template <>
std::unique_ptr<quicksort_bench> make_quicksort_bench<key_kind::f32>(std::uint32_t n);
template <>
std::unique_ptr<quicksort_bench> make_quicksort_bench<key_kind::f64>(std::uint32_t n);
template <>
std::unique_ptr<quicksort_bench> make_quicksort_bench<key_kind::u32_pair>(std::uint32_t n);
template <>
std::unique_ptr<quicksort_bench> make_quicksort_bench<key_kind::f64_pair>(std::uint32_t n);
template <>
std::unique_ptr<quicksort_bench> make_quicksort_bench<key_kind::record16>(std::uint32_t n);
template <>
std::unique_ptr<quicksort_bench> make_quicksort_bench<key_kind::u32_own_order>(std::uint32_t n);

namespace {

using ramify::quicksort_report;
using ramify::quicksort_strategy;
using ramify::route;

constexpr std::array plain_kinds{key_kind::u32, key_kind::u64, key_kind::f32, key_kind::f64};

std::unique_ptr<quicksort_bench> make(key_kind kind, std::uint32_t n) {
  switch (kind) {
    case key_kind::u32: return make_quicksort_bench<key_kind::u32>(n);
    case key_kind::u64: return make_quicksort_bench<key_kind::u64>(n);
    case key_kind::f32: return make_quicksort_bench<key_kind::f32>(n);
    case key_kind::f64: return make_quicksort_bench<key_kind::f64>(n);
    case key_kind::u32_pair: return make_quicksort_bench<key_kind::u32_pair>(n);
    case key_kind::f64_pair: return make_quicksort_bench<key_kind::f64_pair>(n);
    case key_kind::record16: return make_quicksort_bench<key_kind::record16>(n);
    case key_kind::u32_own_order: return make_quicksort_bench<key_kind::u32_own_order>(n);
  }
  throw std::logic_error("no such kind of key");
}

std::size_t bytes_of(key_kind kind) {
  switch (kind) {
    case key_kind::u64:
    case key_kind::u32_pair:
    case key_kind::f64: return 8;
    case key_kind::f64_pair: return 12;
    case key_kind::record16: return 16;
    default: return 4;
  }
}

std::string power_or_number(std::uint32_t n) {
  return std::has_single_bit(n) ? "2^" + std::to_string(std::countr_zero(n)) : std::to_string(n);
}

double mega_keys(std::uint32_t n, const timing& t) { return n / t.median_ms / 1e3; }
double speed(const timing& ours, const timing& theirs) { return theirs.median_ms / ours.median_ms; }

/// The sizes, and the number of repeats.
struct plan {
  explicit plan(bool quick)
      : sizes(quick ? std::vector<std::uint32_t>{1u << 20, 1u << 24}
                    : std::vector<std::uint32_t>{1u << 20, 1u << 22, 1u << 24, 1u << 26, 1u << 28}),
        repeats(quick ? 5 : 11) {}
  /// Returns the number of repeats: fewer for large sorts, whose times hardly vary.
  [[nodiscard]] int repeats_of(std::uint32_t n, distribution input) const {
    return n > 1u << 26 && input != distribution::uniform ? std::min(repeats, 5) : repeats;
  }

  std::vector<std::uint32_t> sizes;
  int repeats;
};

/// The times of all sorts of one input.
struct sort_case {
  key_kind kind;
  std::uint32_t n;
  distribution input;
  timing radix{}, merge{}, device{}, flat{}, automatic{};
  route chosen = route::automatic;  ///< the route that `automatic` chose

  /// Returns the excess time of the automatic route over the better one of device and flat.
  [[nodiscard]] double automatic_excess() const {
    return automatic.median_ms / std::min(device.median_ms, flat.median_ms) - 1;
  }
  [[nodiscard]] std::string text() const {
    return std::string(to_string(kind)) + ", " + power_or_number(n) + ", " +
           std::string(to_string(input));
  }
};

sort_case measure_case(quicksort_bench& bench, key_kind kind, std::uint32_t n, distribution input,
                       int repeats) {
  bench.choose(input);
  quicksort_report report;
  const auto quicksort = [&](route wanted) {
    return bench.time_of_quicksort(quicksort_strategy::sample_sort, wanted, repeats, &report);
  };
  sort_case c{.kind = kind, .n = n, .input = input};
  c.radix = bench.time_of_radix_sort(repeats);
  c.merge = bench.time_of_merge_sort(repeats);
  c.device = quicksort(route::device);
  if (report.taken != route::device)
    throw std::runtime_error("no device route: " + report.route_reason);
  c.flat = quicksort(route::flat);
  c.automatic = quicksort(route::automatic);
  c.chosen = report.taken;
  return c;
}

/// Returns a lower bound of the time of partitions into at most 256 buckets until a bucket fits
/// into 32 KiB: each level reads the keys twice and writes them once, and sorting the buckets reads
/// and writes them once.
double floor_ms(const sort_case& c, const timing& copy) {
  const double leaf = 32.0 * 1024 / static_cast<double>(bytes_of(c.kind));
  int levels = 0;
  for (double bucket = c.n; bucket > leaf; bucket /= 256) ++levels;
  return copy.median_ms * (3 * levels + 2) / 2;  // a copy is one read and one write
}

/// Measures uniform keys of some kinds and sizes, and adds them as a table.
std::vector<sort_case> measure_uniform(recorder& out, std::string_view name,
                                       std::span<const key_kind> kinds,
                                       std::span<const std::uint32_t> sizes, int repeats) {
  out.table(name,
            {"keys", "n", "copy, ms", "floor, ms", "radix sort, ms", "merge sort, ms", "device, ms",
             "flat, ms", "automatic, ms", "took", "device, Mkeys/s", "device: speed / merge sort",
             "device: speed / radix sort", "automatic: speed / merge sort"},
            "Uniform keys, sample_sort; medians of " + std::to_string(repeats) +
                " (least–most). Radix and merge sort are CUB's.");
  std::vector<sort_case> cases;
  for (const key_kind kind : kinds) {
    for (const std::uint32_t n : sizes) {
      const auto bench = make(kind, n);
      const sort_case c = measure_case(*bench, kind, n, distribution::uniform, repeats);
      const timing copy = bench->time_of_copy(repeats);
      out.row({to_string(kind), n, copy, floor_ms(c, copy), c.radix, c.merge, c.device, c.flat,
               c.automatic, to_string(c.chosen), mega_keys(n, c.device), speed(c.device, c.merge),
               speed(c.device, c.radix), speed(c.automatic, c.merge)});
      cases.push_back(c);
    }
  }
  return cases;
}

void measure_strategies(recorder& out, const plan& how) {
  out.table("strategies",
            {"n", "strategy", "route", "ms", "Mkeys/s", "host grids", "child grids", "spilled"},
            "Uniform u32 keys, by strategy");
  for (const std::uint32_t n : how.sizes) {
    const auto bench = make(key_kind::u32, n);
    bench->choose(distribution::uniform);
    for (const auto strategy : {quicksort_strategy::sample_sort, quicksort_strategy::binary}) {
      for (const auto wanted : {route::device, route::flat}) {
        quicksort_report report;
        const timing t = bench->time_of_quicksort(strategy, wanted, how.repeats, &report);
        out.row({n, to_string(strategy), to_string(wanted), t, mega_keys(n, t), report.host_grids,
                 report.child_grids, report.spilled_tasks});
      }
    }
  }
}

/// Adds a table of the mean and the minimum of the speeds of each route relative to each peer.
void summarize_speeds(recorder& out, const std::vector<sort_case>& cases) {
  out.table("summary", {"route", "against", "cases", "geometric mean of speeds", "least", "where"},
            "Speeds over all of the grid");
  for (const auto& [route_name, ours] :
       {std::pair{"device", &sort_case::device}, std::pair{"flat", &sort_case::flat},
        std::pair{"automatic", &sort_case::automatic}}) {
    for (const auto& [peer_name, theirs] :
         {std::pair{"merge sort", &sort_case::merge}, std::pair{"radix sort", &sort_case::radix}}) {
      const auto speed_of = [&](const sort_case& c) { return speed(c.*ours, c.*theirs); };
      double logarithms = 0;
      for (const sort_case& c : cases) logarithms += std::log(speed_of(c));
      const sort_case& worst = *std::ranges::min_element(cases, {}, speed_of);
      out.row({route_name, peer_name, cases.size(),
               std::exp(logarithms / static_cast<double>(cases.size())), speed_of(worst),
               worst.text()});
    }
  }
}

/// Adds a table of the cases in which the automatic route took much longer than the better route.
void report_automatic(recorder& out, std::vector<sort_case> cases) {
  constexpr std::size_t shown = 10;
  std::ranges::sort(cases, std::greater{}, &sort_case::automatic_excess);
  const auto over =
      std::ranges::count_if(cases, [](const sort_case& c) { return c.automatic_excess() > 0.05; });
  out.table("automatic",
            {"keys", "n", "input", "device, ms", "flat, ms", "automatic, ms", "took",
             "% over the better one"},
            "The automatic route takes over 5 % longer than the better one of device and flat in " +
                std::to_string(over) + " of " + std::to_string(cases.size()) +
                " cases. The worst:");
  for (std::size_t i = 0; i < std::min(shown, cases.size()); ++i) {
    const sort_case& c = cases[i];
    out.row({to_string(c.kind), c.n, to_string(c.input), c.device, c.flat, c.automatic,
             to_string(c.chosen), 100 * c.automatic_excess()});
  }
}

/// A table with one row for each type and size, and one column for each input.
class speed_table {
 public:
  speed_table(recorder& out, std::string_view name, std::string_view peer, const plan& how)
      : out_(out) {
    std::vector<std::string> columns{"keys", "n"};
    for (const distribution input : all_distributions) columns.emplace_back(to_string(input));
    out.table(name, columns,
              "Speed of the device route / CUB's " + std::string(peer) + "; medians of " +
                  std::to_string(how.repeats) + ", of 5 for 2^28 keys that are not uniform");
  }
  /// Adds a row. `cases` have one type and size, and are ordered like the inputs.
  void row(std::span<const sort_case> cases, timing sort_case::*peer) {
    std::vector<cell> cells{to_string(cases[0].kind), cases[0].n};
    for (const sort_case& c : cases) cells.emplace_back(speed(c.device, c.*peer));
    out_.row(cells);
  }

 private:
  recorder& out_;
};

/// Measures all inputs. Uses the times in `uniform` for uniform inputs that are there.
void measure_grid(recorder& out, const plan& how, std::span<const sort_case> uniform) {
  constexpr std::size_t inputs = all_distributions.size();
  std::vector<sort_case> cases;
  speed_table against_merge(out, "merge_grid", "merge sort", how);
  for (const key_kind kind : plain_kinds) {
    for (const std::uint32_t n : how.sizes) {
      const auto bench = make(kind, n);
      for (const distribution input : all_distributions) {
        const auto known = std::ranges::find_if(uniform, [&](const sort_case& c) {
          return c.kind == kind && c.n == n && c.input == input;
        });
        cases.push_back(known != uniform.end()
                            ? *known
                            : measure_case(*bench, kind, n, input, how.repeats_of(n, input)));
      }
      against_merge.row(std::span(cases).last(inputs), &sort_case::merge);
    }
  }
  speed_table against_radix(out, "radix_grid", "radix sort", how);
  for (std::size_t i = 0; i < cases.size(); i += inputs) {
    against_radix.row(std::span(cases).subspan(i, inputs), &sort_case::radix);
  }
  summarize_speeds(out, cases);
  report_automatic(out, cases);
  out.quiet_table("grid", {"keys", "n", "input", "radix sort, ms", "merge sort, ms", "device, ms",
                           "flat, ms", "automatic, ms", "took"});
  for (const sort_case& c : cases) {
    out.row({to_string(c.kind), c.n, to_string(c.input), c.radix, c.merge, c.device, c.flat,
             c.automatic, to_string(c.chosen)});
  }
}

/// Measures keys and orders that a radix sort of numbers does not support.
void measure_order(recorder& out, const plan& how) {
  constexpr std::uint32_t n = 1u << 24;
  out.table("order", {"keys and order", "input", "sort", "ms", "Mkeys/s", "speed / merge sort"},
            "2^24 elements in a user-defined order");
  for (const key_kind kind : {key_kind::u32_own_order, key_kind::record16}) {
    const auto bench = make(kind, n);
    for (const distribution input : {distribution::uniform, distribution::sixteen_values}) {
      bench->choose(input);
      const timing merge = bench->time_of_merge_sort(how.repeats);
      const auto row = [&](std::string_view sort, const timing& t) {
        out.row({to_string(kind), to_string(input), sort, t, mega_keys(n, t), speed(t, merge)});
      };
      row("cub::DeviceMergeSort", merge);
      for (const route wanted : {route::device, route::flat}) {
        quicksort_report report;
        row("sample_sort, " + std::string(to_string(wanted)),
            bench->time_of_quicksort(quicksort_strategy::sample_sort, wanted, how.repeats,
                                     &report));
      }
    }
  }
}

/// Measures uniform u32 keys of the given sizes.
void measure_sizes(recorder& out, std::string_view name, std::string_view caption,
                   const std::vector<std::uint32_t>& sizes, int repeats) {
  out.table(name,
            {"n", "sort", "ms", "Mkeys/s", "speed / merge sort", "host grids", "child grids",
             "spilled", "scratch, MB"},
            caption);
  for (const std::uint32_t n : sizes) {
    ramify::release_scratch();
    std::size_t free = 0;
    std::size_t all = 0;
    ramify::check(cudaMemGetInfo(&free, &all), "querying the free memory");
    if (free < 9 * std::size_t{n}) {  // two arrays of u32, and an eighth more
      out.row({n, "not enough memory on this GPU", {}, {}, {}, {}, {}, {}, {}});
      continue;
    }
    const auto bench = make(key_kind::u32, n);
    bench->choose(distribution::uniform);
    const timing merge = bench->time_of_merge_sort(repeats);
    const timing radix = bench->time_of_radix_sort(repeats);
    out.row({n, "cub::DeviceMergeSort", merge, mega_keys(n, merge), 1.0, {}, {}, {}, {}});
    out.row({n,
             "cub::DeviceRadixSort",
             radix,
             mega_keys(n, radix),
             speed(radix, merge),
             {},
             {},
             {},
             {}});
    for (const route wanted : {route::device, route::flat}) {
      quicksort_report report;
      const timing t =
          bench->time_of_quicksort(quicksort_strategy::sample_sort, wanted, repeats, &report);
      out.row({n, "sample_sort, " + std::string(to_string(wanted)), t, mega_keys(n, t),
               speed(t, merge), report.host_grids, report.child_grids, report.spilled_tasks,
               static_cast<double>(report.scratch_bytes) / 1e6});
    }
  }
}

void measure(recorder& out, const command_line& asked) {
  const plan how(asked.quick);
  std::vector<sort_case> uniform;
  if (asked.has_part("uniform")) {
    uniform = measure_uniform(out, "uniform", plain_kinds, how.sizes, how.repeats);
  }
  if (asked.has_part("small")) {
    constexpr std::array kinds{key_kind::u32, key_kind::f64, key_kind::u32_pair,
                               key_kind::f64_pair};
    constexpr std::array sizes{1000u, 5000u, 20'000u, 50'000u, 100'000u, 200'000u};
    measure_uniform(out, "small", kinds, sizes, how.repeats);
  }
  if (asked.has_part("pairs")) {
    constexpr std::array kinds{key_kind::u32_pair, key_kind::f64_pair};
    measure_uniform(out, "pairs", kinds, how.sizes, how.repeats);
  }
  if (asked.has_part("strategies")) measure_strategies(out, how);
  if (asked.has_part("grid")) measure_grid(out, how, uniform);
  if (asked.has_part("order")) measure_order(out, how);
  if (asked.has_part("million")) {
    measure_sizes(out, "million", "10^6 uniform u32 keys", {1'000'000}, how.repeats);
  }
  if (asked.has_part("large")) {
    std::vector<std::uint32_t> sizes{1u << 30};
    if (!asked.quick) sizes.push_back((1u << 31) + 1);
    measure_sizes(out, "large", "More than 2^28 uniform u32 keys; medians of 3", sizes, 3);
  }
}

}  // namespace
}  // namespace benchmark

int main(int argc, char** argv) {
  return benchmark::run(
      {.name = "quicksort_cuda",
       .about = "Quicksort on the GPU compared with CUB's sorts.",
       .machine = benchmark::this_gpu,
       .parts = {"uniform", "small", "pairs", "strategies", "grid", "order", "million", "large"},
       .has_quick = true},
      argc, argv, benchmark::measure);
}

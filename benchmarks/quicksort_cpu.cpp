// SPDX-License-Identifier: BSD-3-Clause
// Quicksort on the CPU executor compared with std::sort on one core, in one run.
#include <algorithm>
#include <chrono>
#include <ramify/quicksort.hpp>
#include <random>

#include "measure.hpp"

namespace {

using clock = std::chrono::steady_clock;
using key = std::uint32_t;

constexpr int repeats = 7;

template <class Sort>
benchmark::timing time_of(const std::vector<key>& input, const std::vector<key>& expected,
                          Sort sort) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    std::vector<key> keys = input;
    const auto begin = clock::now();
    sort(keys);
    times.push_back(std::chrono::duration<double, std::milli>(clock::now() - begin).count());
    if (keys != expected) throw std::runtime_error("the result is not that of std::sort");
  }
  return benchmark::summarize(times);
}

void measure(benchmark::recorder& out) {
  constexpr std::size_t n = std::size_t{1} << 22;
  std::mt19937 random(1);
  std::vector<key> input(n);
  for (key& k : input) k = static_cast<key>(random());

  std::vector<key> expected = input;
  std::ranges::sort(expected);
  const auto reference = time_of(input, expected, [](auto& keys) { std::ranges::sort(keys); });
  out.table("uniform", {"sort", "route", "ms", "of std::sort's time"},
            "2^22 uniform u32 keys, medians of " + std::to_string(repeats) + " (least–most)");
  const auto row = [&](std::string_view name, std::string_view route, const benchmark::timing& t) {
    out.row({name, route, t, t.median_ms / reference.median_ms});
  };
  row("std::sort, one core", "", reference);
  for (const auto strategy :
       {ramify::quicksort_strategy::sample_sort, ramify::quicksort_strategy::binary}) {
    for (const auto route : {ramify::route::device, ramify::route::flat}) {
      const ramify::quicksort_options options{.strategy = strategy};
      const ramify::environment env{.backend = ramify::backend::cpu, .route = route};
      row(ramify::to_string(strategy), ramify::to_string(route),
          time_of(input, expected, [&](auto& keys) {
            (void)ramify::quicksort(keys, ramify::sort_order::ascending, options, env);
          }));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run(
      {.name = "quicksort_cpu",
       .about = "Quicksort on the CPU executor against std::sort on one core.",
       .machine = benchmark::this_cpu},
      argc, argv, [](benchmark::recorder& out, const benchmark::command_line&) { measure(out); });
}

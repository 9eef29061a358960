// SPDX-License-Identifier: BSD-3-Clause
// The share of quadratures that report convergence with a wrong result: random members of eleven
// families in one to five dimensions, with tolerances from 1e-2 to 1e-7. A result is wrong if its
// true error is over the bound and over the tolerance.
//
//   benchmark_quadrature_share_cpu
//
// The environment variable RAMIFY_SHARE_MEMBERS sets the number of members of each family.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "measure.hpp"
#include "quadrature_members.cuh"

namespace {

constexpr std::size_t max_evaluations = 20'000;

/// Integrates one member in d dimensions, where d is 1 to 5 by turns.
void count_next(tests::member_family family, std::uint64_t seed, tests::member_counts& counts) {
  switch (seed % 5) {
    case 0: return tests::count_member<1>(family, seed, max_evaluations, counts);
    case 1: return tests::count_member<2>(family, seed, max_evaluations, counts);
    case 2: return tests::count_member<3>(family, seed, max_evaluations, counts);
    case 3: return tests::count_member<4>(family, seed, max_evaluations, counts);
    default: return tests::count_member<5>(family, seed, max_evaluations, counts);
  }
}

void write_row(benchmark::recorder& out, std::string_view name, const tests::member_counts& c) {
  out.row({name, c.runs, c.converged, c.wrong, 100.0 * c.wrong / c.runs,
           static_cast<double>(c.evaluations) / c.runs});
}

void measure_all(benchmark::recorder& out) {
  const char* const set = std::getenv("RAMIFY_SHARE_MEMBERS");
  const std::uint64_t members = set != nullptr ? std::stoull(set) : 1'000;
  out.table("families", {"family", "members", "converged", "wrong", "wrong, %", "evaluations"},
            "At most " + std::to_string(max_evaluations) +
                " evaluations; the last column is the mean of all members");
  tests::member_counts all;
  for (unsigned i = 0; i < tests::member_families; ++i) {
    const auto family = tests::member_family(i);
    tests::member_counts counts;
    for (std::uint64_t seed = 1; seed <= members; ++seed) count_next(family, seed, counts);
    write_row(out, to_string(family), counts);
    all.runs += counts.runs;
    all.converged += counts.converged;
    all.wrong += counts.wrong;
    all.evaluations += counts.evaluations;
  }
  write_row(out, "all", all);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run(
      {.name = "quadrature_share_cpu",
       .about = "The share of quadratures that report convergence with a wrong result.",
       .machine = benchmark::this_cpu},
      argc, argv,
      [](benchmark::recorder& out, const benchmark::command_line&) { measure_all(out); });
}

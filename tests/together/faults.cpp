// SPDX-License-Identifier: BSD-3-Clause
// Calls of all families without memory, and after the end of main(). A crash fails the test.
//
//     together_faults allocations     memory runs out in a call, and stays out until it has ended
//     together_faults at_exit         the destructor of a global object calls the library
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <new>
#include <numeric>
#include <optional>
#include <ramify/amr.hpp>
#include <ramify/branch_and_bound.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/graph.hpp>
#include <ramify/mandelbrot.hpp>
#include <ramify/nbody.hpp>
#include <ramify/quadrature.hpp>
#include <ramify/quicksort.hpp>
#include <ramify/rooted_tree.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/staging.cuh>
#include <ramify/segmented_sort.hpp>
#include <ramify/spatial_tree.hpp>
#include <ramify/tessellation.hpp>
#include <ramify/tree_search.hpp>
#include <string>
#include <vector>

using namespace ramify;

// ---- the fault: operator new of this program can fail ----

namespace {

std::atomic<long> allocations{0};     // since the last call of fail_from()
std::atomic<long> first_failing{-1};  // this allocation and all later ones fail; -1: none fails

bool allocation_fails() {
  const long number = allocations.fetch_add(1);
  const long failing = first_failing.load();
  return failing >= 0 && number >= failing;
}

void fail_from(long number) {
  allocations = 0;
  first_failing = number;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (allocation_fails()) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

}  // namespace

// Not inline: GCC 12 would warn that memory of the inlined aligned_alloc() is deleted.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* const memory = allocate(bytes, alignof(std::max_align_t))) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* const memory = allocate(bytes, static_cast<std::size_t>(alignment))) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t& /*tag*/) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/,
                                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

namespace {

// ---- one call of each family; it returns whether the result is right ----

struct family_call {
  const char* name;
  bool (*call)();
};

bool sorts(quicksort_strategy strategy) {
  std::vector<float> keys(3000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = float(i * 7919 % keys.size());
  quicksort(keys, sort_order::ascending, quicksort_options{.strategy = strategy});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != float(i)) return false;
  }
  return true;
}

bool sorts_segments() {
  std::vector<float> keys(3000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = -float(i);
  segmented_sort(keys, std::array{0u, 10u, 2990u, 3000u});
  return keys[0] == -9 && keys[10] == -2989 && keys[2989] == -10 && keys[2999] == -2990;
}

/// Points at 0, 1, 4, 9, ...: the nearest neighbor of point i > 0 is point i - 1.
std::vector<std::array<double, 3>> squares(std::size_t n) {
  std::vector<std::array<double, 3>> made;
  for (std::size_t i = 0; i < n; ++i) made.push_back({double(i * i), 0, 0});
  return made;
}

bool finds_neighbors() {
  const spatial_index<double, 3> index(squares(40));
  std::vector<std::uint32_t> ids(40);
  std::vector<double> distances2(40);
  index.all_nearest_neighbors(1, true, ids, distances2);
  return ids[0] == 1 && ids[39] == 38;
}

bool pulls() {
  const std::vector<double> masses(40, 1.0);
  std::vector<std::array<double, 3>> forces(40);
  gravity<double>(squares(40), masses, forces);
  return forces.front()[0] > 0 && forces.back()[0] < 0;
}

bool moves() {
  const std::vector<double> masses(20, 1.0);
  const std::vector<std::array<double, 3>> at_rest(20);
  nbody_simulation<double> bodies(squares(20), at_rest, masses);
  bodies.step(1e-3);
  std::vector<std::array<double, 3>> now(20);
  bodies.download(now);
  return now.front()[0] > 0 && now.back()[0] < 19 * 19;
}

bool searches_tree() {
  const auto found =
      tree_search({.type = uts_type::binomial, .root_branches = 50, .probability = 0});
  return found.counts.nodes == 51;
}

bool packs() {  // the second and the third item
  return knapsack({.items = {{.weight = 5, .profit = 9},
                             {.weight = 4, .profit = 6},
                             {.weight = 3, .profit = 5}},
                   .capacity = 7})
             .profit == 11;
}

bool counts_queens() { return count_queens(6).counts.solutions == 4; }

bool integrates() {
  genz_integrand f;
  f.family = genz_family::gaussian;
  f.dimensions = 2;
  f.a = {1, 1};
  quadrature_options options;
  options.max_evaluations = 20'000;
  const auto found = quadrature(f, options);
  const double half = 0.7468241328124270;  // the integral of exp(-x^2) over [0, 1]
  return found.converged() && std::abs(found.value - half * half) < 1e-4;
}

bool draws() {
  std::vector<std::uint32_t> dwells(64 * 64);
  const auto report = mandelbrot({.width = 64, .height = 64}, dwells);
  return report.iterated_pixels + report.filled_pixels == dwells.size();
}

bool tessellates() {
  const std::vector<cubic_curve> curves{{{{0, 0}, {0, 1}, {1, 1}, {1, 0}}}};
  const polylines lines = tessellate_curves(curves);
  return lines.points.size() > 2 && lines.points.front() == curve_point{0, 0} &&
         lines.points.back() == curve_point{1, 0};
}

bool numbers_path() {
  std::vector<std::int32_t> parents(200), levels(200), sizes(200);
  std::iota(parents.begin(), parents.end(), -1);
  rooted_tree(tree_shape::of_parents(parents), {.levels = levels, .subtree_sizes = sizes});
  return levels[199] == 199 && sizes[0] == 200;
}

/// A directed path of 50 vertices.
struct path_graph {
  path_graph() : offsets(51), targets(49) {
    std::iota(offsets.begin(), offsets.end(), 0);
    offsets.back() = 49;
    std::iota(targets.begin(), targets.end(), 1);
  }
  [[nodiscard]] graph_view view() const { return graph_view::directed(offsets, targets); }
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> targets;
};

bool searches_graph() {
  const path_graph graph;
  std::vector<std::int32_t> levels(50);
  breadth_first_search(graph.view(), 0, {.levels = levels});
  std::vector<std::int32_t> of_two(100);
  breadth_first_searches(graph.view(), std::array<std::int64_t, 2>{0, 10}, of_two);
  std::vector<float> distances(50);
  shortest_paths(graph.view(), std::vector<float>(49, 2.0f), 0, {.distances = distances});
  return levels[49] == 49 && of_two[99] == 39 && distances[49] == 98.0f;
}

bool ranks_graph() {
  const path_graph graph;
  std::vector<std::int32_t> components(50);
  connected_components(graph.view(), components);
  std::vector<double> ranks(50);
  pagerank(graph.view(), ranks);
  return components[49] == 0 &&
         std::abs(std::accumulate(ranks.begin(), ranks.end(), 0.0) - 1) < 1e-6;
}

bool flows() {
  amr_setup setup = recommended_setup(amr_problem::sod, 2);
  setup.options.mesh.max_level = 1;
  amr_simulation flow(setup);
  const double mass = flow.totals()[0];
  flow.advance_to(0.001);
  return std::abs(flow.totals()[0] - mass) < 1e-12 * mass;
}

constexpr family_call calls[] = {
    {"sample sort", [] { return sorts(quicksort_strategy::sample_sort); }},
    {"binary quicksort", [] { return sorts(quicksort_strategy::binary); }},
    {"segmented_sort", sorts_segments},
    {"spatial_index", finds_neighbors},
    {"gravity", pulls},
    {"nbody_simulation", moves},
    {"tree_search", searches_tree},
    {"knapsack", packs},
    {"queens", counts_queens},
    {"quadrature", integrates},
    {"mandelbrot", draws},
    {"tessellate_curves", tessellates},
    {"rooted_tree", numbers_path},
    {"searches of graphs", searches_graph},
    {"components and ranks", ranks_graph},
    {"amr_simulation", flows},
};

// ---- the tests ----

/// Destroys an object while all calls of the host and all allocations fail.
template <class T>
void destroy_without_memory(std::optional<T>& object) {
  auto config = cpu::current_executor_config();
  config.failing_call = 1;
  config.device_stays_failed = true;
  const cpu::scoped_executor_config failed(config);
  fail_from(0);
  object.reset();
  fail_from(-1);
}

/// A failed device and no memory at the same time: the destructors must not throw.
void test_destructors() {
  std::optional<launch_limits> limits;
  limits.emplace(launch_limit_values{.pending_launches = 100});
  destroy_without_memory(limits);
  std::optional<staging> chunks;
  chunks.emplace(staging_shape{.chunk_bytes = 1000, .threads = 2});
  std::array<char, 5000> host{};
  const device_buffer<char> device(host.size(), nullptr);
  chunks->upload(device.data(), host.data(), host.size(), nullptr);
  destroy_without_memory(chunks);
}

/// Memory runs out at some allocation of each call. The call must throw and release all that it
/// holds, and the next call must be right.
bool test_allocations() {
  test_destructors();
  bool good = true;
  for (const family_call& family : calls) {
    std::cout << family.name << std::flush;
    const auto expect = [&](bool condition, const char* what) {
      if (!condition) std::cout << "\n  " << what;
      good &= condition;
    };
    expect(family.call(), "the first call is wrong");  // creates what the process keeps
    fail_from(-1);
    expect(family.call(), "the second call is wrong");
    const long count = allocations;
    long reported = 0;
    long trials = 0;
    for (long failing = 0; failing < count; failing += 1 + failing / 12, ++trials) {
      const std::uint64_t objects = cpu::live_objects();
      fail_from(failing);
      bool right = true;
      try {
        right = family.call();
      } catch (const std::bad_alloc&) {
        ++reported;
      } catch (const cuda_error& error) {
        if (error.code() != cudaErrorMemoryAllocation) throw;
        ++reported;
      }
      fail_from(-1);
      expect(right, "a call without memory is wrong");
      expect(cpu::live_objects() == objects, "a call without memory leaks objects of the device");
    }
    expect(family.call(), "the last call is wrong");
    expect(reported >= trials / 2, "most calls without memory end without an exception");
    std::cout << ": " << count << " allocations, " << reported << " of " << trials
              << " calls without memory have thrown\n";
  }
  return good;
}

/// Its destructor runs after those of all objects that the first call in main() constructs.
struct calls_at_exit {
  bool requested = false;

  calls_at_exit() = default;
  ~calls_at_exit() {
    if (!requested) return;
    for (const family_call& family : calls) {
      if (family.call()) continue;
      std::printf("%s: the result at exit is wrong\n", family.name);
      ::_exit(1);
    }
    std::puts("all families are right at exit");
    std::fflush(stdout);
  }
  calls_at_exit(const calls_at_exit&) = delete;
  calls_at_exit& operator=(const calls_at_exit&) = delete;
} at_exit;

}  // namespace

int main(int argc, char** argv) {
  const std::string fault = argc > 1 ? argv[1] : "";
  if (fault == "allocations") return test_allocations() ? 0 : 1;
  if (fault == "at_exit") {
    at_exit.requested = true;
    return std::all_of(std::begin(calls), std::end(calls),
                       [](auto& family) { return family.call(); })
               ? 0
               : 1;
  }
  std::cerr << "usage: together_faults allocations | at_exit\n";
  return 2;
}

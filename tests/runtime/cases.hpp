// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the device runtime layer is asked to do in tests; compiled for both backends (cases.cuh).

#include <cstddef>
#include <optional>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/launch_costs.hpp>
#include <ramify/runtime/report.hpp>
#include <string>
#include <vector>

namespace tests {

struct flood_request {
  unsigned tasks = 1000;  ///< in all
  unsigned fan = 10;      ///< the root spawns this many, each of which spawns its share of the rest
  ramify::route route = ramify::route::device;
  unsigned threads = 32;     ///< a block
  unsigned blocks = 1;       ///< a task
  std::size_t capacity = 0;  ///< of the task lists; 0: enough
  bool bad_launch = false;   ///< a task asks for an impossible number of blocks
  /// The pending-launch limit that the run believes in, if it is not to be the real one.
  std::size_t believed_limit = 0;
  bool break_a_rule = false;  ///< task 0 hands a child a local pointer
  bool slots_taken = false;   ///< by somebody else, all of them
  ramify::launch_granularity launches{};
  bool by_block = false;        ///< all threads spawn; only for tasks of one block
  bool forgets_an_end = false;  ///< task 1 never says that it has ended
};

struct flood_result {
  std::vector<unsigned> runs;  ///< of each task: blocks that have run
  ramify::run_report report;
  unsigned slots_left_in_use = 0;
};

struct limits_seen {
  std::size_t before, inside, after;
  std::ptrdiff_t reserved_bytes;
};
enum class limit { pending_launches, malloc_heap_bytes, stack_bytes };

/// A loop that counts to n, or to 0 and so not at all.
struct loop_request {
  ramify::flat_loop wanted = ramify::flat_loop::graph;
  unsigned n = 0;
  unsigned launches = 1;  ///< one behind the other; each counts from 0
};
struct loop_seen {
  unsigned counted = 0;     ///< by the last launch
  unsigned iterations = 0;  ///< of all launches
  bool in_graph = false;
  std::string reason;
};

struct runtime_cases {
  flood_result (*flood)(const flood_request&, std::size_t pending_launches);
  limits_seen (*limits)(limit which, std::size_t wanted);
  void (*sync_depth)();
  void (*no_pending_launches)();
  std::string (*order_of_streams)();  ///< names of grids in the order in which they ran
  std::string (*order_in_null_stream)();
  /// What the last of a chain of grids counts, each of which may start before the one it reads from ends.
  unsigned (*early_grids)(unsigned count);
  std::string (*handles)();            ///< what is wrong with owning objects, if anything
  std::string (*times_of_events)();    ///< likewise
  bool (*launch_after_failed_call)();  ///< whether a launch is blamed for an error before it
  std::vector<int> (*warp_and_shared)();
  bool (*heap_is_finite)();
  std::vector<int> (*memory_operations)();
  /// How often a grid of `blocks` blocks comes to each member of a list of teams of 2, 1, 3, 1 and 5.
  std::vector<unsigned> (*visits_of_members)(unsigned blocks);
  std::string (*route_reason)(ramify::route wanted, std::size_t pending_launches);
  /// The route and its reason, if flat would take a thousand looks of the host and device one level.
  std::string (*planned_route)(ramify::route wanted, std::size_t pending_launches, bool captured);
  /// What launches cost on the current device, measured now, or kept; null on the CPU executor.
  ramify::launch_costs (*measure_and_keep_costs)(const std::string& folder);
  std::optional<ramify::launch_costs> (*kept_costs)(const std::string& folder);
  loop_seen (*loop)(const loop_request&);
  /// Whether an error in the body of a loop comes through, and the next loop runs all the same.
  bool (*loop_after_bad_body)();
  /// Each copies bytes to the device, has a kernel change them, and copies them back; what is wrong
  /// with them, if anything.
  std::string (*staged_copies)();
  std::string (*spoilt_staged_copy)();  ///< of which one byte was changed more than the others
  std::string (*copies_of_any_memory)();
  std::string (*staged_copies_of_two_threads)();  ///< there and back, unchanged
  void (*staging_without_chunks)();
  void (*staging_without_threads)();
};

/// Null if the backend was not built.
[[nodiscard]] const runtime_cases* runtime_cases_on_cpu();
[[nodiscard]] const runtime_cases* runtime_cases_on_cuda();

}  // namespace tests

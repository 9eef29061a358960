// SPDX-License-Identifier: BSD-3-Clause
#include "grid_log.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ramify::cpu::inline RAMIFY_ABI {

/// The records, in the order of the launches.
struct grid_log::state {
  mutable std::mutex mutex;
  std::vector<traced_grid> grids;
  std::uint64_t steps = 0;
};

namespace {

std::atomic<grid_log::state*> current_log = nullptr;

/// Returns the name without namespaces, template arguments of the end, and parameters.
std::string short_name(std::string_view full) {
  const std::string_view name = full.substr(0, full.find_first_of("(<"));
  const auto colon = name.rfind(':');
  return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
}

std::array<std::uint32_t, 3> to_array(const builtins::dim3& d) { return {d.x, d.y, d.z}; }

}  // namespace

grid_log::grid_log() : state_(std::make_unique<state>()) {
  state* none = nullptr;
  if (!current_log.compare_exchange_strong(none, state_.get())) {
    throw std::logic_error("there is a grid_log already (RAMIFY_CPU_TRACE makes one, too)");
  }
}

grid_log::~grid_log() { current_log = nullptr; }

void log_launch(grid& g, const grid* parent, std::uint64_t parent_block, launch_stream kind) {
  grid_log::state* const log = current_log.load(std::memory_order_acquire);
  if (log == nullptr) return;
  traced_grid made;
  made.parent = parent == nullptr ? traced_grid::no_grid : parent->record;
  made.kernel = short_name(*g.kernel_name);
  made.depth = static_cast<std::uint32_t>(g.depth);
  made.blocks = to_array(g.request.grid);
  made.threads = to_array(g.request.block);
  made.dynamic_shared = static_cast<std::uint32_t>(g.request.dynamic_shared);
  made.stream = kind;
  made.parent_block = static_cast<std::uint32_t>(parent_block);
  const std::lock_guard lock(log->mutex);
  made.launched = ++log->steps;
  g.record = log->grids.size();
  log->grids.push_back(std::move(made));
}

void set_logged_time(const grid& g, std::uint64_t traced_grid::*which) {
  grid_log::state* const log = current_log.load(std::memory_order_acquire);
  if (log == nullptr) return;
  const std::lock_guard lock(log->mutex);
  log->grids[g.record].*which = ++log->steps;
}

namespace {

/// A log from the first CUDA call of the process to its end, when it writes the file.
class log_of_process {
 public:
  explicit log_of_process(std::string file) : file_(std::move(file)) {}
  ~log_of_process() { write(); }
  log_of_process(const log_of_process&) = delete;
  log_of_process& operator=(const log_of_process&) = delete;

  void write() const noexcept {
    try {
      write_trace_file(file_, log_.trace());
    } catch (const std::exception& e) {
      std::fprintf(stderr, "ramify, CPU executor: RAMIFY_CPU_TRACE: %s\n", e.what());
    }
  }

 private:
  grid_log log_;
  std::string file_;
};

}  // namespace

void log_process(const std::string& file) {
  try {
    check_trace_file(file);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(std::string("RAMIFY_CPU_TRACE: ") + e.what());
  }
  static const log_of_process log(file);
  std::at_quick_exit([] { log.write(); });
}

launch_trace grid_log::trace() const {
  const std::lock_guard lock(state_->mutex);
  const std::vector<traced_grid>& all = state_->grids;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].begin != 0) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return all[i].begin; });
  std::vector<std::size_t> index_of(all.size(), traced_grid::no_grid);
  launch_trace result;
  result.ran_on = backend::cpu;
  result.counts_steps = true;
  for (const std::size_t i : order) {
    index_of[i] = result.grids.size();
    traced_grid& g = result.grids.emplace_back(all[i]);
    if (g.parent != traced_grid::no_grid) g.parent = index_of[g.parent];
  }
  return result;
}

}  // namespace ramify::cpu::inline RAMIFY_ABI

// SPDX-License-Identifier: BSD-3-Clause
#include "grid_log.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ramify::cpu {

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
    throw std::logic_error("there is a grid_log already");
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

}  // namespace ramify::cpu

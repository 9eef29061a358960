// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <deque>
#include <random>
#include <semaphore>
#include <thread>
#include <utility>

#include "device.hpp"
#include "grid.hpp"

namespace ramify::cpu {
namespace {

class serial_schedule;

/// An operating-system thread that carries one block at a time. It works only while it holds the
/// baton; a block that is half-run keeps its carrier, because `__shared__` is thread-local.
class carrier {
 public:
  carrier() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}
  ~carrier() {
    thread_.request_stop();
    baton_.release();
  }

  /// The block to run once it gets the baton.
  void assign(serial_schedule* by, grid_ptr g, std::uint64_t index) {
    run_ = by;
    grid_ = std::move(g);
    block_ = index;
  }
  void give_baton() { baton_.release(); }
  void await_baton() { baton_.acquire(); }

 private:
  void serve(const std::stop_token&);

  std::binary_semaphore baton_{0};
  serial_schedule* run_ = nullptr;
  grid_ptr grid_;
  std::uint64_t block_ = 0;
  std::jthread thread_;
};

thread_local carrier* this_carrier = nullptr;

/// Carriers live as long as the process: their fibers are worth keeping. One run uses them at a
/// time.
std::vector<std::unique_ptr<carrier>>& idle_carriers() {
  static std::vector<std::unique_ptr<carrier>> all;
  return all;
}

/// The schedules eager, late and random: one block runs at a time, and at each scheduling point the
/// schedule picks who goes on. Only the holder of the baton touches the members.
class serial_schedule final : public run {
 public:
  explicit serial_schedule(const executor_config& config) : config_(config), generator_(config.seed) {}

  void execute(const grid_ptr& root) override {
    ready({root});
    pass_on();
    finished_->acquire();
    for (auto& c : carriers_) idle_carriers().push_back(std::move(c));
  }

  void ready(const std::vector<grid_ptr>& grids) override {
    for (const grid_ptr& g : grids) fresh_.push_back({g, ++clock_});
  }

  std::uint64_t draw(std::uint64_t count) override {
    if (config_.order != schedule::random || count < 2) return 0;
    // Not std::uniform_int_distribution: its result may differ between standard libraries.
    return generator_() % count;
  }

  void scheduling_point() override {
    if (config_.order == schedule::late) return;
    carrier* const self = this_carrier;
    half_run_.push_back({self, running_since_});
    carrier* const next = choose();
    if (next != self) {
      next->give_baton();
      self->await_baton();
    }
    running_since_ = ++clock_;
  }

  /// Runs a block on the calling carrier, then passes the baton on.
  void carry(grid_ptr g, std::uint64_t index) {
    running_since_ = ++clock_;
    run_block(std::exchange(g, nullptr), index);
    --live_;
    free_.push_back(this_carrier);
    pass_on();
  }

 private:
  struct waiting_grid {  // has blocks that nobody runs yet
    grid_ptr grid;
    std::uint64_t since;
  };
  struct half_run_block {
    carrier* on;
    std::uint64_t since;  // when it last began to run
  };

  void pass_on() {
    if (cancelled()) fresh_.clear();  // half-run blocks still unwind, others never begin
    if (!fresh_.empty() || !half_run_.empty()) {
      choose()->give_baton();
      return;
    }
    const auto finished = finished_;
    finished->release();
  }

  /// Whose turn it is, as a carrier that waits for the baton.
  carrier* choose() {
    const bool may_begin = !fresh_.empty() && live_ < config_.live_blocks && !cancelled();
    switch (config_.order) {
      case schedule::late: return begin_block(0);  // the oldest; nothing is ever half-run
      case schedule::random: {
        const std::uint64_t choice = draw(half_run_.size() + (may_begin ? fresh_.size() : 0));
        return choice < half_run_.size() ? resume_block(choice)
                                         : begin_block(choice - half_run_.size());
      }
      default: {  // eager: the newest, so that a child runs before its parent goes on
        const auto newest = std::ranges::max_element(half_run_, {}, &half_run_block::since);
        const bool child_first =
            newest == half_run_.end() || (may_begin && fresh_.back().since > newest->since);
        return child_first ? begin_block(fresh_.size() - 1)
                           : resume_block(static_cast<std::size_t>(newest - half_run_.begin()));
      }
    }
  }

  carrier* resume_block(std::size_t which) {
    carrier* c = half_run_[which].on;
    half_run_.erase(half_run_.begin() + static_cast<std::ptrdiff_t>(which));
    return c;
  }

  carrier* begin_block(std::size_t which) {
    const grid_ptr g = fresh_[which].grid;
    std::uint64_t index = 0;
    (void)g->take_block(index);
    if (index + 1 == g->block_count) {
      fresh_.erase(fresh_.begin() + static_cast<std::ptrdiff_t>(which));
    }
    ++live_;
    carrier* c = free_carrier();
    c->assign(this, g, index);
    return c;
  }

  carrier* free_carrier() {
    if (free_.empty()) {
      auto& idle = idle_carriers();
      if (idle.empty()) idle.push_back(std::make_unique<carrier>());
      free_.push_back(idle.back().get());
      carriers_.push_back(std::move(idle.back()));
      idle.pop_back();
    }
    carrier* c = free_.back();
    free_.pop_back();
    return c;
  }

  const executor_config config_;
  std::mt19937_64 generator_;
  std::uint64_t clock_ = 0;
  std::uint64_t running_since_ = 0;
  std::deque<waiting_grid> fresh_;  // oldest first
  std::vector<half_run_block> half_run_;
  unsigned live_ = 0;
  std::vector<std::unique_ptr<carrier>> carriers_;
  std::vector<carrier*> free_;
  // Shared, because the carrier that releases it may outlast the run by an instruction.
  std::shared_ptr<std::binary_semaphore> finished_ = std::make_shared<std::binary_semaphore>(0);
};

void carrier::serve(const std::stop_token& stop) {
  this_carrier = this;
  for (;;) {
    await_baton();
    if (stop.stop_requested()) return;
    run_->carry(std::move(grid_), block_);
  }
}

}  // namespace

std::unique_ptr<run> make_serial_schedule(const executor_config& config) {
  return std::make_unique<serial_schedule>(config);
}

}  // namespace ramify::cpu

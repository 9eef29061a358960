// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <ramify/cpu/sanitizers.hpp>
#include <utility>

#include "block.hpp"
#include "grid_log.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

using namespace builtins;

namespace {

/// Bytes of dynamic shared memory that a kernel may use without allow_shared().
constexpr std::size_t default_max_shared = std::size_t{48} << 10;

bool valid_shape(const launch_request& r) {
  const auto fits = [](const dim3& d, unsigned x, unsigned y, unsigned z) {
    return d.x >= 1 && d.y >= 1 && d.z >= 1 && d.x <= x && d.y <= y && d.z <= z;
  };
  return fits(r.grid, 2'147'483'647u, 65'535u, 65'535u) && fits(r.block, 1024u, 1024u, 64u) &&
         r.block.volume() <= 1024;
}

executor_config config_from_environment() {
  const char* const order = std::getenv("RAMIFY_CPU_SCHEDULE");
  executor_config config = order == nullptr ? executor_config{} : parse_executor_config(order);
  if (const char* const depth = std::getenv("RAMIFY_CPU_MAX_DEPTH")) {
    config.max_depth = parse_max_depth(depth);
  }
  if (const char* const memory = std::getenv("RAMIFY_CPU_MEMORY")) {
    config.refuse_host_memory = parse_memory(memory);
  }
  if (const char* const file = std::getenv("RAMIFY_CPU_TRACE")) log_process(file);
  return config;
}

}  // namespace

device& device::instance() {
  // Never destroyed, because worker threads and destructors of global objects may use it at exit.
  static device& the_device = *new device;
  return the_device;
}

device::device()
    : config_(config_from_environment()),
      order_(config_.order),
      refuses_host_memory_(config_.refuse_host_memory) {}

static std::mutex failures;  // guards the failures of all runs

void run::fail(std::exception_ptr failure) {
  const std::lock_guard lock(failures);
  if (failure_ == nullptr) failure_ = std::move(failure);
  cancelled_.store(true, std::memory_order_release);
}

void run::add_unread_failure(const std::string& what) {
  const std::lock_guard lock(failures);
  if (++unread_failures_ == 1) first_unread_failure_ = what;
}

void run::print_unread_failures() const {
  if (unread_failures_ == 0) return;
  std::fprintf(
      stderr,
      "ramify, CPU executor: failed launches in kernels, whose error no cudaGetLastError() "
      "read: %llu. The first: %s\n",
      static_cast<unsigned long long>(unread_failures_), first_unread_failure_.c_str());
}

// ---- launches ----------------------------------------------------------------------------------

argument_copies::argument_copies(launch_arguments arguments) {
  std::size_t left = 0;  // bytes, at most
  for (const launch_argument& a : arguments) left += a.size + a.alignment;
  const std::size_t addresses = arguments.size() * sizeof(void*);
  memory_ = std::make_unique<std::byte[]>(addresses + left);
  void* next = memory_.get() + addresses;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const launch_argument& a = arguments[i];
    std::align(a.alignment, a.size, next, left);
    std::memcpy(next, a.value, a.size);
    std::construct_at(reinterpret_cast<void**>(memory_.get()) + i, next);
    next = static_cast<std::byte*>(next) + a.size;
    left -= a.size;
  }
}

grid_ptr device::make_grid(const launch_request& request, launch_arguments arguments) {
  auto name = kernel_names_.find(request.kernel);
  if (name == kernel_names_.end()) {
    name = kernel_names_.emplace(request.kernel, kernel_name(request.kernel)).first;
  }
  auto g = std::make_shared<grid>(request, arguments);
  g->kernel_name = &name->second;
  g->block_count = request.grid.volume();
  g->id = next_grid_++;
  return g;
}

void device::allow_shared(const void* kernel, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  shared_of_[kernel] = bytes;
}

bool device::has_shared(const launch_request& request) {
  if (request.dynamic_shared <= default_max_shared) return true;
  const std::lock_guard lock(mutex_);
  const auto found = shared_of_.find(request.kernel);
  return found != shared_of_.end() && request.dynamic_shared <= found->second;
}

cudaError_t device::launch_from_host(const launch_request& request, launch_arguments arguments,
                                     cudaStream_t stream) {
  if (const cudaError_t failure = begin_call()) return failure;
  if (!valid_shape(request) || !has_shared(request)) return cudaErrorInvalidConfiguration;
  if (stream != nullptr) {  // the host may use only streams that the host created
    if (find(stream, 0).state == nullptr) return cudaErrorInvalidResourceHandle;
    static_cast<void>(set_has_new_work(stream, true));
  }
  const executor_config config = this->config();
  std::unique_lock<std::mutex> alone(one_run_at_a_time_, std::defer_lock);
  if (config.order != schedule::parallel) alone.lock();

  const auto the_run =
      config.order == schedule::parallel ? make_parallel_run(config) : make_serial_schedule(config);
  grid_ptr root;
  {
    const std::lock_guard lock(mutex_);
    root = make_grid(request, arguments);
    if (!heap_.open()) return cudaErrorMemoryAllocation;
  }
  root->owner = the_run.get();
  try {
    log_launch(*root, nullptr, 0, launch_stream::host);
    the_run->execute(root);
  } catch (...) {
    the_run->fail(std::current_exception());
  }
  {
    const std::lock_guard lock(mutex_);
    heap_.close();
  }
  the_run->print_unread_failures();
  if (the_run->failure() == nullptr) return cudaSuccess;

  // Grids of the failed run never began: release their pool slots, streams and events.
  {
    const std::lock_guard lock(mutex_);
    pending_ -= the_run->slots_held;
    const auto of_this_run = [&](const auto& pair) { return pair.second.of_run == the_run.get(); };
    std::erase_if(streams_, of_this_run);
    std::erase_if(events_, of_this_run);
  }
  std::rethrow_exception(the_run->failure());
}

cudaError_t device::launch_from_block(block& parent, const launch_request& request,
                                      launch_arguments arguments, stream_state* stream,
                                      launch_stream kind) {
  if (!valid_shape(request) || !has_shared(request)) return cudaErrorInvalidConfiguration;
  run& the_run = *parent.owner()->owner;
  const std::uint64_t depth = parent.owner()->depth + 1;
  std::vector<grid_ptr> ready;
  {
    const std::lock_guard lock(mutex_);
    if (config_.max_depth != 0 && depth > config_.max_depth) {
      parent.violate(rule::endless_recursion,
                     "launches " + kernel_name(request.kernel) + " at depth " +
                         std::to_string(depth) + " of the launch tree; executor_config.max_depth " +
                         "(RAMIFY_CPU_MAX_DEPTH) is " + std::to_string(config_.max_depth));
    }
    const std::uint64_t number = ++launches_from_kernels_;
    const bool injected =
        number == config_.failing_launch ||
        (config_.pool_stays_full && config_.failing_launch != 0 && number > config_.failing_launch);
    if (injected || pending_ >= pending_limit_) return cudaErrorLaunchPendingCountExceeded;
    ++pending_;
    ++the_run.slots_held;

    grid_ptr child = make_grid(request, arguments);
    child->owner = &the_run;
    child->depth = depth;
    child->pool_slots = 1;
    log_launch(*child, parent.owner().get(), parent.linear_index(), kind);
    if (kind == launch_stream::tail) {
      child->is_tail = true;
      parent.owner()->tail.push_back(std::move(child));  // its parent is set when it begins
    } else {
      child->parent = parent.owner();
      ++child->parent->children_open;
      if (stream == nullptr) {
        ready.push_back(std::move(child));
      } else {
        child->stream = stream;
        stream->queue.emplace_back(std::move(child));
        advance(*stream, ready);
      }
    }
  }
  if (!ready.empty()) the_run.ready(ready);
  return cudaSuccess;
}

void device::release_slot(grid& g) {
  pending_ -= g.pool_slots;
  g.owner->slots_held -= g.pool_slots;
  g.pool_slots = 0;
}

// ---- failures that tests request ---------------------------------------------------------------

cudaError_t device::begin_call() {
  if (block::current() != nullptr) return cudaSuccess;
  const std::lock_guard lock(mutex_);
  ++host_calls_;
  if (config_.failing_call == 0 || host_calls_ < config_.failing_call) return cudaSuccess;
  if (config_.device_stays_failed) return cudaErrorLaunchFailure;
  return host_calls_ == config_.failing_call ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t device::lasting_failure() const {
  const std::lock_guard lock(mutex_);
  const bool failed = config_.device_stays_failed && config_.failing_call != 0 &&
                      host_calls_ >= config_.failing_call;
  return failed ? cudaErrorLaunchFailure : cudaSuccess;
}

std::uint64_t device::host_calls() const {
  const std::lock_guard lock(mutex_);
  return host_calls_;
}

std::uint64_t device::live_objects() const {
  const std::lock_guard lock(mutex_);
  return streams_.size() + events_.size() + allocations_.size();
}

void device::block_ended(const grid_ptr& g) {
  // The last block to end must see all writes of the other blocks, and publishes them.
  const auto ended = g->blocks_ended.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (ended < g->block_count || g->owner->cancelled()) return;
  log_time(*g, &traced_grid::end);
  g->arguments = {};  // frees the copies now, because an ancestor may wait for long
  run& the_run = *g->owner;
  std::vector<grid_ptr> ready;
  {
    const std::lock_guard lock(mutex_);
    g->own_work_done = true;
    if (g->children_open == 0) completed(g, ready);
  }
  if (!ready.empty()) the_run.ready(ready);
}

/// Called when all blocks and children of `g` are complete. Releases the pool slot of `g`, because
/// a chain of tail launches may be longer than the pool, as on an H200. Then starts the next tail
/// launch of `g`. If there is none, `g` is complete, which may complete its ancestors.
void device::completed(grid_ptr g, std::vector<grid_ptr>& ready) {
  while (g != nullptr) {
    release_slot(*g);
    if (!g->tail.empty()) {
      g->tail.front()->parent = g;
      ready.push_back(std::move(g->tail.front()));
      return;
    }
    forget_handles(*g);
    log_time(*g, &traced_grid::complete);
    if (g->stream != nullptr) {
      g->stream->busy = false;
      advance(*g->stream, ready);
    }
    const grid_ptr parent = std::exchange(g->parent, nullptr);
    if (parent == nullptr) return;
    if (g->is_tail) {
      parent->tail.pop_front();
    } else {
      --parent->children_open;
      if (parent->children_open > 0 || !parent->own_work_done) return;
    }
    g = parent;
  }
}

// ---- configuration -----------------------------------------------------------------------------

executor_config device::config() const {
  const std::lock_guard lock(mutex_);
  return config_;
}

void device::set_config(const executor_config& config) {
  const std::lock_guard lock(mutex_);
  config_ = config;
  launches_from_kernels_ = 0;
  host_calls_ = 0;
  order_ = config.order;
  refuses_host_memory_ = config.refuse_host_memory;
}

}  // namespace ramify::cpu::inline RAMIFY_ABI

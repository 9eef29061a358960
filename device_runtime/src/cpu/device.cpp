// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "block.hpp"

namespace ramify::cpu {

using namespace words;

namespace {

// What a real device clamps the pending-launch limit to, silently: read back on an H200.
constexpr std::size_t most_pending_launches = 599'186;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t least_fiber_stack = std::size_t{512} << 10;
#else
constexpr std::size_t least_fiber_stack = std::size_t{128} << 10;
#endif

bool valid_shape(const launch_request& r) {
  const auto fits = [](const dim3& d, unsigned x, unsigned y, unsigned z) {
    return d.x >= 1 && d.y >= 1 && d.z >= 1 && d.x <= x && d.y <= y && d.z <= z;
  };
  return fits(r.grid, 2'147'483'647u, 65'535u, 65'535u) && fits(r.block, 1024u, 1024u, 64u) &&
         r.block.volume() <= 1024 && r.dynamic_shared <= (std::size_t{227} << 10);
}

grid_ptr make_grid(launch_request request) {
  auto g = std::make_shared<grid>();
  g->block_count = request.grid.volume();
  g->request = std::move(request);
  return g;
}

executor_config config_from_environment() {
  const char* text = std::getenv("RAMIFY_CPU_SCHEDULE");
  return text == nullptr ? executor_config{} : parse_executor_config(text);
}

}  // namespace

device& device::instance() {
  static device the_device;
  return the_device;
}

device::device() : config_(config_from_environment()) {}

void run::fail(std::exception_ptr failure) {
  static std::mutex first;
  const std::lock_guard lock(first);
  if (failure_ == nullptr) failure_ = std::move(failure);
  cancelled_.store(true, std::memory_order_release);
}

// ---- launches ----------------------------------------------------------------------------------

cudaError_t device::launch_from_host(launch_request request, cudaStream_t stream) {
  if (!valid_shape(request)) return cudaErrorInvalidConfiguration;
  if (stream == cudaStreamTailLaunch || stream == cudaStreamFireAndForget) {
    return cudaErrorInvalidResourceHandle;  // they exist on the device only
  }
  const executor_config config = this->config();
  std::unique_lock<std::mutex> alone(one_run_at_a_time_, std::defer_lock);
  if (config.order != schedule::parallel) alone.lock();

  const auto the_run =
      config.order == schedule::parallel ? make_parallel_run(config) : make_baton_run(config);
  const grid_ptr root = make_grid(std::move(request));
  root->owner = the_run.get();
  the_run->execute(root);

  {
    const std::lock_guard lock(mutex_);
    pending_ -= the_run->slots_held;  // of grids that a broken rule kept from beginning
  }
  if (the_run->failure() != nullptr) std::rethrow_exception(the_run->failure());
  return cudaSuccess;
}

cudaError_t device::launch_from_block(block& parent, launch_request request, cudaStream_t stream) {
  if (!valid_shape(request)) return cudaErrorInvalidConfiguration;
  run& the_run = *parent.owner()->owner;
  std::vector<grid_ptr> ready;
  {
    const std::lock_guard lock(mutex_);
    if (pending_ >= pending_limit_) {
      ++counts_.refused_launches;
      return cudaErrorLaunchPendingCountExceeded;
    }
    ++pending_;
    ++the_run.slots_held;
    counts_.peak_pending = std::max<std::uint64_t>(counts_.peak_pending, pending_);

    grid_ptr child = make_grid(std::move(request));
    child->owner = &the_run;
    child->parent = parent.owner();
    child->pool_slots = 1;
    if (stream == cudaStreamTailLaunch) {
      child->is_tail = true;
      child->parent->tail.push_back(std::move(child));
    } else {
      ++child->parent->children_open;
      if (stream == cudaStreamFireAndForget) {
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

void device::begun(grid& g) {
  const std::lock_guard lock(mutex_);
  pending_ -= g.pool_slots;
  g.owner->slots_held -= g.pool_slots;
  g.pool_slots = 0;
  ++counts_.grids;
}

void device::block_ended(const grid_ptr& g) {
  // The last block to end must see all that the others wrote, and hands it on.
  const auto ended = g->blocks_ended.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (ended < g->block_count || g->owner->cancelled()) return;
  run& the_run = *g->owner;
  std::vector<grid_ptr> ready;
  {
    const std::lock_guard lock(mutex_);
    counts_.blocks += g->block_count;
    g->own_work_done = true;
    if (g->children_open == 0) completed(g, ready);
  }
  if (!ready.empty()) the_run.ready(ready);
}

/// `g` has no block and no child left to wait for: its tail launches come, one after another, and
/// then it is complete, which may complete its parent, and so on upwards.
void device::completed(grid_ptr g, std::vector<grid_ptr>& ready) {
  while (g != nullptr) {
    if (!g->tail.empty()) {
      ready.push_back(g->tail.front());
      return;
    }
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

void device::advance(stream_state& first, std::vector<grid_ptr>& ready) {
  std::vector<stream_state*> streams{&first};
  while (!streams.empty()) {
    stream_state& stream = *streams.back();
    streams.pop_back();
    while (!stream.busy && !stream.queue.empty()) {
      auto& entry = stream.queue.front();
      if (auto* g = std::get_if<grid_ptr>(&entry)) {
        stream.busy = true;
        ready.push_back(std::move(*g));
      } else if (auto* record = std::get_if<stream_state::record>(&entry)) {
        record->done->set = true;
        for (stream_state* waiting : record->done->waiting) streams.push_back(waiting);
        record->done->waiting.clear();
      } else {
        const auto& until = std::get<stream_state::wait>(entry).until;
        if (!until->set) {
          until->waiting.push_back(&stream);
          break;
        }
      }
      stream.queue.pop_front();
    }
  }
}

// ---- streams and events ------------------------------------------------------------------------

stream_state& device::make_stream(const grid& owner) {
  const std::lock_guard lock(mutex_);
  auto& stream = owner.owner->streams.emplace_back();
  stream.owner = &owner;
  return stream;
}

event_state& device::make_event(const grid& owner) {
  const std::lock_guard lock(mutex_);
  auto& event = owner.owner->events.emplace_back();
  event.owner = &owner;
  return event;
}

void device::record(event_state& event, stream_state& stream) {
  std::vector<grid_ptr> ready;
  run& the_run = *event.owner->owner;
  {
    const std::lock_guard lock(mutex_);
    event.last_record = std::make_shared<signal>();
    stream.queue.emplace_back(stream_state::record{event.last_record});
    advance(stream, ready);
  }
  if (!ready.empty()) the_run.ready(ready);
}

void device::wait(stream_state& stream, const event_state& event) {
  const std::lock_guard lock(mutex_);
  if (event.last_record == nullptr) return;  // never recorded: nothing to wait for
  stream.queue.emplace_back(stream_state::wait{event.last_record});
  std::vector<grid_ptr> ready;
  advance(stream, ready);  // only drops a wait that is over; no grid can be behind it yet
}

// ---- limits and memory -------------------------------------------------------------------------

cudaError_t device::limit(cudaLimit which, std::size_t& value) const {
  const std::lock_guard lock(mutex_);
  switch (which) {
    case cudaLimitStackSize: value = stack_limit_; return cudaSuccess;
    case cudaLimitMallocHeapSize: value = heap_limit_; return cudaSuccess;
    case cudaLimitDevRuntimePendingLaunchCount: value = pending_limit_; return cudaSuccess;
    case cudaLimitDevRuntimeSyncDepth: break;
  }
  return cudaErrorUnsupportedLimit;
}

cudaError_t device::set_limit(cudaLimit which, std::size_t value) {
  const std::lock_guard lock(mutex_);
  switch (which) {
    case cudaLimitStackSize: stack_limit_ = value; return cudaSuccess;
    case cudaLimitMallocHeapSize: heap_limit_ = value; return cudaSuccess;
    case cudaLimitDevRuntimePendingLaunchCount:
      pending_limit_ = std::clamp<std::size_t>(value, 1, most_pending_launches);
      return cudaSuccess;
    case cudaLimitDevRuntimeSyncDepth: break;
  }
  return cudaErrorUnsupportedLimit;
}

std::size_t device::fiber_stack_bytes() const {
  return std::max(least_fiber_stack, stack_limit_.load(std::memory_order_relaxed));
}

// A header before each piece remembers its size.
constexpr std::size_t heap_header = alignof(std::max_align_t);

void* device::heap_allocate(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (bytes + heap_header > heap_limit_ - std::min(heap_used_, heap_limit_)) return nullptr;
    heap_used_ += bytes + heap_header;
  }
  auto* piece = static_cast<std::byte*>(::operator new(bytes + heap_header));
  new (piece) std::size_t(bytes);
  return piece + heap_header;
}

void device::heap_free(void* memory) {
  if (memory == nullptr) return;
  std::byte* piece = static_cast<std::byte*>(memory) - heap_header;
  {
    const std::lock_guard lock(mutex_);
    heap_used_ -= *std::launder(reinterpret_cast<std::size_t*>(piece)) + heap_header;
  }
  ::operator delete(piece);
}

// ---- configuration -----------------------------------------------------------------------------

executor_config device::config() const {
  const std::lock_guard lock(mutex_);
  return config_;
}

void device::set_config(const executor_config& config) {
  const std::lock_guard lock(mutex_);
  config_ = config;
}

executor_counts device::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace ramify::cpu

// SPDX-License-Identifier: BSD-3-Clause
// Streams and events of the executor's device: which grids may use them, and what they order.
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "device.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

using namespace builtins;

namespace {

/// Adds an entry with handle `number` to `map`, and to the list `handles` of the grid `owner`
/// (null: the host).
template <class Handle, class Map>
Handle make_in(Map& map, std::uintptr_t number, grid* owner, std::vector<Handle> grid::*handles) {
  const auto handle = reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
  auto& made = map[handle];
  if (owner != nullptr) {
    made.owner = owner->id;
    made.of_run = owner->owner;
    (owner->*handles).push_back(handle);
  }
  return handle;
}

/// Returns the state of a handle, or why the grid `user` (0: the host) must not use it.
template <class Map>
lookup_result<typename Map::mapped_type> find_in(Map& map, typename Map::key_type handle,
                                                 std::uint64_t user) {
  const auto entry = map.find(handle);
  if (entry == map.end()) return {nullptr, "that does not exist"};
  auto& state = entry->second;
  if (user != 0 && state.of_run == nullptr) return {nullptr, "that the host created"};
  if (state.owner != user) return {nullptr, "that another grid created"};
  if (state.destroyed) return {nullptr, "that was destroyed"};
  return {&state, nullptr};
}

/// Invalidates a handle. The entry of a grid's handle is kept until the grid is complete, so that a
/// later use is reported as such.
template <class Map>
bool destroy_in(Map& map, typename Map::key_type handle, std::uint64_t user) {
  const lookup_result found = find_in(map, handle, user);
  if (found.state == nullptr) return false;
  found.state->destroyed = true;
  if (user == 0) map.erase(handle);
  return true;
}

}  // namespace

cudaStream_t device::make_stream(grid* owner) {
  const std::lock_guard lock(mutex_);
  return make_in(streams_, next_handle_++, owner, &grid::streams);
}

cudaEvent_t device::make_event(grid* owner, bool has_time) {
  const std::lock_guard lock(mutex_);
  const cudaEvent_t made = make_in(events_, next_handle_++, owner, &grid::events);
  events_[made].has_time = has_time;
  return made;
}

lookup_result<stream_state> device::find(cudaStream_t handle, std::uint64_t user) {
  const std::lock_guard lock(mutex_);
  return find_in(streams_, handle, user);
}

lookup_result<event_state> device::find(cudaEvent_t handle, std::uint64_t user) {
  const std::lock_guard lock(mutex_);
  return find_in(events_, handle, user);
}

bool device::destroy(cudaStream_t handle, std::uint64_t user) {
  const std::lock_guard lock(mutex_);
  return destroy_in(streams_, handle, user);
}

bool device::destroy(cudaEvent_t handle, std::uint64_t user) {
  const std::lock_guard lock(mutex_);
  return destroy_in(events_, handle, user);
}

void device::forget_handles(const grid& g) {
  for (const cudaStream_t handle : g.streams) streams_.erase(handle);
  for (const cudaEvent_t handle : g.events) events_.erase(handle);
}

void device::record(event_state& event, stream_state& stream) {
  std::vector<grid_ptr> ready;
  run& the_run = *event.of_run;
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
  advance(stream, ready);  // removes the wait if it is over; no grid follows it in the queue yet
}

bool device::set_has_new_work(cudaStream_t handle, bool has_new_work) {
  const std::lock_guard lock(mutex_);
  stream_state* const stream = find_in(streams_, handle, 0).state;
  return stream != nullptr && std::exchange(stream->has_new_work, has_new_work);
}

cudaError_t device::record_now(cudaEvent_t handle) {
  const std::lock_guard lock(mutex_);
  event_state* const event = find_in(events_, handle, 0).state;
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  event->recorded_at = std::chrono::steady_clock::now();
  return cudaSuccess;
}

cudaError_t device::elapsed(cudaEvent_t begin, cudaEvent_t end, float& ms) {
  const std::lock_guard lock(mutex_);
  const event_state* const first = find_in(events_, begin, 0).state;
  const event_state* const second = find_in(events_, end, 0).state;
  for (const event_state* event : {first, second}) {
    if (event == nullptr || !event->has_time || !event->recorded_at) {
      return cudaErrorInvalidResourceHandle;
    }
  }
  ms = std::chrono::duration<float, std::milli>(*second->recorded_at - *first->recorded_at).count();
  return cudaSuccess;
}

/// Moves the grids that may begin to `ready`: those for which no earlier entry of their stream is
/// pending, in this stream and in the streams that waited for its records.
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

}  // namespace ramify::cpu::inline RAMIFY_ABI

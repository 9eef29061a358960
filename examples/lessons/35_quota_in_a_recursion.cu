// SPDX-License-Identifier: BSD-3-Clause
// Lesson 35: a quota in a recursion.
//
// Read first     Lessons 9 and 11.
// You will see   a chain of 1001 grids, each launched by the one before, with a pool of 256 slots
//                and a quota of 128. First each grid returns its slot to the quota at its own end,
//                as the children of lesson 11 do: a launch fails. Then a grid keeps its slot until
//                its descendants are complete: none fails, and all 1001 grids run, in 8 rounds.
// The rule       A grid occupies its slot of the pool until it is complete: until its threads have
//                ended and all grids that it launched are complete, and theirs (lesson 9). So a
//                grid that launches must not return its slot of the quota earlier than that.
// The pitfall    A quota whose slots are returned too early passes every test with a shallow
//                recursion. In the chain few slots of the quota are in use at a time, and still
//                the pool is full after 256 launches.
// Plain CUDA     link<<<1, 1, 0, cudaStreamFireAndForget>>>(left - 1, quota, when, s)
// Try            Write `wanted_limit = 4096`. The pool then has room for the whole chain, and the
//                early return is not noticed.
#include <ramify/runtime/limits.cuh>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned links = 1001;  // grids of the chain
constexpr std::size_t wanted_limit = 256;

struct state {
  unsigned in_use;  // slots of the quota in use
  unsigned ran;     // links that ran
  unsigned rest;    // links that the last link of the round could not launch
  unsigned failed;  // launches that failed
  int first_error;  // first error of a launch
};

enum class slot_returned { at_end_of_grid, after_descendants };

__global__ void link(unsigned left, unsigned quota, slot_returned when, state* s) {
  s->ran += 1;
  if (left > 0) {
    // 1. Acquire a slot, then launch the next link.
    const unsigned before = atomicAdd(&s->in_use, 1u);
    bool launched = false;
    if (before < quota) {
      const auto status = launch(link, {1, 1}, fire_and_forget(), left - 1, quota, when, s);
      launched = bool(status);
      if (!launched) {
        s->failed += 1;
        s->first_error = static_cast<int>(status.code());
      }
    }
    // 2. Without a slot, or if the launch failed, the rest of the chain waits for the next round.
    if (!launched) {
      atomicSub(&s->in_use, 1u);
      s->rest = left;
    }
  }
  // 3. Too early: the place in the pool is free only when the last link is complete.
  if (when == slot_returned::at_end_of_grid) atomicSub(&s->in_use, 1u);
}

// 4. The next grid in the host's stream begins when the first link is complete, which includes all
//    its descendants. So all their places in the pool are free, and it returns all slots at once.
__global__ void begin_round(state* s) {
  s->in_use = 1;  // the slot of the first link of the round
  s->rest = 0;
}

void show(const char* name, unsigned quota, slot_returned when, bool all_rounds) {
  const lesson::device_array<state> memory(1);
  unsigned rounds = 0;
  for (unsigned left = links; left > 0; ++rounds) {
    check(launch(begin_round, {1, 1}, nullptr, memory.data()).code(), "launching");
    check(launch(link, {1, 1}, nullptr, left - 1, quota, when, memory.data()).code(), "launching");
    left = memory.read()[0].rest;  // waits
    if (!all_rounds) left = 0;
  }
  const state s = memory.read()[0];
  std::cout << name << ":\n"
            << "  links that ran:  " << s.ran << " of " << links << ", rounds: " << rounds << '\n'
            << "  failed launches: " << s.failed << ", first error: " << s.first_error << '\n';
}

int main() {
  return lesson::run([] {
    const launch_limits limits({.pending_launches = wanted_limit});  // put back at the end
    const auto quota = static_cast<unsigned>(*limits.granted().pending_launches / 2);
    // 5. One round only: what a program does that expects no failure.
    show("the slot is returned at the end of the grid", quota, slot_returned::at_end_of_grid,
         false);
    show("the slot is returned after the descendants", quota, slot_returned::after_descendants,
         true);
  });
}

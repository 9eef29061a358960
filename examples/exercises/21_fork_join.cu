// SPDX-License-Identifier: BSD-3-Clause
// Exercise 21: a recursion with a value, in one call (algorithms/ramify/fork_join/README.md).
//
// Given      A text of 1,000 characters. The hash of a text is hash(left) * 31^(length of right) +
//            hash(right) for any two parts of it. The leaves are written.
// Task       fork_join() launches all grids, and joins by the last child (lesson 27a). Write the
//            rest of its functors: degree(), 0 for a range of at most 16 characters, child(), and
//            combine(), which gets the hashes of both halves in their order.
#include <ramify/fork_join.cuh>

#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned length = 1'000;

struct range {
  unsigned begin, end;
};

struct hash {
  unsigned value;
  unsigned power;  // 31^length
};

__host__ __device__ hash hash_of(const char* text, range r) {
  hash h{0, 1};
  for (unsigned i = r.begin; i < r.end; ++i) {
    h = {h.value * 31 + static_cast<unsigned char>(text[i]), h.power * 31};
  }
  return h;
}

struct hash_text {
  const char* text;

  __device__ hash leaf(range r) const { return hash_of(text, r); }
  // HOLE: two halves, and the hash of both
  __device__ unsigned degree(range r) const { return 0; }
  __device__ range child(range r, unsigned i) const { return r; }
  __device__ hash combine(range r, const hash* halves, unsigned degree) const { return halves[0]; }
  // END OF HOLE
};

void test() {
  std::vector<char> text(length);
  for (unsigned i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i * i % 23);
  const exercise::device_array<char> memory(text);
  const auto found = fork_join(range{0, length}, hash_text{memory.data()}, {.max_nodes = 2'000});
  const hash right = hash_of(text.data(), {0, length});
  expect(found.report.leaves > 1, "the text was not split: the root is a leaf");
  expect(found.report.leaves == 64,
         std::to_string(found.report.leaves) + " leaves, not 64: the leaves have another size");
  expect(found.value.power == right.power,
         "the length of the text is wrong: a character is in no half or in both, or combine() "
         "computes a wrong power");
  expect(found.value.value == right.value,
         "the hash is wrong: the halves were combined in another order, or by another formula");
}

int main() { return exercise::run(test); }

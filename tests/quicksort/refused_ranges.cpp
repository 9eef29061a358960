// SPDX-License-Identifier: BSD-3-Clause
// Ranges that the facade refuses at compile time. CMakeLists.txt compiles each one and expects the
// sentence of its static_assert.
#include <array>
#include <cstdint>
#include <ramify/quicksort.hpp>
#include <vector>

void refused() {
#if defined(CONST_KEYS)
  const std::vector<int> keys{2, 1};
  (void)ramify::quicksort(keys);
#elif defined(TEMPORARY_KEYS)
  (void)ramify::quicksort(std::vector<int>{2, 1});
#elif defined(SHORT_KEYS)
  std::vector<short> keys{2, 1};
  (void)ramify::quicksort(keys);
#elif defined(FLOAT_VALUES)
  std::vector<int> keys{2, 1};
  std::array<float, 2> values{};
  (void)ramify::quicksort_pairs(keys, values);
#endif
}

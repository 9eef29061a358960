// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <iostream>
#include <ramify/quicksort.hpp>
#include <vector>

int use_facade() {
  std::vector<float> keys{3, 1, 2};
  const ramify::quicksort_report report = ramify::quicksort(keys);
  std::cout << report;
  std::array<unsigned, 3> in_array{3, 1, 2};
  ramify::quicksort(std::span(in_array));
  // std::int64_t is long or long long; the other one is a key type, too.
  std::vector<long long> wide{3, -1, 2};
  ramify::quicksort(wide);
  return keys == std::vector<float>{1, 2, 3} && in_array == std::array<unsigned, 3>{1, 2, 3} &&
                 wide == std::vector<long long>{-1, 2, 3}
             ? 0
             : 1;
}

#if !defined(CONSUMER_BOTH)
int main() { return use_facade(); }
#endif

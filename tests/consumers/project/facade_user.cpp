// SPDX-License-Identifier: BSD-3-Clause
#include <iostream>
#include <ramify/quicksort.hpp>
#include <vector>

int use_facade() {
  std::vector<float> keys{3, 1, 2};
  const ramify::quicksort_report report = ramify::quicksort(std::span(keys));
  std::cout << report;
  return keys == std::vector<float>{1, 2, 3} ? 0 : 1;
}

#if !defined(CONSUMER_BOTH)
int main() { return use_facade(); }
#endif

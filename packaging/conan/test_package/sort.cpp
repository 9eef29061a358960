// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iostream>
#include <ramify/quicksort.hpp>
#include <vector>

int main() {
  std::vector<float> keys{3.5f, -1.0f, 2.0f};
  std::cout << ramify::quicksort(keys);
  return std::is_sorted(keys.begin(), keys.end()) ? 0 : 1;
}

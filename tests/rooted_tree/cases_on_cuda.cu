// SPDX-License-Identifier: BSD-3-Clause
#include "cases.cuh"

const tests::rooted_tree_cases* tests::rooted_tree_cases_on_cuda() {
  return &tests::on_cuda::cases();
}

// SPDX-License-Identifier: BSD-3-Clause
#include "cases.cuh"

const tests::barnes_hut_cases* tests::barnes_hut_cases_on_cuda() {
  return &tests::on_cuda::cases();
}

// SPDX-License-Identifier: BSD-3-Clause
#include "cases.cuh"

const tests::quicksort_cases* tests::quicksort_cases_on_cuda() { return &tests::on_cuda::cases(); }

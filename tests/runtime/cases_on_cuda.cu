// SPDX-License-Identifier: BSD-3-Clause
#include "cases.cuh"

const tests::runtime_cases* tests::runtime_cases_on_cuda() { return &tests::on_cuda::cases; }

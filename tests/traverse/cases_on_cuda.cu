// SPDX-License-Identifier: BSD-3-Clause
#include "cases.cuh"

const tests::traverse_cases* tests::traverse_cases_on_cuda() { return &tests::on_cuda::cases(); }

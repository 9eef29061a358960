// SPDX-License-Identifier: BSD-3-Clause
#include "cases.cuh"

const tests::spatial_cases* tests::spatial_cases_on_cuda() { return &tests::on_cuda::cases(); }

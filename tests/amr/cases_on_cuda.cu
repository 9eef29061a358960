// SPDX-License-Identifier: BSD-3-Clause
#include "cases.cuh"

const tests::amr_cases* tests::amr_cases_on_cuda() { return &tests::on_cuda::cases(); }

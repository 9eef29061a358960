// SPDX-License-Identifier: BSD-3-Clause
#include "cases.cuh"

const tests::barnes_hut_cases* tests::barnes_hut_cases_on_cpu() { return &tests::on_cpu::cases(); }

#if !TESTS_HAVE_CUDA
const tests::barnes_hut_cases* tests::barnes_hut_cases_on_cuda() { return nullptr; }
#endif

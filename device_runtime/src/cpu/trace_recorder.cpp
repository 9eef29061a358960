// SPDX-License-Identifier: BSD-3-Clause
// The recorder of the CPU executor.
#include <ramify/runtime/detail/trace_recorder_state.cuh>

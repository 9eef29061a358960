// SPDX-License-Identifier: BSD-3-Clause
// The C++ compiler compiles the kernels of the .cu file for the CPU executor.
#include "kernel_user.cu"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks that nvcc compiles the kernels of a distributed run for the device: kernels_test.sh NVCC ROOT
# Only the host names some of them, and nvcc leaves out what its pass for the device does not see. A
# program then links, and fails at its first launch.
set -euo pipefail
nvcc=$1 root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/run.cu" <<'code'
#include <ramify/amr/physics/problems.cuh>
#include <ramify/distributed_amr.cuh>
using namespace ramify;
using gas = euler<double, 2>;
void run(communicator& ranks, const amr_options& options) {
  distributed_amr_run mesh(ranks, gas{}, gradient_criterion<gas>{}, sod<double, 2>{}, options);
  mesh.advance(1);
}
code
"$nvcc" -std=c++20 -arch=sm_90 -rdc=true -Xcicc -O0 -Xptxas -O0 -I "$root/algorithms" \
  -I "$root/device_runtime" -cubin -o "$work/run.cubin" "$work/run.cu"
readelf -Ws "$work/run.cubin" >"$work/symbols"
for kernel in advance_blocks tag_blocks refine_blocks coarsen_families average_down reflux \
  next_phase begin_step choose_dt pack_regions unpack_tags; do
  grep -q "on_cuda[0-9]*$kernel" "$work/symbols" || { echo "no kernel $kernel"; exit 1; }
done
echo "all kernels are compiled"

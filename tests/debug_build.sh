#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles sorts and a traversal for debugging (nvcc -G), and runs them on the GPU.
#   debug_build.sh <nvcc>
# Exit status 77 without a GPU.
set -euo pipefail
nvcc=$1
nvidia-smi -L >/dev/null 2>&1 || { echo "there is no GPU"; exit 77; }
root=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/debug.cu" <<'END'
#include <algorithm>
#include <cstdio>
#include <ramify/quicksort.cuh>
#include <ramify/traverse.cuh>
#include <random>
#include <vector>

struct halves {
  __device__ unsigned degree(unsigned n) const { return n < 2 ? 0 : 2; }
  __device__ unsigned child(unsigned n, unsigned i) const { return (n + i) / 2; }
};
struct one {
  __device__ unsigned operator()(unsigned, unsigned) const { return 1; }
};
struct sum {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a + b; }
};

int main() {
  for (const auto route : {ramify::route::device, ramify::route::flat}) {
    const ramify::environment env{.route = route};
    std::mt19937 random(1);
    std::vector<unsigned> keys(1 << 20);
    for (auto& key : keys) key = unsigned(random());
    const ramify::device_buffer<unsigned> on_device(keys.size(), nullptr);
    const std::size_t bytes = keys.size() * sizeof(unsigned);
    ramify::check(cudaMemcpy(on_device.data(), keys.data(), bytes, cudaMemcpyDefault), "writing");
    ramify::quicksort(on_device.data(), keys.size(), ramify::ascending{}, env);
    std::sort(keys.begin(), keys.end());
    std::vector<unsigned> sorted(keys.size());
    ramify::check(cudaMemcpy(sorted.data(), on_device.data(), bytes, cudaMemcpyDefault), "reading");
    const auto nodes = ramify::traverse(100'000u, halves{}, one{}, sum{}, 0u, {}, env).value;
    std::printf("sorted %d, nodes %u\n", sorted == keys ? 1 : 0, nodes);
  }
}
END
"$nvcc" -std=c++20 -arch=native -rdc=true -G -maxrregcount=32 -I "$root/device_runtime" \
  -I "$root/algorithms" "$work/debug.cu" -o "$work/debug" -lcudadevrt
timeout 100 "$work/debug" >"$work/out"
printf 'sorted 1, nodes 199999\nsorted 1, nodes 199999\n' | diff - "$work/out"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and runs every test that this machine can run, then the tests of the CPU executor, but for the
# examples', again under AddressSanitizer, and the ladders, which have kernels of all kinds, under
# ThreadSanitizer with UBSan. Says at the end what did not run because it needs a GPU, VTK, matplotlib,
# Graphviz or Chromium. A failing test makes the exit status 1.
#   tests/run.sh          less than 20 minutes on two cores without a GPU
#   tests/run.sh --all    all tests of the CPU executor under UBSan and ThreadSanitizer, too: half an hour
set -euo pipefail
all=no
case "$*" in
  '') ;;
  --all) all=yes ;;
  *) echo "usage: tests/run.sh [--all]" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."

cmake/install_packages.sh
# 50 MB to fetch and 250 MB on disk, for one test that can be skipped; then 100 and 400 MB for two.
cmake/install_packages.sh python3-vtk9 || echo "Going on without VTK"
cmake/install_packages.sh chromium graphviz || echo "Going on without a browser, or without Graphviz"
jobs=$(($(nproc) + 1)) # some tests wait for others' programs
mkdir -p build

# One architecture is enough to test with: this machine's GPU, or Hopper without one. Without one, the
# device code and what is around it on the host are compiled and linked, and never run: then without
# optimisation, which takes a third of the time, and of the tests' kernels and the benchmarks only a few.
cuda=(-DCMAKE_CUDA_ARCHITECTURES=90-real -DRAMIFY_QUICK_DEVICE_CODE=ON -DRAMIFY_TRACED_KERNELS=OFF
  -DRAMIFY_CUDA_TESTS=OFF "-DCMAKE_CUDA_FLAGS_RELEASE=-O0 -DNDEBUG")
if nvidia-smi -L >/dev/null 2>&1; then
  cuda=(-DCMAKE_CUDA_ARCHITECTURES=native -DRAMIFY_QUICK_DEVICE_CODE=OFF -DRAMIFY_TRACED_KERNELS=ON
    -DRAMIFY_CUDA_TESTS=ON
    "-DCMAKE_CUDA_FLAGS_RELEASE=-O3 -DNDEBUG")
fi

failed=()
skipped=()
targets=() # to build; none: all
tests=()   # for ctest, likewise
run() { # preset, cmake arguments...
  local preset=$1 log=build/$1.log
  shift
  echo "== $preset: building"
  cmake --preset "$preset" -G Ninja "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }
  grep 'Ramify:' "$log" || true
  cmake --build --preset "$preset" "${targets[@]}" >>"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
  echo "== $preset: testing"
  ctest --preset "$preset" -j "$jobs" "${tests[@]}" 2>&1 | tee -a "$log" || failed+=("$preset")
  while read -r name; do skipped+=("$name"); done < <(
    sed -n 's/^.*Test *#[0-9]*: \([^ ]*\) .*\*\*\*Skipped.*$/\1/p' "$log" | sort -u)
}

run ci "${cuda[@]}"
if [ $all = yes ]; then
  run asan
else
  # UBSan makes the compiler work almost twice as long. Left out are tests of plain functions, and of what
  # other programs read.
  targets=(--target executor_test runtime_test quicksort_test traverse_test tree_search_test rooted_tree_test nbody_test
    spatial_tree_test amr_test amr_facade_test amr_output_test trace_test planted_faults readme_front
    readme_device_runtime)
  tests=(-E '^(amr_physics|trace_writers|amr_output[.]vtk)$')
  run asan -DRAMIFY_SANITIZE=address
fi
targets=(--target ladder_quicksort ladder_tree_traversal planted_faults)
tests=(-R '^(ladder[.]quicksort[.]parallel|ladder[.]tree_traversal[.]late|sanitizer[.].*)$')
run tsan -DRAMIFY_SANITIZE=thread,undefined -DRAMIFY_EXAMPLES=ON
if [ $all = yes ]; then
  targets=()
  tests=()
  run tsan -DRAMIFY_SANITIZE=thread -DRAMIFY_EXAMPLES=OFF
fi

echo
if [ ${#skipped[@]} -gt 0 ]; then
  echo "Skipped, because they need a GPU (amr_output.vtk: VTK; benchmark_plots: matplotlib; trace_dot: Graphviz; trace_page: Chromium):" $(printf '%s\n' "${skipped[@]}" | sort -u)
fi
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}"
  exit 1
fi
echo "All tests that this machine can run have passed."

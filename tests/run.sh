#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and runs the tests that this machine can run. Then runs some tests of the CPU executor
# under AddressSanitizer, and the sort ladder, which has all kinds of kernels, under ThreadSanitizer
# with UBSan. Lists at the end the processor time, and the tests that were skipped because they need
# a GPU or an optional package. The exit status is 1 if a test fails. The times are processor times
# without a GPU; two cores take half as long.
#   tests/run.sh          takes 20 to 40 minutes. Without a GPU tests take smaller inputs and fewer
#                         random schedules
#   tests/run.sh --ci     is for continuous integration. The inputs have their full size. It runs the
#                         tests in `slow` below, too, and without a GPU it compiles the device code
#                         of all families. 45 to 90 minutes
#   tests/run.sh --all    runs clang-tidy, every pair of headers, and all tests of the CPU executor
#                         under AddressSanitizer, UBSan and ThreadSanitizer, too. More than 2 hours
set -euo pipefail
level=quick
case "$*" in
  '') ;;
  --ci) level=ci ;;
  --all) level=all ;;
  *) echo "usage: tests/run.sh [--ci | --all]" >&2; exit 2 ;;
esac
cd "$(dirname "$(realpath "$0")")/.."
mkdir -p build

spent=() # a line for each part of this run
ended=0  # when the last part ended, in seconds
used=0   # the seconds of processor time until then
end_part() { # name
  times >build/times # not in a subshell, because `times` counts the children of its own shell
  local total
  total=$(awk -F '[ms ]+' 'NR == 2 { printf "%d", 60 * ($1 + $3) + $2 + $4 }' build/times)
  spent+=("$(printf '%-16s %5d %11d' "$1" $((SECONDS - ended)) $((total - used)))")
  ended=$SECONDS used=$total
}

cmake/install_packages.sh
# Optional packages. VTK: a download of 50 MB and 250 MB on disk, for one test. Chromium and
# Graphviz: 100 MB and 400 MB, for two tests.
cmake/install_packages.sh python3-vtk9 || echo "Continuing without VTK"
cmake/install_packages.sh chromium graphviz || echo "Continuing without Chromium or Graphviz"
# For the comparison of graphs with networkx: 150 MB. Other runs use it if it is installed.
if [ $level = all ]; then
  cmake/install_packages.sh python3-networkx python3-scipy || echo "Continuing without networkx"
fi
# For the tests of style: 200 MB.
cmake/install_packages.sh clang-format-14 clang-tidy-16 doxygen || echo "Continuing without tests of style"
# For the tests of the install tree, and for the warnings of a second compiler: 150 MB.
cmake/install_packages.sh help2man pkg-config clang-16 || echo "Continuing without help2man, pkg-config or clang"
# For programs of several processes, and for a test with two network namespaces: 30 MB.
cmake/install_packages.sh libopenmpi-dev openmpi-bin iproute2 || echo "Continuing without MPI"
# A linker that takes a fifth of the time: 1 MB.
cmake/install_packages.sh lld || echo "Continuing without lld"
linker=()
! command -v ld.lld >/dev/null || linker=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
end_part packages
jobs=$(($(nproc) + 1)) # some tests wait for other programs

# The tests need one architecture: this machine's GPU, or Hopper without a GPU. Without a GPU,
# device code and its host code are compiled and linked but not run. So they are compiled without
# optimization, in a third of the time, and most of the tests' kernels and of the benchmarks are
# left out. The quick run compiles public headers and a user's program only.
has_gpu=no
cuda=(-DCMAKE_CUDA_ARCHITECTURES=90-real -DRAMIFY_QUICK_DEVICE_CODE=ON -DRAMIFY_TRACED_KERNELS=OFF
  -DRAMIFY_CUDA_TESTS=OFF "-DCMAKE_CUDA_FLAGS_RELEASE=-O0 -DNDEBUG")
if nvidia-smi -L >/dev/null 2>&1; then
  has_gpu=yes
  cuda=(-DCMAKE_CUDA_ARCHITECTURES=native -DRAMIFY_QUICK_DEVICE_CODE=OFF -DRAMIFY_TRACED_KERNELS=ON
    -DRAMIFY_CUDA_TESTS=ON
    "-DCMAKE_CUDA_FLAGS_RELEASE=-O3 -DNDEBUG")
fi

# The presets ci and quick compile with -Og: in a quarter less time than with -O1, and the tests
# take a tenth more. It has the least sum of both: processor seconds to compile and to run
# quicksort_test, the largest program, are 57 and 39 with GCC 12 -Og, 43 and 104 with -O0, 24 and 94
# with Clang 16 -O0, 116 and 33 with its -O1. Device code for no GPU is compiled with -Ofc=max, which
# takes less time than -Xcicc -O0 -Xptxas -O0.

# With --all, each source is compiled alone, and clang-tidy reads each. Otherwise the sources of the
# runtime library are compiled as one, and so are those of each test program, which instantiate the
# same templates: in half the time.
flags=()
[ $level = all ] || flags+=(-DRAMIFY_UNITY=ON)

failed=()
skipped=()
targets=() # targets to build; all if empty
tests=()   # arguments for ctest; all tests if empty
run() { # preset, cmake arguments...
  local preset=$1 log=build/$1.log
  shift
  echo "== $preset: building"
  cmake --preset "$preset" -G Ninja "${flags[@]}" "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }
  grep 'Ramify:' "$log" || true
  cmake --build --preset "$preset" "${targets[@]}" >>"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
  end_part "$preset, build"
  echo "== $preset: testing"
  ctest --preset "$preset" -j "$jobs" "${tests[@]}" 2>&1 | tee -a "$log" || failed+=("$preset")
  while read -r name; do skipped+=("$name"); done < <(
    sed -n 's/^.*Test *#[0-9]*: \([^ ]*\) .*\*\*\*Skipped.*$/\1/p' "$log" | sort -u)
  end_part "$preset, tests"
}

minutes='style[.]tidy|headers[.]pairs' # tests that take minutes
slow='headers[.](alone|instantiated)|consumer[.]fetch|packaging[.](archives|wheel)|docs[.]site|trace_page|notebook|learn|container|lesson[.]44_cost_of_cudadevrt|examples[.]pytorch'
# These two check what nvcc says and does. Only another nvcc changes it.
slow+='|lesson[.](15_compile_and_link|22_wait_to_tail_launch[.]compile_error)'
case $level in
  quick) tests=(-E "^($minutes|$slow)$") ;;
  ci)
    tests=(-E "^($minutes)$")
    export RAMIFY_RANDOM_SCHEDULES=25 ;;
  all)
    export RAMIFY_FUZZ_SECONDS=60 # for each test of random cases
    export RAMIFY_RANDOM_SCHEDULES=100 RAMIFY_ALL_CASES=1
    export RAMIFY_QUADRATURE_SEEDS=4 ;; # members of each family of integrands
esac
if [ $level = quick ] && [ $has_gpu = no ]; then
  RAMIFY_TEST_SIZES=${RAMIFY_TEST_SIZES:-0.2} RAMIFY_RANDOM_SCHEDULES=${RAMIFY_RANDOM_SCHEDULES:-5} \
    run quick "${linker[@]}"
  if PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin command -v nvcc >/dev/null; then
    targets=(--target ramify_facade_common_cuda ramify_runtime)
    tests=(-R '^(headers[.]together_by_nvcc|consumer[.]nvcc)$')
    # The host's code is compiled and linked but not run, so it is not optimized, either.
    run nvcc "${cuda[@]}" "${linker[@]}" "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"
  fi
else
  run ci "${cuda[@]}" "${linker[@]}"
fi
targets=()
tests=()
if [ $level = all ]; then
  run asan
  # The example programs, without lessons and ladders.
  mapfile -t programs < <(sed '/^#/d; s/ .*//' examples/programs.txt)
  targets=(--target "${programs[@]}")
  names=$(printf '%s\n' "${programs[@]}" | grep -vxE 'amr|nbody' | paste -sd'|')
  tests=(-R "^examples[.](hostile|$names)\$")
  run asan -DRAMIFY_EXAMPLES=ON
else
  # The layers below the algorithms, and one algorithm with all kinds of chains; with --ci also the
  # executor and the readers of input files. UBSan almost doubles the compile time, so it is left
  # out.
  checked=(runtime traverse)
  [ $level = quick ] || checked+=(executor example_readers)
  targets=(--target "${checked[@]/%/_test}" planted_faults)
  names=$(IFS='|'; echo "${checked[*]}|launch_chain|recursion|failing_calls")
  tests=(-R "^(($names)([.]cpu)?|sanitizer[.].*)\$")
  run asan -DRAMIFY_SANITIZE=address
fi
targets=(--target ladder_quicksort planted_faults)
tests=(-R '^(ladder[.]quicksort[.]parallel|sanitizer[.].*)$')
run tsan -DRAMIFY_SANITIZE=thread,undefined -DRAMIFY_EXAMPLES=ON
if [ $level = all ]; then
  targets=()
  tests=()
  run tsan -DRAMIFY_SANITIZE=thread -DRAMIFY_EXAMPLES=OFF
fi

echo
printf '%-16s %5s %11s\n' part time processors
printf '%s\n' "${spent[@]}" "$(printf '%-16s %5d %11d seconds' total $SECONDS "$used")"
echo
if [ ${#skipped[@]} -gt 0 ]; then
  echo "Skipped, because they need a GPU (amr_output.vtk: VTK; benchmark_plots: matplotlib; examples.graph_networkx: networkx; trace_dot: Graphviz; trace_page: Chromium):" $(printf '%s\n' "${skipped[@]}" | sort -u)
fi
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}"
  exit 1
fi
echo "All tests that this machine can run passed."

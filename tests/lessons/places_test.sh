#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that the scripts a user calls find their checkout: through a symbolic link, from another
# folder, with CDPATH set, and with blanks in the path. Substitutes stand for CMake and the
# compiler. Also tests the names that the scripts accept.
#
#   places_test.sh <root> <work folder>
set -euo pipefail
root=$1 work=$2
rm -rf "$work"
tree="$work/a tree"
mkdir -p "$work/bin" "$tree/build/none/device_runtime" "$work/trap/examples" "$work/trap/tests"
cd "$work"
# A copy of the scripts, and of the list of programs, only: the scripts write to their checkout.
for file in benchmarks/run.sh benchmarks/put_table.sh examples/build.sh examples/demo.sh examples/try.sh \
  examples/executor.sh examples/nvcc.sh examples/programs.txt examples/ladders/run.sh tests/run.sh; do
  mkdir -p "$tree/$(dirname "$file")"
  cp "$root/$file" "$tree/$file"
done
mkdir -p "$tree/cmake"
: >"$tree/build/none/device_runtime/libramify_runtime.a"
substitute() { # file, script
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
substitute "$tree/cmake/install_packages.sh" 'exit 0'
substitute bin/cmake "echo \"\$PWD\" >'$work/place'; exit 1"
substitute bin/cxx "echo \"\$*\" >'$work/arguments'; exit 1"
substitute bin/nvidia-smi 'exit 1'
export PATH=$work/bin:$PATH CXX=$work/bin/cxx CDPATH=$work/trap
fail() { echo "FAILED: $*"; exit 1; }

run() { # expected status, file that the substitute writes, script, arguments...
  local status=0
  rm -f place arguments
  output=$("${@:3}" 2>&1) || status=$?
  [ $status = "$1" ] || fail "${*:3} ended with status $status: $output"
  [ -z "$2" ] || [ -e "$2" ] || fail "${*:3} did not call CMake or the compiler: $output"
}
: >my.cu
for script in benchmarks/run.sh examples/build.sh examples/demo.sh examples/ladders/run.sh tests/run.sh; do
  ln -sf "$tree/$script" link
  for call in "$tree/$script" ./link; do
    run 1 place "$call"
    [ "$(cat place)" = "$tree" ] || fail "$call ran CMake in $(cat place)"
  done
  (cd "$tree" && run 1 '' "$script")
  [ "$(cat place)" = "$tree" ] || fail "$script with CDPATH ran CMake in $(cat place)"
done
ln -sf "$tree/examples/try.sh" link
for call in "$tree/examples/try.sh" ./link; do
  RAMIFY_BUILD=$tree/build/none run 1 arguments "$call" --cpu my.cu
  grep -qF -e "-I $tree/device_runtime -I $tree/algorithms" arguments ||
    fail "$call passed $(cat arguments)"
done

for name in '' ../examples/amr ./amr common/cli amr.cpp 'amr graph' '*' -x AMR; do
  run 2 '' "$tree/examples/build.sh" "$name"
  [[ $output == *"there is no program '$name'; there are amr "* ]] || fail "build.sh '$name': $output"
done
for name in '' 'quicksort_cpu tree_search_cpu' '*' ../quicksort_cpu; do
  run 2 '' "$tree/benchmarks/run.sh" '' "$name"
  [[ $output == *"there is no benchmark '$name'"* ]] || fail "benchmarks/run.sh '$name': $output"
done
for name in ladder_ ladder_. no_ladder; do
  run 2 '' "$tree/examples/ladders/run.sh" "bin/$name"
  [[ $output == *"there is no ladder '"* ]] || fail "ladders/run.sh '$name': $output"
done

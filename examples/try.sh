#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles a file of kernels, or several, and runs the program: on the GPU if there is one, else on
# the CPU executor.
#
#   examples/try.sh [--cpu | --schedules | --trace TREE] FILE.cu... [ARGUMENT...]
#
# With --schedules the program runs under 24 schedules of the CPU executor. A program that follows the
# rules prints the same under each; else the first difference is shown, and the status is 1.
# With --trace it runs on the CPU executor, and its launch tree is written to the file TREE: a page
# for a browser (.html), for Perfetto (.json) or for Graphviz (.dot).
#
# The file may be plain CUDA, with kernel<<<...>>>(...) and without Ramify's headers.
# The first use builds the CPU executor in build/try, unless build/dev has it already. RAMIFY_BUILD
# names another build folder. The command lines are printed; they also work without this script.
set -euo pipefail
root=$(realpath "$(dirname "$(realpath "$0")")/..") # "$0" may be a link
# shellcheck source=examples/executor.sh
source "$root/examples/executor.sh"
usage() {
  echo "usage: examples/try.sh [--cpu | --schedules | --trace TREE] FILE.cu... [ARGUMENT...]" >&2
  exit 2
}

on_gpu=no
run=()
if [ "${1-}" = --cpu ]; then
  shift
elif [ "${1-}" = --schedules ]; then
  run=(compare_schedules)
  shift
elif [ "${1-}" = --trace ]; then
  [ $# -gt 2 ] || usage
  tree=$2
  run=(write_trace)
  shift 2
  case $tree in
    *.html | *.json | *.dot) ;;
    *) echo "examples/try.sh: --trace '$tree' must end in .html, .json or .dot" >&2; exit 2 ;;
  esac
  if [ -d "$tree" ] || [ ! -w "$(dirname -- "$tree")" ]; then
    echo "examples/try.sh: --trace '$tree' cannot be written" >&2
    exit 2
  fi
elif nvidia-smi -L >/dev/null 2>&1; then
  on_gpu=yes
fi
[ $# -gt 0 ] || usage
case $1 in
  -*) usage ;;
  *.cu) ;;
  *) echo "examples/try.sh: '$1' must end in .cu" >&2; exit 2 ;;
esac
sources=()
while [[ ${1-} == *.cu ]]; do
  [ -f "$1" ] || { echo "examples/try.sh: there is no file '$1'" >&2; exit 2; }
  if grep -q '^ *# *include *[<"]ramify/cluster/' "$1"; then
    echo "examples/try.sh: '$1' includes ramify/cluster, which needs MPI: build it with CMake (see" \
      "lesson 30 in examples/README.md)" >&2
    exit 2
  fi
  sources+=("$1")
  shift
done

place=$root/build/try
mkdir -p "$place"
program=$(mktemp "$place/$(basename "${sources[0]}" .cu).XXXXXX")
folder=$program.runs # of the runs under schedules
# A second ctrl-C does not end the removal.
trap 'trap "" INT TERM; rm -rf "$program" "$program".*ii "$folder"' EXIT
includes=(-I "$root/device_runtime" -I "$root/algorithms" -I "$root/examples/lessons")
show_and_run() {
  echo "+ $*" >&2
  "$@"
}

# Runs a program under all schedules and compares what it prints. Returns 1 if it differs.
compare_schedules() {
  local first schedule other=
  mkdir "$folder"
  run_under_schedules "$folder" "$@"
  first=${ran[0]}
  cat "$folder/$first.out"
  for schedule in "${ran[@]}"; do
    cmp -s "$folder/$first.out" "$folder/$schedule.out" && continue
    [ -z "$other" ] && other=$schedule
    different=$((${different:-0} + 1))
  done
  if [ -z "$other" ]; then
    echo "examples/try.sh: the same under ${#ran[@]} of ${#schedules[@]} schedules" >&2
    [ ${#failed[@]} = 0 ]
    return
  fi
  echo "examples/try.sh: the output above is that under \`$first\`; under $different of" \
    "${#ran[@]} schedules it differs, first under \`$other\`:" >&2
  diff -u --label "$first" --label "$other" "$folder/$first.out" "$folder/$other.out" |
    head -n 20 >&2 || true
  return 1
}

# Runs a program and moves its launch tree to the file of --trace. Returns the program's status, or 1
# if there is no launch tree.
write_trace() {
  local status=0 written
  mkdir "$folder"
  written=$folder/$(basename -- "$tree")
  RAMIFY_CPU_TRACE=$written "$@" || status=$?
  if [ -f "$written" ]; then
    mv -f -- "$written" "$tree" || return 1
    echo "examples/try.sh: the launch tree is in $tree" >&2
    return $status
  fi
  echo "examples/try.sh: the program launched no grid, or was killed: there is no launch tree" >&2
  [ $status != 0 ] || status=1
  return $status
}

if [ $on_gpu = yes ] && find_nvcc; then
  show_and_run "$nvcc" -std=c++20 -arch=native -rdc=true "${includes[@]}" "${sources[@]}" \
    -lcudadevrt -o "$program"
else
  find_executor
  library=$build/device_runtime/libramify_runtime.a
  [ -f "$library" ] || { echo "examples/try.sh: there is no $library" >&2; exit 1; }
  # Plain CUDA is translated: kernel<<<...>>>(...), extern __shared__ and others.
  plain=$root/examples/plain
  translated=()
  for source in "${sources[@]}"; do
    translated+=("$program.${#translated[@]}.ii")
    show_and_run "${CXX:-g++}" -std=c++20 -E "${includes[@]}" -I "$plain/include" \
      -include "$plain/plain.hpp" -x c++ "$source" -o "$program.ii"
    if [ ! -x "$place/translate" ] ||
      [ -n "$(find "$plain" -maxdepth 1 -name '*.?pp' -newer "$place/translate")" ]; then
      "${CXX:-g++}" -std=c++20 -O1 "$plain/translate.cpp" -o "$program"
      mv "$program" "$place/translate"
    fi
    show_and_run "$place/translate" "$program.ii" "${translated[-1]}" "$root"
  done
  show_and_run "${CXX:-g++}" -std=c++20 -O1 -g -fno-strict-aliasing -x c++-cpp-output \
    "${translated[@]}" -x none "$library" -lboost_context -rdynamic -o "$program"
fi
status=0
"${run[@]}" "$program" "$@" || status=$?
exit $status

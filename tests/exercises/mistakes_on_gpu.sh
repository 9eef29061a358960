#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs each wrong answer of the exercises ten times on the GPU of this machine, and writes a line for
# each to OUTPUT: the exercise, the answer, and a result, with tabs between them. A result is the
# number of wrong runs, "error" if CUDA returned an error, "crash" if a signal ended the program, or
# "no end" if ten seconds did not suffice.
#   mistakes_on_gpu.sh OUTPUT
# Then `tests/exercises/mistakes.sh write` puts the results into the table.
set -euo pipefail
here=$(realpath "$(dirname "$0")") root=$(realpath "$(dirname "$0")/../..")
output=$(realpath -m "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# shellcheck source=examples/nvcc.sh
source "$root/examples/nvcc.sh"
nvidia-smi -L >/dev/null && find_nvcc || { echo "there is no GPU, or no nvcc" >&2; exit 1; }

# Compiles variants of an exercise: all, or one.
compile() { # FILE KIND
  local name
  name=$place/$(basename "$1" .cu).$2
  "$here/variants.sh" "$name.cu" "$2" "$1"
  "$nvcc" -w -std=c++20 -arch=native -rdc=true -I "$root/device_runtime" -I "$root/algorithms" \
    -I "$root/examples/lessons" -I "$root/examples/exercises" -I "$here" -o "$name" "$name.cu" \
    -lcudadevrt >"$name.log" 2>&1 || cat "$name.log" >&2
}
wrong_answers() { # FILE: their names
  local count
  count=$(grep -c '^@wrong ' "$(dirname "$1")/answers/$(basename "$1" .cu).txt")
  seq -f 'wrong_%g' "$count"
}
# An exercise with algorithms of the library takes long to compile, so each answer is a program.
kinds() {
  if grep -q '#include <ramify/' "$1"; then wrong_answers "$1"; else echo all; fi
}
running() { jobs -rp | wc -l; }

for file in "$root"/examples/exercises/*.cu; do
  for kind in $(kinds "$file"); do
    while [ "$(running)" -ge "$(nproc)" ]; do wait -n || true; done
    compile "$file" "$kind" &
  done
done
wait

for file in "$root"/examples/exercises/*.cu; do
  name=$(basename "$file" .cu)
  for answer in $(wrong_answers "$file"); do
    program=$place/$name.all
    [ -f "$program.cu" ] || program=$place/$name.$answer
    [ -x "$program" ] || { echo "not compiled: $program" >&2; exit 1; }
    status=0
    result=$(timeout -k 1 10 "$program" "$answer" 10 2>/dev/null) || status=$?
    case $status in
      0) ;;
      124 | 137) result="no end" ;;
      129 | 1[3-9][0-9]) result="crash" ;;
      *) echo "$program $answer: exit status $status" >&2; exit 1 ;;
    esac
    echo "$name $answer: $result" >&2
    [[ $result != *$'\t'*error:* ]] || result=error
    printf '%s\t%s\t%s\n' "$name" "$answer" "${result%%$'\t'*}"
  done
done >"$output.part"
mv "$output.part" "$output"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every benchmark that this machine can run. Writes the tables to the pages of this folder and,
# as JSON, to benchmarks/results. Takes the headlines of README.md from the tables, and draws
# benchmarks/plots from the results if matplotlib is installed.
#   benchmarks/run.sh [folder with the benchmark programs [name...]]
# Without a folder, or with "", builds the programs first. With names (quicksort_cuda, ...), runs
# only those.
set -euo pipefail
programs=${1:+$(realpath "$1")} # relative to the folder of the caller
cd "$(dirname "$(realpath "$0")")/.."

on_cpu=(quicksort_cpu tree_search_cpu)
mapfile -t on_gpu < <(find benchmarks -name '*_cuda.cu' -printf '%f\n' | sed 's/\.cu$//' | sort)

names=("${@:2}")
[ ${#names[@]} -gt 0 ] || names=("${on_cpu[@]}" "${on_gpu[@]}")
for name in "${names[@]}"; do
  if ! printf '%s\0' "${on_cpu[@]}" "${on_gpu[@]}" | grep -qzxF -e "$name"; then
    echo "there is no benchmark '$name'; there are ${on_cpu[*]} ${on_gpu[*]}" >&2
    exit 2
  fi
done

if [ -z "$programs" ]; then
  cmake/install_packages.sh
  cmake -S . -B build/benchmarks -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DRAMIFY_TESTS=OFF -DRAMIFY_EXAMPLES=OFF
  cmake --build build/benchmarks
  programs=build/benchmarks/benchmarks
fi

measure() { # NAME
  local page
  if ! page=$(grep -lxF "<!-- $1 -->" benchmarks/*.md); then
    echo "no page has the lines <!-- $1 --> and <!-- end $1 -->: add them where the tables of $1 belong"
    failed+=("$1")
    return 0
  fi
  if [ ! -x "$programs/benchmark_$1" ]; then
    echo "no program $programs/benchmark_$1: its tables stay as they are"
    return 0
  fi
  echo "measuring $1"
  local out start=()
  [ "$1" != scaling_cuda ] || start=(mpirun -n "$(nvidia-smi -L | grep -c ^GPU)" --bind-to none)
  if ! out=$(timeout 300 "${start[@]}" "$programs/benchmark_$1" --json "benchmarks/results/$1.json"); then
    echo "$out"
    echo "$1 failed: its tables stay as they are"
    failed+=("$1")
    return 0
  fi
  { echo; echo "$out"; echo; } |
    benchmarks/put_table.sh "$page" "$1"
}

failed=()
mkdir -p benchmarks/results
have_gpu=false
nvidia-smi -L >/dev/null 2>&1 && have_gpu=true
for name in "${names[@]}"; do
  if [[ " ${on_gpu[*]} " == *" $name "* ]] && ! $have_gpu; then
    echo "no GPU: the tables of $name stay as they are"
  else
    measure "$name"
  fi
done

if table=$(benchmarks/headlines.sh); then
  printf '%s\n\n' "$table" | benchmarks/put_table.sh benchmarks/README.md headlines
else
  failed+=(headlines)
fi

python=$(PATH=/usr/bin:$PATH command -v python3 || true) # Debian's Python finds Debian's packages
if [ -n "$python" ] && "$python" -c 'import matplotlib' 2>/dev/null; then
  "$python" benchmarks/plot.py
else
  echo "no matplotlib: run benchmarks/plot.py where it is installed, to draw the plots"
fi
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}"
  exit 1
fi

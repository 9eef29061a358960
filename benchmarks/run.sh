#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every benchmark that this machine can run and puts the tables into benchmarks/README.md.
#   benchmarks/run.sh [folder with the benchmark programs]
# Without a folder, builds them first.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=${1:-}
if [ -z "$programs" ]; then
  cmake/install_packages.sh
  cmake -S . -B build/benchmarks -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DRAMIFY_TESTS=OFF -DRAMIFY_EXAMPLES=OFF
  cmake --build build/benchmarks
  programs=build/benchmarks/benchmarks
fi

# Replaces what stands between <!-- NAME --> and <!-- end NAME --> by standard input.
put() {
  local table
  table=$(mktemp)
  cat >"$table"
  awk -v begin="<!-- $1 -->" -v end="<!-- end $1 -->" -v table="$table" '
    $0 == begin { print; while ((getline line < table) > 0) print line; skip = 1 }
    $0 == end { skip = 0 }
    !skip && $0 != begin { print }' benchmarks/README.md >"$table.new"
  mv "$table.new" benchmarks/README.md
  rm "$table"
}

machine() { # what the table was measured on
  echo
  echo "$(date +%F), $1; \`benchmarks/run.sh\`"
  echo
}

measure() { # NAME, seconds, machine
  local out
  [ -x "$programs/benchmark_$1" ] || return 0
  echo "measuring $1"
  out=$(timeout "$2" "$programs/benchmark_$1")
  { machine "$3"; echo "$out"; echo; } | put "$1"
}

cpu=$(sed -n '/^model name/{s/.*: //p;q}' /proc/cpuinfo)
measure sort_cpu 300 "${cpu:-CPU}"
measure tree_search_cpu 300 "${cpu:-CPU}"
if nvidia-smi -L >/dev/null 2>&1; then
  gpu=$(nvidia-smi --id=0 --query-gpu=name,driver_version --format=csv,noheader)
  measure sort_cuda 300 "$gpu"
  measure host_spans_cuda 300 "$gpu"
  measure spatial_cuda 300 "$gpu"
  measure gravity_cuda 300 "$gpu"
  measure amr_cuda 300 "$gpu"
  measure flood_cuda 120 "$gpu"
  measure tree_search_cuda 120 "$gpu"
  measure rooted_tree_cuda 300 "$gpu"
else
  echo "no GPU: its tables stay as they are"
fi

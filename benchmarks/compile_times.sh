#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures the compile time of Ramify's headers and of one call of each algorithm, beside CUB's.
#   benchmarks/compile_times.sh [--repeats N] [--arch ARCH] [--phases] [name...]
# Compiles each program N times (3) in turns, with one compiler at a time, and prints a table for
# compile_times.md: the minimum processor time of nvcc (user mode), the ratio to the call of CUB,
# and the size of the object. --phases prints the time of each tool of nvcc instead, by the wall
# clock. With names, compiles only these programs and CUB's call. Needs nvcc, no GPU.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

repeats=3 arch=sm_90 phases=false
while [[ ${1:-} == --* ]]; do
  case $1 in
    --repeats) repeats=$2 && shift ;;
    --arch) arch=$2 && shift ;;
    --phases) phases=true ;;
    *) echo "unknown option $1" >&2 && exit 2 ;;
  esac
  shift
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names=()
program() { # NAME, the source on standard input
  cat >"$work/$1.cu"
  names+=("$1")
}

program "call cub_merge_sort" <<'END'
#include <cub/device/device_merge_sort.cuh>
struct less {
  __device__ bool operator()(unsigned a, unsigned b) const { return a < b; }
};
void sort(unsigned* keys, std::size_t n) {
  void* scratch = nullptr;
  std::size_t bytes = 0;
  cub::DeviceMergeSort::SortKeys(scratch, bytes, keys, n, less{});
  cudaMalloc(&scratch, bytes);
  cub::DeviceMergeSort::SortKeys(scratch, bytes, keys, n, less{});
  cudaFree(scratch);
}
END
program "call quicksort" <<'END'
#include <ramify/quicksort.cuh>
void sort(unsigned* keys, std::size_t n) { ramify::quicksort(keys, n); }
END
program "call quicksort with options" <<'END'
#include <ramify/quicksort.cuh>
void sort(unsigned* keys, std::size_t n, const ramify::quicksort_options& options) {
  ramify::quicksort(keys, n, ramify::ascending{}, options);
}
END
program "call quicksort from a kernel" <<'END'
#include <ramify/quicksort.cuh>
#include <ramify/runtime/call_arena.cuh>
using sorts = ramify::quicksort_calls<unsigned>;
__global__ void call(unsigned* keys, std::size_t n, ramify::call_status* status,
                     ramify::kernel_environment<sorts> calls) {
  *status = ramify::quicksort(keys, n, ramify::ascending{}, calls);
}
void sort(unsigned* keys, std::size_t n, ramify::call_status* status) {
  ramify::call_arena arena(sorts{n});
  call<<<1, 1>>>(keys, n, status, arena.environment());
  arena.get();
}
END
program "call quicksort by extern template" <<'END'
#include <ramify/quicksort.cuh>
extern template ramify::quicksort_report ramify::quicksort(unsigned*, std::size_t,
                                                           ramify::ascending);
void sort(unsigned* keys, std::size_t n) { ramify::quicksort(keys, n); }
END
program "call quicksort with compiled_sorts" <<'END'
#define RAMIFY_COMPILED_SORTS 1 // ramify::compiled_sorts has this definition
#include <ramify/quicksort.cuh>
void sort(unsigned* keys, std::size_t n) { ramify::quicksort(keys, n); }
END
program "call compiled quicksort" <<'END'
#include <ramify/quicksort.hpp>
#include <span>
void sort(unsigned* keys, std::size_t n) { ramify::quicksort(std::span(keys, n)); }
END
program "call spatial_tree" <<'END'
#include <ramify/spatial_tree.cuh>
std::size_t nodes(const ramify::point<float, 3>* points, std::size_t n) {
  return ramify::spatial_tree(points, n).report().nodes;
}
END
program "call traverse" <<'END'
#include <ramify/traverse.cuh>
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
unsigned nodes(unsigned root) { return ramify::traverse(root, halves{}, one{}, sum{}, 0u).value; }
END
program "call breadth_first_search" <<'END'
#include <ramify/graph.cuh>
void search(const ramify::graph_view& graph, std::int32_t* levels) {
  ramify::breadth_first_search(graph, 0, {.levels = levels});
}
END
program "call rooted_tree" <<'END'
#include <ramify/rooted_tree.cuh>
void number(const std::int32_t* parents, std::size_t n, std::int32_t* levels) {
  ramify::rooted_tree(ramify::tree_shape::of_parents({parents, n}), {.levels = levels});
}
END
program "call quadrature" <<'END'
#include <ramify/quadrature.cuh>
struct bell {
  __device__ double operator()(const ramify::quadrature_point<3>& p) const {
    return exp(-p[0] * p[0] - p[1] * p[1] - p[2] * p[2]);
  }
};
double integral() {
  const ramify::quadrature_box<3> cube{{0, 0, 0}, {1, 1, 1}};
  return ramify::quadrature(cube, bell{}).value;
}
END
program "include cub_merge_sort" <<<'#include <cub/device/device_merge_sort.cuh>'
program "include cub" <<<'#include <cub/cub.cuh>'
for header in algorithms/ramify/*.cuh; do
  name=$(basename "$header" .cuh)
  [[ $name == distributed_* ]] && continue # they need MPI
  program "include $name" <<<"#include <ramify/$name.cuh>"
done

compile() { # NAME [option...]
  nvcc -std=c++20 -O3 -rdc=true -arch="$arch" -Ialgorithms -Idevice_runtime -w "${@:2}" \
    -c "$work/$1.cu" -o "$work/$1.o"
}

wanted=("call cub_merge_sort" "$@")
[ $# -gt 0 ] || wanted=("${names[@]}")

if $phases; then
  for name in "${wanted[@]}"; do
    compile "$name" --time "$work/phases.csv"
    echo "$name:"
    awk -F' *, *' 'NR > 1 && $(NF - 1) >= 10 { printf "  %-22s %6.2f s\n", $1, $(NF - 1) / 1000 }' \
      "$work/phases.csv"
    rm "$work/phases.csv"
  done
  exit
fi

declare -A least
TIMEFORMAT=%U
for _ in $(seq "$repeats"); do
  for name in "${wanted[@]}"; do
    { time compile "$name" >"$work/log" 2>&1; } 2>"$work/time" || { cat "$work/log" >&2 && exit 1; }
    seconds=$(cat "$work/time")
    least[$name]=$(printf '%s\n' "$seconds" "${least[$name]:-$seconds}" | sort -g | head -1)
  done
done

echo "$(date +%F); $(nvcc --version | sed -n 's/.*\(release [0-9.]*\).*/nvcc \1/p'); $arch; least of $repeats"
echo
echo "| program | nvcc, s | / call of CUB | object, KB |"
echo "| --- | --- | --- | --- |"
for name in "${wanted[@]}"; do
  awk -v name="$name" -v s="${least[$name]}" -v cub="${least[call cub_merge_sort]}" \
    -v bytes="$(stat -c %s "$work/$name.o")" \
    'BEGIN { printf "| %s | %.1f | %.2f | %.0f |\n", name, s, s / cub, bytes / 1000 }'
done

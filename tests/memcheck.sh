#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every algorithm, strategy and route on small inputs under compute-sanitizer's memcheck.
#   memcheck.sh <folder with the example programs> <folder with the test programs>
#
# CTest runs this script alone, because memcheck makes false reports while other programs use the
# GPU (CUDA 13.0, driver 580, H100 and H200). All four runs beside other tests failed. Three of
# their logs were examined:
#   - A captured sort of 1,000,000 keys. All threads of the first kernel in the loop of the graph
#     were reported at their first read. The kernel before it, in the same launch of the graph, had
#     written to this address without a report. The message says that the address is "out of
#     bounds" and also "inside the nearest allocation".
#   - A captured sort of 2,000 pages, after one of 1,000,000 keys. One thread, in the loop of the
#     graph, was reported at the gap of 256 bytes between the two arrays of the earlier sort. They
#     had been freed, and the gap was inside an array of the later sort.
#   - A flat traversal: an illegal address, without a report of an access.
# In the first two, memcheck compared accesses in the loop with the allocations of an earlier time.
# The third is not explained. Three runs of these sorts alone, and one beside one busy program, had
# no report. Any other report, and any report of a run alone, counts as a fault of Ramify.
set -euo pipefail
examples=$1
tests=$2
nvidia-smi -L >/dev/null 2>&1 || { echo "needs a GPU"; exit 77; }
export PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin
command -v compute-sanitizer >/dev/null || { echo "needs compute-sanitizer"; exit 77; }

output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
export RAMIFY_CACHE_DIR=$output/cache # launches cost more under a sanitizer

checked() { # program, arguments...
  echo "-- $*"
  compute-sanitizer --tool memcheck --error-exitcode 9 "$@"
}
example() { # name, arguments...
  local name=$1
  shift
  checked "$examples/$name" --backend cuda "$@"
}
cases() { # name of the test program, selected cases
  local program
  program=$(find "$tests" -type f -name "$1_test")
  [ -n "$program" ] || { echo "there is no program $1_test in $tests: build it first"; exit 1; }
  RAMIFY_TEST_BACKEND=cuda checked "$program" --run_test="$2"
}

for strategy in sample_sort binary; do
  for route in device flat; do
    example quicksort --strategy $strategy --route $route --n 200000 --verify --generate uniform
    example quicksort --strategy $strategy --route $route --n 200000 --verify --generate zipf \
      --type f64 --pairs
  done
  # Few launch slots: the list, the drain, and the continuation by the host.
  example quicksort --strategy $strategy --route device --n 300000 --verify --generate zipf \
    --pending-launches 100
done
# One partition and the long merge sort; segments that share grids; captured sorts.
cases quicksort_cuda 'quicksort/segments_at_the_depth_limit*,segments_share*,a_captured_sort*'

cases segmented_sort_cuda 'segmented_sort/sorts_every_short*,nothing_to*,sorts_particles'

for route in device flat; do
  example tree_search --tree small --verify --route $route
  example tree_search --tree T3 --verify --route $route
  example mandelbrot --width 600 --height 500 --route $route
  for kind in uniform clusters; do
    example spatial --generate $kind --n 20000 --nearest 8 --within 0.01 --verify --route $route
  done
  example tessellate --teapot --flatness 0.01 --compare --route $route
  example tessellate --generate curves --n 1000 --compare --route $route
  example search flow-shop --taillard 1 --verify --route $route
  for shape in random path star forest; do
    example rooted_tree --route $route --generate $shape --n 100000 --shuffle --verify
  done
  for precision in float double; do
    example nbody --plummer 10000 --steps 2 --precision $precision --route $route
  done
done
# Chains that are resumed, the largest nodes, the shortest lists.
cases traverse_cuda 'traverse/a_long_chain*,nodes_may*,short_lists*'
# Single results, also folds; child lists; refused inputs.
cases rooted_tree_cuda 'rooted_tree/only_requested*,children_in*,cycles_of*,faulty_child*'
cases spatial_tree_cuda 'spatial_tree/every_cloud_and_size*'
cases spatial_tree_cuda 'spatial_tree_queries/nearest*'
cases spatial_tree_cuda 'spatial_tree_packets/all_methods*'
for precision in float double; do
  example nbody --plummer 1000 --steps 2 --precision $precision --method direct
done
example nbody --plummer 30000 --steps 2 --route device --pending-launches 100
for method in tree direct; do
  example nbody --plummer 5000 --softening 0.01 --dt 0.1 --steps 1 --step-levels 5 --method $method
done

for route in device flat; do
  for dim in 2 3; do
    example amr --problem sedov --dim $dim --max-level 2 --blocks 2 --regrid-every 2 --t-end 0.002 \
      --route $route --frames 1 --quiet --output-dir "$output" --force
  done
  example amr --problem vortex-in-box --subcycle --max-level 2 --blocks 2 --t-end 0.05 \
    --regrid-every 2 --route $route --frames 1 --quiet --output-dir "$output" --force
done

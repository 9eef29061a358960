#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the command line of the example program tree_search: tree_search_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"
says() { grep -Eq -- "$1" out || fail "no '$1' in $(cat out)"; }

for route in automatic device flat; do
  expect 0 - --tree small --backend cpu --route $route --verify --pending-launches 64
  says '^nodes: 1732$'
  says '^leaves: 1050$'
  says '^depth: 6$'
  says '^backend: cpu \(requested\)$'
  says '^verified: as published$'
  says '^nodes per second: [0-9]'
done
# The same tree by its parameters, by each strategy, and a binomial tree of obvious size.
expect 0 - --type geometric --shape linear --depth 6 --root-branches 4 --seed 0 --backend cpu
says '^nodes: 1732$'
says '^rounds: [1-9]'
for granularity in per_task per_block per_grid; do
  expect 0 - --tree small --backend cpu --strategy task_per_node --granularity $granularity \
    --threshold 2 --coarsening 4 --capacity 100000 --verify
  says '^rounds: 0$'
done
expect 0 - --tree small --backend cpu --route flat --flat-loop host --verify
expect 0 - --type binomial --root-branches 70 --probability 0 --report json --backend cpu --route device
says '"nodes": 71,'
says '"leaves": 70,'
says '"depth": 1,'
says '"route": "device",'
says '"nodes_per_second": '
expect_trace --tree small --backend cpu --route device
expect_trace --tree small --backend cpu --route flat
expect 0 - --help
says 'T3L'

refuses_bad_launch_options --tree small
expect 2 "tree 'T9' is none of small, T1," --tree T9
expect 2 'excludes' --tree T1 --seed 3
expect 2 '--verify' --verify
expect 2 "type 'oak' is none of binomial" --type oak
expect 2 "shape 'round' is none of linear" --shape round
expect 2 "'-5' is not a whole number" --seed -5
expect 2 "'0' is not a whole number" --depth 0
expect 2 "strategy 'walk' is neither work_sharing nor task_per_node" --strategy walk
expect 2 "--flat-loop 'gpu' is none of automatic" --flat-loop gpu
expect 2 "granularity 'per_sm' is none of per_task" --granularity per_sm
expect 2 "'0' is not a whole number" --coarsening 0
expect 2 'coarsening is 5000; it must be' --tree small --backend cpu --coarsening 5000
expect 2 'the tree would not end' --type binomial --probability 0.9
expect 2 'capacity is 5; on this device' --tree small --backend cpu --capacity 5
expect 1 '; raise --capacity, which is 2' --tree small --backend cpu --strategy task_per_node --capacity 2
if ! "$program" --tree small --backend cuda >out 2>err; then
  expect 4 'the cuda backend cannot run' --tree small --backend cuda
fi
echo "all as expected"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the command line of the example program search: search_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"
says() { grep -Eq -- "$1" out || fail "no '$1' in $(cat out)"; }

for route in automatic device flat; do
  expect 0 - knapsack --seed 3 --verify --backend cpu --route $route --pending-launches 64
  says '^verified: as expected$'
  says '^incumbent updates: [0-9]'
  grep '^chosen: ' out >chosen.$route
  expect 0 - flow-shop --taillard 1 --verify --backend cpu --route $route
  says '^makespan of heuristic: 1286$'
  says '^makespan: 1278$'
  says '^pruned: [1-9]'
  grep '^order: ' out >order.$route
  expect 0 - queens --n 8 --verify --backend cpu --route $route
  says '^solutions: 92$'
  says '^nodes: 193$'
  expect 0 - queens --n 8 --symmetry=off --verify --backend cpu --route $route
  says '^nodes: 51$'
done
for route in device flat; do
  cmp chosen.automatic chosen.$route || fail "another choice on the route $route"
  cmp order.automatic order.$route || fail "another order on the route $route"
done

# Files. Of items 0 and 1, and of both orders, the first one in depth-first order is chosen.
printf '# weight, profit\n3,4\n3 4\n\n2\t3\n' >items
expect 0 - knapsack --input items --weight-limit 5 --output o --backend cpu
[ "$(cat o)" = "$(printf '0\n2')" ] || fail "chose $(cat o)"
output_has 'profit: 7'
expect 0 - knapsack --input items --verify --backend cpu --report json
says '"weight_limit": 4,'
says '"profit": 4,'
says '"verified": true'
printf '2 2\n1 1\n' >times
expect 0 - flow-shop --input times --output o --backend cpu --strategy task_per_node --capacity 1000
[ "$(cat o)" = "$(printf '0\n1')" ] || fail "chose $(cat o)"
output_has 'makespan: 5'
output_has 'rounds: 0'
rm o
printf '1 2 3\n' | expect 0 - flow-shop --input - --backend cpu --flat-loop host --route flat
output_has 'makespan: 6'
: >none
expect 0 - knapsack --input none --verify --backend cpu
output_has 'profit: 0'
expect_trace knapsack --items 20 --backend cpu --route device
expect_trace queens --n 5 --backend cpu --route flat

refuses_bad_launch_options queens
expect 2 'problem is required' --backend cpu
expect 2 "problem 'chess' is none of knapsack, flow-shop, queens" chess
expect 2 '--n is no option of knapsack' knapsack --n 5
expect 2 '--seed is no option of queens' queens --seed 5
expect 2 '--symmetry is no option of knapsack' knapsack --symmetry=off
expect 2 '--items is no option of flow-shop' flow-shop --items 5
expect 2 '--output is no option of queens' queens --output o
expect 2 "'64' is too large; the maximum is 63" knapsack --items 64
expect 2 "'21' is too large; the maximum is 20" flow-shop --jobs 21
expect 2 "'28' is too large; the maximum is 27" queens --n 28
expect 2 'excludes' flow-shop --taillard 1 --jobs 5
expect 2 '--seed is 2147483647; of flow-shop it must be in' flow-shop --seed 2147483647
expect 2 '--verify of flow-shop needs --taillard' flow-shop --verify
expect 2 '--verify of queens needs --n of at most 21' queens --n 22 --verify
expect 2 '--verify of knapsack needs a maximum weight' knapsack --largest 1e9 --verify
printf '1 2\n-1 5\n' >negative
expect 3 'negative: knapsack_instance.items[1].weight is -1' knapsack --input negative
expect 3 'negative: flow_shop_instance.times[2] is -1' flow-shop --input negative
printf '1 2\n3 nan\n' >nan
expect 3 "nan, line 2: '3 nan' is not a list of whole numbers" knapsack --input nan
printf '1 2\n3\n' >ragged
expect 3 "ragged, line 2: '3' has 1 numbers; the first line has 2" flow-shop --input ragged
expect 3 'must have two numbers' knapsack --input - <<<'1 2 3'
expect 3 'standard input: flow_shop_instance.times is 70000; it must be at most 65535 in sum' \
  flow-shop --input - <<<'35000 35000'
expect 1 '; raise --capacity, which is 2' queens --backend cpu --strategy task_per_node --capacity 2
if ! "$program" queens --backend cuda >out 2>err; then
  expect 4 'the cuda backend cannot run' queens --backend cuda
fi
echo "all as expected"

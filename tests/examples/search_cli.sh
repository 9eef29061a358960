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
# ---- files whose first line has the sizes, and files of Taillard ----

# f1_l-d_kp_10_269 of the low-dimensional instances: 10 items, maximum weight 269, optimum 295.
printf '%s\n' '10 269' '55 95' '10 4' '47 60' '5 32' '4 23' '50 72' '8 80' '61 62' '85 65' '87 46' >kp
expect 0 - knapsack --input kp --verify --backend cpu --report json
says '"profit": 295,'
says '"weight": 269,'
says '"items": 10,'
says '"input_format": "first the number of items and the maximum weight, then profit and weight'
says '"proved_optimal": true,'
expect 0 - knapsack --input kp --weight-limit 5 --format sizes --output chosen --backend cpu
[ "$(cat chosen)" = 1 ] || fail "chose $(cat chosen)"
expect 0 - knapsack --input kp --format plain --backend cpu
output_has 'items: 11'
output_has 'input format: weight and profit of each item (--format plain)'
expect 3 "items, line 2: '3,4' announces 3 items and is followed by 2 lines" knapsack --input items --format sizes
expect 2 "format 'csv' is none of automatic, plain, sizes" knapsack --input items --format csv
expect 2 '--format requires --input' knapsack --format plain
sed 's/^4 23$/4 -23/' kp >bad
expect 3 "bad, line 6: '4 -23' has the weight -23; it must be in [0, 2147483647]" knapsack --input bad
sed 's/^10 269$/10 -1/' kp >bad
expect 3 "bad, line 1: '10 -1' has the maximum weight -1" knapsack --input bad

# The best of the 24 orders, by hand: machine 0 is busy until 10, and job 0 takes 1 after it.
printf '%s\n' 'number of jobs, number of machines, initial seed, upper bound and lower bound :' \
  '           4           2   12345        11        11' 'processing times :' ' 1  4  3  2' ' 1  1  2  2' >ta
expect 0 - flow-shop --input ta --backend cpu
output_has 'makespan: 11'
output_has 'input format: a file of Taillard'
cat ta ta >two
sed -i '9s/4/5/' two
expect 3 'two: there are 2 instances; choose one with --instance' flow-shop --input two
expect 0 - flow-shop --input two --instance 2 --backend cpu
output_has 'makespan: 12'
expect 3 'two: there are only 2 instances; --instance is 3' flow-shop --input two --instance 3
{ cat ta; tail -n 1 ta; } >bad
expect 3 "bad, line 6: '1  1  2  2' must be the line of words before the sizes" flow-shop --input bad
sed '$d' ta >bad
expect 3 'bad ends too early: it has no line with the times of the jobs on machine 1' flow-shop --input bad
sed '4s/ 2$//' ta >bad
expect 3 "bad, line 4: '1  4  3' has 3 numbers; it must have 4, the times of the jobs on machine 0" \
  flow-shop --input bad
sed '2s/4/501/' ta >bad
expect 3 'bad, line 2: ' flow-shop --input bad
expect 3 "ta, line 1: 'number of jobs, number of machines" knapsack --input ta
printf '%s\n' '4 2' '1 4 3 2' '1 1 2 2' >sized
expect 0 - flow-shop --input sized --backend cpu
output_has 'makespan: 11'
output_has '(--format sizes)'
expect 3 'sized: --instance needs a file of Taillard' flow-shop --input sized --instance 1
# All sizes of Taillard. The published optimum of ta031 is 2724, its lower bound 2712.
expect 0 - flow-shop --taillard 31 --backend cpu --report json
says '"jobs": 50,'
says '"bound": 2712,'
says '"makespan": 27[0-9][0-9],'

# ---- limits ----
expect 0 - flow-shop --taillard 21 --max-nodes 500 --verify --backend cpu
says '^proved optimal: false$'
says '^gap: [1-9]'
says '^left unexplored: [1-9]'
expect 0 - flow-shop --taillard 21 --max-seconds 0.1 --verify --backend cpu --route flat
says '^proved optimal: false$'
expect 2 '--max-nodes is no option of queens' queens --max-nodes 5
expect 2 '--max-seconds is no option of queens' queens --max-seconds 5
expect 2 "--max-seconds: '-1' is not a number in [0, 1e+09]" knapsack --max-seconds -1
# Even weights and an odd limit; no choice has exactly the limit.
awk 'BEGIN { for (i = 1; i <= 40; ++i) print 2 * (i * i + 17), 2 * (i * i + 17) }' >even
expect 0 - knapsack --input even --weight-limit 20001 --verify --backend cpu
says '^proved optimal: true$'

expect_trace knapsack --items 20 --backend cpu --route device
expect_trace queens --n 5 --backend cpu --route flat

refuses_bad_launch_options queens
expect 2 'problem is required: knapsack, flow-shop or queens' --backend cpu
expect 2 'problem is required: knapsack, flow-shop or queens'
expect 2 "problem 'chess' is none of knapsack, flow-shop, queens" chess
expect 2 '--n is no option of knapsack' knapsack --n 5
expect 2 '--seed is no option of queens' queens --seed 5
expect 2 '--symmetry is no option of knapsack' knapsack --symmetry=off
expect 2 '--items is no option of flow-shop' flow-shop --items 5
expect 2 '--output is no option of queens' queens --output o
expect 2 "'64' is too large; the maximum is 63" knapsack --items 64
expect 2 "'501' is too large; the maximum is 500" flow-shop --jobs 501
expect 2 "'121' is too large; the maximum is 120" flow-shop --taillard 121
expect 2 "'28' is too large; the maximum is 27" queens --n 28
expect 2 'excludes' flow-shop --taillard 1 --jobs 5
expect 2 '--seed is 2147483647; of flow-shop it must be in' flow-shop --seed 2147483647
expect 2 '--verify of flow-shop needs --taillard' flow-shop --verify
expect 2 '--verify of flow-shop needs --taillard of at most 30' flow-shop --taillard 31 --verify
expect 2 '--verify of queens needs --n of at most 21' queens --n 22 --verify
expect 2 '--verify of knapsack needs a maximum weight' knapsack --largest 1e9 --verify
printf '1 2\n-1 5\n' >negative
expect 3 "negative, line 2: '-1 5' has the profit -1; it must be in [0, 2147483647]" knapsack --input negative
expect 3 "negative, line 2: '-1 5' has the weight -1; it must be in" knapsack --input negative --format plain
expect 3 "negative, line 2: '-1 5' has the time -1; it must be in [0, 65535]" flow-shop --input negative
# The rule of all text files: comments, signs, separators, header lines.
printf '%% weight;;profit\n+3;4\n' >ruled
expect 0 - knapsack --input ruled --weight-limit 3 --backend cpu
output_has 'profit: 4'
expect 3 "line 1: '1,,2' has an empty field" knapsack --input - <<<'1,,2'
expect 3 "line 1: '1,2;3' has commas and semicolons" flow-shop --input - <<<'1,2;3'
printf 'weight,profit\n3,4\n' >named
expect 3 "named, line 1: 'weight,profit' is not a list of whole numbers; a header line must be removed" \
  knapsack --input named
printf 'job0,job1\n3,4\n1,2\n' >named
expect 3 "named, line 1: 'job0,job1' is neither a list of whole numbers, nor the first line of a file" \
  flow-shop --input named
printf '1 2\n3 nan\n' >nan
expect 3 "nan, line 2: '3 nan' is not a list of whole numbers" knapsack --input nan
printf '1 2\n3\n' >ragged
expect 3 "ragged, line 2: '3' has 1 number; it must have 2, the times of the jobs on machine 1" \
  flow-shop --input ragged
expect 3 "line 1: '1 2 3' has 3 numbers; it must have 2, weight and profit" knapsack --input - <<<'1 2 3'
expect 3 'standard input: flow_shop_instance.times is 70000; it must be at most 65535 in sum' \
  flow-shop --input - <<<'35000 35000'
expect 1 '; raise --capacity, which is 2' queens --backend cpu --strategy task_per_node --capacity 2
if ! "$program" queens --backend cuda >out 2>err; then
  expect 4 'the cuda backend cannot run' queens --backend cuda
fi
echo "all as expected"

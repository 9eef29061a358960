#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the example program search as several processes: search_test.sh <program> <work folder>
# The solutions must be those of one process without mpirun.
set -euo pipefail
source "$(dirname "$0")/cluster_checks.sh"

# same <names of lines, separated by |> <numbers of ranks> <arguments...>: ranks print these lines of
# one process, at least one of each, and write its output. One rank prints all that one process does.
same() {
  local names=$1 numbers=$2 n
  shift 2
  local files=() # queens have no solution to write
  [ "$1" = queens ] || files=(--output several)
  "$program" "${common[@]}" "$@" "${files[@]/several/one}" >one.report
  for n in $numbers; do
    ranks "$n" 0 "$@" "${files[@]}"
    same_lines "${names//|/: |}: " one.report "$@"
    [ "$1" = queens ] || cmp one several || fail "$n ranks: $* chose others"
    if [ "$n" -gt 1 ]; then lines out "ranks: $n"; else ! grep -q '^ranks' out || fail "one rank"; fi
  done
}

same 'items|weight limit|profit|weight|chosen|verified' '1 3' knapsack --items 45 --seed 3 --verify
same 'jobs|machines|proved optimal|bound|makespan of heuristic|makespan|order|verified' 3 flow-shop --taillard 1 --verify \
  --report report.json
# One report, of a tree that is large enough to be shared.
lines report.json '"makespan": 1278,' '"ranks": 3,' '"bytes_sent": ' '"communication_ms": ' '"imbalance": ' \
  '"exchanges": ' '"comparisons": ' '"moved_nodes": [1-9]'
same 'makespan|order' 3 flow-shop --jobs 7 --machines 3 --seed 5 --route flat
same 'n|solutions|nodes|verified' 4 queens --n 12 --verify
same 'n|solutions|nodes' 3 queens --n 7 --symmetry=off
same 'n|solutions|nodes' 3 queens --n 1

# Rank 0 reads the instance, and the others get it.
printf '# weight, profit\n3,4\n3 4\n\n2\t3\n' >items
same 'profit|chosen' 3 knapsack --input items --weight-limit 5
printf '1 2 3\n2 2 1\n' | "$start_ranks" 2 "$program" flow-shop --input - --output - --backend cpu >out 2>err
[ "$(cat out)" = "$(printf '1 2 3\n2 2 1\n' | "$program" flow-shop --input - --output - --backend cpu 2>/dev/null)" ] ||
  fail "standard input"
: >none
same 'items|profit' 3 knapsack --input none

# One message, of the rank that failed, with the status of one process; no output.
rm -f several
refused 2 '--strategy is task_per_node; it must be work_sharing' 3 knapsack --strategy task_per_node --output several
# With one rank the program is that of one process, which has all strategies.
same 'profit|chosen' 1 knapsack --items 20 --strategy task_per_node
ranks 2 0 queens --n 6 --trace t.json
grep -Eq '^trace: [1-9][0-9]* grids of rank 0 in t.json$' out || fail "the line of the trace"
rm -f several
refused 2 '--flat-loop is graph; it must be automatic or host' 2 queens --flat-loop graph
refused 2 '--n is no option of knapsack' 2 knapsack --n 5
printf '1 2\n-1 5\n' >negative
refused 3 'negative, line 2: .-1 5. has the profit -1' 3 knapsack --input negative --output several
echo "all as expected"

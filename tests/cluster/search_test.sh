#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the example program search as several processes: search_test.sh <program> <work folder>
# The solutions must be those of one process without mpirun.
set -euo pipefail
program=$1
work=$2
start_ranks=$(cd "$(dirname "$0")" && pwd)/mpirun.sh
rm -rf "$work"
mkdir -p "$work"
cd "$work"
fail() { echo "FAILED: $*"; cat out err; exit 1; }

# ranks <number> <expected status> <arguments...>
ranks() {
  local n=$1 wanted=$2 status=0
  shift 2
  "$start_ranks" "$n" "$program" --backend cpu "$@" >out 2>err || status=$?
  [ $status -eq "$wanted" ] || fail "$n ranks: $* ended with status $status instead of $wanted"
}
# line <text>: the output has one line that begins with the text.
line() { [ "$(grep -c "^$1" out)" -eq 1 ] || fail "not one line $1"; }
# same <names of lines, separated by |> <numbers of ranks> <arguments...>: ranks print these lines of
# one process, at least one of each, and write its output. One rank prints all that one process does.
same() {
  local names=$1 numbers=$2 n name
  shift 2
  local files=() # queens have no solution to write
  [ "$1" = queens ] || files=(--output several)
  "$program" --backend cpu "$@" "${files[@]/several/one}" >one.report
  while read -r name; do
    grep -q "^$name: " one.report || fail "one process: $*: no line $name"
  done < <(tr '|' '\n' <<<"$names")
  for n in $numbers; do
    ranks "$n" 0 "$@" "${files[@]}"
    diff <(grep -E "^($names): " one.report) <(grep -E "^($names): " out) || fail "$n ranks: $*"
    [ "$1" = queens ] || cmp one several || fail "$n ranks: $* chose others"
    if [ "$n" -gt 1 ]; then line "ranks: $n"; else ! grep -q '^ranks' out || fail "one rank"; fi
  done
}

same 'items|weight limit|profit|weight|chosen|verified' '1 3' knapsack --items 45 --seed 3 --verify
same 'jobs|machines|makespan of heuristic|makespan|order|verified' 3 flow-shop --taillard 1 --verify \
  --report report.json
# One report, of a tree that is large enough to be shared.
for text in '"makespan": 1278,' '"ranks": 3,' '"bytes_sent": ' '"communication_ms": ' '"imbalance": ' '"exchanges": ' \
            '"comparisons": ' '"moved_nodes": [1-9]'; do
  [ "$(grep -c "^ *$text" report.json)" -eq 1 ] || fail "not one $text"
done
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
refused() { # status, message, number of ranks, arguments...
  ranks "$3" "$1" "${@:4}"
  [ "$(grep -cF -e "$2" err)" -eq 1 ] || fail "not one message '$2'"
  [ ! -e several ] && [ -z "$(ls | grep part || true)" ] || fail "a failed run left a file"
}
refused 2 '--strategy is task_per_node; it must be work_sharing' 3 knapsack --strategy task_per_node --output several
# With one rank the program is that of one process, which has all strategies.
same 'profit|chosen' 1 knapsack --items 20 --strategy task_per_node
ranks 2 0 queens --n 6 --trace t.json
grep -Eq '^trace: [1-9][0-9]* grids of rank 0 in t.json$' out || fail "the line of the trace"
rm -f several
refused 2 '--flat-loop is graph; it must be automatic or host' 2 queens --flat-loop graph
refused 2 '--n is no option of knapsack' 2 knapsack --n 5
printf '1 2\n-1 5\n' >negative
refused 3 'negative: knapsack_instance.items[1].weight is -1' 3 knapsack --input negative --output several
echo "all as expected"

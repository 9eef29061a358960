#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# output_test.sh <program ladder_quicksort> <work folder>
# Tests the text, the traces, and the messages for bad options.
. "$(dirname "$0")/../output_checks.sh"

# 1. Text: each rung, in order, with a correct result and a time.
timeout 60 "$program" --n 3000 >text
rungs=$(grep -c '^[1-9] ' text)
[ "$rungs" = 8 ] || fail "there are $rungs rungs"
[ "$(grep -c 'the result is right' text)" = "$rungs" ] || fail "a rung of the text has no result"
[ "$(grep -c ' ms (median of ' text)" = $((rungs + 1)) ] || fail "a rung of the text, or the baseline, has no time"

# 2. One rung, and its trace.
timeout 60 "$program" --n 3000 --rung 2 >text
[ "$(grep '^[1-9] ' text | cut -c 1)" = 2 ] || fail "--rung 2 is not rung 2"
timeout 60 "$program" --n 300 --rung 2 --trace two.dot >/dev/null
grep -q '^digraph' two.dot || fail "--trace wrote no tree"

# 3. Under a reproducible schedule the rungs launch the same tree in each run.
for rung in $(seq "$rungs"); do
  for time in first second; do
    RAMIFY_CPU_SCHEDULE=late timeout 60 "$program" --n 3000 --rung "$rung" --trace $time.dot >/dev/null
  done
  cmp first.dot second.dot || fail "rung $rung does not launch the same tree in each run"
done

# 4. Bad options.
refused --rung 0
refused --rung 99
refused --n 0
refused --n many
refused --large -1
refused --pending-launches 0
refused --trace tree.dot
refused --rung 1 --trace tree.txt
refused --no-such-option
refused --table --rung 2
refused --check --n 5
refused --large 5

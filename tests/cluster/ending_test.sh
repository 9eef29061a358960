#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# ending_test.sh <ending>: however a rank ends, all processes end within 10 seconds.
set -euo pipefail
ending=$1
start_ranks=$(dirname "$0")/mpirun.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; cat "$work/out" "$work/err"; exit 1; }
end() { # how
  status=0
  SECONDS=0
  timeout --kill-after=5 30 "$start_ranks" 3 "$ending" "$1" >"$work/out" 2>"$work/err" || status=$?
  # mpirun may end a moment before the last process.
  while [ $SECONDS -le 10 ] && pgrep -f "^$ending $1\$" >/dev/null; do sleep 0.05; done
  [ $SECONDS -le 10 ] || fail "$1: it took $SECONDS seconds, and $(pgrep -cf "^$ending $1\$") processes remain"
}

end well
[ $status -eq 0 ] && [ "$(cat "$work/out")" = complete ] && [ ! -s "$work/err" ] || fail "well: $status"
end throw
[ $status -eq 3 ] || fail "throw: status $status"
[ "$(grep -c 'ending: rank 1: cannot read input.csv' "$work/err")" -eq 1 ] || fail "throw: the message"
end leave # by an exception outside of run()
[ $status -eq 3 ] || fail "leave: status $status"
grep -q 'ending: rank 1: an exception has left' "$work/err" || fail "leave: the message"
end kill
# Open MPI reports the signal in standard error, MPICH in standard output.
[ $status -ne 0 ] && ! grep -q complete "$work/out" || fail "kill: status $status"
grep -qi 'signal 9' "$work/out" "$work/err" || fail "kill: the message"
end stuck
[ $status -ne 0 ] || fail "stuck: status $status"
grep -q 'ending: rank 1: a rank is stuck' "$work/err" || fail "stuck: the message"

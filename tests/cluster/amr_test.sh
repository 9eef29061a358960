#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the example program amr as several processes: amr_test.sh <program> <work folder>
# Its files must be those of one process without mpirun.
set -euo pipefail
source "$(dirname "$0")/cluster_checks.sh"
reader=$(dirname "$start_ranks")/../amr/output/read_plotfile.py
common+=(--quiet)
output=nowhere
mkdir one several
cd several

# same <beginnings of lines, separated by |> <number of ranks> <arguments...>: one process in the folder
# one, and ranks in the folder several, print these lines, at least one of each, and have the same
# files.
same() {
  local names=$1 n=$2
  shift 2
  (cd ../one && "$program" "${common[@]}" "$@" >../one.out) || fail "one process: $*"
  ranks "$n" 0 "$@"
  same_lines "$names" ../one.out "$@"
  diff -r ../one . -x out -x err -x '*.json' -x Level_* || fail "$n ranks: $* give other files"
  grep -q "^ranks: $n\$" out || fail "no ranks in the report"
}

# Meshes, pictures, the history and the checkpoint. Blocks move to other ranks.
flow=(--problem sod --max-level 2 --history-every 3)
same 'time|steps|regrids|leaves|cells:' 3 "${flow[@]}" --frames 2 --t-end 0.012 --output-dir f --checkpoint c \
  --checkpoint-every 5
! grep -q '^moved blocks: 0$' out || fail "no block moved"
# Another number of ranks continues the checkpoint.
same 'time|steps' 4 --restart c --checkpoint c --t-end 0.015 --report report.json
lines report.json '"ranks": 4,' '"bytes_sent": [1-9]' '"communication_ms": ' '"imbalance": ' '"moved_blocks": ' \
  '"halo_blocks": [1-9]' '"cost_imbalance": '
same 'time|leaves|cells' 3 --problem sedov --dim 3 --blocks 2 --max-level 1 --frames 1 --t-end 0.004 --output-dir ball \
  --plotfile plt
# Each rank writes a file of the plotfile. Its blocks are those of one process.
[ -s plt/Level_1/Cell_D_00002 ] || fail "no file of rank 2: $(ls -R plt)"
if [ -x /usr/bin/python3 ]; then
  /usr/bin/python3 "$reader" plt >out || fail "the plotfile of ranks"
  /usr/bin/python3 "$reader" ../one/plt >../one.out || fail "the plotfile of one process"
  cmp ../one.out out || fail "another plotfile"
fi
# A rank without blocks.
same 'time|L1 error|drift' 2 --problem linear-wave --blocks 1 --max-level 0 --frames 0 --output-dir wave

# One message, with the status of one process. A run that cannot begin leaves no folder.
refused 2 'amr: rank 0: --route is device; it must be automatic or flat on several ranks' 2 --route device --output-dir nowhere
# All ranks refuse it after they have received the checkpoint, and any of them may announce it
# first.
refused 2 'rank [01]: --flat-loop is graph; it must be automatic or host' 2 --restart c --flat-loop graph --output-dir nowhere
refused 2 'rank 0: --precision is float; it must be double' 2 --precision float --output-dir nowhere
# With one rank the program is that of one process, which has all options.
ranks 1 0 --precision float --route device --frames 0 --t-end 0.004 --output-dir alone
grep -q 'precision float' out && ! grep -q '^ranks' out || fail "one rank"
ranks 1 5 --plotfile nowhere/plt --output-dir nowhere_else
grep -qx 'amr: --plotfile: cannot write nowhere/plt: no such folder' err || fail "the message of one rank"
# Only rank 0 records its grids, and the program says so.
ranks 2 0 --frames 0 --t-end 0.004 --output-dir traced --trace t.json
grep -Eq '^trace: [1-9][0-9]* grids of rank 0 in t.json$' out || fail "the line of the trace"
head -c 1000 c >short
refused 3 'amr: rank 0: short is truncated' 2 --restart short --output-dir nowhere
ranks 2 1 --problem sod --max-blocks 5 --t-end 0.01 --frames 0 --output-dir failed
message 'more than --max-blocks, which is 5'

# Prints the process IDs of the ranks. pgrep takes a regular expression.
processes() { pgrep -f "^$(sed 's/[][\.*^$+?(){}|]/\\&/g' <<<"$program") .* --output-dir stopped"; }
# Starts three ranks, whose run would take hours, and sends a signal to the second one after the
# first checkpoint. Sets `status`. CTest limits the time.
signal_to_rank() { # signal
  rm -rf stopped c3
  "$start_ranks" 3 "$program" "${common[@]}" "${flow[@]}" --frames 2 --t-end 1000 --output-dir stopped \
    --checkpoint c3 --checkpoint-every 3 >out 2>err &
  local pid=$! rank
  until [ -e c3 ]; do
    kill -0 $pid || fail "no checkpoint"
    sleep 0.05
  done
  rank=$(processes | sed -n 2p || true)
  [ -n "$rank" ] || fail "no second rank"
  kill -"$1" "$rank"
  status=0
  wait $pid || status=$?
  while processes >/dev/null; do sleep 0.05; done
  [ -z "$(ls stopped | grep part || true)" ] || fail "SIG$1: a temporary file remains: $(ls stopped)"
}
# The checkpoint is complete: the program reads its time.
is_complete() { # time
  status=0
  "$program" --restart c3 --t-end 1e-9 >out 2>read || status=$?
  [ $status -eq 2 ] && grep -q "before the time of c3, which is $1" read || fail "$(cat read)"
}
signal_to_rank TERM
[ $status -ne 0 ] || fail "status 0 after SIGTERM"
grep -Eq '^amr: stopped by SIGTERM: step [0-9]+, time [0-9.e-]+: c3 has the checkpoint$' err || fail "the message"
is_complete "$(sed -n 's/^amr: stopped.* time \([0-9.e-]*\): c3.*/\1/p' err)"
signal_to_rank KILL
[ $status -ne 0 ] && cat out err | grep -qi "signal 9" || fail "status $status after SIGKILL"
is_complete '[0-9]'
echo "all as expected"

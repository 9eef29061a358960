#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals, and the progress display: signals.sh <folder of the programs> <work folder>
set -euo pipefail
bin=$(realpath "$1")
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }
# Sets `status` to the exit status of a background process.
wait_status() {
  status=0
  wait "$1" || status=$?
}
# A shell ignores SIGINT in its background processes; the program must get the default.
start() { env --default-signal=INT,HUP "$bin/$1" "${@:2}" >out 2>err & }
# Waits until a condition holds.
wait_for() {
  for _ in $(seq 3000); do
    if eval "$1"; then return; fi
    sleep 0.01
  done
  fail "not in thirty seconds: $1"
}
# Stops a background process, and returns when it is stopped or has ended.
stop() {
  kill -STOP "$1" 2>/dev/null || return 0
  wait_for "! grep -qs '^State:.[^TZ]' /proc/$1/status"
}
no_temporary_file() {
  [ -z "$(ls | grep part || true)" ] || fail "a temporary file is left: $(ls)"
}

# A simulation finishes its step and writes what was requested; the status is that of the signal.
for signal in INT:130 TERM:143 HUP:129; do
  rm -f out
  start nbody --plummer 300 --steps 100000000 --backend cpu --threads 1 --energy-every 1 \
    --output o.csv --image o.png --trace o.json --report r.json
  pid=$!
  wait_for '[ -e out ] && [ "$(wc -l <out)" -gt 5 ]'
  kill -"${signal%:*}" $pid
  wait_status $pid
  [ "$status" -eq "${signal#*:}" ] || fail "status $status after SIG${signal%:*}: $(cat err)"
  grep -Eq "^nbody: stopped by SIG${signal%:*}: the results are of step [0-9]+ of 100000000$" err ||
    fail "prints $(cat err)"
  step=$(sed 's/.*step \([0-9]*\) of.*/\1/' err)
  [ "$(wc -l <o.csv)" -eq 301 ] || fail "not all bodies: $(wc -l <o.csv)"
  grep -q "\"steps\": $step," r.json || fail "another number of steps than $step in the report"
  grep -q "^steps: $step$" out || fail "another number of steps than $step is printed"
  [ -s o.png ] && [ -s o.json ] || fail "no picture or no trace"
  no_temporary_file
  rm o.csv o.png o.json r.json
done

# The second signal ends a simulation at once. The program is stopped while the two are sent, so it
# cannot complete a step between them. The kernel chooses which one the program handles first.
rm -f out
start nbody --plummer 300 --steps 100000000 --backend cpu --threads 1 --energy-every 1 --output o.csv
pid=$!
wait_for '[ -e out ] && [ "$(wc -l <out)" -gt 5 ]'
stop $pid
kill -TERM $pid
kill -INT $pid
kill -CONT $pid
wait_status $pid
[ "$status" -eq 143 ] || [ "$status" -eq 130 ] || fail "status $status after two signals"
[ ! -e o.csv ] && [ ! -s err ] || fail "the second signal did not end the program: $(cat err)"

# Sends a signal to a sort that is writing, and sets `status`. The sort is stopped first, so that it
# cannot complete the file between the check and the signal. If it has completed it before, another
# sort is tried.
signal_in_write() { # signal
  for _ in $(seq 10); do
    echo old >o
    start quicksort --generate all-equal --n 4M --backend cpu --output o
    pid=$!
    wait_for '[ -s o.part$pid ] || [ "$(head -c 3 o)" != old ]'
    stop $pid
    if [ -s o.part$pid ]; then
      kill -"$1" $pid
      kill -CONT $pid 2>/dev/null || true # killed processes need not continue
      wait_status $pid
      return
    fi
    kill -CONT $pid 2>/dev/null || true # it may have ended
    wait_status $pid
  done
  fail "each sort completed its file before SIG$1"
}
# A signal during a write removes the temporary file and leaves the old file.
for signal in INT:130 TERM:143 HUP:129; do
  signal_in_write "${signal%:*}"
  [ "$status" -eq "${signal#*:}" ] || fail "status $status after SIG${signal%:*} in a write"
  [ "$(cat o)" = old ] || fail "the old file was replaced"
  no_temporary_file
done
# A killed process leaves no file that looks complete.
signal_in_write KILL
[ "$status" -eq 137 ] && [ "$(cat o)" = old ] || fail "the old file was replaced"
rm -f o.part*

# Waits until a program handles SIGTERM, which is bit 14 of the mask.
wait_for_handlers() { wait_for "grep -Eqs '^SigCgt:.*[4-7c-f][0-9a-f]{3}\$' /proc/$1/status"; }
# These programs run for many seconds on one thread.
long_search='tree_search --tree T3L --backend cpu --threads 1'
long_numbering='rooted_tree --generate random --n 20M --backend cpu --threads 1'
long_sort='quicksort --generate uniform --n 50M --strategy binary --backend cpu --threads 1'

# A signal ends the other programs, too. An ignored signal stays ignored.
for program in "$long_search" "$long_numbering"; do
  # shellcheck disable=SC2086
  start $program
  pid=$!
  wait_for_handlers $pid
  sleep 0.2 # so that most runs are at work
  kill -TERM $pid
  wait_status $pid
  [ "$status" -eq 143 ] || fail "status $status of $program"
done
# shellcheck disable=SC2086
(trap '' HUP; exec "$bin/"$long_search >out 2>err) &
pid=$!
wait_for_handlers $pid
kill -HUP $pid
sleep 0.1
kill -0 $pid || fail "an ignored signal ended the program"
kill -TERM $pid
wait_status $pid
[ $status -eq 143 ] || fail "no end after SIGTERM"

# On a terminal, a run of more than a second shows its progress.
if command -v script >/dev/null; then
  shows() { # text, command...: ends the command when the text is there
    rm -f terminal pid
    shown=$1
    script -qefc "echo \$\$ >pid; exec ${*:2}" terminal </dev/null >/dev/null 2>&1 &
    wait_for '[ -s pid ] && grep -q "$shown" terminal'
    kill -KILL "$(cat pid)"
    wait || true
  }
  # On a busy machine the display may skip a second.
  shows 'searching, [0-9]* s' "$bin/$long_search"
  shows 'numbering the nodes, [0-9]* s' "$bin/$long_numbering"
  shows 'sorting, [0-9]* s' "$bin/$long_sort"
  bar='\[[#.]*\] *[0-9]* %  [0-9]* s left'
  shows "visiting the graph, $bar" "$bin/graph --generate grid --side 100 --searches 1000 \
    --backend cpu --threads 1"
  shows 'tessellating, [0-9]* s' "$bin/tessellate --generate curves --n 2M --flatness 1e-6 --backend cpu \
    --threads 1"
  shows "measuring the distance, $bar" "$bin/tessellate --generate curves --n 1M --flatness 1 --compare \
    --backend cpu --threads 1"
  shows 'steps/s' "$bin/nbody" --plummer 20k --method direct --backend cpu --threads 1
  quiet="$bin/$long_search --quiet"
  script -qec "timeout -s KILL 2.5 $quiet" /dev/null </dev/null >terminal || true
  ! grep -q searching terminal || fail "progress in spite of --quiet"
fi
echo "all as expected"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the example program quicksort as several processes: quicksort_test.sh <program> <work folder>
# The output must be that of one process without mpirun.
set -euo pipefail
program=$1
work=$2
start_ranks=$(cd "$(dirname "$0")" && pwd)/mpirun.sh
rm -rf "$work"
mkdir -p "$work"
cd "$work"
fail() { echo "FAILED: $*"; cat out err; exit 1; }

# ranks <number> <expected status, or - for a failure> <arguments...>
ranks() {
  local n=$1 wanted=$2 status=0
  shift 2
  "$start_ranks" "$n" "$program" --backend cpu "$@" >out 2>err || status=$?
  [ "$wanted" = - ] && [ $status -ne 0 ] || [ $status = "$wanted" ] || fail "$n ranks: $* ended with status $status instead of $wanted"
}
# same <number of ranks> <arguments...>: the output of several processes is that of one.
same() {
  local n=$1
  shift
  "$program" --backend cpu "$@" --output one >report
  ranks "$n" 0 "$@" --output several
  cmp one several || fail "$n ranks: $*"
  [ -z "$(ls | grep part || true)" ] || fail "$n ranks: $* left a temporary file"
}

# Generated numbers do not depend on the number of ranks.
same 2 --generate uniform --n 20000 --type f64 --verify
same 7 --generate almost-sorted --n 20000 --seed 3
same 3 --generate zipf --n 5000 --type i64 --descending
same 3 --generate few-distinct --n 2
same 4 --generate sorted --n 9999 --pairs --type u64

# Files: raw, of which each rank reads a part; text; standard input.
perl -e 'print pack("qQ", $_ * 7919 % 3001 - 1500, $_) for 1 .. 3000' >raw # different keys
same 3 --input raw --type u32
same 2 --input raw --type i64 --pairs --verify
printf '3.5\n-1\n\nnan\n7\n' | tr -s '\n' >text
same 3 --input text --verify
[ "$(cat several)" = "$(printf '%s\n' -1 3.5 7 nan)" ] || fail "text: $(cat several)"
printf '2\n1\n' | "$start_ranks" 2 "$program" --backend cpu --input - --output - >out 2>err
[ "$(cat out)" = "$(printf '1\n2')" ] || fail "standard input"

# One report.
ranks 3 0 --generate uniform --n 30000 --report json
for line in '"keys": 30000,' '"ranks": 3,' '"bytes_sent": ' '"communication_ms": ' '"imbalance": '; do
  [ "$(grep -cF -- "$line" out)" -eq 1 ] || fail "not one $line"
done
ranks 2 0 --help
[ "$(grep -c '^  --generate' out)" -eq 1 ] || fail "not one help"

# One message, of the rank that failed, with the status of one process; no output.
rm -f several
ranks 3 2 --generate uniform --n 5 --strategy bubble
[ "$(grep -c "strategy 'bubble' is neither" err)" -eq 1 ] || fail "not one message"
printf '1\nx\n' >bad
ranks 3 3 --input bad --output several
[ "$(grep -c "quicksort: rank 0: bad, line 2: 'x' is not a number" err)" -eq 1 ] || fail "the message"
head -c 10 raw >bad
ranks 2 3 --input bad --type u32 --output several
[ "$(grep -c 'quicksort: rank 0: .*no multiple of 4' err)" -eq 1 ] || fail "the message"
ranks 2 5 --generate uniform --n 5 --output nowhere/several
[ "$(grep -c 'quicksort: rank 0: cannot write nowhere/several: no such folder' err)" -eq 1 ] ||
  fail "the message"
# Ranks with different arguments: a failure of rank 1, and one before the ranks are connected.
ranks 1 1 --generate uniform --n 99 --output several : \
  -n 1 "$program" --backend cpu --generate uniform --n 99 --output several --type f64
[ "$(grep -c '^quicksort: rank 1: calls all_gather_v of' err)" -eq 1 ] || fail "the message"
ranks 1 - --generate uniform --n 99 --output several : -n 1 "$program" --bogus
[ ! -e several ] && [ -z "$(ls | grep part || true)" ] || fail "a failed run left a file"

# Without mpirun the program does not initialize MPI, which fails here.
if "${MPIRUN:-mpirun}" --version 2>/dev/null | grep -qE 'Open MPI|OpenRTE'; then
  export OMPI_MCA_pml=none_such
  "$program" --backend cpu --generate uniform --n 5 >out 2>err || fail "MPI is initialized"
  ! "$start_ranks" 1 "$program" --backend cpu --generate uniform --n 5 >out 2>err ||
    fail "the negative control: MPI can be initialized"
fi

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the example program quicksort as several processes: quicksort_test.sh <program> <work folder>
# The output must be that of one process without mpirun.
set -euo pipefail
source "$(dirname "$0")/cluster_checks.sh"

# same <number of ranks> <arguments...>: the output of several processes is that of one.
same() {
  local n=$1
  shift
  "$program" "${common[@]}" "$@" --output one >report
  ranks "$n" 0 "$@" --output several
  cmp one several || fail "$n ranks: $*"
  no_temporary_file "$n ranks: $*"
}

# Generated numbers do not depend on the number of ranks.
same 2 --generate uniform --n 20000 --type f64 --verify
same 7 --generate almost-sorted --n 20000 --seed 3
same 3 --generate zipf --n 5000 --type i64 --descending
same 3 --generate few-distinct --n 2
same 4 --generate sorted --n 9999 --pairs --type u64

# Input files. Each rank reads a part of a raw file; rank 0 reads text and standard input.
perl -e 'print pack("qQ", $_ * 7919 % 3001 - 1500, $_) for 1 .. 3000' >raw # different keys
same 3 --input raw --type u32
same 2 --input raw --type i64 --pairs --verify
printf '3.5\n-1\n\nnan\n7\n' | tr -s '\n' >text
same 3 --input text --verify
[ "$(cat several)" = "$(printf '%s\n' -1 3.5 7 nan)" ] || fail "text: $(cat several)"
printf '2\n1\n' | "$start_ranks" 2 "$program" --backend cpu --input - --output - >out 2>err
[ "$(cat out)" = "$(printf '1\n2')" ] || fail "standard input"

# Only rank 0 prints the report, and the help.
ranks 3 0 --generate uniform --n 30000 --report json
lines out '"keys": 30000,' '"ranks": 3,' '"bytes_sent": ' '"communication_ms": ' '"imbalance": '
ranks 2 0 --help
lines out '--generate'

# Only the rank that failed prints a message. The status is that of one process, and no output is
# left.
rm -f several
refused 2 "strategy 'bubble' is neither" 3 --generate uniform --n 5 --strategy bubble
printf '1\nx\n' >bad
refused 3 "quicksort: rank 0: bad, line 2: 'x' is not a number" 3 --input bad --output several
head -c 10 raw >bad
# Each rank reads a part, and any of them may announce first what all of them find.
refused 3 'quicksort: rank [01]: .*no multiple of 4' 2 --input bad --type u32 --output several
refused 5 'quicksort: rank 0: cannot write nowhere/several: no such folder' 2 --generate uniform --n 5 \
  --output nowhere/several
# Ranks with different options, of which one may be bad (differences_test.sh has more).
refused 2 "^quicksort: --type is '(not given)' on rank 0, but 'f64' on rank 1$" 1 --generate uniform --n 99 \
  --output several : -n 1 "$program" "${common[@]}" --generate uniform --n 99 --output several --type f64
refused 2 "^quicksort: rank 1: unknown argument '--bogus'" 1 --generate uniform --n 99 --output several : \
  -n 1 "$program" --bogus
# The number of threads, the display and the way in which a number is written may differ.
ranks 1 0 --generate uniform --n 9k --threads 1 : -n 1 "$program" "${common[@]}" --generate uniform --n 9000 --quiet

# Without mpirun the program does not initialize MPI, which fails here.
if "${MPIRUN:-mpirun}" --version 2>/dev/null | grep -qE 'Open MPI|OpenRTE'; then
  export OMPI_MCA_pml=none_such
  "$program" --backend cpu --generate uniform --n 5 >out 2>err || fail "MPI is initialized"
  ! "$start_ranks" 1 "$program" --backend cpu --generate uniform --n 5 >out 2>err ||
    fail "the negative control: MPI can be initialized"
fi

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh <program> <scratch folder>: all rungs count right, at all sizes and limits; what they launch for it is
# what their head comments say. The program itself compares each count with a plain loop's.
set -eu
program=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"

fail() {
  echo "check.sh: $*" >&2
  exit 1
}

run() { # <options>: its output is in $folder/out
  status=0
  "$program" "$@" >"$folder/out" 2>"$folder/err" || status=$?
  [ "$status" -ne 77 ] || exit 77
  [ "$status" -eq 0 ] || fail "$* ended with $status: $(cat "$folder/err")"
}

# What rung $1 says: its nodes, grids by the host, grids by kernels, deepest level, tasks that waited.
facts() {
  sed -n "/^rung $1,/{n;s/[^0-9]\{1,\}/ /g;s/^ //;p;}" "$folder/out"
}

# 1. Sizes: a root alone, few nodes, more than a block's, more than a device's blocks take at a time.
for n in 1 2 100 5000 ${LADDER_LARGEST:-30000}; do
  run --n "$n" --repeats 1
  [ "$(grep -c '^rung ' "$folder/out")" -eq 9 ] || fail "not nine rungs for --n $n"
done

# 2. What is launched. All tasks find a slot.
run --n 2048 --repeats 1
set -- $(facts 1)
[ $(($2 + $3)) -eq "$1" ] || fail "rung 1: not a grid for each node: $*"
[ "$5" -eq 0 ] || fail "rung 1: tasks waited: $*"
nodes=$1
set -- $(facts 2)
[ $((2 * ($2 + $3))) -lt "$nodes" ] || fail "rung 2: too many grids: $*"
families=$(($2 + $3))
set -- $(facts 3)
[ $((8 * ($2 + $3))) -lt "$families" ] || fail "rung 3: too many grids: $*"
large=$(($2 + $3))
set -- $(facts 4)
[ $(($2 + $3)) -lt "$large" ] || fail "rung 4: too many grids: $*"
set -- $(facts 5)
[ "$2" -eq 1 ] && [ "$3" -eq "$4" ] || fail "rung 5: no chain: $*"
levels=$(($2 + $3))
set -- $(facts 6)
[ "$2" -eq "$levels" ] && [ "$3" -eq 0 ] || fail "rung 6: not flat: $*"
set -- $(facts 7)
[ "$2" -eq 1 ] && [ "$3" -eq 0 ] || fail "rung 7: not one grid: $*"
set -- $(facts 8)
[ "$2" -eq 1 ] && [ "$3" -eq "$4" ] || fail "rung 8: no chain: $*"

# 3. Few launch slots, or none: tasks wait, and none is lost. (A GPU grants 32 at least.)
for limit in 1 16 32 300; do
  run --n 5000 --repeats 1 --pending-launches "$limit"
done
run --n 5000 --repeats 1 --rung 1 --pending-launches 300
set -- $(facts 1)
[ "$5" -gt 0 ] || fail "no task waited at a limit of 300: $*"
[ $(($2 + $3)) -lt "$1" ] || fail "rung 1: a grid over a list has a block for each task: $*"

# 4. Traces have all grids.
for rung in 1 2 3 4 5 6 7 8; do
  run --n 300 --rung "$rung" --repeats 1
  set -- $(facts "$rung")
  run --n 300 --rung "$rung" --trace "$folder/$rung.dot"
  case $rung in
    8) ;; # how many rounds there are may differ
    *) grep -q ", $(($2 + $3)) grids in" "$folder/out" ||
      fail "rung $rung: not $(($2 + $3)) grids in its trace: $(cat "$folder/out")" ;;
  esac
  grep -q '^digraph' "$folder/$rung.dot" || fail "rung $rung: no tree in its trace"
done

# 5. The table has a row for each rung.
run --n 1000 --large 4000 --repeats 1 --table
[ "$(grep -c '^| [1-9] ' "$folder/out")" -eq 9 ] || fail "not nine rows"

# 6. Complaints.
for bad in "--n 0" "--n many" "--rung 10" "--rung" "--trace x.dot" "--rung 1 --trace x.txt" \
  "--rung 9 --trace x.dot" "--colour red"; do
  status=0
  "$program" $bad >"$folder/out" 2>"$folder/err" || status=$?
  [ "$status" -eq 2 ] || fail "'$bad' ended with $status"
  [ "$(grep -c '^error: ' "$folder/err")" -eq 1 ] || fail "'$bad': no complaint in a line"
done

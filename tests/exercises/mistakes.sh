#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The table of examples/exercises/mistakes.md: under which schedules each wrong answer of an exercise
# is wrong, and on a GPU.
#   mistakes.sh check ROOT ROWS...    compares the page with the rows that the programs of the exercises wrote
#   mistakes.sh write ROOT ROWS...    writes the table into the page
set -euo pipefail
command=$1 root=$2
shift 2
page=$root/examples/exercises/mistakes.md
on_gpu=$root/tests/exercises/mistakes_on_gpu.txt

# Fails if an answer has no result of a GPU.
table() {
  awk -F '\t' '
    function of(wrong, all) { return wrong == 0 ? "–" : wrong == all ? "all" : wrong " of " all }
    FILENAME == ARGV[1] { if (!/^#/) gpu[$1, $2] = $3; next }
    $1 != last { number = $1; sub(/_.*/, "", number); last = $1 }
    {
      if (!(($1, $2) in gpu)) { print "no result of a GPU: " $1 " " $2 >"/dev/stderr"; missing = 1 }
      on = gpu[$1, $2]
      gsub(/\|/, "\\|", $7)
      printf "| [%s](%s.cu) | %s | %s | %s | %s | %s | %s |\n", number, $1, $7, of($3, 1), of($4, 1),
        of($5, 16), of($6, 4), on ~ /^[0-9]+$/ ? of(on, 10) : on
    }
    END { exit missing }' "$on_gpu" "$@"
}

# Prints the page with this table.
with_table() {
  sed '/<!-- mistakes -->/q' "$page"
  printf '%s\n' '' '| exercise | what the check says | eager | late | random | weak | H200 |' \
    '|---|---|---|---|---|---|---|' "$1" ''
  sed -n '/<!-- end mistakes -->/,$p' "$page"
}

rows=$(table "$@")
case $command in
  write)
    with_table "$rows" >"$page.part"
    mv "$page.part" "$page"
    ;;
  check)
    with_table "$rows" | diff "$page" - || {
      echo "if the change is meant: tests/exercises/mistakes.sh write . BUILD/tests/exercises/*.rows"
      exit 1
    }
    ;;
  *) exit 2 ;;
esac

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the table of headlines of README.md. headlines.txt lists its rows, and the other pages of
# this folder contain their numbers.
#   headlines.sh
set -euo pipefail
cd "$(dirname "$(realpath "$0")")"

printf '\n| what | time | rate or comparison | on | date | command |\n| --- | --- | --- | --- | --- | --- |\n'
sed '/^#/d; s/; /\t/g' headlines.txt | while IFS=$'\t' read -r what table row column unit second text; do
  page=$(grep -lxF "<!-- $table -->" ./*.md) ||
    { echo "headlines.sh: no page has the line <!-- $table -->" >&2; exit 1; }
  awk -F ' *[|] ' -v what="$what" -v page="${page#./}" -v table="$table" -v row="| $row |" \
    -v column="$column" -v unit="$unit" -v second="$second" -v text="$text" '
    $0 == "<!-- " table " -->" { inside = 1 }
    $0 == "<!-- end " table " -->" { exit }
    !inside { next }
    /^20[0-9-]+[;,] .*`$/ { # date, machine, command
      date = substr($0, 1, 10)
      machine = substr($0, 13)
      sub(/^GPU: NVIDIA /, "", machine)
      sub(/;.*/, "", machine)
      split($0, quoted, "`")
    }
    !/^[|]/ { in_table = 0; next }
    !in_table { # the names of the columns
      in_table = 1
      first_number = second_number = 0
      for (i = 2; i <= NF; ++i) {
        name = $i
        sub(/ *[|]$/, "", name)
        if (name == column) first_number = i
        if (name == second) second_number = i
      }
      next
    }
    first_number && second_number && index($0, row) == 1 {
      value = $second_number
      sub(/ *[|]$/, "", value)
      sub(/ .*/, "", value)
      sub(/[{][}]/, value, text)
      sub(/ .*/, "", $first_number)
      printf "| [%s](%s) | %s %s | %s | %s | %s | `%s` |\n", what, page, $first_number, unit, text,
             machine, date, quoted[2]
      found = 1
      exit
    }
    END { if (!found) { print "headlines.sh: " table " has no row " row > "/dev/stderr"; exit 1 } }
  ' "$page"
done
echo

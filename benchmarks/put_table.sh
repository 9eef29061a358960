#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Replaces the text between <!-- NAME --> and <!-- end NAME --> in a file with standard input.
#   put_table.sh <file> <name>
set -euo pipefail
file=$1 name=$2
if ! grep -qx "<!-- $name -->" "$file" || ! grep -qx "<!-- end $name -->" "$file"; then
  echo "$file has no markers for $name" >&2
  exit 1
fi
table=$(mktemp)
trap 'rm -f "$table" "$table.new"' EXIT
cat >"$table"
awk -v begin="<!-- $name -->" -v end="<!-- end $name -->" -v table="$table" '
  $0 == begin { print; while ((getline line < table) > 0) print line; skip = 1 }
  $0 == end { skip = 0 }
  !skip && $0 != begin { print }' "$file" >"$table.new"
cat "$table.new" >"$file"

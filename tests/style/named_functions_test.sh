#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if docs/from_call_to_kernel.md names a function that does not exist in the file beside it.
# A row of its tables begins with the function in backticks and a link to the file.
#   named_functions_test.sh ROOT
set -euo pipefail
cd "$1/docs"
page=from_call_to_kernel.md
status=0
rows=0
while read -r name file; do
  rows=$((rows + 1))
  # A function stands before "(", and a class after "struct" or "class". Comments do not
  # count, nor do lines that end with ";", such as calls.
  declared="(^|[^A-Za-z0-9_.>])$name\\(|(struct|class) $name( |\$)"
  if [ ! -f "$file" ]; then
    echo "$page: there is no file $file"
    status=1
  elif ! grep -qE "$declared" <(sed 's://.*::' "$file" | grep -vE ';\s*$'); then
    echo "$page: $file has no function or class $name"
    status=1
  fi
done < <(sed -nE 's/^\| `([A-Za-z0-9_]+)` \| \[[^]]*\]\(([^)]*)\).*/\1 \2/p' "$page")
if [ "$rows" -ne "$(grep -c '^| `' "$page")" ] || [ "$rows" -eq 0 ]; then
  echo "$page: a row has another form"
  status=1
fi
exit $status

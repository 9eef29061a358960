# SPDX-License-Identifier: BSD-3-Clause
# Functions for tests of example programs. Source it in a script with the arguments
# <program> <work folder>. It changes to the work folder, which it empties.
set -euo pipefail
program=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }

# expect <exit status> <text that stderr must contain, or - for an empty stderr> <arguments...>
# Runs the program. Its output is then in the files out and err. An error message must be one line,
# and the program must then leave neither an output file nor a temporary file. The files o and p.png
# are the output files of all tests.
expect() {
  local status=0 wanted=$1 text=$2
  shift 2
  "$program" "$@" >out 2>err || status=$?
  [ $status -eq "$wanted" ] || fail "$* ended with status $status instead of $wanted: $(cat err)"
  if [ "$text" = - ]; then
    [ ! -s err ] || fail "$* wrote to stderr: $(cat err)"
  else
    [ "$(wc -l <err)" -eq 1 ] || fail "$* wrote not one line to stderr: $(cat err)"
    grep -qF -- "$text" err || fail "$* prints '$(cat err)', not '$text'"
    [ ! -e o ] || fail "$* left an output file"
    [ ! -e p.png ] || fail "$* left a picture"
    [ -z "$(ls | grep part || true)" ] || fail "$* left a temporary file"
  fi
}

# output_has <text>: fails unless the last program printed the text.
output_has() { grep -qF -- "$1" out || fail "no '$1' in $(cat out)"; }

# expect_trace <arguments...>: fails unless the trace of a run has as many grids as its report.
expect_trace() {
  for file in t.html t.json t.dot; do
    expect 0 - "$@" --trace $file
    [ -s $file ] || fail "no trace in $file"
    local grids
    grids=$(awk -F': ' '/^grids (launched|begun) by/ { all += $2 } END { print all }' out)
    [ "$grids" -gt 0 ] || fail "no grids"
    local noun=grids
    [ "$grids" -ne 1 ] || noun=grid
    grep -qF "trace: $grids $noun in $file" out || fail "not $grids grids: $(cat out)"
  done
  grep -q '</html>' t.html || fail "t.html is not a page"
  expect 2 "t.txt' must end in .html" "$@" --trace t.txt
}

# refuses_bad_launch_options <arguments of a valid run...>
refuses_bad_launch_options() {
  expect 2 '--bogus' "$@" --bogus
  expect 2 "backend 'gpu' is none of automatic, cuda, cpu" "$@" --backend gpu
  expect 2 "route 'scenic' is none of automatic, device, flat" "$@" --route scenic
  expect 2 "'0' is not a whole number" "$@" --pending-launches 0
}

# SPDX-License-Identifier: BSD-3-Clause
# For tests of example programs from outside: source it in a script that was called with
# <program> <work folder>. Goes to an empty work folder.
set -euo pipefail
program=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }

# expect <exit status> <what stderr must hold, or - for nothing at all> <arguments...>
# What the program says is then in the files out and err. One that complains must do so in one line,
# and leave no output behind: neither o nor p.png, nor part of one.
expect() {
  local status=0 wanted=$1 text=$2
  shift 2
  "$program" "$@" >out 2>err || status=$?
  [ $status -eq "$wanted" ] || fail "$* ended with status $status instead of $wanted: $(cat err)"
  if [ "$text" = - ]; then
    [ ! -s err ] || fail "$* wrote to stderr: $(cat err)"
  else
    [ "$(wc -l <err)" -eq 1 ] || fail "$* wrote not one line to stderr: $(cat err)"
    grep -qF -- "$text" err || fail "$* says '$(cat err)', not '$text'"
    [ ! -e o ] || fail "$* left an output file"
    [ ! -e p.png ] || fail "$* left a picture"
    [ -z "$(ls | grep part || true)" ] || fail "$* left a temporary file"
  fi
}

# told <text>: whether the last program said so.
told() { grep -qF -- "$1" out || fail "no '$1' in $(cat out)"; }

# expect_trace <arguments...>: the trace of a run has every grid that its report tells of.
expect_trace() {
  for file in t.html t.json t.dot; do
    expect 0 - "$@" --trace $file
    [ -s $file ] || fail "no trace in $file"
    local grids
    grids=$(awk -F': ' '/^grids (launched|begun) by/ { all += $2 } END { print all }' out)
    [ "$grids" -gt 0 ] || fail "no grids"
    told "trace: $grids grids in $file"
  done
  grep -q '</html>' t.html || fail "t.html is no page"
  expect 2 "t.txt' must end in .html" "$@" --trace t.txt
}

# refuses_bad_launch_options <arguments that it would run with...>
refuses_bad_launch_options() {
  expect 2 '--bogus' "$@" --bogus
  expect 2 "backend 'gpu' is none of automatic, cuda, cpu" "$@" --backend gpu
  expect 2 "route 'scenic' is none of automatic, device, flat" "$@" --route scenic
  expect 2 "'0' is not a whole number" "$@" --pending-launches 0
}

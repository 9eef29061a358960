# SPDX-License-Identifier: BSD-3-Clause
# Functions for tests of the example programs as several processes. A test gets the program and a
# work folder as its arguments, and sources this file, which makes the folder anew and enters it.
program=$1
work=$2
start_ranks=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/mpirun.sh
common=(--backend cpu) # options of all runs
output=several         # what a refused run must not write
rm -rf "$work"
mkdir -p "$work"
cd "$work"
fail() { echo "FAILED: $*"; cat out err; exit 1; }

# ranks <number> <expected status, or - for a failure> <arguments...>: writes the files out and err.
ranks() {
  local n=$1 wanted=$2 status=0
  shift 2
  "$start_ranks" "$n" "$program" "${common[@]}" "$@" >out 2>err || status=$?
  [ "$wanted" = - ] && [ $status -ne 0 ] || [ $status = "$wanted" ] ||
    fail "$n ranks: $* ended with status $status instead of $wanted"
}
# lines <file> <regular expressions...>: each is the beginning of one line, after spaces.
lines() {
  local file=$1 text
  shift
  for text in "$@"; do [ "$(grep -c "^ *$text" "$file")" -eq 1 ] || fail "$file: not one line $text"; done
}
# message <regular expression>: all ranks together print it once.
message() { [ "$(grep -c -e "$1" err)" -eq 1 ] || fail "not one message '$1'"; }
# no_temporary_file, no_output <words...>: the words name the run in the message of a failure.
no_temporary_file() { [ -z "$(ls | grep part || true)" ] || fail "$* left a temporary file"; }
no_output() {
  [ ! -e "$output" ] || fail "$* left $output"
  no_temporary_file "$@"
}
# refused <expected status> <message> <number of ranks> <arguments...>: the run writes no file.
refused() {
  ranks "$3" "$1" "${@:4}"
  message "$2"
  no_output "a refused run"
}
# same_lines <names, separated by |> <file of one process> <arguments...>: the file and the output of
# ranks have the same lines that begin with these names, and at least one of each.
same_lines() {
  local name
  while read -r name; do
    grep -q "^$name" "$2" || fail "one process: ${*:3}: no line $name"
  done < <(tr '|' '\n' <<<"$1")
  diff <(grep -E "^($1)" "$2") <(grep -E "^($1)" out) || fail "ranks: ${*:3}"
}

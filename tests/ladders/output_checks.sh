# SPDX-License-Identifier: BSD-3-Clause
# For tests of ladders from outside: source it in a script that was called with <program> <work folder>. Goes
# to an empty work folder.
set -euo pipefail
program=$1
rm -rf "$2"
mkdir -p "$2"
cd "$2"

fail() {
  echo "$1"
  exit 1
}
refused() { # arguments...
  local status=0
  timeout 60 "$program" "$@" >out 2>complaint || status=$?
  [ $status = 2 ] || fail "'$*' ended with status $status"
  grep -q '^error: ' complaint || fail "'$*' was refused without a word"
}

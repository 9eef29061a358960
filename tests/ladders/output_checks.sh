# SPDX-License-Identifier: BSD-3-Clause
# Functions for tests of ladder programs. Source it in a script with the arguments <program> <work
# folder>. It changes to the work folder, which it empties.
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
  timeout 60 "$program" "$@" >out 2>message || status=$?
  [ $status = 2 ] || fail "'$*' ended with status $status"
  grep -q '^error: ' message || fail "'$*' was refused without an error message"
}

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests check.sh: the result and the message for right and wrong lessons.
#
#   check_test.sh <check.sh> <work folder>
set -euo pipefail
check=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"

lesson() { # status, line...: writes the program `lesson`
  printf '#!/bin/sh\n' >lesson
  printf 'echo "%s"\n' "${@:2}" >>lesson
  echo "exit $1" >>lesson
  chmod +x lesson
}
expect() { # status, text of the output, arguments of check.sh...
  local status=0 output
  output=$("$check" "${@:3}" 2>&1) || status=$?
  if [ $status != "$1" ] || [[ $output != *"$2"* ]]; then
    echo "check.sh ${*:3}: expected status $1 and '$2', but got $status and '$output'"
    exit 1
  fi
}

printf '%s\n' 'one' 'two: *' >expected.txt
lesson 0 'one' 'two: 17'
expect 0 '' ./lesson expected.txt
lesson 0 'one' 'three'
expect 1 "line 2: expected 'two: *', but it is 'three'" ./lesson expected.txt
lesson 0 'one'
expect 1 "line 2: expected 'two: *', but it is 'missing'" ./lesson expected.txt
lesson 0 'one' 'two: ' 'three'
expect 1 "line 3: expected 'nothing', but it is 'three'" ./lesson expected.txt
lesson 3 'one' 'two: '
expect 1 'the lesson ended with status 3' ./lesson expected.txt
lesson 77 'skipped: no device'
expect 77 'skipped: no device' ./lesson expected.txt
expect 1 'not built: ./missing; build all targets' ./missing expected.txt
lesson 0 'one'
expect 1 'there is no expected output: write it to nothing.txt' ./lesson nothing.txt
printf '#!/bin/sh\necho "$A $*"\n' >lesson
echo 'x one two' >expected.txt
expect 0 '' ./lesson expected.txt A=x -- one two
expect 1 "it is 'x one'" ./lesson expected.txt A=x -- one

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the container of packaging/container with podman or docker, and solves an exercise in it. If
# neither of them can run the image that it begins with, the test is skipped.
#
#   container_test.sh ROOT
set -euo pipefail
root=$1
fail() { echo "FAILED: $*"; exit 1; }

engine=
for name in podman docker; do
  if [ -z "$engine" ] && "$name" run --rm debian:12 true >/dev/null 2>&1; then engine=$name; fi
done
[ -n "$engine" ] || { echo "skipped: neither podman nor docker can run debian:12"; exit 77; }

image=ramify-test-$$
trap '"$engine" image rm -f "$image" >/dev/null 2>&1 || true' EXIT
"$engine" build -q -t "$image" -f "$root/packaging/container/Containerfile" "$root"
run() { "$engine" run --rm "$image" bash -euc "$1" 2>&1; }
output=$(run 'test ! -e build/dev; test ! -e .git; examples/learn.sh list') || fail "$output"
[[ $output != *begun* && $output == *01_first_child* ]] || fail "list printed: $output"
output=$(run 'examples/learn.sh next
  sed -i "/HOLE:/r /dev/stdin" /answers/01_first_child.cu < <(examples/learn.sh solution)
  examples/learn.sh check') || fail "$output"
[[ $output == *'01_first_child: right under 24 of 24 schedules'* ]] || fail "check printed: $output"
output=$(run 'examples/try.sh examples/lessons/09_recursion.cu') || fail "$output"
[[ $output == *31* ]] || fail "lesson 9 printed: $output"

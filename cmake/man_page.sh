#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the manual page of a program from its --help and --version.
#   man_page.sh HELP2MAN PROGRAM OUTPUT
set -euo pipefail
help2man=$1 program=$(realpath "$2") output=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
help=$("$program" --help)
about=$(head -n 1 <<<"$help")
about=${about%.}
# help2man separates a description from its option at two spaces.
sed -E 's/^(  -[^ ]+ [^ =]+=[^ ]+) ([^ ])/\1  \2/; s/^(  -.*)  (Needs|Excludes): /\1 \2: /' <<<"$help" >"$work/help"
"$program" --version >"$work/version"
printf '#!/bin/sh\ncat "%s/${1#--}"\n' "$work" >"$work/program"
chmod +x "$work/program"
"$help2man" --no-info --section=1 --manual=Ramify --name="${about,}" --output="$output" "$work/program"

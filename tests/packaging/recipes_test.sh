#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks the recipes of package managers and the workflows, without their tools: the version, the
# options of CMake, the scripts and presets that they name, their syntax. If actionlint is installed,
# it checks the workflows, too.
#   recipes_test.sh ROOT
set -euo pipefail
cd "$1"
status=0
fail() { echo "$*"; status=1; }

version=$(sed -n 's/^#define RAMIFY_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' device_runtime/ramify/version.hpp |
  paste -sd.)
for place in 'packaging/vcpkg/ramify/vcpkg.json:  "version-semver": "%",' \
  'packaging/spack/packages/ramify/package.py:    version("%")' '.github/CITATION.cff:version: %'; do
  line=${place#*:}
  grep -qxF -e "${line//%/$version}" "${place%%:*}" || fail "${place%%:*} does not have the version $version"
done
grep -qE "^## $version \((unreleased|[0-9]{4}-[0-9]{2}-[0-9]{2})\)$" CHANGELOG.md ||
  fail "CHANGELOG.md has no section of $version, unreleased or with a date"

mapfile -t recipes < <(find packaging .github -type f ! -path '*/python/*' ! -name '*.md')
[ ${#recipes[@]} -ge 12 ] || fail "only ${#recipes[@]} recipes and workflows"
for option in $(grep -ohE '(-D|")RAMIFY_[A-Z]+(_[A-Z]+)*' "${recipes[@]}" | sed 's/^-D\|"//' | sort -u); do
  [ "$option" != RAMIFY_VERSION ] || continue # a macro of the header
  grep -qrE "(option|set)\($option " CMakeLists.txt cmake device_runtime/CMakeLists.txt ||
    fail "there is no option $option"
done
for preset in $(grep -ohE -e '--preset [a-z-]+' "${recipes[@]}" | sort -u | grep -v -e '--preset$' | sed 's/.* //'); do
  grep -q "\"name\": \"$preset\"" CMakePresets.json || fail "there is no preset $preset"
done
for script in $(sed -nE 's/^ *(- )?(run:|RUN) ([a-z.]+\/[a-zA-Z_./-]+).*/\3/p' "${recipes[@]}" | sort -u); do
  [ -x "$script" ] || fail "a recipe calls $script, which is no program"
done

# A tag of an action can be moved to other code; a commit cannot.
while IFS= read -r line; do
  [[ $line =~ uses:\ [a-z/-]+@[0-9a-f]{40}\ \#\ v[0-9]+[.][0-9]+[.][0-9]+$ ]] || fail "no commit and version: $line"
done < <(grep -h 'uses:' .github/workflows/*.yml)

for recipe in $(printf '%s\n' "${recipes[@]}" | grep '[.]py$'); do
  python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$recipe" || fail "$recipe is no Python"
done
python3 -m json.tool packaging/vcpkg/ramify/vcpkg.json >/dev/null || fail 'vcpkg.json is no JSON'
cmake -D "PORT=$PWD/packaging/vcpkg/ramify" -P tests/packaging/vcpkg_port_test.cmake || status=1
if command -v actionlint >/dev/null; then actionlint .github/workflows/*.yml || status=1; fi
[ $status -ne 0 ] || echo "${#recipes[@]} recipes and workflows are right"
exit $status

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the site in build/site; begin with build/site/index.html. The Python packages of
# docs/requirements.txt are installed into an environment in build/site-tools. Needs Doxygen. Status
# 77 means that the packages cannot be downloaded.
#   docs/build.sh [--tools FOLDER] [--output FOLDER]
set -euo pipefail
root=$(cd "$(dirname "$(realpath "$0")")/.." && pwd)
fail() { echo "docs/build.sh: $1" >&2; exit 2; }
tools=$root/build/site-tools output=$root/build/site
while [ $# -gt 0 ]; do
  [ -n "${2:-}" ] || fail "usage: docs/build.sh [--tools FOLDER] [--output FOLDER]"
  case $1 in
    --tools) tools=$(realpath -m "$2") ;;
    --output) output=$(realpath -m "$2") ;;
    *) fail "there is no option $1" ;;
  esac
  shift 2
done
# Both folders are made anew, so they must not have other files.
may_replace() { # folder, a file that this script puts there
  [ ! -e "$1" ] || [ -e "$1/$2" ] || [ -z "$(ls -A "$1")" ] || fail "$1 is not empty, and not of this script"
}
may_replace "$tools" pyvenv.cfg
may_replace "$output.work" doxygen
# A build that was interrupted leaves both folders.
[ -e "$output.work/doxygen" ] || may_replace "$output" .buildinfo

command -v doxygen >/dev/null || "$root/cmake/install_packages.sh" doxygen
requirements=$root/docs/requirements.txt
if ! cmp -s "$requirements" "$tools/requirements.txt"; then
  python3 -m venv --clear "$tools"
  "$tools/bin/pip" install -q -r "$requirements" ||
    { echo "docs/build.sh: pip cannot download the packages" >&2; exit 77; }
  cp "$requirements" "$tools/requirements.txt" # the mark of a complete environment
fi

work=$output.work
rm -rf "$work" "$output"
mkdir -p "$work/doxygen"
ROOT=$root OUTPUT=$work/doxygen doxygen "$root/docs/site/Doxyfile"
export PYTHONDONTWRITEBYTECODE=1
"$tools/bin/python" "$root/docs/site/stage.py" "$work/source" "$work/doxygen/xml"
"$tools/bin/sphinx-build" -q -W --keep-going -j auto -c "$root/docs" -d "$work/doctrees" \
  -D breathe_projects.ramify="$work/doxygen/xml" "$work/source" "$output"
echo "built $output/index.html: $(find "$output" -name '*.html' | wc -l) pages, $(du -sh "$output" | cut -f 1)"

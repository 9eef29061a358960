#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# page_test.sh <program trace_samples> <work folder>: a browser opens the pages of launch traces, in
# light and dark mode, and page_checks.js simulates a reader. It also opens the page of docs/traces,
# which loads its trace. Without Chromium the test is skipped,
# with exit status 77. With RAMIFY_ALL_CASES=1 all pages are opened in both modes, and screenshots
# stay in the work folder; otherwise only the page one_of_each is opened in light mode, too.
set -euo pipefail
browser=
for name in chromium chromium-browser google-chrome; do
  if [ -z "$browser" ] && command -v "$name" >/dev/null; then browser=$name; fi
done
if [ -z "$browser" ]; then
  echo "SKIPPED: needs Chromium: apt-get install chromium"
  exit 77
fi
here=$(dirname "$(realpath "$0")")
checks=$here/page_checks.js
rm -rf "$2"
mkdir -p "$2"
"$1" "$2" >"$2/counts"
cd "$2"

# Without the sandbox, which containers do not support; the page is written by this project.
open_page() { # light or dark, the address, further options...
  local scheme=1
  [ "$1" = light ] || scheme=0
  HOME=$PWD timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
    --user-data-dir="$PWD/profile" --window-size=1500,900 \
    --blink-settings=preferredColorScheme=$scheme "${@:3}" "file://$2" 2>browser.log
}

status=0
all=${RAMIFY_ALL_CASES:-0}
while read -r name grids; do
  for colors in light dark; do
    # Large pages take longest, and their colors are those of small pages.
    if [ $colors = light ] && [ $name != one_of_each ]; then
      if [ $all = 0 ] || [ "$grids" -gt 1000 ]; then continue; fi
    fi
    dark=false
    [ $colors = light ] || dark=true
    {
      cat "$name.html"
      echo "<script>const expected = {grids: $grids, dark: $dark, title: '$name'};"
      cat "$checks"
      echo "</script>"
    } >"$name.$colors.html"
    verdict=$(open_page $colors "$PWD/$name.$colors.html" --dump-dom |
      sed -n '/<pre id="verdict">/,/<\/pre>/p') ||
      verdict="the browser ended with $?: $(tail -3 browser.log)"
    echo "$name in $colors: $(sed 's/<[^>]*>//g' <<<"${verdict:-no verdict}")"
    grep -q 'checks passed' <<<"$verdict" || status=1
  done
done <counts
for name in one_of_each sort large_sort; do
  [ $all = 1 ] || break
  open_page light "$PWD/$name.html" --screenshot="$PWD/$name.png" || status=1
done

traces=$here/../../docs/traces
for file in "$traces"/*.js; do
  name=$(basename "$file" .js)
  [ $all = 1 ] || [ $name = sedov_cpu ] || continue
  grids=$(sed -n '/^"kernel":/p' "$file" | tr -cd , | wc -c)
  open_page light "$(realpath "$traces")/index.html?$name" --dump-dom |
    sed 's/\([0-9]\),/\1/g' >loaded.html || status=1 # without separators of thousands
  grep -q "grids <b>$grids</b>" loaded.html && grep -q "<title>$name –" loaded.html ||
    { echo "the page of docs/traces does not show the $grids grids of $name"; status=1; }
done
rm -rf profile
exit $status

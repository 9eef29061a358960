#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if a relative link of a page, [text](target), leads to a file that does not exist, or to a
# heading that a page does not have. Anchors of headings are those of GitHub.
#   links_test.sh ROOT
set -euo pipefail
cd "$1"
export LC_ALL=C

links() { # page: prints the targets of its links, outside of code
  sed '/^```/,/^```/d; s/`[^`]*`//g' "$1" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//'
}
anchors() { # page: lower case, only letters, digits, _ and -, with - for each space
  sed -n '/^```/,/^```/d; s/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' |
    sed 's/[^a-z0-9_ -]//g; s/ /-/g'
}

status=0
count=0
while IFS= read -r page; do
  while IFS= read -r link; do
    [[ $link != *://* ]] || continue
    count=$((count + 1))
    file=$page
    [[ $link == '#'* ]] || file=$(dirname "$page")/${link%%#*}
    if [ ! -e "$file" ]; then
      echo "$page: there is no file ${link%%#*}"
      status=1
    elif [[ $link == *'#'* ]] && ! grep -qxF -e "${link#*#}" <(anchors "$file"); then
      echo "$page: there is no heading #${link#*#} in ${file#./}"
      status=1
    fi
  done < <(links "$page")
done < <(find . -name '*.md' -not -path './build*' -not -path './.*' | sed 's#^\./##' | sort)
[ $count -gt 0 ] || { echo "found no links"; exit 1; }
exit $status

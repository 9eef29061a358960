#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Draws the launch trees of the lessons, examples/lessons/trees/*.svg, with Graphviz.
#   examples/lessons/draw_trees.sh [--check] FOLDER
# FOLDER has the lessons' programs for the CPU executor. They run under schedule `late`, so a tree is
# the same in each run. Of several launches of one kernel by the host, the first is drawn. A lesson
# without a child grid, or with too many grids for a picture, has no tree. --check draws nothing: it
# fails if a tree is missing, or is not that of the lesson, or if there is one too many.
set -euo pipefail
export LC_ALL=C
here=$(dirname "$(realpath "$0")")
check=no
[ "${1-}" != --check ] || { check=yes; shift; }
[ $# = 1 ] && [ -d "$1" ] || { echo "usage: draw_trees.sh [--check] FOLDER" >&2; exit 2; }
programs=$(realpath "$1")
[ $check = yes ] || command -v dot >/dev/null || { echo "draw_trees.sh: no Graphviz" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
most=40 # grids of a tree

# Reads a tree in DOT. Prints it with one launch of each kernel by the host. Fails if it has no place.
one_launch_each() {
  awk -v most=$most '
    /^  g[0-9]+ \[label=/ { node = $0; next }
    /^  host -> g[0-9]+ / {
      split(node, parts, "\"")
      if (parts[2] in seen || parts[2] ~ /^[0-9]+ more/) next
      seen[parts[2]] = drawn[$3] = 1
      print node "\n" $0
      next
    }
    /^  g[0-9]+ -> g[0-9]+ / {
      if (!($1 in drawn)) next
      drawn[$3] = 1
      ++children
      print node "\n" $0
      next
    }
    { print }
    END { exit children == 0 || length(drawn) > most }'
}

# The texts and the number of arrows of a tree, in DOT or in SVG.
content_of() { # file
  case $1 in
    *.dot)
      { grep -oE 'label="[^"]*"' "$1" | sed 's/^label="//; s/"$//; s/\\n/\n/g'; echo host; } | sort
      grep -c -e ' -> ' "$1"
      ;;
    *.svg)
      sed -nE 's#^<text .*>(.*)</text>$#\1#p' "$1" |
        sed 's/&#45;/-/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' | sort
      grep -c 'class="edge"' "$1"
      ;;
  esac
}

status=0
wrong() { echo "$1: call docs/remake_pictures.sh cpu lessons"; status=1; }
for lesson in "$here"/[0-9]*.cu; do
  name=$(basename "$lesson" .cu)
  case $name in
    3[0234]_*) continue ;; # the number of cores or of processes changes the grids
  esac
  [ -x "$programs/lesson_$name" ] || { echo "not built: lesson_$name" >&2; exit 1; }
  RAMIFY_CPU_SCHEDULE=late RAMIFY_CPU_TRACE=all.dot "$programs/lesson_$name" >output 2>&1 </dev/null ||
    [ $? = 77 ] || { cat output; exit 1; }
  tree=$here/trees/$name.svg
  if [ -f all.dot ] && one_launch_each <all.dot >one.dot; then
    if [ $check = no ]; then
      echo "drawing $name"
      dot -Tsvg -o "$tree" one.dot
    elif [ ! -f "$tree" ]; then
      wrong "there is no $tree"
    else
      diff <(content_of one.dot) <(content_of "$tree") || wrong "$tree shows another tree"
    fi
  elif [ -f "$tree" ]; then
    if [ $check = no ]; then rm "$tree"; else wrong "$tree has no place"; fi
  fi
  rm -f all.dot
done
exit $status

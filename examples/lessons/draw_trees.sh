#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Draws the launch trees of the lessons, examples/lessons/trees/*.svg, with Graphviz.
#   examples/lessons/draw_trees.sh [--check] FOLDER
# FOLDER has the lessons' programs for the CPU executor. They run under schedule `late`, so a tree is
# the same in each run. Of several launches of one kernel by the host, the first is drawn. A lesson
# without a child grid has no tree. --check draws nothing: it fails if a tree is missing, or is not
# that of the lesson, or if there is one too many.
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
# One core, because some lessons launch grids by the number of cores.
core=$(taskset -cp $$ | grep -oE '[0-9]+' | sed -n 2p)
most=40 # grids of a tree that is not cut; one that is cut has three quarters of that, or less

# Reads a tree in DOT. Prints it with one launch of each kernel by the host. A tree of more than $most
# grids is cut, in width and in depth, and a node counts the grids that it stands for. Fails if no
# grid has a child.
one_launch_each() {
  awk -v most=$most '
    function is_shown(id) { return order[id] <= width && level[id] <= depth && (from[id] == "" || from[id] in shown) }
    # Marks the grids that `width` and `depth` leave, and returns how many nodes show them.
    function cut(  i, id, nodes) {
      split("", shown)
      split("", hidden)
      for (i = 1; i <= count; ++i) {
        id = ids[i]
        if (is_shown(id)) { shown[id] = 1; ++nodes }
        else if (from[id] in shown) {
          if (!(from[id] in hidden)) ++nodes
          hidden[from[id]] += total[id]
        }
      }
      return nodes
    }
    /^  g[0-9]+ \[label=/ { node = $0; next }
    /^  (host|g[0-9]+) -> g[0-9]+ / {
      split(node, parts, "\"")
      if ($1 == "host") {
        if (parts[2] in seen || parts[2] ~ /^[0-9]+ more/) next
        seen[parts[2]] = 1
      } else {
        if (!($1 in total)) next
        from[$3] = $1
        ++children
      }
      ids[++count] = $3
      lines[$3] = node "\n" $0
      total[$3] = parts[2] ~ /^[0-9]+ more/ ? parts[2] + 0 : 1
      if (match(parts[2], /with [0-9]+ grids below/)) total[$3] += substr(parts[2], RSTART + 5) + 0
      level[$3] = $1 == "host" ? 0 : level[$1] + 1
      order[$3] = $1 == "host" ? 0 : ++of[$1]
      next
    }
    /^}/ { next }
    { print }
    END {
      for (i = count; i > 0; --i) if (ids[i] in from) total[from[ids[i]]] += total[ids[i]]
      best_width = best_depth = 1e9
      if (count > most) {
        best = 0
        for (depth = 1; depth <= 8; ++depth)
          for (width = 1; width <= 8; ++width)
            if ((nodes = cut()) <= 3 * most / 4 && nodes > best) {
              best = nodes
              best_depth = depth
              best_width = width
            }
      }
      depth = best_depth
      width = best_width
      cut()
      for (i = 1; i <= count; ++i) {
        id = ids[i]
        if (id in shown) print lines[id]
        if (id in hidden)
          print "  more_" id " [label=\"" hidden[id] " more\", style=\"rounded,filled\", fillcolor=\"#eeeeee\"];\n  " \
            id " -> more_" id " [style=dashed];"
      }
      print "}"
      exit children == 0
    }'
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
    30_*) continue ;; # the number of processes changes the grids
  esac
  [ -x "$programs/lesson_$name" ] || { echo "not built: lesson_$name" >&2; exit 1; }
  RAMIFY_CPU_SCHEDULE=late RAMIFY_CPU_TRACE=all.dot \
    taskset -c "$core" "$programs/lesson_$name" >output 2>&1 </dev/null ||
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

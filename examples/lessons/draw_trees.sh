#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Draws the launch trees of the lessons, examples/lessons/trees/*.svg, with Graphviz.
#   examples/lessons/draw_trees.sh [--check] FOLDER
# FOLDER has the lessons' programs for the CPU executor. They run under schedule `late`, so a tree is
# the same in each run. Of several launches of one kernel by the host with the same numbers of blocks
# and threads, the first of those with the most descendants is drawn, among the 16 that the trace lists
# one by one. A lesson without a child grid there has no tree. --check draws nothing: it fails if a tree
# is missing, or is not that of the lesson, or if there is one too many.
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

# Reads a tree in DOT. Prints it with one launch of each label by the host. A tree of more than $most
# grids is cut, in width and in depth: of all cuts, the one that shows the most grids. A node counts
# the grids that it stands for, two or more. Fails if no grid has a child.
one_launch_each() {
  awk -v most=$most '
    function is_shown(id) { return order[id] <= width && level[id] <= depth && (!level[id] || from[id] in shown) }
    # Marks the grids that `width` and `depth` leave, and counts them in `grids`, and all nodes in `nodes`.
    function cut(  i, id) {
      split("", shown)
      split("", hidden)
      nodes = grids = 0
      for (i = 1; i <= count; ++i) {
        id = kept[i]
        if (is_shown(id)) { shown[id] = 1; ++grids }
        else if (from[id] in shown) { hidden[from[id]] += total[id]; last[from[id]] = id }
      }
      nodes = grids
      for (id in hidden) {
        ++nodes
        if (hidden[id] > 1) continue
        shown[last[id]] = 1 # one grid needs as much place as "1 more"
        ++grids
        delete hidden[id]
      }
    }
    /^  g[0-9]+ \[label=/ { node = $0; next }
    /^  (host|g[0-9]+) -> g[0-9]+ / {
      split(node, parts, "\"")
      if ($1 == "host") {
        if (parts[2] ~ /^[0-9]+ more/) next
        root[$3] = $3
        label[$3] = parts[2]
        level[$3] = order[$3] = 0
      } else {
        if (!($1 in root)) next
        root[$3] = root[$1]
        from[$3] = $1
        level[$3] = level[$1] + 1
        order[$3] = ++of[$1]
      }
      ids[++all] = $3
      lines[$3] = node "\n" $0
      total[$3] = parts[2] ~ /^[0-9]+ more/ ? parts[2] + 0 : 1
      if (match(parts[2], /with [0-9]+ grids below/)) total[$3] += substr(parts[2], RSTART + 5) + 0
      next
    }
    /^}/ { next }
    { print }
    END {
      for (i = all; i > 0; --i) if (ids[i] in from) total[from[ids[i]]] += total[ids[i]]
      for (i = 1; i <= all; ++i) {
        id = ids[i]
        if (!level[id] && total[id] > total[largest[label[id]]]) largest[label[id]] = id
      }
      for (i = 1; i <= all; ++i) {
        id = ids[i]
        if (largest[label[root[id]]] != root[id]) continue
        kept[++count] = id
        if (level[id]) ++children
      }
      best_width = best_depth = 1e9
      if (count > most) {
        best = 0
        for (depth = 1; depth <= 8; ++depth)
          for (width = 1; width <= 8; ++width) {
            cut()
            if (nodes > 3 * most / 4 || grids <= best) continue
            best = grids
            best_depth = depth
            best_width = width
          }
      }
      depth = best_depth
      width = best_width
      cut()
      for (i = 1; i <= count; ++i) {
        id = kept[i]
        if (id in shown) print lines[id]
        if (id in hidden)
          print "  more_" id " [label=\"" hidden[id] " more\", style=\"rounded,filled\", fillcolor=\"#eeeeee\"];\n  " \
            id " -> more_" id " [color=\"#999999\"];"
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

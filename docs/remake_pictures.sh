#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the pictures of docs anew: the images of results, the traces, and the trees of ladders and of
# lessons.
#   docs/remake_pictures.sh [--programs FOLDER] [--output FOLDER] cpu|cuda [name...]
#   docs/remake_pictures.sh draw|page
# The programs run on the backend, cpu or cuda. Without --programs, they are built first. Names
# select traces, such as sort, or images, ladders or lessons, which only the CPU executor makes. One
# page, docs/traces/index.html, shows all traces. `page` makes it, and the table of docs/traces.md, from
# the traces that are there; `draw` makes a picture of each trace, too, which needs Chromium. On a
# GPU machine without it, write the traces with --output, copy them to docs/traces of a machine with
# Chromium, and draw there.
set -euo pipefail
root=$(cd "$(dirname "$(realpath "$0")")/.." && pwd)
traces=$root/docs/traces

# The traces: name and command.
recipes='sort        quicksort --generate uniform --n 1000000
sedov       amr --problem sedov --max-level 3 --t-end 0.01 --frames 0
graph       graph --generate kronecker --scale 10 --strategy child_grid --heavy-degree 128
mandelbrot  mandelbrot --width 1024 --height 768
quadrature  quadrature --family discontinuous --dimensions 5
search      search flow-shop --taillard 1
spatial     spatial --generate clusters --n 50000
tessellate  tessellate --teapot --flatness 0.01'

fail() { echo "remake_pictures.sh: $1" >&2; exit 2; }
programs='' output=''
while [[ ${1:-} == --* ]]; do
  [ -d "${2:-}" ] || fail "$1 needs a folder"
  case $1 in
    --programs) programs=$(realpath "$2") ;;
    --output) output=$(realpath "$2") ;;
    *) fail "there is no option $1" ;;
  esac
  shift 2
done
backend=${1:-}
[[ $backend =~ ^(cpu|cuda|draw|page)$ ]] || fail "name a backend, cpu or cuda, or draw or page"
names=("${@:2}")
all=$(sed 's/ .*//' <<<"$recipes"; echo images; echo ladders; echo lessons)
[ ${#names[@]} -gt 0 ] || mapfile -t names <<<"$all"
for name in "${names[@]}"; do
  grep -qxF -e "$name" <<<"$all" || fail "there is no picture '$name'; there are ${all//$'\n'/ }"
done
is_wanted() { [[ " ${names[*]} " == *" $1 "* ]]; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # program, arguments...: runs it on the backend, and prints its output only if it fails
  (cd "$work" && "$programs/$1" "${@:2}" --backend "$backend") >"$work/messages" ||
    { cat "$work/messages"; exit 1; }
}

record_traces() { # folder for the traces, which are named by the machine
  local machine=cpu name command
  # Of "NVIDIA H100 80GB HBM3" the word h100 is taken.
  [ "$backend" = cpu ] || machine=$(nvidia-smi --query-gpu=name --format=csv,noheader |
    sed -n '1s/^\(NVIDIA \)\?\([^ ]*\).*/\L\2/p')
  while read -r name command; do
    is_wanted "$name" || continue
    echo "recording $name"
    command+=" --route device"
    # shellcheck disable=SC2086 # the command is split into its words
    run $command --trace trace.html </dev/null
    { # a script, because a browser lets no page of file:// read another file
      echo "// SPDX-License-Identifier: BSD-3-Clause"
      echo "// $command --backend $backend"
      echo 'const recorded ='
      sed '1,/ id="trace">$/d; /^<\/script>/,$d' "$work/trace.html"
      echo ';'
    } >"$1/${name}_$machine.js"
  done <<<"$recipes"
}

make_images() { # by the commands of README.md; takes minutes
  echo "making the images"
  run amr --problem kelvin-helmholtz --max-level 4 --t-end 1.8 --frames 1 --output-dir waves
  run mandelbrot --image-of-rectangles rectangles.png
  cp "$work/waves/kelvin-helmholtz_0001.png" "$root/docs/images/kelvin_helmholtz.png"
  cp "$work/rectangles.png" "$root/docs/images/mandelbrot_rectangles.png"
}

draw_ladders() {
  local ladder programs_of_ladders=()
  if [ "$programs" != "$built" ]; then
    for ladder in "$root"/examples/ladders/*/ladder.cu; do
      programs_of_ladders+=("$programs/ladders/ladder_$(basename "$(dirname "$ladder")")")
    done
  fi
  "$root/examples/ladders/run.sh" --trees "${programs_of_ladders[@]}"
}

draw_lessons() {
  local lesson targets=()
  if [ "$programs" = "$built" ]; then
    for lesson in "$root"/examples/lessons/[0-9]*.cu; do
      targets+=("lesson_$(basename "$lesson" .cu)")
    done
    cmake --build "$root/build/dev" --target "${targets[@]}" >"$work/messages" ||
      { cat "$work/messages"; exit 1; }
  fi
  "$root/examples/lessons/draw_trees.sh" "$programs/lessons"
}

command_of() { sed -n '2s#^// ##p' "$1"; }

write_page() { # the page of the trace writer, which loads its style, its script and a trace
  local file choices=
  for file in "$traces"/*.js; do
    choices+="\n    <option value='$(basename "$file" .js)'>$(command_of "$file")</option>"
  done
  cat >"$work/loader" <<'END'
<script type="application/json" id="trace"></script>
<script>
{ // index.html?sort_cpu shows the trace sort_cpu.js. Only listed traces are loaded.
  const choice = document.getElementById("choice");
  choice.value = location.search.slice(1);
  if (choice.selectedIndex < 0) choice.selectedIndex = 0;
  choice.onchange = () => { location.search = choice.value; };
  document.title = choice.value + " – launches";
  document.write(`<script src="${choice.value}.js"><\/script>`);
}
</script>
<script>document.getElementById("trace").textContent = JSON.stringify(recorded);</script>
END
  awk -v choices="$choices" -v loader="$work/loader" -v source=../../device_runtime/src/trace/ '
    /<!-- With this policy/ { hidden = 1 } # this page loads files
    /^<style>/ { hidden = 1; print "<link rel=\"stylesheet\" href=\"" source "page.css\">" }
    /^<script type/ {
      hidden = 1
      while ((getline line < loader) > 0) print line
      print "<script src=\"" source "page.js\"></script>"
    }
    /<h1>/ { sub(/{{title}}/, "<select id=\"choice\">" choices "</select>") }
    !hidden { sub(/{{title}}/, "Traces"); print }
    /default-src|^{{style}}|^{{script}}/ { hidden = 0 }
  ' "$root/device_runtime/src/trace/page.html" >"$traces/index.html"
}

write_table() { # of docs/traces.md
  local file name
  {
    printf '\n| trace | command |\n|---|---|\n'
    for file in "$traces"/*.js; do
      name=$(basename "$file" .js)
      echo "| [$name](traces/$name.png) | \`$(command_of "$file")\` |"
    done
    echo
  } | "$root/benchmarks/put_table.sh" "$root/docs/traces.md" traces
}

draw_traces() {
  local browser= name file
  for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v "$name" || true)
  done
  [ -n "$browser" ] || { echo "no Chromium: the pictures of traces are unchanged"; return 0; }
  for file in "$traces"/*.js; do
    name=$(basename "$file" .js)
    echo "drawing $name"
    # Without the sandbox, which containers do not support; the page is written by this project.
    HOME=$work timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
      --user-data-dir="$work/profile" --window-size=1500,900 --blink-settings=preferredColorScheme=1 \
      --screenshot="$traces/$name.png" "file://$traces/index.html?$name" 2>"$work/messages" ||
      { cat "$work/messages"; exit 1; }
  done
}

if [[ $backend == c* ]]; then
  built=$root/build/dev/examples
  if [ -z "$programs" ]; then
    "$root/examples/build.sh" $(sed 's/^[a-z]* *//; s/ .*//' <<<"$recipes")
    programs=$built
  fi
  record_traces "${output:-$traces}"
  [ -z "$output" ] || exit 0
fi
if [ "$backend" = cpu ]; then
  ! is_wanted images || make_images
  ! is_wanted ladders || draw_ladders
  ! is_wanted lessons || draw_lessons
fi
write_page
write_table
[ "$backend" = page ] || draw_traces

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Hostile command lines, files and surroundings: hostile.sh <folder of the programs> <work folder>
#
# Each line of the table is a case: the exit status, a text that stderr must contain, and the
# command. "-" means that stderr must be empty. An error is one line on stderr without control
# characters. After each case the input files are unchanged, no temporary file exists, and after an
# error the output files (o, o.csv, o.png, o.html, o.json) do not exist.
set -uo pipefail
programs=$(sed '/^#/d; s/ .*//' "$(dirname "$(realpath "$0")")/../../examples/programs.txt" |
  grep -vx search) # a function below has the name search
bin=$(realpath "$1")
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
export LC_ALL=C

# Each run takes much less than a second; a run that would take hours is an error.
for program in $programs; do
  eval "$program() { timeout 20 \"$bin/$program\" \"\$@\"; }"
done
# Short runs.
sort3() { quicksort --input n --backend cpu "$@"; }
sort9() { quicksort --generate uniform --n 9 --backend cpu "$@"; }
fly() { nbody --plummer 5 --steps 1 --backend cpu --quiet "$@"; }
nbody_long() { nbody --plummer 100000 --steps 100000 --backend cpu --quiet "$@"; }
tree() { rooted_tree --generate path --n 5 --backend cpu "$@"; }
search() { tree_search --tree small --backend cpu "$@"; }
solve() { timeout 20 "$bin/search" "$@"; } # the function search is above
walk() { graph --input in/edges --vertices 3 --source 0 --backend cpu --quiet "$@"; }
picture() { mandelbrot --width 70 --height 50 --max-iterations 50 --backend cpu --quiet "$@"; }
shape() { tessellate --backend cpu --quiet "$@"; }
near() { spatial --input in/places --backend cpu --quiet "$@"; }
area() { quadrature --dimensions 2 --relative-tolerance 1e-3 --backend cpu --quiet "$@"; }
flow() { amr --max-level 0 --frames 0 --t-end 1e-9 --backend cpu --quiet --output-dir d "$@"; }
# Limits the memory to 2 GB. AddressSanitizer needs more: with it, the function ends the case with
# the expected message and status.
limit_memory() {
  if ldd "$bin/quicksort" | grep -q libasan; then
    echo "not enough memory" >&2
    exit 1
  fi
  ulimit -v 2000000
}

mkdir in d
cd in || exit 1
printf '3\n1\n2\n' >n
printf '3 1\n1 2\n' >pairs
printf '0 1\n0 2\n' >edges
printf -- '-1\n0\n' >parents
printf '1,2,3,4,5,6,7\n' >bodies
cp bodies bodies.png
printf '1,2\n3,4\n5,6\n' >places
printf '0 0 0 1 1 1 1 0\n' >curve
cp curve curve.svg
: >empty
printf '\xef\xbb\xbf3\n1\n' >bom
printf '\xef\xbb\xbf-1\n0\n' >bom_parents
printf '\xef\xbb\xbfx,y,z,vx,vy,vz,m\n1,2,3,4,5,6,7\n' >bom_bodies
printf '\xef\xbb\xbf3 1\n1 2\n' >bom_items
printf '\xff\xfe3\0\n\0' >utf16
printf '1\n\0002\n' >nul
printf '1\n\33[2Jx\n' >escape
printf '%01000d\n' 7 | tr 0 x >long
printf '1,2,3,%0200d,5,6,7\n' 0 | tr 0 y >long_field
printf '1\r2\r' >old_mac
printf '\xef\xbb\xbf# numbers\r\n\r\n+3\t \r\n%% 9\r\n 01\r\n\r\n2' >ruled
printf '7\n\xc2\x9b2J\xe2\x80\xae\x9bx\n' >control
printf '0 2000000000\n' >sparse
printf '99999999999999999999999\n1.5\n' >huge
cd ..
ln -s in/n n
ln -s ../in/n d/n
ln in/bodies.png hard.png
mkdir folder
ln -s nothing dangling
mkfifo pipe
printf 'old\n' >readonly && chmod 444 readonly
cp readonly readonly.html && cp readonly readonly.json
name=$(printf '%0250d' 0)
# Files of this user in a folder in which others may create files, but not replace these.
mkdir -p sticky/run sticky/frames && chmod 1777 sticky sticky/run sticky/frames
for file in old old.png old.html old.json old.ply run/history.csv frames/kelvin-helmholtz_0003.vtu; do
  echo old >"sticky/$file" && chmod 666 "sticky/$file"
done
# Runs a program as another user. If that is not possible, the script says so, and ends the cases as
# expected.
other() {
  timeout 20 setpriv --reuid=65534 --regid=65534 --clear-groups "$bin/$1" "${@:2}"
}
if [ "$(id -u)" != 0 ] || ! setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \
  'test -x "$0/amr" && test -w sticky' "$bin" 2>/dev/null; then
  echo "Not tried: programs of another user"
  other() { echo "sticky/old: Operation not permitted" >&2 && return 5; }
fi
# Runs a program while a file is a mount point, or does the same as above.
as_mount_point() {
  unshare -m sh -c 'mount --bind in/n "$0" && exec timeout 20 "$@"' "$1" "$bin/$2" "${@:3}"
}
if ! unshare -m mount --bind in/n in/n 2>/dev/null; then
  echo "Not tried: mount points"
  as_mount_point() { echo "it is a mount point" >&2 && return 5; }
fi
cksum in/* >before

cases=0
failures=0
problem() { # what
  echo "FAILED: $line"
  echo "  $1"
  failures=$((failures + 1))
}
try() { # status, text, command
  local status=0
  (eval "$3") >out 2>err </dev/null || status=$?
  cases=$((cases + 1))
  [ $status -eq "$1" ] || problem "status $status instead of $1: $(head -c 300 err)"
  if [ "$2" = - ]; then
    [ ! -s err ] || problem "wrote to stderr: $(head -c 300 err)"
  else
    [ "$(wc -l <err)" -eq 1 ] || problem "not one line on stderr: $(head -c 300 err)"
    grep -qF -- "$2" err || problem "prints: $(head -c 400 err)"
    [ "$(tr -d '\n' <err | tr -d -c '\000-\037\177' | wc -c)" -eq 0 ] || problem "control characters"
    [ "$(ls -d o o.* 2>/dev/null)" = "" ] || problem "left output: $(ls -d o o.* 2>/dev/null)"
  fi
  # shellcheck disable=SC2012
  [ -z "$(ls . in d folder | grep 'part[0-9]')" ] || problem "left a temporary file"
  rm -rf o o.*
}

while IFS= read -r line; do
  case $line in '' | '#'*) continue ;; esac
  status=${line%% ~ *}
  rest=${line#* ~ }
  try "$status" "${rest%% ~ *}" "${rest#* ~ }"
done <<'TABLE'
# ---- options ----
0 ~ - ~ quicksort --help
0 ~ - ~ nbody --help
0 ~ - ~ rooted_tree --help
0 ~ - ~ tree_search --help
0 ~ - ~ amr --help
0 ~ - ~ quicksort --version && grep -Eq '^quicksort \(Ramify\) [0-9]+[.][0-9]+[.][0-9]+$' out
0 ~ - ~ nbody --version && grep -Eq '^nbody \(Ramify\) [0-9]' out
0 ~ - ~ rooted_tree --version && grep -Eq '^rooted_tree \(Ramify\) [0-9]' out
0 ~ - ~ tree_search --version && grep -Eq '^tree_search \(Ramify\) [0-9]' out
0 ~ - ~ amr --version && grep -Eq '^amr \(Ramify\) [0-9]' out
0 ~ - ~ quicksort --help && grep -q 'Exit status: 0 success' out && grep -q RAMIFY_CPU_SCHEDULE out
0 ~ - ~ quicksort --help && grep -q 'strategy.*automatic\|strategy.*sample_sort' out && grep -q 'seed.*=1' out
0 ~ - ~ tree_search --help && grep -q 'backend.*=automatic' out && grep -q RAMIFY_CACHE_DIR out
2 ~ did you mean --generate? ~ quicksort --generat uniform --n 5
2 ~ did you mean --steps? ~ nbody --step 5
2 ~ did you mean --output? ~ nbody --ouput=o.csv
2 ~ did you mean --single-root? ~ rooted_tree --single_root
2 ~ did you mean --probability? ~ tree_search --probablity 0.1
2 ~ did you mean --max-level? ~ amr --maxlevel 3
2 ~ did you mean --input? ~ quicksort --in n
2 ~ did you mean --output-dir? ~ flow --output=o
2 ~ did you mean --generate? ~ rooted_tree --gen path
2 ~ did you mean --help? ~ quicksort help
2 ~ unknown argument 'in/n'; did you mean --input 'in/n'? ~ quicksort in/n
2 ~ unknown argument 'in/x'; --help lists the options ~ quicksort in/x
2 ~ unknown argument 'T1'; --help lists the options ~ tree_search T1
2 ~ unknown argument '--'; --help lists the options ~ quicksort -- --input n
2 ~ unknown argument '-x' ~ quicksort -x
2 ~ unknown argument '--xyzzyxyzzy' ~ quicksort --xyzzyxyzzy
2 ~ give --input or --generate ~ quicksort
2 ~ give --input or --generate ~ rooted_tree
2 ~ --input ~ quicksort --input
2 ~ --n ~ quicksort --generate uniform --n
2 ~ --n ~ quicksort --generate uniform --n 3 --n 4
2 ~ excludes ~ quicksort --input n --generate uniform --n 5
2 ~ excludes ~ nbody --input in/bodies --plummer 5
2 ~ excludes ~ nbody --input in/bodies --seed 5
2 ~ excludes ~ rooted_tree --input in/parents --generate path --n 5
2 ~ excludes ~ tree_search --tree T1 --depth 3
2 ~ --verify ~ tree_search --verify
2 ~ none of uniform, sorted ~ quicksort --generate Uniform --n 3
2 ~ none of random, path ~ rooted_tree --generate '' --n 3
2 ~ strategy 'heap' is neither ~ sort3 --strategy heap
2 ~ strategy '' is neither ~ sort3 --strategy ''
2 ~ type 'u128' is none of ~ sort3 --type u128
2 ~ type 'I32' is none of ~ sort9 --type I32
2 ~ route 'flatt' is none of ~ search --route flatt
2 ~ backend 'gpu' is none of ~ quicksort --input n --backend gpu
2 ~ --flat-loop 'gpu' is none of ~ search --flat-loop gpu
2 ~ granularity 'x' is none of ~ search --granularity x
2 ~ --coarsening is 5000; it must be ~ search --coarsening 5000
2 ~ --capacity is 5; on this device ~ search --capacity 5
2 ~ the tree would not end ~ tree_search --type binomial --probability 0.9 --backend cpu
2 ~ --max-blocks is 2; it must be 0 ~ flow --max-blocks 2
2 ~ --coarsen-below is 2; it must be at most --refine-above ~ flow --refine-above 1 --coarsen-below 2
2 ~ half ~ fly --precision half
2 ~ method 'guess' is neither ~ fly --method guess
2 ~ is neither text nor json nor the name of a file that ends in .json ~ sort3 --report xml
2 ~ is neither text nor json nor the name of a file that ends in .json ~ fly --report ''
2 ~ is neither text nor json nor the name of a file that ends in .json ~ flow --report o.txt
2 ~ must end in .html ~ search --trace o.txt
2 ~ must end in .html ~ search --trace ''
2 ~ must end in .html ~ search --trace -
2 ~ 'o.jpg' must end in .png ~ fly --image o.jpg
2 ~ 'o' must end in .png ~ fly --image o
2 ~ must end in .png ~ fly --image -
2 ~ must end in .png ~ fly --image ''
2 ~ --image ~ fly --image-size 50
2 ~ \x1b[2J ~ quicksort --generate uniform --n $'\33[2J'
2 ~ \x1b[2J\n ~ quicksort $'\33[2J\n'
# ---- headers, limits ----
0 ~ - ~ printf '2 9\n4 3\n5 6\n' | solve knapsack --input - --backend cpu && grep -q '^profit: 9$' out
0 ~ - ~ printf '0 0  10 10  -10 10  0 0\n' | shape --input - --flatness 0.25 --compare && grep -q '^points: 9$' out
3 ~ line 1: '7 9' announces 7 items and is followed by 1 line ~ printf '7 9\n4 3\n' | solve knapsack --input - --format sizes
3 ~ line 1: 'number of jobs' is neither a list of whole numbers, nor the first line of a file of Taillard, whose third line has words, too ~ printf 'number of jobs\n2 1\n3 4\n' | solve flow-shop --input -
3 ~ ends too early ~ printf 'number of jobs\n' | solve flow-shop --input -
2 ~ --max-nodes ~ solve knapsack --max-nodes -5
2 ~ --max-seconds ~ solve flow-shop --max-seconds nan
# ---- numbers ----
0 ~ - ~ quicksort --generate sorted --n 010 --backend cpu --report json && grep -q '"keys": 10,' out
0 ~ - ~ quicksort --generate sorted --n 1e1 --backend cpu --report json && grep -q '"keys": 10,' out
0 ~ - ~ quicksort --generate sorted --n 1.5e3 --backend cpu --report json && grep -q '"keys": 1500,' out
0 ~ - ~ quicksort --generate sorted --n 1k --backend cpu --report json && grep -q '"keys": 1000,' out
0 ~ - ~ quicksort --generate sorted --n 2Ki --backend cpu --report json && grep -q '"keys": 2048,' out
0 ~ - ~ quicksort --generate sorted --n 0.5Ki --backend cpu --report json && grep -q '"keys": 512,' out
0 ~ - ~ quicksort --generate sorted --n 0 --backend cpu --report json && grep -q '"keys": 0,' out
0 ~ - ~ sort9 --seed 18446744073709551615
0 ~ - ~ sort9 --seed 0
0 ~ - ~ fly --dt -1e-3 --theta +0.5
0 ~ - ~ nbody --plummer 010 --steps 1 --backend cpu --quiet && grep -q '^bodies: 10$' out
0 ~ - ~ fly --image o.png --image-size 010 && fly --image p.png --image-size 10 && cmp -s o.png p.png && rm p.png
2 ~ '18446744073709551616' is too large; the maximum is 18446744073709551615 ~ sort9 --seed 18446744073709551616
2 ~ '99999999999999999999999' is too large ~ quicksort --generate uniform --n 99999999999999999999999
2 ~ '1e20' is too large ~ quicksort --generate uniform --n 1e20
2 ~ '1e9999' is too large ~ quicksort --generate uniform --n 1e9999
2 ~ '1e99999999999' is too large ~ quicksort --generate uniform --n 1e99999999999
0 ~ - ~ quicksort --generate sorted --n 1e00000001 --backend cpu --report json && grep -q '"keys": 10,' out
2 ~ '17179869184Gi' is too large ~ quicksort --generate uniform --n 17179869184Gi
2 ~ '0x10' is not a whole number ~ quicksort --generate uniform --n 0x10
2 ~ '-5' is not a whole number ~ quicksort --generate uniform --n -5
2 ~ '1.5' is not a whole number ~ quicksort --generate uniform --n 1.5
2 ~ '1.2345e3' is not a whole number ~ quicksort --generate uniform --n 1.2345e3
2 ~ '1e' is not a whole number ~ quicksort --generate uniform --n 1e
2 ~ '1e-1' is not a whole number ~ quicksort --generate uniform --n 1e-1
2 ~ '1X' is not a whole number ~ quicksort --generate uniform --n 1X
2 ~ '1KB' is not a whole number ~ quicksort --generate uniform --n 1KB
2 ~ '1,000' is not a whole number ~ quicksort --generate uniform --n 1,000
2 ~ '1 000' is not a whole number ~ quicksort --generate uniform --n '1 000'
2 ~ ' 1' is not a whole number ~ quicksort --generate uniform --n ' 1'
2 ~ '' is not a whole number ~ quicksort --generate uniform --n ''
2 ~ '.5' is not a whole number ~ quicksort --generate uniform --n .5
2 ~ '5.' is not a whole number ~ quicksort --generate uniform --n 5.
2 ~ 'nan' is not a whole number ~ quicksort --generate uniform --n nan
2 ~ --seed: 'x' is not a whole number ~ sort9 --seed x
2 ~ '0' is not a whole number of at least 1 ~ sort9 --pending-launches 0
2 ~ '000' is not a whole number of at least 1 ~ sort9 --pending-launches 000
2 ~ '0' is not a whole number of at least 1 and at most ~ sort9 --threads 0
2 ~ '200000' is too large; the maximum is ~ sort9 --threads 200000
2 ~ '1.5' is not a whole number ~ fly --steps 1.5
2 ~ '0' is not a whole number of at least 1 and at most 16384 ~ fly --image o.png --image-size 0
2 ~ '20000' is too large; the maximum is 16384 ~ fly --image o.png --image-size 20000
2 ~ --plummer must be less than 2^31 ~ nbody --plummer 2147483648
2 ~ '4294967296' is too large; the maximum is 4294967295 ~ tree_search --coarsening 4294967296
2 ~ --depth: '0' is not a whole number ~ tree_search --depth 0
2 ~ --shift: 'nan' is not a number in [0, 1] ~ tree_search --shift nan
2 ~ --probability: '1.5' is not a number in [0, 1] ~ tree_search --probability 1.5
2 ~ --probability: '-0.1' is not a number in [0, 1] ~ tree_search --probability -0.1
2 ~ --root-branches: 'inf' is not a number ~ tree_search --root-branches inf
2 ~ --root-branches: '-1' is not a number ~ tree_search --root-branches -1
2 ~ 'nan' is not a number ~ fly --dt nan
2 ~ '0x1p-3' is not a number ~ fly --dt 0x1p-3
2 ~ '1e999' is not a number ~ fly --softening 1e999
2 ~ '' is not a number ~ fly --theta ''
2 ~ '3' is not a number in [0, 2] ~ fly --theta 3
2 ~ '1,5' is not a number ~ fly --dt 1,5
2 ~ '+-5' is not a number ~ fly --dt +-5
0 ~ - ~ flow --dim 02
2 ~ '4' is too large; the maximum is 3 ~ flow --dim 4
2 ~ '' is not a whole number of at least 2 and at most 3 ~ flow --dim ''
2 ~ --blocks is 1.67772e+07; it must be at most 10^7 blocks in all ~ flow --blocks 4096x4096
2 ~ '19' is too large; the maximum is 18 ~ flow --max-level 19
2 ~ '4294967296' is too large ~ flow --frames 4294967296
2 ~ '4294967296' is too large ~ flow --regrid-every 4294967296
2 ~ '0' is not a whole number of at least 1 ~ flow --history-every 0
2 ~ '0' is not a number in ~ flow --t-end 0
2 ~ the maximum is 2147483646 ~ rooted_tree --generate path --n 3e9
1 ~ not enough memory ~ quicksort --generate uniform --n 18446744073709551615
1 ~ not enough memory ~ (limit_memory; quicksort --generate uniform --n 1e9 --backend cpu)
# ---- output paths: checked before the input is read ----
5 ~ cannot write nofolder/x.csv: no such folder ~ nbody_long --output nofolder/x.csv
5 ~ cannot write nofolder/o.png: no such folder ~ nbody_long --image nofolder/o.png
5 ~ cannot write nofolder/o.html: no such folder ~ nbody_long --trace nofolder/o.html
5 ~ cannot write nofolder/o.json: no such folder ~ nbody_long --report nofolder/o.json
5 ~ cannot write nofolder/o: no such folder ~ sort3 --output nofolder/o
5 ~ cannot write nofolder/o.dot: no such folder ~ sort3 --trace nofolder/o.dot
5 ~ cannot write nofolder/o.json: no such folder ~ sort3 --report nofolder/o.json
5 ~ cannot write nofolder/o: no such folder ~ tree --output nofolder/o
5 ~ cannot write nofolder/o.json: no such folder ~ tree --report nofolder/o.json
5 ~ cannot write nofolder/o.json: no such folder ~ tree_search --tree T3XXL --trace nofolder/o.json
5 ~ cannot write nofolder/o.json: no such folder ~ tree_search --tree T3XXL --report nofolder/o.json
5 ~ cannot write nofolder/c: no such folder ~ flow --checkpoint nofolder/c
5 ~ cannot write nofolder/o.json: no such folder ~ flow --report nofolder/o.json
5 ~ cannot write nofolder/o.html: no such folder ~ flow --trace nofolder/o.html
5 ~ cannot write in/n/o: Not a directory ~ sort9 --output in/n/o
5 ~ cannot write folder: it is not a regular file ~ sort9 --output folder
5 ~ it is not a regular file ~ sort9 --output folder/
5 ~ no such folder ~ sort9 --output o/
5 ~ it is not a regular file ~ sort9 --output .
5 ~ pipe: it is not a regular file ~ sort9 --output pipe
5 ~ pipe: it is not a regular file ~ tree --output pipe
5 ~ /dev/null: it is not a regular file ~ sort9 --output /dev/null
5 ~ dangling: it is a link to nothing ~ sort9 --output dangling
5 ~ cannot write /proc/o ~ nbody_long --output /proc/o
5 ~ File name too long ~ nbody_long --output "$name"
5 ~ readonly: it is a read-only file (--force replaces it) ~ sort9 --output readonly
5 ~ readonly.html: it is a read-only file ~ search --trace readonly.html
5 ~ readonly.json: it is a read-only file ~ fly --report readonly.json
2 ~ --output is empty; it must name a file ~ sort3 --output ''
2 ~ --output: 1 required ~ fly --output=
2 ~ --output is empty; it must name a file ~ tree --output ''
2 ~ --input is empty; it must name a file ~ quicksort --input '' --backend cpu
2 ~ --input is empty; it must name a file ~ nbody --input ''
2 ~ --checkpoint is empty; it must name a file ~ flow --checkpoint ''
2 ~ --restart is empty; it must name a file ~ flow --restart ''
2 ~ --output and --trace name the same file ~ sort9 --output o.html --trace o.html
2 ~ --output and --trace name the same file ~ sort9 --output o.html --trace ./folder/../o.html
2 ~ --output and --trace name the same file ~ sort9 --output o.html --trace "$PWD/o.html"
2 ~ --output and --report name the same file ~ sort9 --output o.json --report o.json
2 ~ --trace and --report name the same file ~ search --trace o.json --report o.json
2 ~ --output and --image name the same file ~ fly --output o.png --image o.png
2 ~ --output and --report name the same file ~ tree --output o.json --report o.json
2 ~ --checkpoint and --report name the same file ~ flow --checkpoint o.json --report o.json
2 ~ --checkpoint and --trace name the same file ~ flow --checkpoint o.json --trace o.json
2 ~ name the same file ~ ln -s readonly.json o.json; sort9 --output o.json --trace readonly.json; s=$?; rm o.json; exit $s
2 ~ --output is the input file of --input, which is never changed ~ sort3 --output n
2 ~ --output is the input file of --input, which is never changed ~ sort3 --output ./in/n
2 ~ --output is the input file of --input, which is never changed ~ sort3 --output d/n
2 ~ --output is the input file of --input, which is never changed ~ quicksort --input - --output in/n <in/n
2 ~ --output is the input file of --input, which is never changed ~ quicksort --input in/n --output - >>in/n
2 ~ --image is the input file of --input, which is never changed ~ nbody --input in/bodies.png --image hard.png
2 ~ --output is the input file ~ nbody --input in/bodies --output in/bodies
2 ~ --output is the input file ~ rooted_tree --input in/parents --output in/parents
2 ~ --report is the input file of --restart ~ cp in/n o.json; flow --restart o.json --report o.json; s=$?; rm o.json; exit $s
2 ~ --trace is the input file of --restart ~ cp in/n o.json; flow --restart o.json --trace o.json; s=$?; rm o.json; exit $s
2 ~ --output is the file that standard output goes to ~ sort3 --output o >o; s=$?; rm o; exit $s
2 ~ --output is the file that standard output goes to ~ sort3 --output /dev/stdout >o; s=$?; rm o; exit $s
2 ~ --input is the file that standard output goes to ~ sort3 >>in/n
2 ~ --input is the file that standard output goes to ~ quicksort --input - <in/n >>in/n
2 ~ --report is the file that standard output goes to ~ fly --report o.json >o.json; s=$?; rm o.json; exit $s
2 ~ a checkpoint must be a file ~ flow --checkpoint -
2 ~ a checkpoint must be a file ~ flow --restart - <in/n
2 ~ --checkpoint is d/history.csv, a file that the program writes itself ~ flow --checkpoint d/history.csv
2 ~ --checkpoint is ./d/../d/kelvin-helmholtz_0003.vtu, a file ~ flow --checkpoint ./d/../d/kelvin-helmholtz_0003.vtu
2 ~ --checkpoint is d/kelvin-helmholtz.pvd, a file ~ flow --checkpoint d/kelvin-helmholtz.pvd
2 ~ --restart is d/history.csv, a file ~ flow --checkpoint o && cp o d/history.csv && mv o c; amr --restart d/history.csv --t-end 2e-9 --backend cpu; s=$?; cmp c d/history.csv && rm c d/history.csv; exit $s
2 ~ --report is o.json, a file ~ ln -s d/history.csv o.json; : >d/history.csv; flow --report o.json; s=$?; rm o.json; exit $s
0 ~ - ~ amr --max-level 0 --frames 0 --t-end 1e-9 --backend cpu --quiet --output-dir folder/new --checkpoint folder/new/c && [ -s folder/new/c ]; s=$?; rm -r folder/new; exit $s
5 ~ cannot write folder/new/n/c: no such folder ~ amr --output-dir folder/new --checkpoint folder/new/n/c; s=$?; [ ! -e folder/new ] || s=9; exit $s
5 ~ cannot make folder/new/00 ~ amr --output-dir "folder/new/$name$name"; s=$?; [ ! -e folder/new ] || s=9; exit $s
5 ~ history.csv: it is not a regular file ~ mkdir -p folder/new/history.csv; timeout 5 "$bin/amr" --max-level 9 --output-dir folder/new; s=$?; rmdir -p folder/new/history.csv; mkdir -p folder; exit $s
# ---- output files that cannot be replaced: found before work ----
5 ~ Operation not permitted ~ other quicksort --generate uniform --n 9 --backend cpu --output sticky/old
5 ~ Operation not permitted ~ other quicksort --generate uniform --n 9 --backend cpu --report sticky/old.json
5 ~ Operation not permitted ~ other nbody --plummer 100000 --steps 100000 --backend cpu --quiet --output sticky/old
5 ~ Operation not permitted ~ other nbody --plummer 100000 --steps 100000 --backend cpu --quiet --image sticky/old.png
5 ~ Operation not permitted ~ other nbody --plummer 100000 --steps 100000 --backend cpu --quiet --trace sticky/old.html
5 ~ Operation not permitted ~ other rooted_tree --generate path --n 5 --backend cpu --output sticky/old
5 ~ Operation not permitted ~ other tree_search --tree T3XXL --backend cpu --trace sticky/old.json
5 ~ Operation not permitted ~ other graph --generate grid --side 10 --source 0 --backend cpu --output sticky/old
5 ~ Operation not permitted ~ other mandelbrot --width 70 --height 50 --backend cpu --image sticky/old.png
5 ~ Operation not permitted ~ other tessellate --teapot --backend cpu --output sticky/old.ply
5 ~ Operation not permitted ~ other quadrature --dimensions 2 --backend cpu --report sticky/old.json
5 ~ Operation not permitted ~ other spatial --generate uniform --n 9 --backend cpu --tree sticky/old.png
5 ~ Operation not permitted ~ other search queens --n 27 --backend cpu --report sticky/old.json
5 ~ Operation not permitted ~ other amr --max-level 9 --backend cpu --checkpoint sticky/old --output-dir sticky/new
5 ~ Operation not permitted ~ other amr --max-level 9 --backend cpu --output-dir sticky/run
5 ~ Operation not permitted ~ other amr --max-level 9 --backend cpu --force --output-dir sticky/frames
5 ~ it is a mount point ~ : >folder/m; as_mount_point folder/m quicksort --generate uniform --n 9 --backend cpu --output folder/m; s=$?; rm folder/m; exit $s
# ---- paths that are not UTF-8 ----
2 ~ --output-dir is not UTF-8 text, and --checkpoint can store no other ~ amr --max-level 9 --backend cpu --output-dir folder/$'\xff' --checkpoint o; s=$?; [ ! -e folder/$'\xff' ] || s=9; exit $s
0 ~ - ~ amr --max-level 0 --frames 0 --t-end 1e-9 --backend cpu --output-dir folder/$'\xff' --report json >o && rm -r folder/$'\xff'
0 ~ - ~ flow --checkpoint folder/$'\xff' && [ -s folder/$'\xff' ] && rm folder/$'\xff'
0 ~ - ~ sort3 --output folder/$'\xff' && rm folder/$'\xff'
0 ~ - ~ search --trace folder/$'\xff.html' --report folder/$'\xff.json' && rm folder/*.html folder/*.json
# ---- initial states smaller than a cell ----
0 ~ - ~ for b in 1 2 3x1x2; do amr --problem sedov --dim 3 --blocks $b --max-level 2 --frames 0 --t-end 1e-9 --backend cpu --output-dir d --report json >o && grep -A 1 '"name": "energy"' o | grep -q '0[.]85141758' || exit 1; done
0 ~ - ~ for b in 1 5; do amr --problem sedov --blocks $b --max-level 1 --frames 0 --t-end 1e-9 --backend cpu --output-dir d --report json >o && grep -A 1 '"name": "energy"' o | grep -q '0[.]31150080' || exit 1; done
# ---- replaced files ----
0 ~ - ~ echo old >o; chmod 640 o; sort3 --output o && [ "$(stat -c %a o)" = 640 ] && [ "$(head -n 1 o)" = 1 ]
0 ~ - ~ echo old >o; chmod 600 o; fly --output o && [ "$(stat -c %a o)" = 600 ]
0 ~ - ~ echo old >o.html; chmod 604 o.html; search --trace o.html && [ "$(stat -c %a o.html)" = 604 ]
0 ~ - ~ echo old >o; chmod 444 o; sort3 --output o --force && [ "$(stat -c %a o)" = 444 ] && [ "$(head -n 1 o)" = 1 ]
0 ~ - ~ echo old >o; [ "$(id -u)" != 0 ] || chown 12345:54321 o; before=$(stat -c %u:%g o); sort3 --output o && [ "$(stat -c %u:%g o)" = $before ]
0 ~ - ~ (umask 027; sort3 --output o) && [ "$(stat -c %a o)" = 640 ]
0 ~ - ~ echo old >folder/real; ln -s folder/real o; sort3 --output o && [ -L o ] && [ "$(head -n 1 folder/real)" = 1 ]
0 ~ - ~ : >"o.part$BASHPID"; sort3 --output o && rm -f o.part*
# ---- standard input and output ----
0 ~ - ~ quicksort --input - --backend cpu --output o <in/n && [ "$(head -n 1 o)" = 1 ]
0 ~ - ~ quicksort --input - --type u32 --backend cpu --output o </dev/null && [ ! -s o ]
0 ~ - ~ sort3 --output - 2>report && [ "$(cat out)" = "$(printf '1\n2\n3')" ] && grep -q '^keys: 3' report
0 ~ - ~ sort3 --output - --report json 2>report && [ "$(wc -l <out)" = 3 ] && grep -q '"keys": 3' report
0 ~ - ~ nbody --input - --steps 0 --backend cpu --output - <in/bodies 2>report && [ "$(cat out)" = "$(printf 'x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,7')" ]
0 ~ - ~ rooted_tree --input - --backend cpu --output - <in/parents 2>report && [ "$(sed -n 2p out)" = 0,-1,0,2,0,1 ]
0 ~ - ~ rooted_tree --input - --format edges --backend cpu <in/edges
3 ~ standard input, line 2: 'x' is not a number ~ printf '1\nx\n' | quicksort --input - --backend cpu
3 ~ standard input has 4 bytes ~ printf abcd | quicksort --input - --type f64 --backend cpu
3 ~ standard input, line 1: 'x' is a header line without the column 'y' ~ echo x | nbody --input -
3 ~ standard input, line 1: '7' names node 7, but the file has 1 nodes ~ echo 7 | rooted_tree --input - --backend cpu
3 ~ standard input is a device, not a file ~ quicksort --input - </dev/zero
3 ~ cannot read standard input ~ quicksort --input - <&-
5 ~ cannot write standard output: No space left on device ~ sort9 >/dev/full
5 ~ cannot write standard output: No space left on device ~ sort9 --report json >/dev/full
5 ~ cannot write standard output: No space left on device ~ sort9 --output - >/dev/full 2>err.report; s=$?; tail -n 1 err.report >&2; exit $s
5 ~ - ~ sort3 --output - 2>/dev/full
5 ~ - ~ fly --output - --report json 2>/dev/full
5 ~ cannot write standard output: No space left on device ~ fly >/dev/full
5 ~ cannot write standard output ~ nbody --plummer 5 --steps 1 --backend cpu >/dev/full
5 ~ cannot write standard output: No space left on device ~ fly --report json >/dev/full
5 ~ cannot write standard output: No space left on device ~ tree >/dev/full
5 ~ cannot write standard output: No space left on device ~ tree --report json >/dev/full
5 ~ cannot write standard output: No space left on device ~ search >/dev/full
5 ~ cannot write standard output: No space left on device ~ search --report json >/dev/full
5 ~ cannot write standard output: No space left on device ~ flow >/dev/full
5 ~ cannot write standard output: No space left on device ~ quicksort --help >/dev/full
5 ~ cannot write standard output ~ nbody --version >/dev/full
5 ~ cannot write standard output ~ sort9 >&-
5 ~ cannot write standard output ~ tree --report json >&-
5 ~ File too large ~ (ulimit -f 1; quicksort --generate uniform --n 1e5 --backend cpu --output o)
5 ~ File too large ~ (ulimit -f 1; rooted_tree --generate path --n 1e5 --backend cpu --output o)
5 ~ File too large ~ (ulimit -f 1; nbody --plummer 1000 --steps 0 --backend cpu --quiet --output o)
5 ~ File too large ~ (ulimit -f 1; search --trace o.html)
# ---- input files ----
0 ~ - ~ quicksort --input in/bom --backend cpu --output o && [ "$(cat o)" = "$(printf '1\n3')" ]
0 ~ - ~ rooted_tree --input in/bom_parents --backend cpu
0 ~ - ~ nbody --input in/bom_bodies --steps 0 --backend cpu --quiet
0 ~ - ~ quicksort --input in/empty --backend cpu --output o
0 ~ - ~ quicksort --input /dev/null --backend cpu --output o
0 ~ - ~ rooted_tree --input in/empty --format edges --backend cpu
0 ~ - ~ quicksort --input in/pairs --pairs --backend cpu
3 ~ in/utf16 is text in UTF-16; convert it to UTF-8 ~ quicksort --input in/utf16
3 ~ in/utf16 is text in UTF-16; convert it to UTF-8 ~ nbody --input in/utf16
3 ~ in/nul, line 2: '\x002' is not a number ~ quicksort --input in/nul
3 ~ in/nul, line 2: '\x002' is neither a node nor -1 ~ rooted_tree --input in/nul
3 ~ in/escape, line 2: '\x1b[2Jx' is not a number ~ quicksort --input in/escape
3 ~ xxx...' is not a number ~ quicksort --input in/long
3 ~ xxx...' is a header line without the column 'x' ~ nbody --input in/long
3 ~ yyy...', which is not a finite number ~ nbody --input in/long_field
3 ~ in/old_mac, line 1: '1\r2' is not a number ~ quicksort --input in/old_mac
3 ~ names node 2000000000, but a file of 1 edge ~ rooted_tree --input in/sparse --format edges
3 ~ line 1: '99999999999999999999999' would be rounded ~ quicksort --input in/huge
3 ~ is not a key and a value ~ quicksort --input n --pairs
3 ~ line 1: 'x 1' has a key of 'x', which is not a number ~ printf 'x 1\n' | quicksort --input - --pairs
3 ~ line 1 ~ quicksort --input in/pairs
3 ~ is no multiple of 8 ~ quicksort --input n --type u64
3 ~ No such file ~ quicksort --input nowhere
3 ~ No such file ~ nbody --input nowhere
3 ~ No such file ~ rooted_tree --input nowhere
3 ~ No such file ~ flow --restart nowhere
3 ~ is a directory ~ quicksort --input folder
3 ~ is a directory ~ quicksort --input folder --type i32
3 ~ is a directory ~ rooted_tree --input folder/.
3 ~ /dev/zero is a device, not a file ~ quicksort --input /dev/zero
3 ~ /dev/zero is a device, not a file ~ nbody --input /dev/zero
3 ~ /dev/urandom is a device, not a file ~ rooted_tree --input /dev/urandom
3 ~ Not a directory ~ quicksort --input n/x
3 ~ No such file ~ quicksort --input dangling
3 ~ n\ne ~ quicksort --input $'n\ne'
3 ~ is neither a node nor -1 ~ rooted_tree --input in/edges
3 ~ is not a parent and a child ~ rooted_tree --input in/parents --format edges
3 ~ --single-root is set ~ printf -- '-1\n-1\n' | rooted_tree --input - --single-root --backend cpu
# ---- lines, words and numbers ----
0 ~ - ~ quicksort --input in/ruled --backend cpu --output o && [ "$(cat o)" = "$(printf '1\n2\n3')" ]
3 ~ in/control, line 2: '\u009b2J\u202e\x9bx' is not a number ~ quicksort --input in/control
3 ~ in/control, line 2: '\u009b2J\u202e\x9bx' is neither a node nor -1 ~ rooted_tree --input in/control
2 ~ unknown argument '\u202e' ~ quicksort $'\342\200\256'
2 ~ \x9b ~ quicksort --generate $'\233' --n 3
3 ~ too small for a double (underflow) ~ printf '1\n1e-400\n' | quicksort --input -
3 ~ too small for a double (underflow) ~ printf '0 0 1 1 2 2 3 1e-400\n' | tessellate --input -
3 ~ too small for a double (underflow) ~ printf '1;1e-400\n' | spatial --input -
3 ~ too large for a double (overflow) ~ printf '1e400 1 1 1 1 1 1\n' | nbody --input -
3 ~ which a double would round ~ printf '0 0 1 1 2 2 3 9007199254740993\n' | tessellate --input -
3 ~ line 2: '1 2 16777217 4 5 6 7' has a z of '16777217', which a float would round ~ printf '%%\n1 2 16777217 4 5 6 7\n' | nbody --input - --precision float
3 ~ is too small for a float (underflow) ~ printf '1e-40 2 3 4 5 6 7\n' | nbody --input - --precision float
2 ~ '1e-400' is too small for a double (underflow) ~ fly --dt 1e-400
2 ~ '9007199254740993' would be rounded to a double ~ fly --dt 9007199254740993
3 ~ has an empty field ~ printf '1,,2\n' | spatial --input -
3 ~ has commas and semicolons ~ printf '1,5;2\n' | spatial --input -
3 ~ line 1: 'x0 y0 x1' is neither a curve of 8 numbers nor a patch of 48, but has 3; a header line must be removed ~ printf 'x0 y0 x1\n' | tessellate --input -
3 ~ line 1: 'size' is not a number; a header line must be removed ~ printf 'size\n3\n' | quicksort --input -
3 ~ line 2: 'parent' is neither a node nor -1; a header line must be removed ~ printf '#\nparent\n-1\n' | rooted_tree --input -
3 ~ is a header line without the columns x and y ~ printf 'ra,dec\n1,2\n' | spatial --input -
0 ~ - ~ printf 'ra,dec\n1,2\n' | spatial --input - --columns ra,dec --backend cpu && grep -q '^columns: ra,dec$' out
3 ~ makes node 0 its own parent; --own-parents ~ printf '0\n0\n' | rooted_tree --input -
0 ~ - ~ printf '0\n0\n' | rooted_tree --input - --own-parents --backend cpu && grep -q '^roots: 1$' out
# ---- surroundings ----
2 ~ environment variable RAMIFY_CPU_SCHEDULE: CPU schedule: 'lazy' must be ~ RAMIFY_CPU_SCHEDULE=lazy "$bin/quicksort" --input n
2 ~ environment variable RAMIFY_CPU_SCHEDULE ~ RAMIFY_CPU_SCHEDULE=parallel:x "$bin/nbody" --output o
2 ~ environment variable RAMIFY_CPU_SCHEDULE ~ RAMIFY_CPU_SCHEDULE= "$bin/tree_search" --tree small
2 ~ environment variable RAMIFY_CPU_SCHEDULE ~ RAMIFY_CPU_SCHEDULE=late:3 "$bin/rooted_tree" --generate path --n 3
2 ~ environment variable RAMIFY_CPU_SCHEDULE ~ RAMIFY_CPU_SCHEDULE=random:-1 "$bin/amr" --output-dir o
2 ~ --threads: the schedule late of RAMIFY_CPU_SCHEDULE has one thread ~ RAMIFY_CPU_SCHEDULE=late "$bin/quicksort" --input n --threads 1
0 ~ - ~ RAMIFY_CPU_SCHEDULE=lazy "$bin/quicksort" --help
0 ~ - ~ RAMIFY_CPU_SCHEDULE=random:7 "$bin/quicksort" --input n --backend cpu
0 ~ - ~ RAMIFY_CPU_SCHEDULE=parallel:300 nbody --plummer 300 --steps 1 --quiet
0 ~ - ~ RAMIFY_CPU_SCHEDULE=parallel sort3 --threads 1
0 ~ - ~ RAMIFY_CPU_SCHEDULE=parallel fly --threads 1
2 ~ the cuda backend does not use CPU threads ~ quicksort --input n --backend cuda --threads 1
2 ~ the cpu backend does not use a GPU ~ sort3 --device 0
2 ~ --device: excludes --threads ~ quicksort --input n --device 0 --threads 1
4 ~ --device 9: CUDA_VISIBLE_DEVICES names only 2 devices ~ CUDA_VISIBLE_DEVICES=0,1 "$bin/quicksort" --input n --device 9
4 ~ the cuda backend cannot run ~ CUDA_VISIBLE_DEVICES= "$bin/quicksort" --input n --backend cuda
4 ~ the cuda backend cannot run ~ quicksort --input n --device 4096 --output o
4 ~ the cuda backend cannot run ~ nbody --plummer 5 --device 4096 --output o
4 ~ the cuda backend cannot run ~ rooted_tree --generate path --n 5 --device 4096 --output o
4 ~ the cuda backend cannot run ~ tree_search --tree small --device 4096 --trace o.html
# ---- reports ----
0 ~ - ~ sort3 && grep -q '^output: none, the sorted numbers are not kept (--output FILE keeps them)$' out
0 ~ - ~ sort3 --output o && ! grep -q '^output' out
0 ~ - ~ sort3 --report json && grep -q '"version": "[0-9]' out && grep -q '"program": "quicksort"' out && grep -q '"output": null' out
0 ~ - ~ fly --report json && grep -q '"version": "[0-9]' out && ! grep -q '^bodies: ' out
0 ~ - ~ tree --report json && grep -q '"version": "[0-9]' out
0 ~ - ~ search --report json && grep -q '"version": "[0-9]' out
0 ~ - ~ flow --report json && grep -q '"version": "[0-9]' out && [ "$(head -c 1 out)" = '{' ]
0 ~ - ~ sort3 --report o.json && grep -q '"keys": 3' o.json && grep -q '^keys: 3' out
0 ~ - ~ fly --report o.json && grep -q '"bodies": 5' o.json && grep -q '^bodies: 5' out
0 ~ - ~ tree --report o.JSON && grep -q '"height": 4' o.JSON && grep -q '^height: 4' out
0 ~ - ~ search --report o.json && grep -q '"nodes": 1732' o.json && grep -q '^nodes: 1732' out
0 ~ - ~ flow --report o.json && grep -q '"problem": "kelvin-helmholtz"' o.json && grep -q '^problem: ' out
0 ~ - ~ quicksort --input in/n --backend cpu --output $'o.\377' --report json && rm o.* && grep -q '"keys": 3' out
0 ~ - ~ fly --image o.PNG && [ -s o.PNG ]
0 ~ - ~ for run in sort9 tree search fly flow; do $run --report json >o && grep -q '^  "work_ms": ' o && grep -q '^  "seconds": ' o || exit 1; done
0 ~ - ~ printf '0,0,0,1e20,0,0,-2e30\n' | nbody --input - --steps 0 --backend cpu && grep -Eq '^ +0 +-1\.0000e\+70 +0\.0000000 +-1\.0000e\+70 +0\.00e\+00 +0\.0000$' out
0 ~ - ~ search --quiet
0 ~ - ~ flow --checkpoint o && amr --restart o --checkpoint o --t-end 2e-9 --backend cpu --quiet --output-dir d
# ---- graphs and quadrature ----
0 ~ - ~ graph --help
0 ~ - ~ quadrature --help
2 ~ did you mean --edge-factor? ~ graph --edge_factor 3
2 ~ did you mean --family? ~ quadrature --famly c0
2 ~ '' is not a whole number ~ graph --generate grid --side ''
2 ~ '-1' is not a whole number ~ graph --generate kronecker --scale -1
2 ~ --scale ~ graph --generate kronecker --scale 64
2 ~ --damping ~ graph --generate grid --algorithm pagerank --damping nan
2 ~ --delta ~ graph --generate grid --algorithm sssp --delta nan
2 ~ the maximum is ~ walk --vertices 1e30
2 ~ --source ~ walk --source -1
2 ~ --relative-tolerance ~ area --relative-tolerance nan
2 ~ --difficulty ~ quadrature --difficulty nan --backend cpu
2 ~ --difficulty ~ quadrature --difficulty inf --backend cpu
2 ~ is not a number ~ quadrature --a '' --u 1
2 ~ '18446744073709551616' is too large ~ area --max-evaluations 18446744073709551616
0 ~ - ~ area --max-evaluations 10000000000 --report json >o && grep -Eq '"scratch_bytes": [0-9]{1,8},' o
0 ~ - ~ walk --output o && [ "$(wc -l <o)" -ge 3 ]
0 ~ - ~ graph --input - --vertices 3 --source 0 --backend cpu --output - <in/edges 2>report && [ -s out ]
2 ~ --output is the input file of --input, which is never changed ~ walk --output in/edges
2 ~ --output and --trace name the same file ~ walk --output o.html --trace o.html
2 ~ name the same file ~ area --report o.json --trace o.json
5 ~ nofolder ~ walk --output nofolder/o
5 ~ readonly ~ walk --output readonly
5 ~ No space left on device ~ walk --output - >/dev/full
5 ~ cannot write standard output: No space left on device ~ area >/dev/full
5 ~ File too large ~ (ulimit -f 1; graph --generate grid --side 100 --backend cpu --quiet --output o)
3 ~ No such file ~ graph --input nowhere
3 ~ is a directory ~ graph --input folder/.
3 ~ in/nul, line 1: '1' is not two vertices ~ graph --input in/nul --source 0
3 ~ in/sparse ~ graph --input in/sparse --source 0 --backend cpu
3 ~ in/utf16 ~ graph --input in/utf16 --source 0
3 ~ line 1: '%MatrixMarket' resembles the banner of a Matrix Market file ~ printf '%%MatrixMarket\n0 1\n' | graph --input -
3 ~ is a second banner ~ printf '%%%%MatrixMarket matrix coordinate real general\n%%%%MatrixMarket\n' | graph --input -
3 ~ or the numbers of vertices and edges ~ printf '9 2\n0 1\n1 2\n' | graph --input -
3 ~ line 1: 'from;to' is not two vertices ~ printf 'from;to\n0;1\n' | graph --input -
3 ~ is the header of a bipartite KONECT graph ~ printf '%% bip unweighted\n1 1\n' | graph --input -
3 ~ has a length of '1e-400', which is too small ~ printf '0 1 1e-400\n' | graph --input - --algorithm sssp
3 ~ which is more than 2^64 - 3 ~ printf '0 1 18446744073709551614\n' | graph --input - --algorithm sssp
2 ~ the distance of vertex 2 is too large ~ printf '0 1 18446744073709551613\n1 2 1\n' | graph --input - --algorithm sssp --source 0 --backend cpu --quiet --output o
3 ~ has 0 edges; its size states 99999999 ~ printf 'p sp 4 99999999\n' | graph --input - --format dimacs
3 ~ unless --vertices states their number ~ printf 'p sp 2000000000 1\na 1 2 3\n' | graph --input - --format dimacs
3 ~ has vertices from 1 on ~ printf 'c\np sp 2 0\n' | graph --input - --first-vertex 0
2 ~ format '' is none of automatic, edges ~ walk --format ''
2 ~ type 'half' is none of automatic, float ~ walk --algorithm sssp --type half
1 ~ not enough memory ~ (limit_memory; graph --generate uniform --scale 30 --backend cpu)
4 ~ the cuda backend cannot run ~ graph --generate grid --device 4096
4 ~ the cuda backend cannot run ~ quadrature --device 4096
# ---- images of sets ----
0 ~ - ~ mandelbrot --help
2 ~ did you mean --max-iterations? ~ mandelbrot --max_iterations 3
2 ~ '' is not a number ~ picture --center '' 0
2 ~ 'inf' is not a number in ~ picture --julia inf,0
2 ~ '-1' is not a number in ~ picture --zoom -1
2 ~ '4294967296' is too large ~ picture --threshold 4294967296
2 ~ unknown argument 'in/n' ~ picture in/n
2 ~ must end in .png ~ picture --image-of-rectangles -
2 ~ --image and --image-of-rectangles name the same file ~ picture --image o.png --image-of-rectangles ./o.png
5 ~ cannot write nofolder/o.png: no such folder ~ mandelbrot --width 20000 --height 20000 --max-iterations 1e9 --image nofolder/o.png
5 ~ cannot write standard output: No space left on device ~ picture >/dev/full
5 ~ File too large ~ (ulimit -f 1; picture --image o.png)
1 ~ not enough memory ~ (limit_memory; mandelbrot --width 65536 --height 65536 --backend cpu)
4 ~ the cuda backend cannot run ~ mandelbrot --width 9 --height 9 --device 4096 --image o.png
0 ~ - ~ picture --image o.PNG --image-of-rectangles o.png && [ -s o.PNG ] && [ -s o.png ]
0 ~ - ~ echo old >o.png; chmod 444 o.png; picture --image o.png --force && [ "$(stat -c %a o.png)" = 444 ] && [ "$(wc -c <o.png)" -gt 99 ]
# ---- points and their neighbors ----
0 ~ - ~ spatial --help
0 ~ - ~ spatial --version && grep -Eq '^spatial \(Ramify\) [0-9]' out
2 ~ did you mean --nearest? ~ near --neares 3
2 ~ '1e30' is too large ~ near --nearest 1e30
2 ~ 'nan' is not a number ~ near --within nan
2 ~ --period is for --nearest ~ near --period 9
2 ~ '-1' is not a number ~ near --nearest 1 --output o --period -1
2 ~ 'inf' is not a number ~ near --nearest 1 --output o --period inf
2 ~ '' is not a number ~ near --nearest 1 --output o --period ''
2 ~ --period has 3 numbers; the points have 2 dim ~ near --nearest 1 --output o --period 9,9,9
2 ~ --period is 3, but the points have coordinates x from 1 to 5 ~ near --nearest 1 --output o --period 3
2 ~ period[0] is 9.99989e-321; it must be 0 or in ~ echo 1,1 | spatial --input - --nearest 1 --output o --period 1e-320 --backend cpu --quiet
0 ~ - ~ printf '0,0\n4e200,0\n9e200,0\n' | spatial --input - --nearest 1 --output - --within 5e199 --verify --quiet --backend cpu 2>report && grep -qx 2,1,1,4.9999999999999995e+200 out
0 ~ - ~ printf '0,0\n4e-200,0\n9e-200,0\n' | spatial --input - --nearest 1 --output - --within 5e-200 --verify --quiet --backend cpu 2>report && grep -qx 2,1,1,5.0000000000000005e-200 out
0 ~ - ~ printf '1,1\n1,1\n' | spatial --input - --statistics - --quiet --backend cpu 2>report && grep -qx clark_evans, out
2 ~ '' must end in .svg or .png ~ near --tree ''
2 ~ --output is the input file of --input, which is never changed ~ near --nearest 1 --output in/places
2 ~ --counts is the input file of --queries, which is never changed ~ near --queries in/n --within 1 --counts n
2 ~ --tree and --statistics name the same file ~ near --tree o.png --statistics ./o.png
3 ~ in/utf16 ~ spatial --input in/utf16
3 ~ in/empty: the number of points is 0 ~ spatial --input in/empty
3 ~ in/nul: the first line states 1 point, but the file has 0 ~ spatial --input in/nul
3 ~ in/n, line 3: '2' is not an element and three numbers x,y,z ~ near --queries in/n --nearest 1 --output o
5 ~ cannot write nofolder/o.svg: no such folder ~ spatial --generate uniform --n 1e9 --tree nofolder/o.svg
5 ~ readonly ~ near --nearest 1 --output readonly
5 ~ File too large ~ (ulimit -f 1; near --tree o.png)
5 ~ No space left on device ~ near --statistics - >/dev/full
1 ~ not enough memory ~ (limit_memory; spatial --generate uniform --n 2e9 --backend cpu)
4 ~ the cuda backend cannot run ~ spatial --generate uniform --device 4096
0 ~ - ~ spatial --input - --nearest 1 --output - --backend cpu <in/places 2>report && [ "$(wc -l <out)" = 4 ]
0 ~ - ~ echo old >o.png; chmod 444 o.png; near --tree o.png --force && [ "$(stat -c %a o.png)" = 444 ] && [ "$(wc -c <o.png)" -gt 99 ]
# ---- curves and patches ----
0 ~ - ~ tessellate --help
0 ~ - ~ tessellate --version && grep -Eq '^tessellate \(Ramify\) [0-9]' out
2 ~ did you mean --flatness? ~ shape --teapot --flatnes 1
2 ~ unknown argument 'in/curve'; did you mean --input 'in/curve'? ~ shape in/curve
2 ~ give --teapot, --input or --generate ~ shape
2 ~ excludes ~ shape --teapot --input in/curve
2 ~ 'nan' is not a number in ~ shape --teapot --flatness nan
2 ~ '0' is not a number in ~ shape --teapot --flatness 0
2 ~ '-1' is not a number in ~ shape --teapot --flatness -1
2 ~ '1e-101' is not a number in ~ shape --teapot --flatness 1e-101
2 ~ '' must end in .svg (curves) or .ply (patches), or be - ~ shape --teapot --output ''
2 ~ --output is the input file of --input, which is never changed ~ shape --input in/curve.svg --output ./in/curve.svg
2 ~ name the same file ~ shape --input in/curve --trace o.json --report o.json
2 ~ --output: patches are written to a file that ends in .ply, not to 'o.svg' ~ shape --teapot --output o.svg
2 ~ --output: curves are written to a file that ends in .svg, not to 'o.ply' ~ shape --input in/curve --output o.ply
3 ~ in/utf16 is text in UTF-16; convert it to UTF-8 ~ shape --input in/utf16
3 ~ in/empty: the number of curves and patches is 0 ~ shape --input in/empty
3 ~ in/nul, line 1: '1' is neither a curve of 8 numbers nor a patch of 48, but has 1 ~ shape --input in/nul
3 ~ No such file ~ shape --input nowhere
3 ~ is a directory ~ shape --input folder/.
3 ~ /dev/zero is a device, not a file ~ shape --input /dev/zero
5 ~ cannot write nofolder/o.ply: no such folder ~ tessellate --generate patches --n 1e9 --output nofolder/o.ply
5 ~ readonly.svg: it is a read-only file ~ cp readonly readonly.svg; shape --input in/curve --output readonly.svg; s=$?; rm -f readonly.svg; exit $s
5 ~ File too large ~ (ulimit -f 1; shape --teapot --flatness 0.5 --output o.ply)
5 ~ cannot write standard output: No space left on device ~ shape --teapot --flatness 0.5 >/dev/full
5 ~ No space left on device ~ shape --input in/curve --output - >/dev/full
1 ~ not enough memory ~ (limit_memory; tessellate --generate curves --n 2e9 --backend cpu)
1 ~ not enough memory ~ (limit_memory; tessellate --generate patches --n 2e9 --backend cpu)
4 ~ the cuda backend cannot run ~ tessellate --teapot --device 4096 --output o.ply
0 ~ - ~ tessellate --input - --output - --backend cpu <in/curve 2>report && grep -q '<polyline points="0,0 ' out && grep -q '^curves: 1$' report
0 ~ - ~ echo old >o.svg; chmod 444 o.svg; shape --input in/curve --output o.svg --force && [ "$(stat -c %a o.svg)" = 444 ] && [ "$(wc -c <o.svg)" -gt 99 ]
# ---- reports of the five programs ----
0 ~ - ~ for run in walk area picture near 'shape --input in/curve'; do $run --report json >o && grep -q '^  "version": ' o && grep -q '^  "work_ms": ' o && grep -q '^  "seconds": ' o || exit 1; done
# ---- branch and bound ----
0 ~ - ~ solve --help
0 ~ - ~ solve --version && grep -Eq '^search \(Ramify\) [0-9]' out
2 ~ did you mean --taillard? ~ solve flow-shop --tailard 1
2 ~ unknown argument 'queens'; --help lists the options ~ solve knapsack queens
2 ~ problem '' is none of knapsack ~ solve ''
2 ~ '-1' is not a whole number ~ solve knapsack --weight-limit -1
2 ~ '18446744073709551616' is too large ~ solve flow-shop --seed 18446744073709551616
2 ~ '0' is not a whole number of at least 1 and at most 27 ~ solve queens --n 0
2 ~ --output is the input file of --input, which is never changed ~ solve knapsack --input in/pairs --output in/pairs
0 ~ - ~ solve knapsack --input in/pairs --weight-limit 3 --backend cpu --output o && [ "$(cat o)" = 1 ]
0 ~ - ~ solve knapsack --input in/bom_items --backend cpu
0 ~ - ~ solve knapsack --input - --backend cpu --output - <in/pairs 2>report && grep -q '^profit: 2' report
3 ~ in/utf16 is text in UTF-16; convert it to UTF-8 ~ solve flow-shop --input in/utf16
3 ~ in/nul, line 2: '\x002' is not a list of whole numbers ~ solve flow-shop --input in/nul
3 ~ in/huge, line 1: '99999999999999999999999' has a number of '99999999999999999999999', which is not in [-9223372036854775808, 9223372036854775807] ~ solve flow-shop --input in/huge
3 ~ No such file ~ solve knapsack --input nowhere
5 ~ readonly ~ solve knapsack --output readonly
5 ~ cannot write standard output: No space left on device ~ solve queens --backend cpu >/dev/full
4 ~ the cuda backend cannot run ~ solve queens --device 4096 --trace o.html
0 ~ - ~ for p in knapsack flow-shop queens; do solve $p --backend cpu --report json >o && grep -q '^  "version": ' o && grep -q '^  "work_ms": ' o && grep -q '^  "seconds": ' o || exit 1; done
TABLE

cksum in/* | cmp - before || { echo "FAILED: an input file was changed"; failures=$((failures + 1)); }
[ -p pipe ] && [ "$(cat readonly)" = old ] || { echo "FAILED: a file was replaced"; failures=$((failures + 1)); }
[ $cases -ge 200 ] || { echo "FAILED: only $cases cases were tried"; failures=$((failures + 1)); }
[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo "all $cases cases as expected"

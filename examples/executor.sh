# SPDX-License-Identifier: BSD-3-Clause
# Functions of try.sh and learn.sh, which include this file: the CPU executor's library, and the
# runs of a program under all schedules. The variable `root` must name the checkout.
# shellcheck shell=bash
# shellcheck source=examples/nvcc.sh
source "$root/examples/nvcc.sh"

# Sets `build` to the folder of a build that has the executor's library: RAMIFY_BUILD, build/dev, or
# build/try, which is built if it must be. Ends the script if it cannot be built.
find_executor() {
  build=${RAMIFY_BUILD-}
  [ -z "$build" ] || return 0
  build=$root/build/dev
  local place=$root/build/try
  mkdir -p "$place"
  if [ ! -f "$build/device_runtime/libramify_runtime.a" ]; then
    build=$place
    if [ ! -f "$build/CMakeCache.txt" ]; then
      # Only some of these packages are needed, so the script continues if they cannot be installed.
      "$root/cmake/install_packages.sh" >&2 || true
      echo "Building the CPU executor in build/try" >&2
      # A fresh Debian or Ubuntu has no make. CMake keeps the generator in its cache.
      if command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi
    fi
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DRAMIFY_CUDA=OFF \
      -DRAMIFY_TESTS=OFF -DRAMIFY_EXAMPLES=OFF -DRAMIFY_BENCHMARKS=OFF >"$place/log" 2>&1 ||
      { cat "$place/log" >&2; exit 1; }
  fi
  # Only what has changed since the last use is compiled.
  cmake --build "$build" --target ramify_runtime --parallel "$(nproc)" >"$place/log" 2>&1 ||
    { cat "$place/log" >&2; exit 1; }
}

# The schedules, the reproducible ones first.
schedules=(eager late)
for seed in {1..16}; do schedules+=("random:$seed"); done
for seed in {1..4}; do schedules+=("weak:$seed"); done
schedules+=(parallel parallel:1)

# Returns whether a file has the text of the variable `proof`, or `proof` is empty.
is_proved() { [ -z "${proof-}" ] || grep -qF -- "$proof" "$1"; }

# Runs a program once under each schedule, in the order of `schedules`. Writes FOLDER/SCHEDULE.out,
# which has all that the program prints and, if the program does not end with status 0, a last line
# that says how it ended. Sets `ran` to the schedules that it ran under and `failed` to those of them
# with another status than 0. A run that prints without an end, or that does not end in RAMIFY_SECONDS
# seconds (10), is the last one. If the variable `proof` is not empty, a run that ends with status 0
# must have printed it, or it is one of `failed`.
run_under_schedules() { # FOLDER PROGRAM [ARGUMENT...]
  local folder=$1 seconds=${RAMIFY_SECONDS:-10} status schedule
  shift
  ran=() failed=()
  for schedule in "${schedules[@]}"; do
    status=0
    # At most 20 MB of output. In the foreground, the program gets a ctrl-C too. The outer redirection
    # hides what bash says about a signal.
    { (ulimit -c 0 -f 20480 && RAMIFY_CPU_SCHEDULE=$schedule \
      exec timeout --foreground -k 1 "$seconds" "$@" </dev/null >"$folder/$schedule.out" 2>&1); } \
      2>/dev/null || status=$?
    ran+=("$schedule")
    if [ $status = 0 ] && is_proved "$folder/$schedule.out"; then continue; fi
    failed+=("$schedule")
    case $status in
      0) echo "ended before its check: does it call exit()?" ;;
      124 | 137) echo "no end after $seconds s: an endless loop?" ;;
      130) exit 130 ;;
      153) echo "ended because it printed more than 20 MB" ;;
      1?? | 2??) [ $status -le 128 ] || echo "ended by signal $(kill -l $((status - 128)))" ;;
      1) ;;
      *) echo "ended with status $status" ;;
    esac >>"$folder/$schedule.out"
    case $status in 124 | 137 | 153) return ;; esac
  done
}

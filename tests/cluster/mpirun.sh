#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpirun.sh <ranks> <program> [arguments...]
# Starts ranks on this machine, also more than it has cores, and as root if need be.
set -euo pipefail
ranks=$1
shift
mpirun=${MPIRUN:-mpirun}
options=()
if "$mpirun" --version 2>/dev/null | grep -qE 'Open MPI|OpenRTE'; then
  # Each rank may run on all cores.
  options=(--oversubscribe --bind-to none)
  [ "$(id -u)" -ne 0 ] || options+=(--allow-run-as-root)
fi
exec "$mpirun" "${options[@]}" -n "$ranks" "$@"

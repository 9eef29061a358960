#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# read_vtu.sh <program vtu_samples> <work folder>: reads the program's files with VTK.
# Skipped, with exit status 77, where there is no VTK.
set -euo pipefail
python=/usr/bin/python3 # Debian's, for which its packages are
if ! "$python" -c 'import vtkmodules.vtkIOXML' 2>/dev/null; then
  echo "SKIPPED: needs VTK for $python: apt-get install --no-install-recommends python3-vtk9"
  exit 77
fi
rm -rf "$2"
mkdir -p "$2"
"$1" "$2" >"$2/truth"
exec "$python" "$(dirname "$0")/read_vtu.py" "$2/truth" "$2/all & more.pvd"

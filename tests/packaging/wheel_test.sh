#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the wheel of the Python package with the libraries of a build, installs it into an empty
# environment, and runs its tests there. Status 77 means that packages could not be downloaded.
#
#   wheel_test.sh <root> <build> <work folder> <ON if the build has CUDA>
set -euo pipefail
root=$1 build=$2 work=$3 has_cuda=$4
gpus=none; [ "$has_cuda" != ON ] || gpus='.*[0-9].*'
most_bytes=10000000 # of a wheel for the CPU executor
skip() { echo "skipped: $1"; exit 77; }

# The tools stay in the folder, so that only the first run downloads them.
mkdir -p "$work"
cd "$work"
command -v python3 >/dev/null || skip 'there is no python3'
tools=(scikit-build-core nanobind numpy scipy networkx pytest array-api-strict mypy matplotlib
  nbclient ipykernel)
# A folder of an older list, or of an interrupted download, is made again.
if [ "$(cat tools/complete 2>/dev/null)" != "${tools[*]}" ]; then
  rm -rf tools
  python3 -m venv tools >/dev/null 2>&1 || skip 'python3 has no venv'
  tools/bin/pip install -q "${tools[@]}" || skip 'pip cannot download the tools'
  echo "${tools[*]}" >tools/complete
fi
rm -rf installed wheels empty
cmake --install "$build" --prefix installed >/dev/null
PATH=$PWD/tools/bin:$PATH pip wheel -q "$root" --no-deps --no-build-isolation -w wheels \
  -C "cmake.define.ramify_DIR=$PWD/installed/lib/cmake/ramify" -C "build-dir=$PWD/extension"

wheel=$(echo wheels/ramify-*.whl)
echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes"
if [ "$has_cuda" != ON ] && [ "$(stat -c %s "$wheel")" -gt $most_bytes ]; then
  echo "more than $most_bytes bytes"
  exit 1
fi
if python3 -m zipfile -l "$wheel" | grep -E '[.](a|hpp|cuh|cmake) '; then
  echo 'the wheel contains files that a Python program does not need'
  exit 1
fi

for file in _ramify.pyi py.typed; do
  python3 -m zipfile -l "$wheel" | grep "^ramify/$file " >/dev/null || { echo "no $file"; exit 1; }
done

# The tests import the installed package, not the folder of the sources.
python3 -m venv empty
empty/bin/pip install -q --no-index --find-links wheels --no-deps ramify
site=$(tools/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
mkdir -p elsewhere
cd elsewhere
PYTHONPATH=$site ../empty/bin/python -m pytest -q -p no:cacheprovider "$root/tests/python"
PYTHONPATH=$site ../empty/bin/python -m ramify | grep -x 'ramify [0-9.]*'
PYTHONPATH=$site ../empty/bin/python -m ramify | grep -x "code for GPUs: $gpus"

# The benchmark of the package compares its results with those of NumPy and SciPy, and its file is one
# of a benchmark.
PYTHONPATH=$site ../empty/bin/python -B "$root/benchmarks/python_arrays.py" --cpu --quick --json results.json >tables
grep -qF '| SciPy / Ramify, both |' tables
PYTHONPATH=$root/benchmarks python3 -B -c '
from pathlib import Path
from plot import Results
rows = Results(Path("results.json")).rows("neighbors", ["n", "ramify: neighbors, ms"])
assert len(rows) == 4 and all(time["least"] > 0 for _, time in rows), rows'

# A type checker accepts the package, and finds an argument of a wrong type.
cat >program.py <<'EOF'
import numpy
import ramify

tree = ramify.SpatialTree(numpy.zeros((3, 2)), leaf_size=4)
print(tree.query(numpy.zeros((1, 2)), k=2).indices, ramify.__version__)
tree.query(numpy.zeros((1, 2)), k="2")
EOF
types=$(PYTHONPATH=$site ../tools/bin/mypy --strict --python-executable ../empty/bin/python \
  --cache-dir mypy program.py 2>&1) && { echo "mypy found no error: $types"; exit 1; }
echo "$types" | grep -F 'program.py:6: error: Argument "k" to "query" of "SpatialTree"' ||
  { echo "$types"; exit 1; }
echo "$types" | grep -F 'Found 1 error in 1 file' >/dev/null || { echo "$types"; exit 1; }

# The function of one's own, as docs/python.md builds it.
own=$root/packaging/python/own_integrand
g++ -O1 -std=c++20 -shared -fPIC -I ../installed/include -x c++ "$own/integrand.cu" -x none \
  ../installed/lib/libramify_runtime.a -lboost_context -o libintegrand.so
python3 "$own/integrate.py" ./libintegrand.so

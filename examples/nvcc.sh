# SPDX-License-Identifier: BSD-3-Clause
# How try.sh, learn.sh and the lessons that are scripts find nvcc. They include this file.
# shellcheck shell=bash

# Sets `nvcc` to the command of CUDACXX, else to that in PATH or in CUDA's folder. Returns 1 if it
# does not exist.
find_nvcc() {
  nvcc=${CUDACXX:-nvcc}
  command -v "$nvcc" >/dev/null || nvcc=${CUDA_PATH:-/usr/local/cuda}/bin/nvcc
  command -v "$nvcc" >/dev/null
}

# Begins a lesson in an empty folder, which its end removes. Sets `nvcc`, `toolkit`, the folder of
# CUDA, and `arch`, the architecture of the GPU. Ends the lesson with status 77 if there is no nvcc,
# or if there is no GPU and no other architecture is named.
begin_lesson() { # [ARCHITECTURE]
  find_nvcc || { echo "skipped: there is no nvcc"; exit 77; }
  toolkit=$(dirname "$(readlink -f "$(command -v "$nvcc")")")/..
  arch=sm_$(nvidia-smi -i 0 --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d .) || true
  [[ $arch =~ ^sm_[0-9]+$ ]] || arch=${1-}
  [ -n "$arch" ] || { echo "skipped: there is no CUDA device"; exit 77; }
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
  cd "$place" || exit 1
}

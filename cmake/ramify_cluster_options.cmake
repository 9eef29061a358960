# SPDX-License-Identifier: BSD-3-Clause
# Sets RAMIFY_HAS_MPI, whether ramify::cluster is built, and RAMIFY_HAS_NCCL, whether it connects
# GPUs.
set(RAMIFY_MPI AUTO CACHE STRING "Build for several processes: AUTO (if MPI is found), ON or OFF")
set_property(CACHE RAMIFY_MPI PROPERTY STRINGS AUTO ON OFF)
if(NOT RAMIFY_MPI MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "RAMIFY_MPI is '${RAMIFY_MPI}'; it must be AUTO, ON or OFF")
endif()
set(RAMIFY_HAS_MPI OFF)
set(RAMIFY_HAS_NCCL OFF)
if(RAMIFY_MPI STREQUAL "OFF")
  message(STATUS "Ramify: RAMIFY_MPI is OFF: building for one process only")
  return()
endif()

set(MPI_CXX_SKIP_MPICXX ON) # the C interface
find_package(MPI 3.0 QUIET COMPONENTS CXX)
if(MPI_CXX_FOUND)
  set(RAMIFY_HAS_MPI ON)
elseif(RAMIFY_MPI STREQUAL "ON")
  message(FATAL_ERROR "RAMIFY_MPI is ON, but there is no MPI: on Debian or Ubuntu, "
                      "apt-get install libopenmpi-dev openmpi-bin")
else()
  message(STATUS "Ramify: no MPI (on Debian or Ubuntu, apt-get install libopenmpi-dev openmpi-bin): "
                 "building for one process only")
  return()
endif()

set(gpus "")
if(RAMIFY_HAS_CUDA)
  find_package(CUDAToolkit REQUIRED)
  find_package(NCCL 2.18 QUIET)
  set(RAMIFY_HAS_NCCL ${NCCL_FOUND})
  set(gpus " without GPUs, because there is no NCCL (NCCL_ROOT is its folder)")
  if(NCCL_FOUND)
    set(gpus ", whose GPUs NCCL ${NCCL_VERSION} connects")
  endif()
endif()
message(STATUS "Ramify: MPI ${MPI_CXX_VERSION} found: building for several processes${gpus}")

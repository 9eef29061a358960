# SPDX-License-Identifier: BSD-3-Clause
# Finds NVIDIA's NCCL: NCCL_FOUND, NCCL_VERSION, NCCL_INCLUDE_DIR, NCCL_LIBRARY. NCCL_ROOT is its
# folder, if it is neither in the CUDA toolkit nor in a default folder. Programs load the library at
# run time.
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
if(NCCL_INCLUDE_DIR)
  set(numbers)
  foreach(part IN ITEMS MAJOR MINOR PATCH)
    file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h line REGEX "define NCCL_${part} ")
    string(REGEX MATCH "[0-9]+" number "${line}")
    list(APPEND numbers ${number})
  endforeach()
  list(JOIN numbers "." NCCL_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR
                                  VERSION_VAR NCCL_VERSION)

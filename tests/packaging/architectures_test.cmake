# SPDX-License-Identifier: BSD-3-Clause
# Checks ramify_all_architectures() for the lists of several versions of nvcc, ramify_machine_code()
# and ramify_oldest_ptx().
#   cmake -D SOURCE=... -D WORK=... -P architectures_test.cmake
set(CMAKE_CUDA_ARCHITECTURES unused)
include(${SOURCE}/cmake/cuda_architectures.cmake)

function(expect architectures supported)
  string(REPLACE ";" "\\n" lines "${supported}")
  file(WRITE ${WORK}/nvcc "#!/bin/sh\n[ \"$*\" = --list-gpu-code ] && printf '${lines}\\n'\n")
  file(CHMOD ${WORK}/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  ramify_all_architectures(found ${WORK}/nvcc)
  if(NOT found STREQUAL architectures)
    message(FATAL_ERROR "for ${supported}:\n${found}, not\n${architectures}")
  endif()
endfunction()

expect("75-real;80-real;86-real;89-real;90-real;90-virtual"
       "sm_50;sm_52;sm_70;sm_75;sm_80;sm_86;sm_87;sm_89;sm_90")
expect("75-real;80-real;86-real;89-real;90-real;100-real;110-real;120-real;120-virtual"
       "sm_75;sm_80;sm_86;sm_87;sm_88;sm_89;sm_90;sm_100;sm_110;sm_103;sm_120;sm_121")
expect("86-real;120-real;120-virtual" "sm_86;sm_103;sm_120;sm_121") # sm_10 is not a part of sm_103

function(expect_machine_code numbers architectures)
  ramify_machine_code(found "${architectures}")
  if(NOT found STREQUAL numbers)
    message(FATAL_ERROR "machine code of ${architectures}: '${found}', not '${numbers}'")
  endif()
endfunction()

expect_machine_code("90" "75-virtual;90-real")
expect_machine_code("75,90a" "75;90a-real;120-virtual")
expect_machine_code("" "75-virtual")
expect_machine_code("unknown" "native")
expect_machine_code("unknown" "75;all-major")

function(expect_oldest_ptx number architectures)
  ramify_oldest_ptx(found "${architectures}")
  if(NOT found STREQUAL number)
    message(FATAL_ERROR "oldest PTX of ${architectures}: '${found}', not '${number}'")
  endif()
endfunction()

expect_oldest_ptx("75" "75-virtual;90-real")
expect_oldest_ptx("80" "120-virtual;80;90a;75-real")
expect_oldest_ptx("0" "90-real;100f-virtual")

# SPDX-License-Identifier: BSD-3-Clause
# ramify_require(<debian package> <arguments of find_package>...)
# Calls find_package(). If the package is missing, the error message names the Debian package.
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW) # find_package(Boost) reads Boost's own file; CMake 3.30 warns of its module.
endif()
macro(ramify_require debian_package)
  find_package(${ARGN} QUIET)
  if(NOT "${${ARGV1}_FOUND}")
    message(FATAL_ERROR "Ramify needs ${ARGV1}: on Debian or Ubuntu, apt-get install ${debian_package}")
  endif()
endmacro()

# SPDX-License-Identifier: BSD-3-Clause
# ramify_require(<debian package> <arguments of find_package>...)
# Calls find_package(). If the package is missing, the error message names the Debian package.
macro(ramify_require debian_package)
  find_package(${ARGN} QUIET)
  if(NOT "${${ARGV1}_FOUND}")
    message(FATAL_ERROR "Ramify needs ${ARGV1}: on Debian or Ubuntu, apt-get install ${debian_package}")
  endif()
endmacro()

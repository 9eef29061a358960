# SPDX-License-Identifier: BSD-3-Clause
# The tables "CUDA on the executor" of device_runtime/README.md against the headers and the tests:
#  - each function of the headers is in the first table, and each name of that table is in a test;
#  - each function that the headers refuse is in the second table, and a call of it is a compile
#    error with its sentence.
#   cmake -DROOT=<repository> -DCXX=<compiler> -DWORK=<folder> -P table_test.cmake
cmake_minimum_required(VERSION 3.25)
set(failures 0)
macro(fail text)
  message("${text}")
  math(EXPR failures "${failures} + 1")
endmacro()

# Sets `result` to the identifiers in backticks between two headings of the README.
function(names_between begin end result)
  file(READ ${ROOT}/device_runtime/README.md text)
  string(FIND "${text}" "${begin}" from)
  string(FIND "${text}" "${end}" to)
  if(from EQUAL -1 OR to EQUAL -1 OR to LESS from)
    message(FATAL_ERROR "device_runtime/README.md has no '${begin}' before '${end}'")
  endif()
  math(EXPR length "${to} - ${from}")
  string(SUBSTRING "${text}" ${from} ${length} text)
  string(REGEX MATCHALL "`[A-Za-z_][A-Za-z0-9_]*`" names "${text}")
  list(TRANSFORM names REPLACE "`" "")
  list(REMOVE_DUPLICATES names)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()
names_between("### What compiles" "### What does not compile" supported)
names_between("### What does not compile" "## Differences between" refused)

# ---- what the headers have ----
set(tested "")
foreach(file IN ITEMS supported cuda_builtins ordering rules)
  file(READ ${ROOT}/tests/executor/${file}_test.cpp text)
  string(APPEND tested "${text}")
endforeach()
foreach(file IN ITEMS stream.cuh shared.cuh launch.cuh) # the tests use these built-ins through them
  file(READ ${ROOT}/device_runtime/ramify/runtime/${file} text)
  string(APPEND tested "${text}")
endforeach()
foreach(name IN LISTS supported)
  if(NOT tested MATCHES "[^A-Za-z0-9_]${name}[^A-Za-z0-9_]")
    fail("README.md lists ${name}, which no test of the executor uses")
  endif()
endforeach()

set(headers "")
foreach(file IN ITEMS arithmetic atomics cuda_builtins runtime_api shuffles)
  file(READ ${ROOT}/device_runtime/ramify/cpu/${file}.hpp text)
  string(APPEND headers "${text}")
endforeach()
string(REGEX MATCHALL
       "[^][A-Za-z0-9_](cuda[A-Z][A-Za-z0-9]+|atomic[A-Z][a-zA-Z]+|__[a-z][a-z0-9_]+|clock64|rsqrtf?)\\("
       functions "${headers}")
list(TRANSFORM functions REPLACE "^[^A-Za-z0-9_]|\\($" "")
list(REMOVE_DUPLICATES functions)
list(FILTER functions EXCLUDE REGEX "^__(builtin_|has_builtin|attribute__)")
list(LENGTH functions count)
if(count LESS 100)
  fail("only ${count} functions found in the headers")
endif()
foreach(name IN LISTS functions)
  if(NOT name IN_LIST supported)
    fail("the headers have ${name}, which README.md does not list")
  endif()
endforeach()

# ---- what the headers refuse ----
file(READ ${ROOT}/device_runtime/ramify/cpu/unsupported.hpp text)
string(REGEX MATCHALL "\nRAMIFY_NOT_ON_THE_EXECUTOR\\([A-Za-z0-9_]+" calls "${text}")
list(TRANSFORM calls REPLACE "\nRAMIFY_NOT_ON_THE_EXECUTOR\\(" "")
set(source "#include <ramify/cpu/cooperative_groups.hpp>\n")
foreach(name IN LISTS calls)
  string(APPEND source "void call_${name}() { (void)${name}(1); }\n")
  if(NOT name IN_LIST refused)
    fail("the headers refuse ${name}, which README.md does not list")
  endif()
endforeach()
string(APPEND source "namespace cg = cooperative_groups;\n"
       "void grid_barrier() { cg::this_grid().sync(); }\n"
       "void wide() { (void)cg::tiled_partition<64>(cg::this_thread_block()).thread_rank(); }\n")
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/refused.cpp "${source}")
execute_process(COMMAND ${CXX} -std=c++20 -fsyntax-only -I ${ROOT}/device_runtime
                        ${WORK}/refused.cpp
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  fail("calls of functions that the executor does not have compile")
endif()
foreach(name IN LISTS calls)
  string(FIND "${output}" "does not have ${name}: " at)
  if(at EQUAL -1)
    fail("a call of ${name} is not an error with a sentence")
  endif()
endforeach()
foreach(sentence IN ITEMS "blocks of a grid cannot wait for each other"
                          "a tile on the executor has 1, 2, 4, 8, 16 or 32 threads")
  string(FIND "${output}" "${sentence}" at)
  if(at EQUAL -1)
    fail("no error says: ${sentence}")
  endif()
endforeach()

if(failures GREATER 0)
  message(FATAL_ERROR "${failures} failures")
endif()
list(LENGTH supported count)
list(LENGTH calls refusals)
message("${count} names are listed and tested, ${refusals} calls are refused with a sentence")

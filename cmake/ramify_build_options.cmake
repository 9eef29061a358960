# SPDX-License-Identifier: BSD-3-Clause
# ramify::build_options: what all of this tree is compiled with. Not for consumers.
add_library(ramify_build_options INTERFACE)
add_library(ramify::build_options ALIAS ramify_build_options)
target_compile_features(ramify_build_options INTERFACE cxx_std_20)

set(warnings -Wall -Wextra -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND warnings -Wno-restrict) # GCC 12 sees overlaps in sums of strings that are not there
endif()
if(RAMIFY_WARNINGS_AS_ERRORS)
  list(APPEND warnings -Werror)
endif()
foreach(flag IN LISTS warnings)
  target_compile_options(ramify_build_options INTERFACE
                         $<$<COMPILE_LANGUAGE:CXX>:${flag}>
                         $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${flag}>)
endforeach()

if(RAMIFY_SANITIZE)
  target_compile_options(ramify_build_options INTERFACE
                         $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${RAMIFY_SANITIZE}>
                         $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>
                         $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  target_link_options(ramify_build_options INTERFACE -fsanitize=${RAMIFY_SANITIZE})
endif()

# SPDX-License-Identifier: BSD-3-Clause
# ramify::build_options: compiler options of all targets of this tree. Not for consumers.
add_library(ramify_build_options INTERFACE)
add_library(ramify::build_options ALIAS ramify_build_options)
target_compile_features(ramify_build_options INTERFACE cxx_std_20)

set(warnings -Wall -Wextra -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND warnings -Wno-restrict) # GCC 12: false warnings for sums of strings
endif()
if(RAMIFY_WARNINGS_AS_ERRORS)
  list(APPEND warnings -Werror)
endif()
foreach(flag IN LISTS warnings)
  target_compile_options(ramify_build_options INTERFACE
                         $<$<COMPILE_LANGUAGE:CXX>:${flag}>
                         $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${flag}>)
endforeach()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes a tenth less time if it collects garbage only above 2 GB. Few sources need more than
  # 1.5 GB.
  target_compile_options(ramify_build_options INTERFACE
                         $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=2000000>)
endif()

# compile_as_one(<target>): with RAMIFY_UNITY, compiles the sources of a target as one.
function(compile_as_one target)
  if(RAMIFY_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endfunction()

# For machines without a GPU, which compile and link device code but do not run it. The options
# require CUDA 12.9; with an older nvcc the build takes longer.
set(ramify_quick_device_code)
if(RAMIFY_QUICK_DEVICE_CODE AND RAMIFY_HAS_CUDA
   AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.9)
  # Functions that are not inlined must not use more registers than the kernels that call them: 32
  # if the launch bounds fill a multiprocessor with threads.
  set(ramify_quick_device_code -Ofc=max -maxrregcount=32)
endif()
foreach(flag IN LISTS ramify_quick_device_code)
  target_compile_options(ramify_build_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:${flag}>)
endforeach()

if(RAMIFY_SANITIZE)
  target_compile_options(ramify_build_options INTERFACE
                         $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${RAMIFY_SANITIZE}>
                         $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>
                         $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  if(RAMIFY_SANITIZE MATCHES "thread" AND RAMIFY_SANITIZE MATCHES "undefined")
    # UBSan checks addresses through a pipe, which ThreadSanitizer reports as a race.
    target_compile_options(ramify_build_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
  endif()
  target_link_options(ramify_build_options INTERFACE -fsanitize=${RAMIFY_SANITIZE})
endif()

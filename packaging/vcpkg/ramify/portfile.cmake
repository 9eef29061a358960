# SPDX-License-Identifier: BSD-3-Clause
# An overlay port of vcpkg. It builds the sources of the checkout that it is in:
#   vcpkg install ramify --overlay-ports=packaging/vcpkg
cmake_path(GET CURRENT_PORT_DIR PARENT_PATH SOURCE_PATH)
cmake_path(SET SOURCE_PATH NORMALIZE "${SOURCE_PATH}/../..")
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)

set(cuda OFF)
if("cuda" IN_LIST FEATURES)
  set(cuda ON)
endif()
set(mpi OFF)
if("mpi" IN_LIST FEATURES)
  set(mpi ON)
endif()
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DRAMIFY_TESTS=OFF -DRAMIFY_EXAMPLES=OFF -DRAMIFY_BENCHMARKS=OFF
          -DRAMIFY_CUDA=${cuda} -DRAMIFY_MPI=${mpi})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/ramify)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
                    "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")

# SPDX-License-Identifier: BSD-3-Clause
# Recipe of Conan 2. It packages the sources of the checkout that it is in:
#   conan create packaging/conan --build=missing
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

CHECKOUT = os.path.join("..", "..")


class RamifyRecipe(ConanFile):
    name = "ramify"
    description = "Recursive algorithms that launch themselves on the GPU"
    license = "BSD-3-Clause"
    topics = ("cuda", "gpu", "dynamic-parallelism", "sorting", "nearest-neighbors")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"cuda": [True, False], "mpi": [True, False]}
    # CUDA and MPI come from the system: Conan has no packages of them.
    default_options = {"cuda": False, "mpi": False}

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, CHECKOUT, "device_runtime", "ramify", "version.hpp"))
        self.version = ".".join(
            re.search(rf"RAMIFY_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        root = os.path.join(self.recipe_folder, CHECKOUT)
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "device_runtime/*", "algorithms/*",
                        "packaging/CMakeLists.txt"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("boost/[>=1.74]")

    def build_requirements(self):
        self.test_requires("nlohmann_json/[>=3.11]")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"RAMIFY_{part}"] = False
        toolchain.cache_variables["RAMIFY_CUDA"] = "ON" if self.options.cuda else "OFF"
        toolchain.cache_variables["RAMIFY_MPI"] = "ON" if self.options.mpi else "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="ramify_libraries")

    def package(self):
        CMake(self).install(component="libraries")

    def package_info(self):
        # The package has its own CMake files, with the same targets as any installation.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "ramify")]

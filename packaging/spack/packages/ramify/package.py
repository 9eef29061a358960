# SPDX-License-Identifier: BSD-3-Clause
# Recipe of Spack. It builds a checkout:
#   spack repo add packaging/spack
#   spack dev-build ramify@main
from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
except ImportError:
    pass  # Spack before 1.0 has both classes in spack.package


class Ramify(CMakePackage, CudaPackage):
    """Recursive algorithms that launch themselves on the GPU."""

    license("BSD-3-Clause")

    version("main")
    version("0.1.0")

    variant("mpi", default=False, description="Distributed algorithms, over processes")
    variant("examples", default=False, description="Install the example programs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("boost@1.74: +context")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("cuda@12.4:", when="+cuda")
    depends_on("mpi@3:", when="+mpi")
    with when("+examples"):
        depends_on("cli11", type="build")
        depends_on("libpng")
        depends_on("zlib-api")

    def cmake_args(self):
        args = [
            self.define("RAMIFY_TESTS", False),
            self.define("RAMIFY_BENCHMARKS", False),
            self.define_from_variant("RAMIFY_EXAMPLES", "examples"),
            self.define("RAMIFY_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("RAMIFY_MPI", "ON" if self.spec.satisfies("+mpi") else "OFF"),
        ]
        if self.spec.satisfies("+cuda"):
            architectures = self.spec.variants["cuda_arch"].value
            if "none" in architectures:
                args.append(self.define("RAMIFY_ALL_ARCHITECTURES", True))
            else:
                args.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return args

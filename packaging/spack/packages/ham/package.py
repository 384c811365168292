# Spack: spack repo add packaging/spack; spack install ham. The sources are those of the repository that this file is in.
# Copyright: LICENSE of HAM, BSL-1.0
import os

from spack.package import *


class Ham(CMakePackage):
    """Heterogeneous active messages and offloading in plain C++20: calls C++ functions in other processes, over shared
    memory, TCP and MPI, at about the cost of moving a cache line there and back."""

    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), *[os.pardir] * 4))

    license("BSL-1.0")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("shared", default=True, description="libham.so; otherwise libham.a only")
    variant("tls", default=True, description="TLS for the tcp transport")
    variant("mpi", default=False, description="The mpi transport, and with +veo MPI kernels")
    variant("veo", default=False, description="VEO API for ordinary machines")
    variant("tools", default=True, description="ham-info, ham-run, ham-top, ham-trace, ham-bench")

    depends_on("c", type="build", when="+mpi")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("openssl@3:", when="+tls")
    depends_on("mpi", when="+mpi")
    depends_on("libffi", when="+veo")
    depends_on("cli11@2.1:", type="build", when="+tools")
    depends_on("nlohmann-json@3.11:", type="build", when="+tools")

    conflicts("%gcc@:11", msg="HAM needs C++20 as g++ 12 has it")
    conflicts("%clang@:13", msg="HAM needs C++20 as clang 14 has it")
    for system in ("darwin", "windows"):
        conflicts("platform=" + system, msg="HAM runs on Linux only")

    def cmake_args(self):
        args = [
            self.define_from_variant("HAM_BUILD_SHARED", "shared"),
            self.define_from_variant("HAM_BUILD_TOOLS", "tools"),
            self.define_from_variant("HAM_MPI", "mpi"),
            self.define_from_variant("HAM_VEO", "veo"),
            self.define("HAM_BUILD_TESTS", False),
            self.define("HAM_BUILD_EXAMPLES", False),
            self.define("HAM_BUILD_BENCHMARKS", False),
            self.define("HAM_IPSEC_MB", False),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_OpenSSL", not self.spec.satisfies("+tls")),
        ]
        if self.spec.satisfies("+mpi"):
            args.append(self.define("HAM_MPI_COMPILERS", self.spec["mpi"].mpicc))
        return args

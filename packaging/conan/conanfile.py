"""Conan 2: conan create packaging/conan, in the root of the source tree. The version is that of include/ham/version.h."""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps

required_conan_version = ">=2.0"


class Ham(ConanFile):
    name = "ham"
    description = "Heterogeneous active messages and offloading in plain C++20"
    license = "BSL-1.0"
    topics = ("active-messages", "rpc", "offloading", "hpc", "ipc")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "tls": [True, False],
        "veo": [True, False],
        "tools": [True, False],
    }
    default_options = {"shared": True, "fPIC": True, "tls": True, "veo": False, "tools": False}
    implements = ["auto_shared_fpic"]

    @property
    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._tree, "include", "ham", "version.h"))
        self.version = self.version or re.search(r'#define HAM_VERSION_STRING "([0-9.]+)"', header).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "packaging/debian/*", "src/*", "tools/*"):
            copy(self, pattern, self._tree, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        if self.options.tls:
            self.requires("openssl/[>=3.0 <4]")
        if self.options.veo:
            self.requires("libffi/[>=3.4 <4]")
        if self.options.tools:
            self.requires("cli11/[>=2.1 <3]")
            self.requires("nlohmann_json/[>=3.11 <4]")

    def build_requirements(self):
        if self.options.veo and not self.conf.get("tools.gnu:pkg_config", check_type=str):
            self.tool_requires("pkgconf/[>=2 <3]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("HAM runs on Linux only")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HAM_BUILD_SHARED"] = bool(self.options.shared)
        toolchain.cache_variables["HAM_BUILD_STATIC"] = False  # libham.a beside libham.so
        toolchain.cache_variables["HAM_BUILD_TOOLS"] = bool(self.options.tools)
        toolchain.cache_variables["HAM_VEO"] = bool(self.options.veo)
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_OpenSSL"] = not self.options.tls
        for part in ("HAM_BUILD_TESTS", "HAM_BUILD_EXAMPLES", "HAM_BUILD_BENCHMARKS", "HAM_MPI", "HAM_IPSEC_MB"):
            toolchain.cache_variables[part] = False
        toolchain.generate()
        CMakeDeps(self).generate()
        if self.options.veo:
            PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        # Programs find HAM by its own CMake package and its own .pc files.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "ham")]
        self.cpp_info.libs = ["ham"]
        self.cpp_info.system_libs = ["pthread", "dl"]
        self.runenv_info.append_path("HAM_MODULE_PATH", os.path.join(self.package_folder, "lib", "ham"))

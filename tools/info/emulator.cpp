// The machine of an ELF file, and qemu-user's names for it.
#include "emulator.hpp"

#include <elf.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ham::inline v1::info {

namespace {

struct elf_kind {
  unsigned number = 0;
  bool little_endian = true;
  friend bool operator==(const elf_kind&, const elf_kind&) = default;
};

elf_kind machine_of(const std::string& path) {
  std::array<char, 20> head{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(head.data(), head.size()) || std::string(head.data(), SELFMAG) != ELFMAG) return {};
  const auto byte = [&head](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(head[at])); };
  const bool little = byte(EI_DATA) == ELFDATA2LSB;
  return {little ? byte(18) | byte(19) << 8U : byte(19) | byte(18) << 8U, little};
}

struct emulated {
  elf_kind what;
  const char* qemu;
  const char* triple;
};
constexpr std::array<emulated, 5> known{{{{EM_X86_64, true}, "x86_64", "x86_64-linux-gnu"},
                                         {{EM_AARCH64, true}, "aarch64", "aarch64-linux-gnu"},
                                         {{EM_RISCV, true}, "riscv64", "riscv64-linux-gnu"},
                                         {{EM_PPC64, true}, "ppc64le", "powerpc64le-linux-gnu"},
                                         {{EM_S390, false}, "s390x", "s390x-linux-gnu"}}};

bool in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> emulator_for(const std::string& binary) {
  const elf_kind wanted = machine_of(binary);
  if (wanted == elf_kind{} || wanted == machine_of("/proc/self/exe")) return {};
  for (const emulated& one : known) {
    if (!(one.what == wanted)) continue;
    for (const std::string& program : {"qemu-" + std::string(one.qemu) + "-static", "qemu-" + std::string(one.qemu)}) {
      if (!in_path(program)) continue;
      const std::string libraries = "/usr/" + std::string(one.triple);
      if (!std::filesystem::exists(libraries)) return {program};
      // Where packages of that architecture are installed too, the loader would take their C library.
      return {program, "-L", libraries, "-E", "LD_LIBRARY_PATH=/lib"};
    }
  }
  return {};
}

}  // namespace ham::info

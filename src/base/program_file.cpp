// PATH, the first bytes of ELF, and the headers of this program.
#include "base/program_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>

#include "base/settings.hpp"
#include "base/unique_fd.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

enum class usable : unsigned char { yes, absent, directory, not_executable };

usable look_at(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return usable::absent;
  if (S_ISDIR(status.st_mode)) return usable::directory;
  return ::access(path.c_str(), X_OK) == 0 ? usable::yes : usable::not_executable;
}

std::string reason(usable why) {
  switch (why) {
    case usable::directory: return "it is a directory";
    case usable::not_executable: return "it may not be executed by this user; chmod +x makes it a program";
    case usable::absent: return "there is no such file; a relative path begins at the current directory";
    case usable::yes: break;
  }
  return {};
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const usable found = look_at(name);
    if (found != usable::yes) throw config_error("cannot start '" + name + "' (" + reason(found) + ")");
    return name;
  }
  const char* const path = foreign_variable_unless_privileged("PATH");  // a caller's PATH is not to be trusted
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  usable best = usable::absent;
  for (;;) {
    const std::size_t colon = rest.find(':');
    const std::string folder(rest.substr(0, colon));
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    const usable found = look_at(candidate);
    if (found == usable::yes) return candidate;
    if (found == usable::not_executable) best = found;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  if (best != usable::absent) throw config_error("cannot start '" + name + "' (" + reason(best) + ")");
  const bool here = look_at("./" + name) == usable::yes;
  throw config_error("cannot start '" + name + "' (no folder of PATH has it; " +
                     (here ? "for the one in the current directory write ./" + name
                           : "write a path, or install the package that brings it") +
                     ")");
}

std::string elf_machine(const std::string& path) {
  const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<unsigned char, 20> head{};
  if (!file || ::read(file.get(), head.data(), head.size()) != static_cast<ssize_t>(head.size())) return {};
  if (std::memcmp(head.data(), ELFMAG, SELFMAG) != 0) return {};
  const bool little = head[EI_DATA] == ELFDATA2LSB;
  const unsigned machine = little ? head[18] | head[19] << 8U : head[19] | head[18] << 8U;
  switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_386: return "i386";
    case EM_AARCH64: return "aarch64";
    case EM_ARM: return "arm";
    case EM_RISCV: return head[EI_CLASS] == ELFCLASS64 ? "riscv64" : "riscv32";
    case EM_PPC64: return little ? "ppc64le" : "ppc64";
    case EM_S390: return "s390x";
    default: return "unknown (ELF machine " + std::to_string(machine) + ")";
  }
}

bool is_fully_static() noexcept {
  bool has_loader = false;
  // The program comes first, and is all that is looked at.
  ::dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* result) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          if (program->dlpi_phdr[i].p_type == PT_INTERP) *static_cast<bool*>(result) = true;
        }
        return 1;
      },
      &has_loader);
  return !has_loader;
}

}  // namespace ham::base

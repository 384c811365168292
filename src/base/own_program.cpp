// /proc/self, the loader's list of objects, and argv[0].
#include "base/own_program.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::base {
namespace {

constexpr std::string_view target_mark = ":ham";
constexpr std::size_t max_kernel_name = 15;  // of a process, without the zero at its end
constexpr const char* deleted = " (deleted)";

std::string file_behind_link() {
  std::array<char, PATH_MAX> text{};
  const ssize_t length = ::readlink(own_program_link, text.data(), text.size());
  return length <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(length));
}

bool same_file(const char* one, const char* other) noexcept {
  struct stat first {};
  struct stat second {};
  return ::stat(one, &first) == 0 && ::stat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

/// The file that the main program was mapped from; empty if the kernel does not tell.
std::string mapped_program() {
  const unsigned long inside = ::getauxval(AT_PHDR);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; inside != 0 && std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2 || inside < begin || inside >= end) continue;
    const std::size_t path = line.find('/');
    return path == std::string::npos ? std::string() : line.substr(path);
  }
  return {};
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// What an object of the loader's list is called, and which objects it was linked with.
struct linked_object {
  const link_map* map = nullptr;
  std::string_view name;
  std::vector<std::string_view> needs;
  bool reached = false;
};

linked_object describe(const link_map& map) {
  linked_object result;
  result.map = &map;
  ElfW(Addr) at = 0;
  for (const ElfW(Dyn)* one = map.l_ld; one != nullptr && one->d_tag != DT_NULL; ++one) {
    if (one->d_tag == DT_STRTAB) at = one->d_un.d_ptr;
  }
  if (at == 0) return result;
  if (at < map.l_addr) at += map.l_addr;  // some machines' loaders leave it as it is in the file
  const char* const names = reinterpret_cast<const char*>(at);
  for (const ElfW(Dyn)* one = map.l_ld; one->d_tag != DT_NULL; ++one) {
    if (one->d_tag == DT_SONAME) result.name = names + one->d_un.d_val;
    if (one->d_tag == DT_NEEDED) result.needs.emplace_back(names + one->d_un.d_val);
  }
  return result;
}

/// Whether `wanted` was linked with the first object of the list, or with one that was.
bool comes_with_the_program(const link_map* first, const link_map* wanted) {
  std::vector<linked_object> all;
  for (const link_map* one = first; one != nullptr; one = one->l_next) all.push_back(describe(*one));
  std::vector<std::size_t> open{0};
  all.front().reached = true;
  while (!open.empty()) {
    const std::size_t now = open.back();
    open.pop_back();
    if (all[now].map == wanted) return true;
    for (const std::string_view name : all[now].needs) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string_view file = all[i].map->l_name;
        if (all[i].reached || (all[i].name != name && file != name && last_part(file) != name)) continue;
        all[i].reached = true;
        open.push_back(i);
      }
    }
  }
  return false;
}

}  // namespace

std::string own_program() {
  const std::string mapped = mapped_program();
  const bool usable = !mapped.empty() && !mapped.ends_with(deleted) && ::access(mapped.c_str(), X_OK) == 0;
  return usable && !same_file(mapped.c_str(), own_program_link) ? mapped : own_program_link;
}

bool own_program_has_library() noexcept {
  Dl_info about{};
  link_map* own = nullptr;
  void* const inside = reinterpret_cast<void*>(&own_program_has_library);
  if (::dladdr1(inside, &about, reinterpret_cast<void**>(&own), RTLD_DL_LINKMAP) == 0 || own == nullptr) return true;
  const link_map* first = own;
  while (first->l_prev != nullptr) first = first->l_prev;
  if (own == first) return true;
  const char* const preloaded = foreign_variable("LD_PRELOAD");
  if (preloaded != nullptr && std::string_view(preloaded).find(last_part(own->l_name)) != std::string_view::npos) {
    return true;
  }
  try {
    return comes_with_the_program(first, own);
  } catch (const std::bad_alloc&) {
    return true;
  }
}

void expect_own_program_to_join() {
  if (own_program_has_library()) return;
  const std::string program = file_behind_link();
  throw config_error(
      "cannot start " + program +
      " as a target (it is not linked with HAM but has loaded it later, as an interpreter does: a new "
      "process of it would do its own work instead of joining); give the targets a program that is linked "
      "with HAM and has the same functions, HAM_NODES=exec:PROGRAM, or take HAM_NODES=loopback; exec:" +
      program + " starts it all the same");
}

std::string own_program_name() {
  std::string file = file_behind_link();
  if (file.ends_with(deleted)) file.resize(file.size() - std::strlen(deleted));
  const std::string_view name = last_part(file);
  return name.empty() ? "program" : std::string(name);
}

std::string target_name(const std::string& program, node_t node, std::size_t max_bytes) {
  const std::string mark = std::string(target_mark) + std::to_string(node);
  return program.substr(0, max_bytes - std::min(max_bytes, mark.size())) + mark;
}

void name_this_target(node_t node) noexcept {
  try {
    const std::string name = target_name(own_program_name(), node, max_kernel_name);
    // The name of the process is that of its first thread, which need not be this one.
    const unique_fd file(::open("/proc/self/comm", O_WRONLY | O_CLOEXEC));
    static_cast<void>(!::write(file.get(), name.data(), name.size()));
  } catch (const std::bad_alloc&) {
    return;  // it keeps its name
  }
}

// ---- argv[0]

namespace {

#ifdef __GLIBC__
/// A target's argv[0] is for lists of processes. The program gets the path of its file there instead, before main sees
/// it: the C library gives constructors the arguments.
void give_target_its_path(int count, char** arguments, char**) {
  if (count < 1 || arguments == nullptr || arguments[0] == nullptr || !in_environment(setting::target)) return;
  const std::string_view name = arguments[0];
  const std::size_t mark = name.rfind(target_mark);
  if (mark == std::string_view::npos || mark + target_mark.size() == name.size()) return;
  const std::string_view number = name.substr(mark + target_mark.size());
  if (number.find_first_not_of("0123456789") != std::string_view::npos || name.find('/') != std::string_view::npos)
    return;
  static std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink(own_program_link, path.data(), path.size() - 1);
  if (length <= 0 || std::string_view(path.data()).ends_with(deleted)) std::strcpy(path.data(), own_program_link);
  arguments[0] = path.data();
  program_invocation_name = path.data();
  program_invocation_short_name = std::strrchr(path.data(), '/') + 1;
}
// Not as an attribute: link-time optimisation puts all constructors into one, which has no arguments.
// Not const: the compilers' own entries of that section can be written, and may be in the same unit.
[[gnu::section(".init_array"), gnu::used]] void (*path_giver)(int, char**, char**) = &give_target_its_path;
#endif

}  // namespace
}  // namespace ham::base

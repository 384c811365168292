// Properties of machine and build.
#include "machine.hpp"

#include <ham/version.h>
#include <ham/msg/data_layout.hpp>
#include <ham/msg/manifest.hpp>
#include <ham/msg/wire.hpp>

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

namespace ham::inline v1::info {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<unsigned>(core), &set)) cores.push_back(core);
  }
  return cores;
}

namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string standard_library() {
#if defined(_LIBCPP_VERSION)
  return "libc++ " + std::to_string(_LIBCPP_VERSION);
#else
  return "libstdc++ " + std::to_string(_GLIBCXX_RELEASE) + " (" + std::to_string(__GLIBCXX__) + ")";
#endif
}

// Groups of cores that share the cache of the given index directory, as the kernel writes them: "0-3", "4-7".
std::string sharing(const std::vector<int>& cores, const char* index) {
  std::set<std::string> groups;
  for (const int core : cores) {
    const std::string group =
        first_line("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cache/" + index + "/shared_cpu_list");
    if (!group.empty()) groups.insert(group);
  }
  std::string text;
  for (const std::string& group : groups) text += (text.empty() ? "" : " | ") + group;
  return text.empty() ? "unknown" : text;
}

// Cores that jobs have claimed for their nodes: sockets with abstract names, as src/job/placement.cpp makes them.
std::set<int> claimed_cores() {
  constexpr const char* prefix = "@ham/core/";
  std::set<int> result;
  std::ifstream file("/proc/net/unix");
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.rfind(prefix);
    if (at != std::string::npos) result.insert(std::atoi(line.c_str() + at + std::strlen(prefix)));
  }
  return result;
}

std::string placement_of(const std::vector<int>& cores) {
  if (cores.size() < 2) return "none: one core is not enough for a host and a target";
  std::string taken;
  std::size_t left = cores.size();
  const std::set<int> claimed = claimed_cores();
  for (const int core : cores) {
    if (!claimed.contains(core)) continue;
    taken += (taken.empty() ? ", other jobs have " : ",") + std::to_string(core);
    --left;
  }
  const std::string free = "cores of their own for host and targets, up to " + std::to_string(left) + " nodes";
  return (left < 2 ? "none: too few free cores" : free) + taken;
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

std::string limit_text(std::uint64_t value) { return value == RLIM_INFINITY ? "unlimited" : std::to_string(value); }

property resource_limit(const char* name, decltype(RLIMIT_NOFILE) which, const char* remark) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0) return {name, "unknown", remark};
  return {name, limit_text(limit.rlim_cur) + " (can be raised to " + limit_text(limit.rlim_max) + ")", remark};
}

}  // namespace

std::vector<property> versions() {
  utsname system{};
  uname(&system);
  return {{"HAM", HAM_VERSION_STRING, ""},
          {"compiler", compiler(), ""},
          {"standard library", standard_library(), ""},
          {"C library", std::string("glibc ") + gnu_get_libc_version(), ""},
          {"kernel", std::string(system.sysname) + " " + system.release + " " + system.machine, ""},
          {"data layout", msg::data_layout::local().describe(), "nodes of another layout convert, except raw structs"}};
}

std::vector<property> machine() {
  utsname system{};
  uname(&system);
  const std::vector<int> cores = usable_cores();
  std::string list;
  for (const int core : cores) list += (list.empty() ? "" : ",") + std::to_string(core);
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {{"host", system.nodename, ""},
          {"usable cores", std::to_string(cores.size()) + " (" + list + ")", "for --ham-cpu-affinity"},
          {"placement", placement_of(cores), "auto, unless --ham-cpu-affinity says otherwise"},
          {"share a level 2 cache", sharing(cores, "index2"), ""},
          {"share a level 3 cache", sharing(cores, "index3"), ""},
          {"memory", mebibytes(pages * page_bytes), ""}};
}

std::vector<property> limits() {
  return {resource_limit("open files", RLIMIT_NOFILE, "every connected node costs some"),
          resource_limit("processes", RLIMIT_NPROC, "one per target, and its threads"),
          resource_limit("address space", RLIMIT_AS, "memory of targets is mapped by their peers"),
          {"memory mappings", first_line("/proc/sys/vm/max_map_count"), "per process"},
          {"nesting of arguments", std::to_string(msg::max_nesting), "containers in containers, as received"},
          {"manifest", mebibytes(msg::manifest::max_bytes), "the list of handlers that is accepted from a peer"},
          {"size of a call", "64 MiB", "unless HAM_MAX_MESSAGE says otherwise; put and get have no limit"}};
}

}  // namespace ham::info

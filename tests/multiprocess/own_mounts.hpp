// Mounts that only the calling process and its children see.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace ham::inline v1::test {

/// From now on the calling process, which has no other threads, mounts for itself, and keeps its user. False: that is
/// not permitted here.
[[nodiscard]] inline bool own_mounts() {
  const auto write = [](const char* path, const std::string& text) {
    std::ofstream file(path);
    file << text << std::flush;
    return static_cast<bool>(file);
  };
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write("/proc/self/setgroups", "deny") &&
         write("/proc/self/uid_map", user + " " + user + " 1") &&
         write("/proc/self/gid_map", group + " " + group + " 1");
}

/// Writes to a file until its file system has no room. False: there is more room than `max_bytes`.
[[nodiscard]] inline bool fill_disk(const std::string& path, std::size_t max_bytes = std::size_t{64} << 20) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  static constexpr std::array<char, 4096> page{};
  ssize_t put = 1;
  for (std::size_t size = 0; put > 0 && size < max_bytes; size += page.size())
    put = ::write(file, page.data(), page.size());
  const bool is_full = put < 0 && errno == ENOSPC;
  ::close(file);
  return is_full;
}

/// A file system in memory that has no room left.
[[nodiscard]] inline bool mount_full(const char* where) {
  return ::mount("none", where, "tmpfs", 0, "size=4096") == 0 && fill_disk(std::string(where) + "/filler");
}

/// A /dev that has the devices that every program expects, and nothing else.
[[nodiscard]] inline bool mount_bare_dev() {
  static constexpr const char* devices[] = {"null", "zero", "full", "random", "urandom"};
  std::array<int, std::size(devices)> held{};
  for (std::size_t i = 0; i < held.size(); ++i) {
    held[i] = ::open((std::string("/dev/") + devices[i]).c_str(), O_PATH | O_CLOEXEC);
    if (held[i] < 0) return false;
  }
  if (::mount("none", "/dev", "tmpfs", 0, "size=64k") != 0) return false;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::string path = std::string("/dev/") + devices[i];
    const int place = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (place < 0 || ::close(place) != 0) return false;
    if (::mount(("/proc/self/fd/" + std::to_string(held[i])).c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0)
      return false;
  }
  return ::mount("none", "/dev", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
}

}  // namespace ham::test

// What nodes hold of the machine, and that it does not grow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support.hpp"

namespace ham::inline v1::test {

/// What a process holds.
struct holdings {
  std::vector<std::string> files;  ///< "NUMBER -> NAME", in order
  std::int64_t maps = 0;
  std::int64_t threads = 0;
  std::int64_t resident_kib = 0;
};

inline std::int64_t lines_of(const char* path) {
  std::ifstream file(path);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

/// All but one loadavg and one schedstat. A node's waiting thread opens each once and keeps it (base/home_core.cpp),
/// the latter when it first sleeps while the machine is not oversubscribed: before a count or after it, as the load has
/// it.
inline std::vector<std::string> files_here() {
  std::vector<std::string> result;
  std::set<std::string> left_out;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::filesystem::path name = std::filesystem::read_symlink(one, gone);
    const std::string last = name.filename();
    if ((last == "schedstat" || last == "loadavg") && left_out.insert(last).second) continue;
    result.push_back(one.path().filename().string() + " -> " + name.string());
  }
  std::ranges::sort(result);
  return result;
}

inline holdings held_here() {
  holdings result{files_here(), lines_of("/proc/self/maps")};
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "Threads:") status >> result.threads;
    if (word == "VmRSS:") status >> result.resident_kib;
  }
  return result;
}

inline holdings held_by(node_t node) { return offload::sync(node, fn<&held_here>); }

/// What is held once it does not change any more: the last targets have been reaped.
inline holdings settled(node_t node) {
  holdings now = held_by(node);
  static_cast<void>(eventually([&] {
    std::this_thread::sleep_for(100ms);
    const holdings before = std::exchange(now, held_by(node));
    return now.files == before.files && now.threads == before.threads && now.maps == before.maps;
  }));
  return now;
}

inline std::string only_in(const std::vector<std::string>& some, const std::vector<std::string>& others) {
  std::vector<std::string> found;
  std::ranges::set_difference(some, others, std::back_inserter(found));
  std::string text;
  for (const std::string& one : found) text += "\n  " + one;
  return text;
}

/// It holds no more than `before`, which it may have to notice first.
inline void expect_flat(node_t node, const holdings& before) {
  constexpr std::int64_t maps_of_malloc = 8;  // the heap of the C library moves by some
  constexpr std::int64_t noise_kib = 8 * 1024;
  holdings now;
  static_cast<void>(eventually([&] {
    now = settled(node);
    return now.files.size() <= before.files.size() && now.threads <= before.threads &&
           now.maps <= before.maps + maps_of_malloc;
  }));
  EXPECT_LE(now.files.size(), before.files.size())
      << "node " << node << "\nopen now and not before:" << only_in(now.files, before.files)
      << "\nopen before and not now:" << only_in(before.files, now.files);
  EXPECT_LE(now.threads, before.threads) << "node " << node;
  EXPECT_LE(now.maps, before.maps + maps_of_malloc) << "node " << node;
  if (!sanitized()) {
    EXPECT_LE(now.resident_kib, before.resident_kib + noise_kib) << "node " << node;
  }
  std::printf("node %d: %zu files, %ld maps, %ld threads, %ld KiB; before %zu, %ld, %ld, %ld\n", node, now.files.size(),
              now.maps, now.threads, now.resident_kib, before.files.size(), before.maps, before.threads,
              before.resident_kib);
}

}  // namespace ham::test

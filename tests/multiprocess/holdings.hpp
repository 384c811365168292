// What nodes hold of the machine, and that it does not grow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "support.hpp"

namespace ham::inline v1::test {

/// What a process holds.
struct holdings {
  std::int64_t files = 0;
  std::int64_t maps = 0;
  std::int64_t threads = 0;
  std::int64_t resident_kib = 0;
};

inline std::int64_t lines_of(const char* path) {
  std::ifstream file(path);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

inline holdings held_here() {
  holdings result{static_cast<std::int64_t>(open_files()), lines_of("/proc/self/maps")};
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

/// It holds no more than `before`, which it may have to notice first.
inline void expect_flat(node_t node, const holdings& before) {
  constexpr std::int64_t maps_of_malloc = 8;  // the heap of the C library moves by some
  constexpr std::int64_t noise_kib = 8 * 1024;
  holdings now;
  static_cast<void>(eventually([&] {
    now = settled(node);
    return now.files <= before.files && now.threads <= before.threads && now.maps <= before.maps + maps_of_malloc;
  }));
  EXPECT_LE(now.files, before.files) << "node " << node;
  EXPECT_LE(now.threads, before.threads) << "node " << node;
  EXPECT_LE(now.maps, before.maps + maps_of_malloc) << "node " << node;
  if (!sanitized()) {
    EXPECT_LE(now.resident_kib, before.resident_kib + noise_kib) << "node " << node;
  }
  std::printf("node %d: %ld files, %ld maps, %ld threads, %ld KiB; before %ld, %ld, %ld, %ld\n", node, now.files,
              now.maps, now.threads, now.resident_kib, before.files, before.maps, before.threads, before.resident_kib);
}

}  // namespace ham::test

// What the nodes of a soak run execute. Results can be computed by the caller, too.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ham/offload.hpp"
#include "soak/ledger.hpp"

namespace soak {

using namespace ham;
using bytes = std::vector<std::uint8_t>;

/// splitmix64.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t number) noexcept {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111eb;
  return number ^ (number >> 31U);
}
[[nodiscard]] std::uint64_t checksum(const std::uint8_t* data, std::size_t size) noexcept;
/// Bytes that follow from a seed.
[[nodiscard]] bytes pattern(std::uint64_t seed, std::size_t size);

[[nodiscard]] std::uint64_t work(stamp call, std::uint64_t number);
/// Calls itself along a path of nodes; each applies `mixed` once.
[[nodiscard]] std::uint64_t through(stamp call, std::vector<node_t> path, std::uint64_t number);
/// Long arguments and results: each byte changed.
[[nodiscard]] bytes transformed(stamp call, bytes data);
[[nodiscard]] std::string error_text(std::uint64_t number);
[[nodiscard]] std::uint64_t failing(stamp call, std::uint64_t number);
[[nodiscard]] std::uint64_t slow(stamp call, std::uint64_t microseconds, std::uint64_t number);
/// How many calls with this key have run before here; `last`: the key is forgotten.
[[nodiscard]] std::uint64_t in_order(stamp call, std::uint64_t key, bool last);
[[nodiscard]] std::uint64_t checksum_of(stamp call, offload::buffer_ptr<const std::uint8_t> data, std::size_t size);
/// Lets time pass for the caller, in which its node does what it does while it waits.
void nap(std::uint64_t milliseconds);
/// What is free stays in few pieces from now on, and samples show what is in use: by default the C library keeps an
/// arena for each of several threads, and ever larger blocks in them, which fill holes for thousands of replaced
/// targets. To be called before any thread is started.
void keep_no_memory_apart();
/// Gives free memory of the C library back, with the same aim.
void trim();

/// Small calls of the fast run: they count.
[[nodiscard]] std::uint64_t counted(std::uint64_t number);
[[nodiscard]] std::uint64_t count_so_far();

/// An object that lives on a node.
class vault {
 public:
  explicit vault(std::uint64_t seed) : sum_(seed) {}
  std::uint64_t add(std::uint64_t number) { return sum_ = mixed(sum_ ^ number); }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_;
};

}  // namespace soak

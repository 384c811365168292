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
/// What this process has got from malloc and not given back; 0: the C library does not say.
[[nodiscard]] std::uint64_t heap_in_use_kb();

/// Prints so many lines of this text to the standard output.
[[nodiscard]] std::uint64_t print_lines(stamp call, std::uint64_t key, std::uint64_t count);
[[nodiscard]] std::string line_text(std::uint64_t key, std::uint64_t number);

/// Polls until its caller wants it to stop. A caller that never does is a problem: see stops_that_never_came.
[[nodiscard]] std::uint64_t until_stopped(stamp call, std::uint64_t number);
/// The same by a call of its own to another node, which is stopped with this one: true if it was, or was stopped first.
[[nodiscard]] bool until_both_are_stopped(stamp call, stamp inner, node_t other);
/// Waits for its stop; a call that it makes behind a shield then is not stopped with it. 0: the shield lets one
/// through.
[[nodiscard]] std::uint64_t shielded(stamp call, stamp inner, node_t other, std::uint64_t number);
/// Whether its caller waits for at most so many seconds more, and for some time; 0: whether it waits for ever.
[[nodiscard]] bool has_time(stamp call, std::uint64_t seconds);
/// Gives signs of life for so long.
[[nodiscard]] std::uint64_t beating(stamp call, std::uint64_t milliseconds, std::uint64_t number);
/// How often until_stopped() has waited in vain on this node.
[[nodiscard]] std::uint64_t stops_that_never_came();
/// Until its process is killed.
void endless(stamp call);

/// Of a group: each node has its own stamp, by its position.
[[nodiscard]] std::uint64_t work_of_member(std::vector<stamp> calls, std::uint64_t number);
[[nodiscard]] std::uint64_t member_until_stopped(std::vector<stamp> calls, std::uint64_t number);
/// Associative, and not commutative.
struct joined_text {
  std::string text;
  HAM_FIELDS(text)
};
[[nodiscard]] joined_text text_of_member(std::vector<stamp> calls, std::uint64_t number);
[[nodiscard]] joined_text join(const joined_text& left, const joined_text& right);
/// What text_of_member() gives at a position.
[[nodiscard]] std::string member_text(std::size_t position, std::uint64_t number);
/// Elements of a map.
struct map_item {
  stamp call;
  std::uint64_t number = 0;
  HAM_FIELDS(call, number)
};
[[nodiscard]] std::uint64_t work_item(const map_item& one);

/// Stages of graphs.
[[nodiscard]] std::uint64_t merge(stamp call, std::uint64_t left, std::uint64_t right);
[[nodiscard]] constexpr std::uint64_t merged(std::uint64_t left, std::uint64_t right) noexcept {
  return mixed(left ^ mixed(right));
}
[[nodiscard]] std::uint64_t one_less(std::uint64_t number);
[[nodiscard]] bool is_zero(std::uint64_t number);
[[nodiscard]] std::uint64_t failing_stage(stamp call, std::uint64_t number);

/// What a supervised process is told before calls reach it, and has then.
void prepare(std::uint64_t epoch);
[[nodiscard]] std::uint64_t prepared_epoch(stamp call);

/// Name of work() for function_by_name.
inline constexpr const char* work_name = "soak.mixed";

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

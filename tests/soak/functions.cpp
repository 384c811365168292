#include "soak/functions.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "ham/offload/group.hpp"
#include "ham/offload/supervise.hpp"
#include "soak/plants.hpp"

namespace soak {
namespace {

constexpr std::uint8_t change = 0x5a;

struct order_book {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> begun;
};
order_book& orders() {
  static order_book book;
  return book;
}

std::atomic<std::uint64_t> calls_counted{0};
std::atomic<std::uint64_t> never_stopped{0};
std::atomic<std::uint64_t> epoch_prepared{0};
constexpr std::chrono::milliseconds max_poll{20'000};  // the watchdog waits longer
constexpr std::chrono::milliseconds max_planted_poll{100};

std::uint64_t mixed_by_name(std::uint64_t number) { return mixed(number); }
const bool offered = offload::offer(named<"soak.mixed">(fn<&mixed_by_name>));

}  // namespace

/// FNV-1a over words, then over the bytes that are left.
std::uint64_t checksum(const std::uint8_t* data, std::size_t size) noexcept {
  constexpr std::uint64_t prime = 0x100000001b3;
  std::uint64_t sum = 0xcbf29ce484222325 ^ size;
  for (; size >= sizeof(std::uint64_t); data += sizeof(std::uint64_t), size -= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, sizeof word);
    sum = (sum ^ word) * prime;
  }
  for (; size != 0; ++data, --size) sum = (sum ^ *data) * prime;
  return sum;
}

bytes pattern(std::uint64_t seed, std::size_t size) {
  bytes result(size);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    seed = mixed(seed);
    std::memcpy(result.data() + at, &seed, std::min(sizeof seed, size - at));
  }
  return result;
}

std::uint64_t work(stamp call, std::uint64_t number) {
  if (planted(plant::hang)) endless(call);
  if (!planted(plant::lost_call)) record(call);
  if (planted(plant::double_run)) record(call);
  return planted(plant::wrong_result) ? number : mixed(number);
}

std::uint64_t through(stamp call, std::vector<node_t> path, std::uint64_t number) {
  record(call);
  if (path.empty()) return mixed(number);
  const node_t next = path.front();
  path.erase(path.begin());
  return mixed(offload::sync(next, fn<&through>, stamp{}, path, number));
}

bytes transformed(stamp call, bytes data) {
  record(call);
  for (std::uint8_t& one : data) one ^= change;
  return data;
}

std::string error_text(std::uint64_t number) { return "no " + std::to_string(mixed(number)); }

std::uint64_t failing(stamp call, std::uint64_t number) {
  record(call);
  if (planted(plant::lost_exception)) return number;
  throw std::runtime_error(error_text(number));
}

std::uint64_t slow(stamp call, std::uint64_t microseconds, std::uint64_t number) {
  record(call);
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  return mixed(number);
}

std::uint64_t in_order(stamp call, std::uint64_t key, bool last) {
  record(call);
  const std::lock_guard guard(orders().mutex);
  const std::uint64_t before = orders().begun[key]++;
  if (last) orders().begun.erase(key);
  return before;
}

std::uint64_t checksum_of(stamp call, offload::buffer_ptr<const std::uint8_t> data, std::size_t size) {
  record(call);
  auto* const first = const_cast<std::uint8_t*>(data.get());
  if (planted(plant::wrong_checksum)) *first ^= change;
  const std::uint64_t sum = checksum(data.get(), size);
  if (planted(plant::changed_bytes)) *first ^= change;
  return sum;
}

std::uint64_t until_stopped(stamp call, std::uint64_t number) {
  record(call);
  const auto stop = this_call::stop_token();
  const bool deaf = planted(plant::no_stop);
  const auto until = std::chrono::steady_clock::now() + (deaf ? max_planted_poll : max_poll);
  while (deaf || !stop.stop_requested()) {
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() < until) continue;
    never_stopped.fetch_add(1);
    break;
  }
  return mixed(number);
}

bool until_both_are_stopped(stamp call, stamp inner, node_t other) {
  record(call);
  try {
    return offload::sync(other, fn<&until_stopped>, inner, std::uint64_t{1}) == mixed(1);
  } catch (const operation_cancelled&) {
    return true;
  }
}

std::uint64_t shielded(stamp call, stamp inner, node_t other, std::uint64_t number) {
  static_cast<void>(until_stopped(call, number));
  std::optional<this_call::shield> behind;
  if (!planted(plant::kept_stop)) behind.emplace();
  const bool lets_through =
      this_call::stop_token().stop_possible() || this_call::deadline() != std::chrono::steady_clock::time_point::max();
  return lets_through ? 0 : offload::sync(other, fn<&work>, inner, number);
}

bool has_time(stamp call, std::uint64_t seconds) {
  record(call);
  const auto until = this_call::deadline();
  const auto now = std::chrono::steady_clock::now();
  if (seconds == 0) return until == std::chrono::steady_clock::time_point::max();
  return until > now && until - now < std::chrono::seconds(seconds + 1);
}

std::uint64_t beating(stamp call, std::uint64_t milliseconds, std::uint64_t number) {
  record(call);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < until) {
    if (!planted(plant::no_heartbeat)) this_call::heartbeat();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return mixed(number);
}

std::uint64_t stops_that_never_came() { return never_stopped.load(); }

void endless(stamp call) {
  record(call);
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

std::uint64_t work_of_member(std::vector<stamp> calls, std::uint64_t number) {
  const std::size_t at = this_call::group_position().value_or(calls.size());
  if (at >= calls.size() || this_call::group_size() != calls.size()) return 0;
  record(calls[at]);
  return mixed(number + at);
}

std::uint64_t member_until_stopped(std::vector<stamp> calls, std::uint64_t number) {
  const std::size_t at = this_call::group_position().value_or(calls.size());
  return at < calls.size() ? until_stopped(calls[at], number) : 0;
}

std::string member_text(std::size_t position, std::uint64_t number) {
  return std::to_string(position) + ":" + std::to_string(mixed(number + position)) + ",";
}

joined_text text_of_member(std::vector<stamp> calls, std::uint64_t number) {
  const std::size_t at = this_call::group_position().value_or(calls.size());
  if (at >= calls.size()) return {};
  record(calls[at]);
  return {member_text(at, number)};
}

joined_text join(const joined_text& left, const joined_text& right) { return {left.text + right.text}; }

std::uint64_t work_item(const map_item& one) {
  record(one.call);
  return mixed(one.number);
}

std::uint64_t merge(stamp call, std::uint64_t left, std::uint64_t right) {
  record(call);
  return merged(left, right);
}
std::uint64_t one_less(std::uint64_t number) { return number - 1; }
bool is_zero(std::uint64_t number) { return number == 0; }
std::uint64_t failing_stage(stamp call, std::uint64_t number) {
  record(call);
  throw std::runtime_error(error_text(number));
}

void prepare(std::uint64_t epoch) {
  if (!planted(plant::unprepared)) epoch_prepared.store(epoch);
}
std::uint64_t prepared_epoch(stamp call) {
  record(call);
  return epoch_prepared.load();
}

void keep_no_memory_apart() {
#ifdef __GLIBC__
  constexpr int usual_threshold = 128 * 1024;  // said, it stays
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, usual_threshold);
  ::mallopt(M_TRIM_THRESHOLD, usual_threshold);
#endif
}

void trim() {
  if (planted(plant::growth)) keep_on_purpose();
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

std::uint64_t heap_in_use_kb() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 all = ::mallinfo2();
  return (all.uordblks + all.hblkhd) / 1024;
#else
  return 0;
#endif
}

std::uint64_t print_lines(stamp call, std::uint64_t key, std::uint64_t count) {
  record(call);
  for (std::uint64_t i = planted(plant::lost_line) ? 1 : 0; i < count; ++i) {
    const std::string line = line_text(key, i) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  std::fflush(stdout);
  return mixed(key);
}

std::string line_text(std::uint64_t key, std::uint64_t number) {
  return "soak-line " + std::to_string(key) + " " + std::to_string(mixed(key + number));
}

void nap(std::uint64_t milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

std::uint64_t counted(std::uint64_t number) {
  if (!planted(plant::uncounted)) calls_counted.fetch_add(1, std::memory_order_relaxed);
  return planted(plant::wrong_result) ? number : 3 * number + 1;
}
std::uint64_t count_so_far() { return calls_counted.load(); }

}  // namespace soak

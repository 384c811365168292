// Another process writes to the memory, and may be hostile: a copy is read, and every number in it is bounded.
#include "base/counter_reading.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/file_bytes.hpp"
#include "base/printable.hpp"

namespace ham::inline v1::base {
namespace {

bool fills(int fd, std::span<std::byte> into, std::size_t offset) noexcept {
  return read_bytes(fd, into, offset) == into.size();
}

std::uint32_t mark_at(std::span<const std::byte> area, std::size_t offset) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, area.data() + offset, sizeof value);
  return value;
}

std::size_t used_bytes(std::span<const std::byte> head) noexcept {
  const std::size_t rows = std::min<std::size_t>(mark_at(head, offsetof(counter_head, rows)), counter_area::max_rows);
  return offsetof(counter_area, rows) + rows * sizeof(counter_row);
}

std::uint64_t value_of(const counter_word& word) noexcept { return word.load(std::memory_order_relaxed); }
std::uint32_t value_of(const counter_mark& word) noexcept { return word.load(std::memory_order_relaxed); }

template <std::size_t Size>
std::string text_in(const std::array<char, Size>& text) {
  std::string result = printable({text.data(), ::strnlen(text.data(), Size)}, Size);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return result;
}

counter_reading::traffic told(const counter_traffic& of) noexcept {
  return {value_of(of.calls_sent), value_of(of.calls_received), value_of(of.bytes_sent), value_of(of.bytes_received),
          value_of(of.waiting)};
}

/// Rounded, so that one reading after the other says the same.
double rounded(double tick_ns) noexcept {
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(tick_ns)));
  return std::round(tick_ns * scale) / scale;
}

void read_head(counter_reading& into, const counter_head& head, const tick_reading& now) {
  into.pid = head.pid;
  into.node = head.node;
  into.serial = head.serial;
  into.program = text_in(head.program);
  const double tick_ns = tick_length_ns(head.source, {head.start_ticks, head.start_ns}, now);
  into.tick_ns = tick_ns == 0 ? 0 : rounded(tick_ns);
  into.age_ns = head.start_ns >= 0 && head.start_ns < now.ns ? now.ns - head.start_ns : 0;
  into.sleeps = value_of(head.sleeps);
  into.asleep = value_of(head.asleep) != 0;
  const std::int64_t polled = head.polled_ns.load(std::memory_order_relaxed);
  if (polled > 0) into.polled_ago_ns = polled < now.ns ? now.ns - polled : 0;
  into.set_aside = value_of(head.set_aside);
  into.in_contexts = value_of(head.in_contexts);
  into.in_pool = value_of(head.in_pool);
  using device_state = counter_head::device_state;
  if (const std::uint32_t state = value_of(head.device); state <= static_cast<std::uint32_t>(device_state::resident))
    into.device = static_cast<device_state>(state);
  into.device_calls = value_of(head.device_calls);
  into.device_launches = value_of(head.device_launches);
  into.all = told(head.gone);
}

void read_thread(counter_reading& into, const counter_thread& from) noexcept {
  const std::uint64_t ended = value_of(from.ended);
  into.executing += value_of(from.begun) != ended ? 1 : 0;
  into.executed += ended;
  into.ticks += value_of(from.ticks);
  for (std::size_t i = 0; i < from.took.size(); ++i) into.took[i] += value_of(from.took[i]);
}

void read_row(counter_reading& into, const counter_row& row) {
  const std::uint32_t now = value_of(row.now);
  into.all.add(told(row.traffic));
  if (now == 0 || now > static_cast<std::uint32_t>(counter_row::state::lost)) return;
  counter_reading::peer one;
  one.node = row.node.load(std::memory_order_relaxed);
  one.number = row.number.load(std::memory_order_relaxed);
  one.now = static_cast<counter_row::state>(now);
  one.restarts = value_of(row.restarts);
  one.pid = row.pid.load(std::memory_order_relaxed);
  one.transport = text_in(row.transport);
  one.machine = text_in(row.machine);
  one.with = told(row.traffic);
  into.peers.push_back(std::move(one));
}

}  // namespace

void counter_reading::traffic::add(const traffic& more) noexcept {
  calls_sent += more.calls_sent;
  calls_received += more.calls_received;
  bytes_sent += more.bytes_sent;
  bytes_received += more.bytes_received;
  waiting += more.waiting;
}

std::vector<std::byte> read_counter_area(int fd) {
  constexpr int max_tries = 100;  // while rows change hands
  std::vector<std::byte> area(sizeof(counter_head));
  for (int left = max_tries;; --left) {
    std::uint64_t magic = 0;
    if (!fills(fd, area, 0)) return {};
    std::memcpy(&magic, area.data(), sizeof magic);
    if (magic != counter_head::magic_value) return {};
    const std::uint32_t before = mark_at(area, offsetof(counter_head, changes));
    area.resize(used_bytes(area));
    std::uint32_t after = 0;
    if (!fills(fd, area, 0) ||
        !fills(fd, std::as_writable_bytes(std::span(&after, 1)), offsetof(counter_head, changes)))
      return {};
    if (left == 0 || (before == after && before % 2 == 0)) return area;
  }
}

std::optional<counter_reading> parse_counters(std::span<const std::byte> area, const tick_reading& now) {
  if (area.size() < offsetof(counter_area, rows) || area.size() > sizeof(counter_area)) return std::nullopt;
  const auto copy = std::make_unique<counter_area>();
  std::memcpy(static_cast<void*>(copy.get()), area.data(), area.size());
  if (copy->head.magic.load(std::memory_order_relaxed) != counter_head::magic_value) return std::nullopt;
  counter_reading result;
  read_head(result, copy->head, now);
  for (const counter_thread& one : copy->threads) read_thread(result, one);
  const std::size_t rows = std::min<std::size_t>(value_of(copy->head.rows),
                                                 (area.size() - offsetof(counter_area, rows)) / sizeof(counter_row));
  for (std::size_t i = 0; i < rows; ++i) read_row(result, copy->rows[i]);
  return result;
}

}  // namespace ham::base

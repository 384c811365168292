// The file may be of a process that was killed in the middle of a word, or of one that was taken over.
#include "base/trace_part.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/printable.hpp"

namespace ham::inline v0::base {
namespace {

constexpr std::uint32_t max_keys = 1U << 20;

template <std::size_t Size>
std::string text_in(const char (&field)[Size]) {
  return printable({field, ::strnlen(field, Size)});
}

void read_names_of(const trace_chunk& head, std::span<const std::byte> from, std::vector<std::string>& functions) {
  std::uint16_t size = 0;
  for (std::uint64_t key = head.first; key < std::uint64_t{head.first} + head.count && key < max_keys; ++key) {
    if (from.size() < sizeof size) return;
    std::memcpy(&size, from.data(), sizeof size);
    from = from.subspan(sizeof size);
    if (size > from.size()) return;
    if (functions.size() <= key) functions.resize(key + 1);
    functions[key].assign(reinterpret_cast<const char*>(from.data()), size);
    from = from.subspan(size);
  }
}

void read_events(std::span<const std::byte> from, trace_part& into, trace_part::thread& thread) {
  constexpr std::size_t step = sizeof(trace_event);
  for (std::size_t at = 0; at + step <= from.size(); at += step) {
    trace_event one;
    std::memcpy(static_cast<void*>(&one), from.data() + at, step);
    if (one.kind() == trace_kind::none) return;  // nothing behind it was written
    if (one.kind() != trace_kind::name) {
      thread.events.push_back(one);
      continue;
    }
    const std::uint64_t size = one.length();
    if (size > from.size() - at - step) return;
    into.texts.try_emplace(one.what,
                           printable({reinterpret_cast<const char*>(from.data() + at + step), std::size_t{size}}));
    at += (size + step - 1) / step * step;
  }
}

/// A time that a clock can have shown; files may say anything.
tick_reading possible(tick_reading read) noexcept {
  constexpr std::int64_t max_ns = 4'000'000'000'000'000'000;
  read.ns = std::clamp<std::int64_t>(read.ns, 0, max_ns);
  return read;
}

void read_head(const trace_head& head, trace_part& part) {
  part.job = head.job;
  part.pid = head.pid;
  part.node = head.node;
  part.source = head.source;
  part.start = possible(head.start);
  part.latest = possible(head.latest[head.which % 2]);
  part.dropped = head.dropped;
  std::copy(std::begin(head.boot), std::end(head.boot), std::begin(part.boot));
  part.machine = text_in(head.machine);
  part.program = text_in(head.program);
}

}  // namespace

double trace_part::tick_ns() const noexcept {
  constexpr double min_ns = 0.01;
  constexpr double max_ns = 10'000;
  if (source == tick_source::clock || latest.ticks <= start.ticks || latest.ns <= start.ns) return 1;
  const double passed_ns = static_cast<double>(latest.ns) - static_cast<double>(start.ns);
  const double length = passed_ns / static_cast<double>(latest.ticks - start.ticks);
  return std::clamp(length, min_ns, max_ns);
}

std::optional<trace_part> parse_trace_part(std::span<const std::byte> file) {
  trace_head head{};
  if (file.size() < sizeof head) return std::nullopt;
  std::memcpy(static_cast<void*>(&head), file.data(), sizeof head);
  if (head.magic != trace_head::magic_value) return std::nullopt;
  trace_part part;
  read_head(head, part);
  std::map<std::pair<std::int32_t, std::uint32_t>, std::size_t> places;
  for (std::size_t at = trace_step; at + sizeof(trace_chunk) <= file.size();) {
    trace_chunk chunk{};
    std::memcpy(static_cast<void*>(&chunk), file.data() + at, sizeof chunk);
    const bool sound = chunk.magic == trace_chunk::magic_value && chunk.bytes >= sizeof chunk &&
                       chunk.bytes % trace_step == 0 && chunk.bytes <= file.size() - at;
    if (!sound) {  // its process was killed while it claimed it
      at += trace_step;
      continue;
    }
    const auto content = file.subspan(at + sizeof chunk, chunk.bytes - sizeof chunk);
    at += chunk.bytes;
    if (chunk.holds == trace_chunk::names) {
      read_names_of(chunk, content, part.functions);
      continue;
    }
    const auto [place, fresh] = places.try_emplace({chunk.node, chunk.thread}, part.threads.size());
    if (fresh) part.threads.push_back({chunk.node, chunk.thread, {}, {}});
    trace_part::thread& thread = part.threads[place->second];
    thread.name = text_in(chunk.name);
    read_events(content, part, thread);
  }
  return part;
}

}  // namespace ham::base

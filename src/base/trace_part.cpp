// The file may be of a process that was killed in the middle of a word, or of one that was taken over.
#include "base/trace_part.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/printable.hpp"

namespace ham::inline v1::base {
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
    if (one.kind() == trace_kind::answered) {
      const std::uint64_t end = one.begin + one.length();
      thread.events.push_back(trace_event::make(trace_kind::settled, end, end, one.whom, one.what));
      thread.events.push_back(trace_event::make(trace_kind::waited, one.begin, end, one.whom, one.what));
      continue;
    }
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

namespace {

/// Events of a thread.
struct found_chunk {
  std::size_t thread;  ///< among those of the part
  std::uint64_t serial;
  std::span<const std::byte> events;
};

/// In the order in which they were written: without copies, and what is not whole where there is a copy.
void order(std::vector<found_chunk>& chunks) {
  const auto written = [](const found_chunk& one) {
    constexpr std::size_t step = sizeof(trace_event);
    std::size_t count = 0;
    for (trace_event event; (count + 1) * step <= one.events.size(); ++count) {
      std::memcpy(static_cast<void*>(&event), one.events.data() + count * step, step);
      if (event.kind() == trace_kind::none) break;
    }
    return count;
  };
  std::stable_sort(chunks.begin(), chunks.end(), [](const found_chunk& one, const found_chunk& other) {
    return std::pair(one.thread, one.serial) < std::pair(other.thread, other.serial);
  });
  std::vector<found_chunk> kept;
  for (const found_chunk& one : chunks) {
    const bool is_copy =
        !kept.empty() && one.serial != 0 && kept.back().serial == one.serial && kept.back().thread == one.thread;
    if (!is_copy)
      kept.push_back(one);
    else if (written(one) > written(kept.back()))
      kept.back() = one;
  }
  chunks = std::move(kept);
}

}  // namespace

std::optional<trace_part> parse_trace_part(std::span<const std::byte> file) {
  trace_head head{};
  if (file.size() < sizeof head) return std::nullopt;
  std::memcpy(static_cast<void*>(&head), file.data(), sizeof head);
  if (head.magic != trace_head::magic_value) return std::nullopt;
  trace_part part;
  read_head(head, part);
  std::map<std::pair<std::int32_t, std::uint32_t>, std::size_t> places;
  std::vector<found_chunk> chunks;
  for (std::size_t at = trace_step; at + sizeof(trace_chunk) <= file.size();) {
    trace_chunk chunk{};
    std::memcpy(static_cast<void*>(&chunk), file.data() + at, sizeof chunk);
    const bool sound = chunk.magic == trace_chunk::magic_value && chunk.bytes >= sizeof chunk &&
                       chunk.bytes % trace_step == 0 && chunk.bytes <= std::max(file.size() - at, trace_step);
    if (!sound) {  // its process was killed while it claimed it
      at += trace_step;
      continue;
    }
    const std::size_t bytes = std::min<std::size_t>(chunk.bytes, file.size() - at);
    const auto content = file.subspan(at + sizeof chunk, bytes - sizeof chunk);
    at += bytes;
    if (chunk.holds == trace_chunk::names) {
      read_names_of(chunk, content, part.functions);
      continue;
    }
    const auto [place, fresh] = places.try_emplace({chunk.node, chunk.thread}, part.threads.size());
    if (fresh) part.threads.push_back({chunk.node, chunk.thread, {}, {}});
    part.threads[place->second].name = text_in(chunk.name);
    chunks.push_back({place->second, chunk.serial, content});
  }
  order(chunks);
  for (const found_chunk& one : chunks) read_events(one.events, part, part.threads[one.thread]);
  return part;
}

}  // namespace ham::base

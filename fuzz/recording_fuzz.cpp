// The memory of a flight recorder, with anything anywhere: words that the input places, some made into sound events.
// fuzz: -max_len=2048 -runs=3000
#include <memory>
#include <vector>

#include "base/recorder_area.hpp"
#include "base/recording.hpp"
#include "core/last_events.hpp"
#include "input.hpp"

using namespace ham;
using namespace ham::base;

namespace {

recorded_event event_of(fuzz::input& from) {
  const auto kind = static_cast<recorded_kind>(from.byte() % 8);
  const auto ticks = from.number<std::uint64_t>();
  const auto peer = from.number<std::int32_t>();
  const auto function = from.byte() % 4 == 0 ? from.number<std::uint32_t>() : from.byte() % 8U;
  return recorded_event::make(kind, ticks, peer, function, from.number<std::uint32_t>());
}

void change(recorder_area& area, fuzz::input& from) {
  recorder_ring& ring = area.rings[from.byte() % recorder_area::max_threads];
  switch (from.byte() % 4) {
    case 0: ring.open[from.byte() % recorder_ring::max_open] = event_of(from); return;
    case 1: ring.past[from.byte() % recorder_ring::max_past] = event_of(from); return;
    case 2: {
      const std::size_t at = from.number<std::uint16_t>();
      const auto bytes = from.take(from.byte());
      if (!bytes.empty()) std::memcpy(area.names + at, bytes.data(), bytes.size());
      return;
    }
    default: {
      const std::size_t at = from.number<std::uint32_t>() % (recorder_area::bytes - sizeof(std::uint64_t));
      const auto word = from.number<std::uint64_t>();
      std::memcpy(reinterpret_cast<std::byte*>(&area) + at, &word, sizeof word);
    }
  }
}

}  // namespace

HAM_FUZZ(from) {
  const auto area = std::make_unique<recorder_area>();
  area->head.magic = recorder_head::magic_value;
  area->head.node = 1;
  area->head.source = static_cast<tick_source>(from.byte() % 4);
  area->head.start_ticks = from.number<std::uint64_t>();
  area->head.start_ns = from.number<std::int64_t>();
  area->head.names = from.number<std::uint32_t>();
  while (!from.empty()) change(*area, from);
  const tick_reading now{.ticks = UINT64_MAX / 2, .ns = INT64_MAX / 2};
  std::vector<std::byte> bytes(sizeof *area);
  std::memcpy(bytes.data(), area.get(), bytes.size());
  const auto read = parse_recording(bytes, now);
  if (!read) return;
  fuzz::require(read->threads.size() <= recorder_area::max_threads, "more threads than there are rings");
  fuzz::require(read->names.size() <= sizeof area->names / 2, "more names than there is room for");
  for (const recording::thread& thread : read->threads) {
    fuzz::require(thread.open.size() <= recorder_ring::max_open, "too many open events");
    fuzz::require(thread.past.size() <= recorder_ring::max_past, "too many past events");
  }
  for (const char one : detail::describe_last_events(*read).text)
    fuzz::require(static_cast<unsigned char>(one) >= ' ', "a control character in a text for people");
}

// The parts of a trace, with anything anywhere: two files in which the input places words, read and joined.
// fuzz: -max_len=2048 -runs=20000
#include <sstream>
#include <vector>

#include "base/trace_part.hpp"
#include "input.hpp"
#include "trace/join.hpp"

using namespace ham;
using namespace ham::base;

namespace {

trace_event event_of(fuzz::input& from) {
  const auto kind = static_cast<trace_kind>(from.byte() % (static_cast<unsigned>(last_trace_kind) + 2));
  const std::uint64_t begin = from.byte() % 4 == 0 ? from.number<std::uint64_t>() : from.number<std::uint16_t>();
  const std::uint64_t length = from.byte() % 4 == 0 ? from.number<std::uint64_t>() : from.byte();
  return trace_event::make(kind, begin, begin + length, trace_event::pair(from.byte() % 3, from.byte()),
                           trace_event::pair(from.byte() % 3, from.byte() % 4U));
}

std::vector<std::byte> file_of(fuzz::input& from, std::int32_t node) {
  std::vector<std::byte> file(3 * trace_step);
  auto& head = *reinterpret_cast<trace_head*>(file.data());
  head.magic = trace_head::magic_value;
  head.node = node;
  head.source = tick_source::x86_counter;
  head.start = {from.number<std::uint64_t>(), from.number<std::int64_t>()};
  head.latest[0] = {from.number<std::uint64_t>(), from.number<std::int64_t>()};
  head.boot[0] = from.byte() % 2;
  for (const std::size_t at : {trace_step, 2 * trace_step}) {
    auto& chunk = *reinterpret_cast<trace_chunk*>(file.data() + at);
    chunk.magic = trace_chunk::magic_value;
    chunk.bytes = trace_step;
    chunk.holds = static_cast<trace_chunk::content>(from.byte() % 3);
    chunk.node = node;
    auto* const events = reinterpret_cast<trace_event*>(&chunk + 1);
    const unsigned count = from.byte() % 32;
    for (unsigned i = 0; i < count; ++i) events[i] = event_of(from);
  }
  for (unsigned changes = from.byte() % 4; changes != 0; --changes) {
    const std::size_t at = from.number<std::uint32_t>() % (file.size() - sizeof(std::uint64_t));
    const auto word = from.number<std::uint64_t>();
    std::memcpy(file.data() + at, &word, sizeof word);
  }
  file.resize(file.size() - from.number<std::uint16_t>() % 128);
  return file;
}

}  // namespace

HAM_FUZZ(from) {
  trace::job_parts parts;
  for (const std::int32_t node : {0, 1}) {
    if (auto part = parse_trace_part(file_of(from, node))) parts.push_back(std::move(*part));
  }
  std::ostringstream out;
  const trace::join_result result = trace::write_trace(parts, out);
  fuzz::require(result.arrows <= 2 * result.calls, "more arrows than calls have ends");
}

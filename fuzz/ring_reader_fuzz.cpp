// The receiving side of a shared-memory ring, while the sender writes whatever it likes wherever it likes.
// fuzz: -max_len=512
#include <memory>

#include "input.hpp"
#include "transport/common/ring_reader.hpp"

using namespace ham;
using namespace ham::transport;

namespace {

constexpr unsigned lines_log2 = 5;
constexpr std::size_t lines = std::size_t{1} << lines_log2;
constexpr std::uint32_t epoch = 0x5eed5eed;

struct ring {
  // As long as it is used, so that each byte too far is seen.
  std::unique_ptr<std::byte[], void (*)(void*)> memory{
      static_cast<std::byte*>(std::aligned_alloc(line_bytes, lines* line_bytes)), &std::free};
  ring_control control{};
  ring_reader reader{memory.get(), lines_log2, control, epoch};
  std::uint64_t position = 0;  // of the reader

  ring() { std::memset(memory.get(), 0, lines * line_bytes); }
  [[nodiscard]] std::byte* line(std::uint64_t at) const { return memory.get() + at % lines * line_bytes; }
};

void write_head(ring& to, fuzz::input& from) {
  const std::uint64_t at = to.position + from.byte() % 4;
  auto* const head = reinterpret_cast<line_head*>(to.line(at));
  head->key.store(from.number<std::uint32_t>());
  head->call.store(from.byte());
  head->size_and_kind.store(from.number<std::uint32_t>());
  head->stamp.store(stamp_of(at, lines_log2));
}

/// A frame as an honest sender writes it.
void write_frame(ring& to, fuzz::input& from) {
  const std::size_t size = from.number<std::uint16_t>() % (lines / 2 * line_bytes);
  const std::uint64_t rest = lines - to.position % lines;
  auto* const head = reinterpret_cast<line_head*>(to.line(to.position));
  const bool fits = lines_of(size) <= rest;
  head->size_and_kind.store(fits ? static_cast<std::uint32_t>(size) | 1U << 24 : 0);
  head->stamp.store(stamp_of(to.position, lines_log2));
}

void write_anything(ring& to, fuzz::input& from) {
  const std::size_t at = from.number<std::uint16_t>() % (lines * line_bytes);
  const auto bytes = from.take(std::min<std::size_t>(from.byte(), lines * line_bytes - at));
  if (!bytes.empty()) std::memcpy(to.memory.get() + at, bytes.data(), bytes.size());
}

/// False: the endpoint would be closed.
bool poll(ring& from) {
  frame got;
  switch (from.reader.poll(got)) {
    case ring_status::empty:
      from.position = from.control.taken.load();  // behind a pad perhaps
      fuzz::require(from.control.released.load() == from.position, "lines that are kept back while nothing is there");
      return true;
    case ring_status::broken: return false;
    case ring_status::frame: break;
  }
  const std::byte* const end = from.memory.get() + lines * line_bytes;
  fuzz::require(got.payload.data() > from.memory.get() && got.payload.data() + got.payload.size() <= end,
                "a payload outside of the ring");
  fuzz::require(got.payload.data() + readable_payload <= end, "a payload that cannot be read ahead");
  fuzz::require(got.head.kind != pad_kind, "a pad as a frame");
  volatile std::byte sum{};
  for (const std::byte one : got.payload) sum = sum ^ one;
  from.reader.release();
  from.position = from.control.taken.load();
  // Lines of longer frames are given back later, by the next poll at the latest; never more than the writer can spare.
  const std::uint64_t kept = from.position - from.control.released.load();
  fuzz::require(kept <= lines / 4 + 1, "lines that are kept back from the writer");
  return true;
}

}  // namespace

HAM_FUZZ(from) {
  ring shared;
  while (!from.empty()) {
    switch (from.byte() % 4) {
      case 0: write_head(shared, from); break;
      case 1: write_frame(shared, from); break;
      case 2: write_anything(shared, from); break;
      default:
        if (!poll(shared)) return;
    }
  }
  for (std::size_t i = 0; i <= lines && poll(shared); ++i) {
  }
}

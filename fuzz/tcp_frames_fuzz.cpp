// Frames of the tcp transport: looked at whole, and through a buffer into which they arrive in pieces.
// fuzz: -max_len=2048
#include <optional>
#include <vector>

#include "input.hpp"
#include "transport/tcp/receive_buffer.hpp"

using namespace ham;
using namespace ham::transport::tcp;

namespace {

constexpr std::uint32_t epoch = 0x01020304;

struct seen {
  std::vector<std::uint32_t> frames;  // size, kind, key, and a sum of the payload of each
  bool broken = false;
  bool operator==(const seen&) const = default;
};

void look(std::span<const std::byte> payload, const wire_head& head, seen& result) {
  fuzz::require(head.size <= largest_payload && (carries_payload(head.kind) || head.size == 0), "a frame's size");
  std::uint32_t sum = 0;
  for (const std::byte one : payload) sum = sum * 31 + std::to_integer<std::uint32_t>(one);
  for (const std::uint32_t one : {head.size, std::uint32_t{head.kind}, head.key, sum}) result.frames.push_back(one);
}

seen at_once(std::span<const std::byte> bytes) {
  seen result;
  for (;;) {
    wire_head head;
    const char* why = nullptr;
    switch (read_frame(bytes, epoch, head, why)) {
      case head_status::incomplete: return result;
      case head_status::broken:
        fuzz::require(why != nullptr, "a reason");
        result.broken = true;
        return result;
      case head_status::frame: break;
    }
    look(bytes.subspan(head_bytes, head.size), head, result);
    bytes = bytes.subspan(head_bytes + head.size);
  }
}

seen in_pieces(std::span<const std::byte> bytes, std::size_t piece) {
  // One for all runs, unless it has grown: to get and to clear it takes longer than all the rest.
  static std::optional<receive_buffer> kept;
  if (piece % 3 == 0 || piece % 5 == 0 || !kept) kept.emplace();
  receive_buffer& buffer = *kept;
  buffer.skip(buffer.waiting().size());
  bool grown = false;
  seen result;
  while (!bytes.empty()) {
    const std::span<std::byte> room = piece % 3 == 0 ? buffer.more_room() : buffer.room();
    const std::size_t count = std::min({piece, bytes.size(), room.size()});
    fuzz::require(count != 0, "room for more");
    std::memcpy(room.data(), bytes.data(), count);
    buffer.arrived(count);
    bytes = bytes.subspan(count);
    for (;;) {
      wire_head head;
      const char* why = nullptr;
      const std::span<const std::byte> waiting = buffer.waiting();
      const head_status now = read_frame(waiting, epoch, head, why);
      if (now == head_status::broken) {
        result.broken = true;
        return result;
      }
      if (now == head_status::incomplete) break;
      buffer.hold(head_bytes + head.size);
      if (piece % 5 == 0 && !grown) {
        static_cast<void>(buffer.more_room());  // what is held must stay
        grown = true;
      }
      look(waiting.subspan(head_bytes, head.size), head, result);
      buffer.release();
    }
  }
  return result;
}

}  // namespace

HAM_FUZZ(from) {
  const std::size_t piece = std::size_t{1} + from.byte();
  const auto bytes = from.rest();
  fuzz::require(at_once(bytes) == in_pieces(bytes, piece), "pieces that make other frames than the whole");
}

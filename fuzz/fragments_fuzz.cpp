// Pieces of long messages: from a peer that lies, and a round trip through endpoints that have room now and then.
// fuzz: -max_len=2048
#include <deque>

#include "input.hpp"
#include "transport/fragments.hpp"

using namespace ham;
using namespace ham::transport;

namespace {

constexpr std::uint8_t fragment_kind = 4;
constexpr std::size_t limit = 4096;
constexpr std::size_t max_pieces = 64;  // more take long and show nothing new

void hostile(fuzz::input& from) {
  assembler at(limit);
  std::size_t arrived = 0;
  while (!from.empty()) {
    fragment_head head{from.byte(), from.byte(), from.byte(), from.byte()};
    if (from.byte() % 8 == 0) head.total = from.number<std::uint64_t>();
    if (from.byte() % 8 == 0) head.offset = from.number<std::uint64_t>();
    if (from.byte() % 8 == 0) head.kind = from.number<std::uint32_t>();
    const std::uint32_t stream = from.byte() % 80;
    const auto piece = from.take(from.byte());
    std::vector<std::byte> bytes(sizeof head + piece.size());
    std::memcpy(bytes.data(), &head, sizeof head);
    if (!piece.empty()) std::memcpy(bytes.data() + sizeof head, piece.data(), piece.size());
    arrived += piece.size();
    try {
      const auto done = at.add({{stream, 0, fragment_kind}, bytes});
      if (!done) continue;
      fuzz::require(done->bytes.size() == head.total, "a message of another size than announced");
      fuzz::require(done->bytes.size() <= limit && done->bytes.size() <= arrived, "more than there can be");
    } catch (const protocol_error&) {
      return;  // the endpoint closes
    }
  }
}

/// Keeps what it is given; has no room each time the input says so.
class narrow final : public endpoint {
 public:
  narrow(std::size_t most, fuzz::input& from) : endpoint(1), most_(most), from_(from) {}
  std::deque<std::pair<frame_head, std::vector<std::byte>>> sent;

  std::size_t max_payload() const noexcept override { return most_; }
  std::byte* reserve(std::size_t size) noexcept override {
    fuzz::require(size <= most_, "a frame that is too long");
    if (!from_.empty() && from_.byte() % 4 == 0) return nullptr;
    room_.reserve(1);  // nowhere would mean no room
    room_.assign(size, std::byte{});
    return room_.data();
  }
  void cancel() noexcept override {}
  void commit(const frame_head& head) noexcept override { sent.emplace_back(head, std::move(room_)); }
  std::uint64_t consumed() const noexcept override { return 0; }
  bool poll(frame&) noexcept override { return false; }
  void release() noexcept override {}
  endpoint_state state() const noexcept override { return endpoint_state::open; }
  std::string reason() const override { return {}; }
  void close(const std::string&) noexcept override {}

 private:
  std::size_t most_;
  fuzz::input& from_;
  std::vector<std::byte> room_;
};

void honest(fuzz::input& from) {
  const std::size_t piece = std::size_t{1} + from.byte();
  const std::size_t most = sizeof(fragment_head) + piece;
  const std::size_t size = from.number<std::uint16_t>() % std::min(limit, max_pieces * piece);
  outbound message{{from.byte(), 7, 1}, std::vector<std::byte>(size), 3, 0};
  for (std::size_t i = 0; i < size; ++i) message.bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  const std::vector<std::byte> expected = message.bytes;
  narrow wire(most, from);
  while (!send_some(wire, message, fragment_kind)) {
  }
  assembler at(limit);
  for (const auto& [head, bytes] : wire.sent) {
    if (head.kind != fragment_kind) {
      fuzz::require(bytes == expected, "a short message that arrived otherwise");
      return;
    }
    const auto done = at.add({head, bytes});
    fuzz::require(done.has_value() == (&bytes == &wire.sent.back().second), "a message that is not whole in the end");
    if (done) fuzz::require(done->bytes == expected && done->head.call == 7, "a message that arrived otherwise");
  }
}

}  // namespace

HAM_FUZZ(from) {
  if (from.byte() % 4 == 0)
    honest(from);
  else
    hostile(from);
}

// A node and a peer that says anything: before and after the greeting, calls, batches, pieces, replies, goodbyes.
// fuzz: -max_len=512 -close_fd_mask=2 -detect_leaks=0
#include <atomic>
#include <map>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"
#include "input.hpp"

namespace engine_fuzz {

using namespace ham;
using namespace ham::test;
using detail::to_byte;
using detail::wire_kind;

std::atomic<std::uint64_t> ran{0};
void nothing() { ++ran; }
int number(int value) { return static_cast<int>(static_cast<unsigned>(value) + ++ran); }
std::string text(const std::string& value) { return value; }
std::map<std::string, int> lists(const std::vector<std::vector<int>>&, const std::map<std::string, int>& value) {
  return value;
}
std::size_t view(std::span<const double> values, std::string_view name) { return values.size() + name.size(); }
void complain(const std::string& why) { throw std::domain_error(why); }

/// Makes the functions above handlers of this program.
[[maybe_unused]] void never_called() {
  offload::sync(0, fn<&nothing>);
  offload::sync(0, fn<&number>, 1);
  offload::sync(0, fn<&text>, std::string());
  offload::sync(0, fn<&lists>, std::vector<std::vector<int>>(), std::map<std::string, int>());
  offload::sync(0, fn<&view>, std::span<const double>(), std::string_view());
  offload::sync(0, fn<&complain>, std::string());
}
[[maybe_unused]] void (*const keep)() = &never_called;

/// Keys of the functions above. The library's own would let this peer, which has shown that it may, write anywhere.
const std::vector<std::uint32_t>& our_keys() {
  static const std::vector<std::uint32_t> keys = [] {
    std::vector<std::uint32_t> found;
    const auto& table = msg::handler_table::local();
    for (std::uint32_t key = 0; key < table.size(); ++key) {
      if (table.pretty_name(key).find("engine_fuzz::") != std::string::npos) found.push_back(key);
    }
    fuzz::require(found.size() == 6, "six functions");
    return found;
  }();
  return keys;
}

std::uint32_t allowed(std::uint32_t key) {
  return key < msg::handler_table::local().size() ? our_keys()[key % our_keys().size()] : key;
}

/// The keys inside a batch are made ours, too.
void retarget_batch(std::span<std::byte> payload) {
  while (payload.size() >= 12) {
    std::uint32_t words[3];
    std::memcpy(words, payload.data(), sizeof words);
    words[0] = allowed(words[0]);
    std::memcpy(payload.data(), words, sizeof words);
    if (payload.size() - 12 < words[2]) return;
    payload = payload.subspan(12 + words[2]);
  }
}

bool is_batch(std::uint32_t kind) { return (kind & ~std::uint32_t{detail::in_context}) == to_byte(wire_kind::batch); }

std::span<std::byte> without_context(std::uint32_t kind, std::span<std::byte> payload) {
  return (kind & detail::in_context) != 0 ? payload.subspan(std::min<std::size_t>(4, payload.size())) : payload;
}

/// A piece of a message. False: of a batch that continues, whose keys nobody could find.
bool retarget_piece(std::span<std::byte> payload) {
  wire::fragment_head head{};
  if (payload.size() < sizeof head) return true;
  std::memcpy(&head, payload.data(), sizeof head);
  const auto piece = payload.subspan(sizeof head);
  if (is_batch(head.kind)) {
    if (head.offset != 0 || head.total != piece.size()) return false;
    retarget_batch(without_context(head.kind, piece));
  } else {
    head.key = allowed(head.key);
  }
  std::memcpy(payload.data(), &head, sizeof head);
  return true;
}

constexpr std::size_t max_peers = 25;  // more take longer than a new node

/// The node, one friend who keeps the rules, and room for more peers.
class stage {
 public:
  world::peer& stranger(bool greeted) {
    if (world_ == nullptr || world_->full()) {
      if (world_ != nullptr) friend_is_served();
      world_.reset();
      world_ = std::make_unique<world>(max_peers);
      friend_ = &world_->friendly();
    }
    return greeted ? world_->friendly() : world_->connect();
  }
  void step() { world_->step(1); }
  void friend_is_served() {
    const int argument = 41;
    bytes payload(sizeof argument);
    std::memcpy(payload.data(), &argument, sizeof argument);
    friend_->send({our_keys()[number_at()], 77, to_byte(wire_kind::call)}, payload);
    world_->step();
    const auto answer = friend_->receive();
    fuzz::require(answer && answer->first.call == 77 && answer->first.kind == to_byte(wire_kind::reply),
                  "a node that does not serve others any more");
  }

 private:
  static std::size_t number_at() {
    for (std::size_t i = 0; i < our_keys().size(); ++i) {
      if (msg::handler_table::local().pretty_name(our_keys()[i]).find("::number") != std::string::npos) return i;
    }
    std::abort();
  }
  std::unique_ptr<world> world_;
  world::peer* friend_ = nullptr;
};

void speak(world::peer& as, fuzz::input& from) {
  constexpr std::uint8_t kinds[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x41, 0x45, 0x44, 11, 13, 0x21, 0x61, 0x7f};
  const std::uint8_t choice = from.byte();
  const std::uint8_t kind = choice < 128 ? kinds[choice % sizeof kinds] : choice & 0x7f;
  const std::uint32_t key = from.byte();
  const std::uint32_t call = from.byte() == 255 ? detail::no_reply : from.byte();
  const auto piece = from.take(from.byte());
  bytes payload(piece.begin(), piece.end());
  if (kind == wire::pad_kind) return;
  if (kind == to_byte(wire_kind::fragment) && !retarget_piece(payload)) return;
  if (is_batch(kind)) retarget_batch(without_context(kind, payload));
  const bool calls = (kind & ~(detail::in_context | detail::stoppable)) == to_byte(wire_kind::call);
  const bool in_use = calls && key < 200;
  as.send({in_use ? allowed(key) : key, call, kind}, payload);
}

}  // namespace engine_fuzz

HAM_FUZZ(from) {
  using namespace engine_fuzz;
  static stage all;
  world::peer& peer = all.stranger(from.byte() % 4 != 0);
  while (!from.empty() && peer.open()) {
    speak(peer, from);
    all.step();
    while (peer.receive()) {
    }
  }
  all.step();
}

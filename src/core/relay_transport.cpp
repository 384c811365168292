#include "core/relay_transport.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/relay_frame.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::size_t max_frame = std::size_t{60} << 10;  // into one frame of any medium, and some into the window

}  // namespace

/// One other node. Sending: under the sending lock of its peer, and from reserve() to commit() under the neighbour's.
class relay_transport::relayed_endpoint final : public ham::transport::endpoint {
 public:
  relayed_endpoint(node_t node, node_t hop, relay_transport& by, std::size_t max_payload)
      : endpoint(node), hop_(hop), by_(by), max_payload_(max_payload), way_("through node " + std::to_string(hop)) {
    medium = way_.c_str();
  }
  [[nodiscard]] node_t hop() const noexcept { return hop_; }

  [[nodiscard]] std::size_t max_payload() const noexcept override { return max_payload_; }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override {
    const std::uint64_t under_way = given_.load(std::memory_order_relaxed) - consumed_.load(std::memory_order_acquire);
    if (under_way + relay_cost(size) > relay_window) return nullptr;
    detail::peer* const neighbour = by_.peers_.lock(hop_);
    if (neighbour == nullptr) return nullptr;
    std::byte* const room =
        neighbour->state.load() == peer_state::ready ? neighbour->reserve(size + relay_prefix_bytes, nullptr) : nullptr;
    if (room == nullptr) {
      neighbour->sending.unlock();
      return nullptr;
    }
    neighbour_ = neighbour;
    room_ = room;
    size_ = size;
    return room + relay_prefix_bytes;
  }
  void cancel() noexcept override {
    neighbour_->to->cancel();
    neighbour_->sending.unlock();
  }
  void commit(const ham::transport::frame_head& head) noexcept override {
    write_relay_sender(room_, by_.self_);
    msg::writer prefix(room_ + relay_sender_bytes, relay_head_bytes);
    prefix.number(head.key);
    prefix.number(head.call);
    sent_ += size_;
    // Before it leaves: it may be acknowledged at once.
    given_.store(given_.load(std::memory_order_relaxed) + relay_cost(size_), std::memory_order_relaxed);
    neighbour_->bytes_sent.count(size_ + relay_prefix_bytes);
    neighbour_->commit(frame_header::relayed(static_cast<std::uint32_t>(peer()), head.kind));
  }
  /// Unknown, as long as the process may live: who passes things on says only that it cannot be reached.
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return UINT64_MAX; }

  [[nodiscard]] bool poll(ham::transport::frame& out) noexcept override {
    if (arrived_.empty()) return false;
    current_ = std::move(arrived_.front());
    arrived_.pop_front();
    out.head = current_.head;
    out.payload = {current_.bytes.data(), current_.size};
    return true;
  }
  void release() noexcept override {
    if (current_.bytes.empty()) return;
    taken_ += relay_cost(current_.size);
    current_ = {};
    if (taken_ - acknowledged_ < relay_credit_step) return;
    acknowledged_ = taken_;
    std::byte bytes[sizeof(std::uint64_t)];
    msg::writer(bytes, sizeof bytes).number(taken_);
    by_.send_control(*this, relay_credit, bytes);
  }
  [[nodiscard]] ham::transport::endpoint_state state() const noexcept override {
    return closed_ ? ham::transport::endpoint_state::closed : ham::transport::endpoint_state::open;
  }
  [[nodiscard]] std::string reason() const override { return reason_; }
  void close(const std::string& why) noexcept override {
    if (!closed_.exchange(true) && !ended_) by_.send_control(*this, relay_end, std::as_bytes(std::span(why)));
  }

  // ---- the receiving lock is held
  void store(const ham::transport::frame_head& head, std::span<const std::byte> payload) {
    arrived one;
    one.head = head;
    one.size = payload.size();
    one.bytes.resize(std::max(one.size, ham::transport::readable_payload));
    if (!payload.empty()) std::memcpy(one.bytes.data(), payload.data(), payload.size());
    arrived_.push_back(std::move(one));
  }
  /// Throws ham::protocol_error.
  void credit(std::uint64_t consumed) {
    if (consumed > given_.load() || consumed < consumed_.load()) throw protocol_error("a credit for what was not sent");
    consumed_.store(consumed, std::memory_order_release);
  }
  /// The other side, or a node on the way, has ended it: nothing is to be told. What has arrived before stays.
  void end(std::string why) noexcept {
    ended_ = true;
    reason_ = std::move(why);
  }
  [[nodiscard]] bool ended() const noexcept { return ended_ || closed_; }
  /// It was ended, and what arrived before has been taken.
  [[nodiscard]] bool at_its_end() const noexcept { return ended_ && arrived_.empty(); }
  [[nodiscard]] const std::string& why_ended() const noexcept { return reason_; }

 private:
  struct arrived {
    ham::transport::frame_head head;
    std::size_t size = 0;
    std::vector<std::byte> bytes;  ///< readable_payload of them at least
  };

  const node_t hop_;
  relay_transport& by_;
  const std::size_t max_payload_;
  const std::string way_;
  // Sending.
  detail::peer* neighbour_ = nullptr;
  std::byte* room_ = nullptr;
  std::size_t size_ = 0;
  std::atomic<std::uint64_t> given_{0};     ///< to the neighbour
  std::atomic<std::uint64_t> consumed_{0};  ///< of it, as the other node has said
  // Receiving.
  std::deque<arrived> arrived_;
  arrived current_;
  std::uint64_t taken_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::atomic<bool> closed_{false};
  bool ended_ = false;
  std::string reason_;
};

relay_transport::relay_transport(node_t self, const routes& ways, peer_table& peers, reply_sender& replies,
                                 ham::transport::observer& to) noexcept
    : self_(self), ways_(ways), peers_(peers), replies_(replies), observer_(to) {}
relay_transport::~relay_transport() = default;

relay_transport::relayed_endpoint* relay_transport::find(node_t node) const noexcept {
  const auto found = endpoints_.find(node);
  return found == endpoints_.end() ? nullptr : found->second.get();
}

relay_transport::relayed_endpoint& relay_transport::endpoint_of(node_t node) {
  if (relayed_endpoint* const known = find(node)) return *known;
  const node_t hop = ways_.hop_to(node);
  const peer_hold neighbour = peers_.hold(hop);
  if (!neighbour || neighbour->state.load() != peer_state::ready || neighbour->max_payload <= relay_prefix_bytes)
    throw protocol_error("no node " + std::to_string(hop) + ", through which it is reached");
  const std::size_t most = std::min(neighbour->max_payload - relay_prefix_bytes, max_frame);
  auto made = std::make_unique<relayed_endpoint>(node, hop, *this, most);
  relayed_endpoint& kept = *made;
  endpoints_.emplace(node, std::move(made));
  observer_.on_connected(kept);
  return kept;
}

void relay_transport::connect(node_t peer) {
  try {
    if (gone_.contains(peer)) throw protocol_error("it was connected before");
    static_cast<void>(endpoint_of(peer));
  } catch (const std::exception& problem) {
    fail(peer, problem.what());
  }
}

void relay_transport::take(node_t from, std::uint32_t what, std::span<const std::byte> payload) noexcept {
  if (gone_.contains(from)) return;
  try {
    store(from, what, payload);
  } catch (const std::exception& problem) {
    fail(from, problem.what());
  }
}

void relay_transport::store(node_t from, std::uint32_t what, std::span<const std::byte> payload) {
  if (what == relay_end) {
    const std::string why(reinterpret_cast<const char*>(payload.data()), payload.size());
    end(from, why.empty() ? "the node through which it was reached does not reach it any more" : why);
    return;
  }
  if (what == relay_credit) {
    relayed_endpoint* const known = find(from);
    const std::uint64_t consumed = consumed_of_credit(payload);
    if (known != nullptr) known->credit(consumed);
    return;
  }
  if (!is_relayed_frame(what, payload)) throw protocol_error("a relayed frame that is none");
  relayed_endpoint& to = endpoint_of(from);
  if (to.ended()) return;  // it was on its way
  msg::reader prefix(payload);
  ham::transport::frame_head head;
  head.key = prefix.number<std::uint32_t>();
  head.call = prefix.number<std::uint32_t>();
  head.kind = static_cast<std::uint8_t>(what);
  arrivals_.push_back(&to);
  to.store(head, payload.subspan(relay_head_bytes));
}

/// Behind what has arrived of it.
void relay_transport::end(node_t node, const std::string& why) {
  relayed_endpoint* const known = find(node);
  if (known == nullptr) {
    observer_.on_lost(node, why);
  } else if (!known->ended()) {
    arrivals_.push_back(known);
    known->end(why);
  }
}

void relay_transport::fail(node_t node, const char* why) noexcept {
  try {
    observer_.on_broken(node, why);
  } catch (const std::bad_alloc&) {
    observer_.on_broken(node, {});
  }
}

void relay_transport::lose_behind(node_t hop, const std::string& why) noexcept {
  const auto lose = [&](node_t node) {
    try {
      end(node, "node " + std::to_string(hop) + ", through which it is reached, is lost (" + why + ")");
    } catch (const std::bad_alloc&) {
      fail(node, "no way");  // fits
    }
  };
  for (const auto& [node, with] : endpoints_) {
    if (with->hop() == hop) lose(node);
  }
  ways_.for_each_behind(hop, [&](node_t node) {  // and those that have not connected yet
    if (find(node) == nullptr && !gone_.contains(node)) lose(node);
  });
}

ham::transport::endpoint* relay_transport::poll(ham::transport::frame& out, unsigned) {
  forgotten_.clear();
  while (!arrivals_.empty()) {
    relayed_endpoint* const from = arrivals_.front();
    arrivals_.pop_front();
    if (from->poll(out)) return from;  // else it was taken when its node was lost
    if (from->at_its_end()) observer_.on_lost(from->peer(), from->why_ended());
  }
  return nullptr;
}

void relay_transport::forget(ham::transport::endpoint& with) noexcept {
  const auto found = endpoints_.find(with.peer());
  if (found == endpoints_.end() || found->second.get() != &with) return;
  std::erase(arrivals_, found->second.get());
  try {
    gone_.insert(with.peer());
    forgotten_.push_back(std::move(found->second));  // a frame of it may still be in use
  } catch (const std::bad_alloc&) {
    return;  // it stays
  }
  endpoints_.erase(found);
}

/// Never waits, so that whoever holds locks may send it.
void relay_transport::send_control(const relayed_endpoint& with, std::uint32_t what,
                                   std::span<const std::byte> bytes) noexcept {
  const peer_hold neighbour = peers_.hold(with.hop());
  if (!neighbour || neighbour->state.load() != peer_state::ready) return;
  send_relay_control(replies_, *neighbour, self_, with.peer(), what, bytes);
}

}  // namespace ham::detail

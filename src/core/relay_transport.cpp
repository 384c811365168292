#include "core/relay_transport.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/relay_frame.hpp"

namespace ham::detail {
namespace {

constexpr node_t host = 0;
constexpr std::size_t max_frame = std::size_t{64} << 10;  // some fit into the window, whatever the host's do

}  // namespace

/// One other node. Sending: under the sending lock of its peer, and from reserve() to commit() under the host's.
class relay_transport::relayed_endpoint final : public ham::transport::endpoint {
 public:
  relayed_endpoint(node_t node, relay_transport& by, std::size_t max_payload)
      : endpoint(node), by_(by), max_payload_(max_payload) {
    medium = "through node 0";
  }

  [[nodiscard]] std::size_t max_payload() const noexcept override { return max_payload_; }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override {
    const std::uint64_t under_way = given_.load(std::memory_order_relaxed) - consumed_.load(std::memory_order_acquire);
    if (under_way + relay_cost(size) > relay_window) return nullptr;
    detail::peer* const to_host = by_.peers_.lock(host);
    if (to_host == nullptr) return nullptr;
    std::byte* const room =
        to_host->state.load() == peer_state::ready ? to_host->reserve(size + relay_prefix_bytes, nullptr) : nullptr;
    if (room == nullptr) {
      to_host->sending.unlock();
      return nullptr;
    }
    to_host_ = to_host;
    room_ = room;
    size_ = size;
    return room + relay_prefix_bytes;
  }
  void cancel() noexcept override {
    to_host_->to->cancel();
    to_host_->sending.unlock();
  }
  void commit(const ham::transport::frame_head& head) noexcept override {
    msg::writer prefix(room_, relay_prefix_bytes);
    prefix.number(head.key);
    prefix.number(head.call);
    sent_ += size_;
    // Before it leaves: it may be acknowledged at once.
    given_.store(given_.load(std::memory_order_relaxed) + relay_cost(size_), std::memory_order_relaxed);
    to_host_->bytes_sent.count(size_ + relay_prefix_bytes);
    to_host_->commit(frame_header::relayed(static_cast<std::uint32_t>(peer()), head.kind));
  }
  /// Unknown, as long as the process may live: its host says only that it cannot be reached.
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
    by_.send_control(peer(), relay_credit, bytes);
  }
  [[nodiscard]] ham::transport::endpoint_state state() const noexcept override {
    return closed_ ? ham::transport::endpoint_state::closed : ham::transport::endpoint_state::open;
  }
  [[nodiscard]] std::string reason() const override { return reason_; }
  void close(const std::string& why) noexcept override {
    if (!closed_.exchange(true) && !ended_) by_.send_control(peer(), relay_end, std::as_bytes(std::span(why)));
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
  /// The other side, or the host, has ended it: nothing is to be told. What has arrived before stays.
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

  relay_transport& by_;
  const std::size_t max_payload_;
  // Sending.
  detail::peer* to_host_ = nullptr;
  std::byte* room_ = nullptr;
  std::size_t size_ = 0;
  std::atomic<std::uint64_t> given_{0};     ///< to the host
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

relay_transport::relay_transport(peer_table& peers, reply_sender& replies, ham::transport::observer& to) noexcept
    : peers_(peers), replies_(replies), observer_(to) {}
relay_transport::~relay_transport() = default;

relay_transport::relayed_endpoint* relay_transport::find(node_t node) const noexcept {
  const auto found = endpoints_.find(node);
  return found == endpoints_.end() ? nullptr : found->second.get();
}

relay_transport::relayed_endpoint& relay_transport::endpoint_of(node_t node) {
  if (relayed_endpoint* const known = find(node)) return *known;
  const peer_hold to_host = peers_.hold(host);
  if (!to_host || to_host->state.load() != peer_state::ready || to_host->max_payload <= relay_prefix_bytes)
    throw protocol_error("no host, through which it is reached");
  const std::size_t most = std::min(to_host->max_payload - relay_prefix_bytes, max_frame);
  auto made = std::make_unique<relayed_endpoint>(node, *this, most);
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
    end(from, why.empty() ? "the host does not reach it any more" : why);
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
  to.store(head, payload.subspan(relay_prefix_bytes));
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

void relay_transport::lose_all(const std::string& why) noexcept {
  for (const auto& [node, with] : endpoints_) {
    try {
      end(node, "the host, through which it is reached, is lost (" + why + ")");
    } catch (const std::bad_alloc&) {
      fail(node, "no host");  // fits
    }
  }
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
void relay_transport::send_control(node_t node, std::uint32_t what, std::span<const std::byte> bytes) noexcept {
  const peer_hold to_host = peers_.hold(host);
  if (!to_host || to_host->state.load() != peer_state::ready) return;
  replies_.reply_with(*to_host, frame_header::relayed(static_cast<std::uint32_t>(node), what), bytes);
}

}  // namespace ham::detail

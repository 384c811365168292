// Counts relayed frames, and what is said of them.
#include "sim/relay_watch.hpp"

#include <optional>
#include <span>

#include "core/relay_frame.hpp"
#include "sim/scheduler.hpp"

namespace ham::inline v1::sim {
namespace {

struct relayed {
  node_t sender;
  node_t receiver;
  std::uint32_t what;
  std::span<const std::byte> text;  ///< behind the sender

  [[nodiscard]] bool is_frame() const noexcept { return what != detail::relay_credit && what != detail::relay_end; }
  [[nodiscard]] std::uint64_t cost() const noexcept {
    return detail::relay_cost(text.size() - detail::relay_head_bytes);
  }
};

std::optional<relayed> relayed_in(const transport::sim::packet& what) {
  if (what.head.kind != detail::to_byte(detail::wire_kind::relay)) return std::nullopt;
  const detail::frame_header head = detail::frame_header::decode(what.head);
  const std::span<const std::byte> payload(what.payload.data(), what.size);
  return relayed{detail::sender_of_relayed(payload), static_cast<node_t>(head.relay_receiver()), head.relay_what(),
                 payload.subspan(detail::relay_sender_bytes)};
}

std::string between(node_t from, node_t to) {
  return "from node " + std::to_string(from) + " to node " + std::to_string(to);
}

}  // namespace

void relay_watch::note_sent(node_t from, node_t /*to*/, const transport::sim::packet& what) {
  const std::optional<relayed> one = relayed_in(what);
  if (!one) return;
  flow& back = flows_[{one->receiver, one->sender}];
  flow& sent = flows_[{one->sender, one->receiver}];
  if (one->what == detail::relay_end) {
    sent.ended = back.ended = true;
  } else if (from != one->sender) {
    return;  // it was counted when it left that
  } else if (one->is_frame()) {
    sent.sent += one->cost();
  } else {
    back.acknowledged = detail::consumed_of_credit(one->text);
    if (back.acknowledged > back.taken)
      running->fail("a relayed frame is acknowledged that was not taken, " + between(one->receiver, one->sender));
  }
}

void relay_watch::note_consumed(node_t /*from*/, node_t to, const transport::sim::packet& what) {
  const std::optional<relayed> one = relayed_in(what);
  if (one && one->is_frame() && to == one->receiver) flows_[{one->sender, to}].taken += one->cost();
}

std::string relay_watch::unacknowledged(const std::function<bool(node_t)>& gone) const {
  std::string text;
  for (const auto& [nodes, one] : flows_) {
    const auto& [from, to] = nodes;
    if (one.ended || gone(from) || gone(to)) continue;
    if (one.taken != one.sent)
      text += std::to_string(one.sent - one.taken) + " bytes that have not arrived, " + between(from, to) + ", ";
    else if (one.sent - one.acknowledged >= detail::relay_credit_step)
      text +=
          std::to_string(one.sent - one.acknowledged) + " bytes that are not acknowledged, " + between(from, to) + ", ";
  }
  return text;
}

}  // namespace ham::sim

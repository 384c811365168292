#include "core/relay_forwarder.hpp"

#include <algorithm>
#include <string_view>

#include "core/relay_frame.hpp"

namespace ham::inline v1::detail {

peer* relay_forwarder::forward(peer& from, frame_header head, std::span<const std::byte> payload) {
  const auto receiver = static_cast<node_t>(head.relay_receiver());
  const node_t sender = sender_of_relayed(payload);
  const std::uint32_t what = head.relay_what();
  // Others hear of nodes that are added later than those hear of them.
  const std::size_t numbers = peers_.size() + (self_ == 0 && sender == from.node ? 0 : peer_table::most);
  const bool sane = from.hello_seen && receiver >= 0 && receiver != sender && sender != self_ && receiver != self_ &&
                    static_cast<std::size_t>(receiver) < numbers && ways_.hop_to(sender) == from.node &&
                    ways_.joins(sender, receiver);
  if (!sane) {
    throw protocol_error("a frame to be relayed from node " + std::to_string(sender) + " to node " +
                         std::to_string(receiver));
  }
  const std::span<const std::byte> text = payload.subspan(relay_sender_bytes);
  if (what != relay_credit && what != relay_end && !is_relayed_frame(what, text))
    throw protocol_error("a relayed frame that is none");
  connection& both = connections_[std::minmax(sender, receiver)];
  const node_t hop = ways_.hop_to(receiver);
  node_.approach(hop);
  peer* const to = peers_.has(hop) ? &peers_[hop] : nullptr;
  if (to == nullptr || !is_expected(to->state.load())) {  // what was counted of it is gone
    if (!std::exchange(both.ended, true))
      end(sender, receiver, to == nullptr || to->about.loss().empty() ? "it is not in the job" : to->about.loss());
    return nullptr;
  }
  const std::size_t direction = sender < receiver ? 0 : 1;
  if (!count(both, both.flows[direction], both.flows[1 - direction], what, text)) return nullptr;
  if (what == relay_end) payload = payload.first(std::min(payload.size(), relay_sender_bytes + relay_max_reason));
  if (to->state.load() != peer_state::ready) {
    early_[hop].push_back({head, {payload.begin(), payload.end()}});
    return nullptr;
  }
  if (!left_over_.empty() && to->unsent.relayed_bytes() == 0) left_over_.erase(hop);
  replies_.reply_with(*to, head, payload);
  return holds_too_much(*to) ? to : nullptr;
}

void relay_forwarder::join(peer& node) noexcept {
  const auto found = early_.find(node.node);
  if (found == early_.end()) return;
  for (const early_frame& one : found->second) replies_.reply_with(node, one.head, one.payload);
  early_.erase(found);
}

/// False: it is not passed on.
bool relay_forwarder::count(connection& of, flow& sent, flow& back, std::uint32_t what,
                            std::span<const std::byte> payload) {
  if (what == relay_end) return !std::exchange(of.ended, true);
  if (what == relay_credit) {
    const std::uint64_t consumed = consumed_of_credit(payload);
    if (consumed > back.given || consumed < back.consumed + relay_credit_step)
      throw protocol_error("a credit for what was not sent");
    back.consumed = consumed;
    return !of.ended;
  }
  sent.given += relay_cost(payload.size() - relay_head_bytes);
  if (sent.given - sent.consumed > relay_window)
    throw protocol_error("more frames to be relayed than are acknowledged");
  return !of.ended;
}

/// What a node acknowledges has left this one, so there is never more than what it has not acknowledged, and words of
/// ends.
bool relay_forwarder::holds_too_much(const peer& to) const {
  constexpr std::uint64_t slack = 8 * relay_window;
  const std::uint64_t waiting = to.unsent.relayed_bytes();
  if (waiting <= slack) [[likely]]
    return false;
  const auto left_over = left_over_.find(to.node);
  std::uint64_t open = left_over == left_over_.end() ? 0 : left_over->second;
  for (const auto& [nodes, both] : connections_) {
    if (ways_.hop_to(nodes.first) == to.node) open += both.flows[1].given - both.flows[1].consumed;
    if (ways_.hop_to(nodes.second) == to.node) open += both.flows[0].given - both.flows[0].consumed;
  }
  return waiting > open + slack;
}

void relay_forwarder::lose(node_t node, const std::string& why) noexcept {
  early_.erase(node);
  left_over_.erase(node);
  bool host_knows = false;
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto& [first, second] = at->first;
    const bool first_lost = ways_.hop_to(first) == node;
    if (!first_lost && ways_.hop_to(second) != node) {
      ++at;
      continue;
    }
    const node_t lost = first_lost ? first : second;
    const node_t other = first_lost ? second : first;
    const flow& to_other = at->second.flows[first_lost ? 0 : 1];
    if (to_other.given != to_other.consumed) leave_over(ways_.hop_to(other), to_other.given - to_other.consumed);
    if (!at->second.ended) end(other, lost, why);
    host_knows = host_knows || other == 0;
    at = connections_.erase(at);
  }
  if (self_ != 0 && ways_.starts(node) && !host_knows) end(0, node, why);  // which waits for it to connect
}

void relay_forwarder::leave_over(node_t neighbour, std::uint64_t bytes) noexcept {
  try {
    left_over_[neighbour] += bytes;
  } catch (const std::bad_alloc&) {  // the slack may do
  }
}

void relay_forwarder::end(node_t to, node_t lost, std::string_view why) noexcept {
  const node_t hop = ways_.hop_to(to);
  if (!peers_.has(hop) || peers_[hop].state.load() != peer_state::ready) return;
  send_relay_control(replies_, peers_[hop], lost, to, relay_end, std::as_bytes(std::span(why)));
}

}  // namespace ham::detail

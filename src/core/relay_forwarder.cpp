#include "core/relay_forwarder.hpp"

#include <algorithm>
#include <string_view>

#include "core/relay_frame.hpp"

namespace ham::detail {

peer* relay_forwarder::forward(peer& from, frame_header head, std::span<const std::byte> payload) {
  const auto node = static_cast<node_t>(head.relay_node());
  const std::uint32_t what = head.relay_what();
  if (!from.hello_seen || node <= 0 || node == from.node || static_cast<std::size_t>(node) >= peers_.size())
    throw protocol_error("a frame to be relayed to node " + std::to_string(node));
  if (what != relay_credit && what != relay_end && !is_relayed_frame(what, payload))
    throw protocol_error("a relayed frame that is none");
  connection& both = connections_[std::minmax(from.node, node)];
  peer* const to = peers_.has(node) ? &peers_[node] : nullptr;
  if (to == nullptr || !is_expected(to->state.load())) {  // what was counted of it is gone
    if (!std::exchange(both.ended, true))
      end(from, node, to == nullptr || to->about.loss().empty() ? "it is not in the job" : to->about.loss());
    return nullptr;
  }
  const std::size_t sender = from.node < node ? 0 : 1;
  if (!count(both, both.flows[sender], both.flows[1 - sender], what, payload)) return nullptr;
  if (what == relay_end) payload = payload.first(std::min(payload.size(), relay_max_reason));
  const auto passed_on = frame_header::relayed(static_cast<std::uint32_t>(from.node), what);
  if (to->state.load() != peer_state::ready) {
    early_[node].push_back({passed_on, {payload.begin(), payload.end()}});
    return nullptr;
  }
  if (!left_over_.empty() && to->unsent.relayed_bytes() == 0) left_over_.erase(node);
  replies_.reply_with(*to, passed_on, payload);
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
  sent.given += relay_cost(payload.size() - relay_prefix_bytes);
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
    if (nodes.first == to.node) open += both.flows[1].given - both.flows[1].consumed;
    if (nodes.second == to.node) open += both.flows[0].given - both.flows[0].consumed;
  }
  return waiting > open + slack;
}

void relay_forwarder::lose(node_t node, const std::string& why) noexcept {
  early_.erase(node);
  left_over_.erase(node);
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto& [first, second] = at->first;
    if (first != node && second != node) {
      ++at;
      continue;
    }
    const node_t other = first == node ? second : first;
    const flow& to_other = at->second.flows[first == node ? 0 : 1];
    if (to_other.given != to_other.consumed) leave_over(other, to_other.given - to_other.consumed);
    if (!at->second.ended && peers_.has(other)) end(peers_[other], node, why);
    at = connections_.erase(at);
  }
}

void relay_forwarder::leave_over(node_t receiver, std::uint64_t bytes) noexcept {
  try {
    left_over_[receiver] += bytes;
  } catch (const std::bad_alloc&) {  // the slack may do
  }
}

void relay_forwarder::end(peer& to, node_t lost, std::string_view why) noexcept {
  if (to.state.load() != peer_state::ready) return;
  replies_.reply_with(to, frame_header::relayed(static_cast<std::uint32_t>(lost), relay_end),
                      std::as_bytes(std::span(why.substr(0, relay_max_reason))));
}

}  // namespace ham::detail

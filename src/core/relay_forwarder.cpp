#include "core/relay_forwarder.hpp"

#include <string_view>

#include "core/wire.hpp"
#include "ham/error.hpp"
#include "ham/msg/wire.hpp"

namespace ham::detail {

void relay_forwarder::forward(peer& from, frame_header head, std::span<const std::byte> payload) {
  const auto node = static_cast<node_t>(head.relay_node());
  if (!from.hello_seen || node <= 0 || node == from.node)
    throw protocol_error("a frame to be relayed to node " + std::to_string(node));
  peer* const to = peers_.has(node) ? &peers_[node] : nullptr;
  if (to == nullptr || to->state.load() != peer_state::ready) {
    if (head.relay_what() != relay_end)
      end(from, node, to == nullptr || to->about.loss().empty() ? "it is not in the job" : to->about.loss());
    return;
  }
  count(from, node, head.relay_what(), payload);
  replies_.reply_with(*to, frame_header::relayed(static_cast<std::uint32_t>(from.node), head.relay_what()), payload);
}

void relay_forwarder::count(peer& from, node_t to, std::uint32_t what, std::span<const std::byte> payload) {
  if (what == relay_end) {
    flows_.erase({from.node, to});
    flows_.erase({to, from.node});
    return;
  }
  if (what == relay_credit) {
    const auto found = flows_.find({to, from.node});
    if (payload.size() != sizeof(std::uint64_t)) throw protocol_error("a credit of another size");
    const auto consumed = msg::reader(payload).number<std::uint64_t>();
    if (found == flows_.end()) return;  // it was ended meanwhile
    if (consumed < found->second.consumed || consumed > found->second.given)
      throw protocol_error("a credit for what was not sent");
    found->second.consumed = consumed;
    return;
  }
  if (what > UINT8_MAX || payload.size() < relay_prefix_bytes) throw protocol_error("a relayed frame that is none");
  flow& way = flows_[{from.node, to}];
  static_cast<void>(flows_[{to, from.node}]);  // so that the loss of either is told to the other
  way.given += payload.size() - relay_prefix_bytes + relay_frame_bytes;
  if (way.given - way.consumed > relay_window)
    throw protocol_error("more frames to be relayed to node " + std::to_string(to) + " than it may");
}

void relay_forwarder::lose(node_t node, const std::string& why) noexcept {
  for (auto at = flows_.begin(); at != flows_.end();) {
    const auto [from, to] = at->first;
    if (from == node && peers_.has(to)) end(peers_[to], node, why);
    at = from == node || to == node ? flows_.erase(at) : std::next(at);
  }
}

void relay_forwarder::end(peer& to, node_t lost, std::string_view why) noexcept {
  if (to.state.load() != peer_state::ready) return;
  replies_.reply_with(to, frame_header::relayed(static_cast<std::uint32_t>(lost), relay_end),
                      std::as_bytes(std::span(why)));
}

}  // namespace ham::detail

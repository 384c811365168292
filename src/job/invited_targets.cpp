// Keys, rounds of invitations, and addresses.
#include "job/invited_targets.hpp"

#include <algorithm>

#include "job/key_file.hpp"
#include "runtime/options.hpp"

namespace ham::inline v1::detail {
namespace {

const transport::network_address& server_of(const target_group& group) {
  return static_cast<const transport::network_group&>(*group.settings).at;
}

}  // namespace

std::string name_of_server(const target_group& group) {
  return std::string(group.by->prefix()) + server_of(group).text();
}

/// The key that servers want to see, if there is to be security. Read once: an inherited descriptor gives it only once.
std::optional<transport::secret_key> invited_targets::key_for(const target_group& group) {
  if (security_of() != tcp_security::on) return std::nullopt;
  if (const std::string why = group.by->as_network()->module().why_insecure(); !why.empty()) {
    throw config_error("cannot reach " + name_of_server(group) + " with a key (" + why +
                       "); HAM_TCP_SECURITY=off does without on loopback addresses");
  }
  if (key_from_.empty()) {
    throw config_error("cannot reach " + name_of_server(group) +
                       " (no key was given to show there); name the file that the waiting program was started with: "
                       "--ham-key=FILE or HAM_KEY");
  }
  if (!key_) key_ = read_key(key_from_);
  return key_;
}

void invited_targets::prepare(const fresh_targets& planned) {
  const auto first = std::ranges::find_if(planned, [](const fresh_target& one) { return is_invited(*one.group); });
  if (first != planned.end()) static_cast<void>(key_for(*first->group));
}

/// A process that waits takes one host after the other: its targets are invited in turn, those of different ones at
/// once.
void invited_targets::invite(const fresh_targets& fresh,
                             const std::function<void(node_t, const target_group&)>& await) {
  std::size_t rounds = 0;
  for (const fresh_target& one : fresh) {
    if (is_invited(*one.group)) rounds = std::max(rounds, one.group->count);
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto each = [&](auto&& act) {
      const target_group* last = nullptr;
      std::size_t member = 0;
      for (const fresh_target& one : fresh) {
        member = one.group == last ? member + 1 : 0;
        last = one.group;
        if (is_invited(*one.group) && member == round) act(one.node, *one.group);
      }
    };
    each([&](node_t number, const target_group& group) {
      const auto key = key_for(group);
      host_.locked([&] {
        if (host_.peers.expect(number)) directory_.network().invite(number, server_of(group).text(), key);
      });
    });
    each(await);
  }
}

/// A node that listens on all its addresses is reached on the one that the host used.
void invited_targets::learn_address(node_t number, const target_group& group) {
  std::string address = host_.peers.address_of(number);
  if (address.find(':') == std::string::npos) return;  // it does not listen
  const auto listens = transport::network_address::parse(address);
  if (listens && (listens->host == "0.0.0.0" || listens->host == "::")) {
    address = transport::network_address{server_of(group).host, listens->port}.text();
  }
  directory_.set_address(number, address);
}

}  // namespace ham::detail

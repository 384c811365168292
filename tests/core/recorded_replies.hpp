// Takes down what a node would send as an answer.
#pragma once

#include <vector>

#include "core/peer.hpp"
#include "core/reply_sender.hpp"

namespace ham::inline v1::test {

class recorded_replies : public detail::reply_sender {
 public:
  struct one {
    node_t to;
    detail::frame_header head;
    std::vector<std::byte> bytes;
  };
  std::vector<one> sent;

  void reply_with(detail::peer& to, detail::frame_header head, std::span<const std::byte> bytes) noexcept override {
    sent.push_back({to.node, head, {bytes.begin(), bytes.end()}});
  }
};

}  // namespace ham::test

// How batches leave a node: calls that wait in their program, and then go as one message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/call_sender.hpp"
#include "core/call_table.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::detail {

/// Calls of a batch have slots before they are sent, which until then are this node's own: nobody fails them because a
/// peer is lost. All members may be called from any thread, which holds no lock.
class batch_sender {
 public:
  /// The batches of node `self` leave as its calls do. Both are the caller's, and outlive this.
  batch_sender(call_sender& calls_out, call_table& calls, node_t self) noexcept
      : calls_out_(calls_out), calls_(calls), self_(self) {}

  /// See the function of the same name.
  [[nodiscard]] batch_slot begin_batched(const call_place& to, msg::handler_entry& function, result_decoder decode,
                                         batch_owner& owner);
  /// See send_batch.
  void send(const call_place& to, std::span<const std::byte> records, std::uint32_t count,
            std::span<call_slot* const> slots);

 private:
  static void expect_owner_of_keys(const peer& who, std::span<call_slot* const> slots);
  [[gnu::noinline]] void trace(const peer& to, std::span<call_slot* const> slots, std::uint32_t count) const;

  call_sender& calls_out_;
  call_table& calls_;
  const node_t self_;
};

}  // namespace ham::detail

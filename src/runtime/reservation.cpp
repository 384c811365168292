// How reservations that were not sent are given back.
#include "ham/offload/detail/reservation.hpp"

#include <memory>

#include "core/batch_reply.hpp"
#include "core/outbox_message.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {
namespace {

void drop_message(peer& to, outbox_message* queued) noexcept {
  const std::unique_ptr<outbox_message> memory(queued);
  if (memory == nullptr)
    to.to->cancel();
  else
    memory->cancel();
  to.sending.unlock();
}

}  // namespace

void give_back(call_room& room) noexcept {
  if (call_slot* const slot = std::exchange(room.slot, nullptr)) slot->owner->calls.cancel(*slot);
  drop_message(*room.to, std::exchange(room.queued, nullptr));
}

void give_back(reply_room& room) noexcept {
  if (room.batch != nullptr)
    room.batch->cancel();
  else if (room.to != nullptr)  // else it is a result_sink's
    drop_message(*room.to, std::exchange(room.queued, nullptr));
}

}  // namespace ham::detail

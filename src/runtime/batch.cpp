// The records of a batch.
#include "ham/offload/batch.hpp"

namespace ham::inline v1::offload {
void batch::submit() {
  if (slots_.empty()) return;
  if (detail::is_up(runtime_))  // else all of them have settled at its end
    detail::send_batch(at_, to_, records_, static_cast<std::uint32_t>(slots_.size()), slots_);
  records_.clear();
  slots_.clear();
}

void batch::submit_owner(detail::batch_owner& self) { static_cast<batch&>(self).submit(); }

void batch::reserve(std::size_t calls, std::size_t bytes_each) {
  slots_.reserve(slots_.size() + calls);
  records_.reserve(records_.size() + calls * (record_head_bytes + bytes_each));
}

void batch::drop_record(std::size_t size) noexcept {
  detail::call_slot& slot = *slots_.back();
  slots_.pop_back();
  records_.resize(records_.size() - record_head_bytes - size);
  slot.in_batch = false;
  detail::release_slot(slot);
}

}  // namespace ham::offload

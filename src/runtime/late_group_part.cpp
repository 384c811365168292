// What a node of a group answers when something else has executed its function: its device.
#include <cstring>
#include <memory>
#include <utility>

#include "core/call_stops.hpp"
#include "ham/offload/detail/group_message.hpp"
#include "runtime/device_calls.hpp"

namespace ham::inline v1::detail {

late_group_part& late_group_part::start(incoming_call& call, const group_head& head, const group_message_bytes& message,
                                        std::unique_ptr<group_merge> merge) {
  return *new late_group_part(call, head, message, std::move(merge));
}

late_group_part::late_group_part(incoming_call& call, const group_head& head, const group_message_bytes& message,
                                 std::unique_ptr<group_merge> merge)
    : part_(call, head, message, std::move(merge)) {
  static_cast<incoming_call&>(call_) = call;
  if (call.stoppable) call_.stop = static_cast<const stoppable_call&>(call).stop;
  if (!wants_reply(call_)) call_.call = 0;  // the sink waits in any case
  call_.payload = {};
  call_.batch = nullptr;
  call_.sink = this;
}

std::byte* late_group_part::begin(std::size_t size) {
  record_ = group_done_record();
  record_.resize(group_record_bytes + size);
  return record_.data() + group_record_bytes;
}

void late_group_part::finish() noexcept {
  part_.answer(std::move(record_));
  delete this;
}

void late_group_part::fail() noexcept {
  part_.answer_error();
  delete this;
}

namespace {

/// Answers for this node when the last call before it has ended.
class barrier_fence final : public device_fence {
 public:
  explicit barrier_fence(late_group_part& part) noexcept : part_(part) {}

 private:
  void passed() noexcept override { part_.finish(); }

  late_group_part& part_;
};

}  // namespace

void run_barrier(incoming_call& call, msg::handler_entry& function) {
  msg::reader from(call.payload);
  const group_head head = group_head::read(from);
  const std::span<const std::byte> arguments = call.payload.last(from.remaining());
  from.expect_end();
  call.decoded = true;
  late_group_part& part = late_group_part::start(call, head, {function, arguments}, std::make_unique<group_merge>());
  try {
    static_cast<void>(part.begin(0));
    pass_after_calls_on_device(*call.at, std::make_shared<barrier_fence>(part));
  } catch (...) {
    part.fail();
  }
}

}  // namespace ham::detail

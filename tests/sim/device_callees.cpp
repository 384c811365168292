// Each thread of a device notes its part of a call.
#include "sim/device_callees.hpp"

#include <algorithm>
#include <mutex>

#include "base/clock.hpp"
#include "ham/cuda.hpp"
#include "runtime/device_calls.hpp"
#include "sim/scheduler.hpp"
#include "sim/world.hpp"
#include "transport/cuda/emulated_lane.hpp"

namespace ham::inline v1::sim {
namespace {

/// One thread's part of a call. The call begins when all threads are there: then all calls before it are over, and none
/// behind it has begun, in any block.
class device_part {
 public:
  explicit device_part(call_number call) : call_(call) {
    if (world::device_here() != nullptr && device::detail::this_lane() == nullptr)
      running->fail(the_oracle->describe(call) + " runs on the processor of a node with a device");
    the_oracle->begin_part(call, device::rank(), device::size());
    device::sync();
    if (device::rank() == 0) the_oracle->begin(call, world::node_here());
    device::sync();
  }
  ~device_part() { the_oracle->end_part(call_); }
  device_part(const device_part&) = delete;
  device_part& operator=(const device_part&) = delete;

  /// The sum of what all threads add.
  [[nodiscard]] std::int64_t sum(std::int64_t mine) const {
    the_oracle->add_part(call_, mine);
    device::sync();
    return the_oracle->sum_of_parts(call_);
  }

 private:
  const call_number call_;
};

void spend(std::int64_t ns) {
  if (ns != 0) base::sleep_ns(ns);
}

std::int64_t work_in_part(call_number call, std::int64_t value, std::int64_t takes_ns) {
  const device_part part(call);
  spend(takes_ns);
  if (part.sum(1) != device::size()) running->fail("not all threads of a device have added to a sum");
  return result_of(call, value);
}

std::int64_t total_of(const device_part& part, const std::int32_t* values, std::size_t count) {
  std::int64_t mine = 0;
  for (std::size_t i = device::rank(); i < count; i += device::size())
    mine += static_cast<std::int64_t>(i + 1) * values[i];
  return part.sum(mine);
}

template <auto Function>
std::uint32_t number_of() {
  return device::detail::declared_function<decltype(Function), Function>::entry().number();
}

/// Whether the reply to a call before that of the calling thread, which executes the function of that number, is not
/// written.
bool keeps_a_reply(std::uint32_t number) {
  namespace wire = device::detail;
  constexpr std::uint64_t half_of_stamps = std::uint64_t{1} << 63;
  const auto* const here = static_cast<const transport::cuda::emulated_lane*>(wire::this_lane());
  wire::call_queue& queue = world::device_here()->queues()[here->block()];
  std::uint64_t oldest = 0;
  for (std::uint64_t slot = 0; slot < wire::queue_slots; ++slot) {
    if (!wire::is_unanswered(queue, slot)) continue;  // else the slot may be used again before the next access
    const std::uint64_t what = wire::acquire(queue.headers[slot].what);
    if (oldest == 0 || oldest - what < half_of_stamps) oldest = what;
  }
  return wire::function_of(oldest) != number;
}

std::int64_t poll_for_stop(call_number call, std::uint32_t number) {
  constexpr std::int64_t max_pause_ns = 1'000'000;
  const device_part part(call);
  const std::int64_t begin = base::now_ns();
  for (std::int64_t pause = 1'000; !device::stop_requested(); pause = std::min(2 * pause, max_pause_ns)) {
    if (keeps_a_reply(number)) running->fail("a device keeps a reply while a function asks whether it is to stop");
    if (!the_oracle->goes_on_polling(call, begin)) return 0;
    spend(pause);
  }
  if (!device::stop_requested()) running->fail("a stop of a device function is taken back");
  return 1;
}

}  // namespace

std::int64_t device_work(call_number call, std::int64_t value, std::int64_t takes_ns) {
  return work_in_part(call, value, takes_ns);
}
std::int64_t device_work_of_warp(call_number call, std::int64_t value, std::int64_t takes_ns) {
  return work_in_part(call, value, takes_ns);
}
std::int64_t device_work_of_block(call_number call, std::int64_t value, std::int64_t takes_ns) {
  return work_in_part(call, value, takes_ns);
}
std::int64_t device_work_of_grid(call_number call, std::int64_t value, std::int64_t takes_ns) {
  return work_in_part(call, value, takes_ns);
}

std::int64_t device_total(call_number call, std::span<const std::int32_t> values) {
  const device_part part(call);
  return total_of(part, values.data(), values.size());
}

std::int64_t device_total_at(call_number call, offload::buffer_ptr<std::int32_t> at, std::uint64_t count) {
  const device_part part(call);
  return total_of(part, at.get(), static_cast<std::size_t>(count));
}

std::int64_t device_fill(call_number call, offload::buffer_ptr<std::int32_t> at, std::uint64_t count,
                         std::int32_t first) {
  const device_part part(call);
  std::int64_t mine = 0;
  for (std::size_t i = device::rank(); i < count; i += device::size()) {
    at.get()[i] = first + static_cast<std::int32_t>(i);
    ++mine;
  }
  return part.sum(mine);
}

std::int64_t device_work_of_member(call_number first, std::int64_t value, std::int64_t takes_ns) {
  return work_in_part(the_oracle->call_to(first, world::node_here()), value, takes_ns);
}
std::int64_t device_block_of_member(call_number first, std::int64_t value, std::int64_t takes_ns) {
  return work_in_part(the_oracle->call_to(first, world::node_here()), value, takes_ns);
}

std::int64_t device_stage(call_number first, std::uint32_t index, std::int64_t one, std::int64_t other,
                          std::int64_t takes_ns) {
  static_cast<void>(work_in_part(first + index, 0, takes_ns));
  return result_of_stage(first, index, one, other);
}

std::int64_t device_iteration(call_number first, std::int64_t done, std::int64_t takes_ns) {
  static_cast<void>(work_in_part(first + static_cast<call_number>(done), 0, takes_ns));
  return done + 1;
}

std::int64_t device_work_item(map_item one) { return work_in_part(one.call, 0, one.takes_ns); }

std::int64_t device_print(call_number call, node_t to, call_number last, std::uint32_t lines) {
  const device_part part(call);
  for (std::uint32_t i = 0; i < lines; ++i) {
    const std::int64_t number = -std::int64_t{i} * 1'000'000'007;
    if (is_long_line(i))
      device::print("call ", call, " line ", i, " ", i % 2 == 0, '!', " ", number, " ", 0.5, " ", long_text, long_text);
    else
      device::print("call ", call, " line ", i, " ", i % 2 == 0, '!', " ", number, " ", 0.5);
  }
  auto answer = device::async<&work>(to, last, std::int64_t{2}, std::int64_t{0});
  std::int64_t value = 0;
  return answer.get(value) ? value : unreachable;
}

std::int64_t device_hang(call_number call) {
  constexpr std::int64_t max_ns = 8'000'000'000;
  const device_part part(call);
  const int process = running->current().node;
  const std::int64_t until = base::now_ns() + max_ns;
  while (running->living_threads(process - process % world::processes_of_job) != 0 && base::now_ns() < until)
    spend(50'000'000);
  return -1;
}

std::int64_t device_throwing(call_number call) {
  const device_part part(call);
  throw call;
}

std::int64_t device_trap(call_number call) {
  const device_part part(call);
  device::trap("a planned fault");
}

std::int64_t device_until_stopped(call_number call) { return poll_for_stop(call, number_of<&device_until_stopped>()); }
std::int64_t device_block_until_stopped(call_number call) {
  return poll_for_stop(call, number_of<&device_block_until_stopped>());
}

std::int64_t device_report(call_number call, node_t to, call_number first, std::uint32_t count) {
  const device_part part(call);
  const call_number last = first + count - 1;
  for (call_number one = first; one != last; ++one) device::ping<&note>(to, one, std::int64_t{0});
  auto answer = device::async<&work>(to, last, std::int64_t{2}, std::int64_t{0});
  std::int64_t value = 0;
  return answer.get(value) ? value : unreachable;
}

std::int64_t work_on_device(call_number call, node_t to, call_number inner, std::int64_t value) {
  the_oracle->begin(call, offload::this_node());
  return offload::sync(to, fn<&device_work_of_block>, inner, value, std::int64_t{0});
}

std::int64_t work_alone(call_number call, std::int64_t value, std::int64_t takes_ns) {
  the_oracle->begin(call, offload::this_node());
  const auto expect_absent = [] {
    const std::lock_guard guard(detail::device_calls::end_mutex());  // the device may end meanwhile, with its process
    if (detail::device_calls::of_this_process() == nullptr) return;
    if (world::device_here()->state() == transport::residency::resident)
      running->fail("the resident kernel is there while a function has the device to itself");
  };
  cuda::while_absent([&] {
    expect_absent();
    spend(takes_ns);
    expect_absent();
  });
  the_oracle->end(call);
  return result_of(call, value);
}

std::string left_over_of_device() {
  transport::device_driver* const here = world::device_here();
  if (here == nullptr) return {};
  namespace wire = device::detail;
  bool calls = false;
  for (wire::call_queue& queue : here->queues()) {
    for (std::uint64_t i = 0; i < wire::queue_slots; ++i) calls = calls || wire::is_unanswered(queue, i);
  }
  const bool messages = std::ranges::any_of(here->messages(), [](const wire::outbox& box) {
    return wire::has_message(box, wire::acquire(box.consumed), base::never_ns);
  });
  const bool answers = static_cast<const transport::cuda::emulated_device*>(here)->awaits_answers();
  return std::string(calls ? "calls in the queues of its device, " : "") +
         (messages ? "messages of its device, " : "") + (answers ? "answers that its device awaits, " : "");
}

}  // namespace ham::sim

// Steps in which devices have memory, are asked to stop, and call others.
#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "ham/offload/stop.hpp"
#include "sim/actor.hpp"

namespace ham::inline v1::sim {

/// Values that travel with the call, of which many do not fit into a slot.
void actor::device_values(random_source& random) {
  const node_t node = device_node(random);
  const std::vector<std::int32_t> values = any_values(random.below(random.once_in(3) ? 1'200 : 200), random);
  const call_number call = the_oracle->issue(node, device_stream_to(node));
  attempt(call, false, [&] {
    pending one{offload::async(node, fn<&device_total>, call, std::span<const std::int32_t>(values)), call,
                sum_of(values.data(), values.size())};
    one.on_device = true;
    settle(one);
  });
}

/// Memory of the node, which the host has written, or its device.
void actor::device_memory(random_source& random) {
  if (buffers_.empty()) {
    transfer(random);
    return;
  }
  remote_memory& one = buffers_[random.below(buffers_.size())];
  const node_t node = one.at.node();
  const auto count = static_cast<std::uint64_t>(one.model.size());
  if (random.once_in(3)) {
    device_put(one, random);
    return;
  }
  const call_number call = the_oracle->issue(node, device_stream_to(node));
  const bool fills = random.once_in(2);
  const auto first = static_cast<std::int32_t>(random.below(1'000'000));
  const bool done = attempt(call, false, [&] {
    if (!fills) {
      the_oracle->settle(call, offload::sync(node, fn<&device_total_at>, call, one.at, count),
                         sum_of(one.model.data(), one.model.size()));
      return;
    }
    the_oracle->settle(call, offload::sync(node, fn<&device_fill>, call, one.at, count, first),
                       static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < one.model.size(); ++i) one.model[i] = first + static_cast<std::int32_t>(i);
  });
  if (!done) std::erase_if(buffers_, [&](const remote_memory& each) { return each.at.node() == node; });
}

/// A device function begins when the bytes are in its memory.
void actor::device_put(remote_memory& to, random_source& random) {
  const node_t node = to.at.node();
  const std::vector<std::int32_t> values = any_values(to.model.size(), random);
  const call_number call = the_oracle->issue(node);
  const bool done = attempt(call, false, [&] {
    auto sum = offload::put(values.data(), to.at, values.size(),
                            offload::then_call(fn<&device_total_at>, call, to.at, std::uint64_t{values.size()}));
    the_oracle->settle(call, sum.get(), sum_of(values.data(), values.size()));
    to.model = values;
  });
  if (!done) std::erase_if(buffers_, [&](const remote_memory& each) { return each.at.node() == node; });
}

/// Functions that poll for a stop, which comes from the future or by the deadline.
void actor::device_stops(random_source& random) {
  const node_t node = device_node(random);
  if (world_.has_device(node)) stop_on_device(node, random);
}

void actor::stop_on_device(node_t node, random_source& random) {
  std::vector<stoppable_call> calls;
  const std::uint64_t count = 1 + random.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    stoppable_call one;
    one.call = the_oracle->issue(node, device_stream_to(node));
    the_oracle->allow_late(one.call);
    one.has_deadline = random.once_in(3);
    const std::chrono::nanoseconds limit(random.below(400'000));
    const bool of_block = random.once_in(2);
    may_be_late_ = one.has_deadline;
    const bool started = attempt(one.call, false, [&] {
      const offload::destination to = one.has_deadline ? offload::within(node, limit) : offload::stoppable(node);
      one.result = of_block ? offload::async(to, fn<&device_block_until_stopped>, one.call)
                            : offload::async(to, fn<&device_until_stopped>, one.call);
    });
    may_be_late_ = false;
    if (started) calls.push_back(std::move(one));
  }
  if (random.once_in(2)) base::sleep_ns(static_cast<std::int64_t>(random.below(200'000)));
  for (stoppable_call& one : calls) {
    if (one.has_deadline && random.once_in(2)) continue;
    one.asked = true;
    the_oracle->ask_to_stop(one.call);
    one.result.request_stop(random.once_in(2) ? offload::when_stopped::after_answer : offload::when_stopped::at_once);
  }
  for (stoppable_call& one : calls) settle(one);
}

/// A function of the host calls the device, perhaps that of its own node.
void actor::device_nested(random_source& random) {
  const node_t node = device_node(random);
  const node_t by = random.once_in(2) ? node : any_node(random);
  const call_number call = the_oracle->issue(by, stream_to(by));
  const call_number inner = the_oracle->issue(node);
  the_oracle->set_nested(inner);
  attempt(call, true, [&] {
    pending_.push_back({offload::async(by, fn<&work_on_device>, call, node, inner, std::int64_t{5}), call,
                        result_of(inner, 5), false, false, true});
  });
}

/// Functions of the host that have the device to themselves; in a context: others of the node may be waited for by the
/// device.
void actor::device_alone(random_source& random) {
  if (contexts_.empty()) {
    device_queue(random);
    return;
  }
  remote_queue& to = contexts_[random.below(contexts_.size())];
  const std::uint64_t count = 1 + random.below(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    const call_number call = the_oracle->issue_on(to.queue.node(), to.stream);
    const std::int64_t takes = some_time(random);
    attempt(call, false, [&] {
      pending_.push_back({offload::async(to.queue, fn<&work_alone>, call, std::int64_t{6}, takes), call,
                          result_of(call, 6), false, false, false});
    });
  }
}

/// The device calls another node, in order, and waits for the last call.
void actor::device_messages(random_source& random) {
  const node_t node = device_node(random);
  const node_t to = random.once_in(3) ? 0 : any_node(random);
  const call_number call = the_oracle->issue(node, device_stream_to(node));
  const std::uint32_t order = the_oracle->new_stream();
  std::vector<call_number> calls(1 + random.below(random.once_in(8) ? 300 : 8));
  for (call_number& one : calls) {
    one = the_oracle->issue(to, order);
    the_oracle->set_nested(one);
  }
  attempt(call, true, [&] {
    const std::int64_t value =
        offload::sync(node, fn<&device_report>, call, to, calls.front(), static_cast<std::uint32_t>(calls.size()));
    the_oracle->settle(call);
    if (value == unreachable) {
      if (!faults_.any && !faults_.any_added)
        running->fail("node " + std::to_string(to) + " is lost to a device without a reason");
      the_oracle->fail(calls.back(), call_outcome::may_have_run, "its device was told that it has failed");
      return;
    }
    the_oracle->settle(calls.back(), value, result_of(calls.back(), 2));
    if (!faults_.any_added) the_oracle->expect_all_ran(order);  // else the device may hear of a new node too late
  });
}

}  // namespace ham::sim

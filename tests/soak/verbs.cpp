// What the host's threads do, one verb at a time, each with a check of everything that comes back.
#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "soak/verbs.hpp"

namespace soak {
namespace {

using offload::async;
using offload::sync;
using offload::within;
using result_future = offload::future<std::uint64_t>;

struct pending_call {
  stamp made;
  std::uint64_t number;
  result_future result;
};

/// The results in any order.
void take_all(worker& self, node_t node, std::vector<pending_call>& calls) {
  while (!calls.empty()) {
    std::swap(calls[self.below(calls.size())], calls.back());
    pending_call one = std::move(calls.back());
    calls.pop_back();
    self.take(std::move(one.result), one.made, node, mixed(one.number));
  }
}

void sync_verb(worker& self) {
  const node_t node = self.any_node();
  for (int i = 0; i < 200; ++i) {
    const stamp call = self.claim();
    const std::uint64_t number = self.random();
    self.take(async(node, fn<&work>, call, number), call, node, mixed(number));
  }
}

void async_verb(worker& self) {
  const node_t node = self.any_node();
  std::vector<pending_call> calls;
  const std::uint64_t count = 1 + self.below(512);
  for (std::uint64_t i = 0; i < count; ++i) {
    const stamp call = self.claim();
    const std::uint64_t number = self.random();
    calls.push_back({call, number, async(node, fn<&work>, call, number)});
  }
  take_all(self, node, calls);
}

void try_async_verb(worker& self) {
  const node_t node = self.any_node();
  std::vector<pending_call> calls;
  for (int started_so_far = 0; started_so_far < 300;) {
    const stamp call = self.claim();
    const std::uint64_t number = self.random();
    auto started = offload::try_async(node, fn<&work>, call, number);
    if (started) {
      calls.push_back({call, number, std::move(*started)});
      ++started_so_far;
      continue;
    }
    self.expect(call, runs::never);
    self.uncount();
    if (calls.empty()) std::this_thread::yield();  // other threads have filled the queue
    take_all(self, node, calls);
  }
  take_all(self, node, calls);
}

/// Pings have run when a call that was made later returns.
void ping_verb(worker& self) {
  const node_t node = self.any_node();
  std::vector<stamp> pings;
  for (int i = 0; i < 200; ++i) {
    pings.push_back(self.claim());
    offload::ping(node, fn<&work>, pings.back(), std::uint64_t{0});
  }
  const stamp call = self.claim();
  const std::uint64_t value = sync(node, fn<&work>, call, std::uint64_t{1});
  self.expect(call, runs::once);
  if (value != mixed(1)) self.wrong(node, "the result is wrong");
  for (const stamp one : pings) self.expect(one, runs::once);
}

void batch_verb(worker& self) {
  const node_t node = self.any_node();
  offload::batch batch(node);
  std::vector<pending_call> calls;
  const std::uint64_t count = 1 + self.below(1000);
  for (std::uint64_t i = 0; i < count; ++i) {
    const stamp call = self.claim();
    const std::uint64_t number = self.random();
    calls.push_back({call, number, batch.add(fn<&work>, call, number)});
  }
  batch.submit();
  take_all(self, node, calls);
}

/// Calls of one thread to one destination begin in order.
void expect_order(worker& self, const offload::destination& to, node_t node) {
  const std::uint64_t key = self.random();
  const std::uint64_t count = 2 + self.below(64);
  std::vector<std::pair<stamp, result_future>> calls;
  for (std::uint64_t i = 0; i < count; ++i) {
    const stamp call = self.claim();
    calls.emplace_back(call, async(to, fn<&in_order>, call, key, i + 1 == count));
  }
  std::uint64_t place = 0;
  for (auto& [call, result] : calls) self.take(std::move(result), call, node, place++);
}

void order_verb(worker& self) {
  const node_t node = self.any_node();
  expect_order(self, node, node);
}

void context_verb(worker& self) {
  const node_t node = self.any_node();
  offload::context first(node);
  offload::context second(node);
  expect_order(self, first, node);
  expect_order(self, second, node);
  const stamp call = self.claim();
  offload::ping(first, fn<&work>, call, std::uint64_t{0});
  first.drain();
  self.expect(call, runs::once);
  first.close();
}

/// Host, targets and back, in every direction: each calls the next while its caller waits.
void nested_verb(worker& self) {
  const node_t node = self.any_node();
  std::vector<node_t> path;
  const std::uint64_t length = 1 + self.below(4);
  std::uint64_t number = self.random();
  const std::uint64_t start = number;
  for (std::uint64_t i = 0; i < length; ++i)
    path.push_back(self.below(3) == 0 ? 0 : self.node_at(self.below(self.nodes())));
  for (std::uint64_t i = 0; i <= length; ++i) number = mixed(number);
  const stamp call = self.claim();
  self.count_calls(length);
  auto result = async(node, fn<&through>, call, path, start);
  try {
    const std::uint64_t value = result.get();
    self.expect(call, runs::once);
    if (value != number) self.wrong(node, "the result is wrong");
  } catch (const node_failure& why) {
    // A node that is removed in order loses the host, and its job ends: it says so of whomever it has called.
    const bool one_went =
        self.gone(node) || std::any_of(path.begin(), path.end(), [&](node_t one) { return self.gone(one); });
    const bool of_removed =
        why.node() == 0 || std::string_view(why.what()).find("the job has ended") != std::string::npos;
    if (!of_removed || !one_went) self.lost(call, node, why);
  }
}

void long_verb(worker& self) {
  const node_t node = self.any_node();
  const bytes sent = pattern(self.random(), 1 + self.below(self.below(4) == 0 ? 1U << 20U : 1U << 16U));
  bytes wanted = sent;
  for (std::uint8_t& one : wanted) one ^= 0x5a;
  const stamp call = self.claim();
  self.take(async(node, fn<&transformed>, call, sent), call, node, wanted);
}

/// What the node says that the memory holds.
void expect_sum(worker& self, const offload::buffer<std::uint8_t>& data, std::size_t size, std::uint64_t wanted) {
  const stamp call = self.claim();
  self.take(async(data.node(), fn<&checksum_of>, call, offload::buffer_ptr<const std::uint8_t>(data.ptr()), size), call,
            data.node(), wanted);
}

void put_get_verb(worker& self) {
  const node_t node = self.any_node();
  const bytes sent = pattern(self.random(), 1 + self.below(self.below(4) == 0 ? 1U << 20U : 1U << 14U));
  const offload::buffer<std::uint8_t> there(node, sent.size());
  bytes back(sent.size());
  auto moved = offload::put(sent.data(), there.ptr(), sent.size());
  moved.get();
  expect_sum(self, there, sent.size(), checksum(sent.data(), sent.size()));
  offload::get(there.ptr(), back.data(), back.size()).get();
  self.count_calls(4);
  if (back != sent) self.wrong(node, "get brings back what was not put");
}

void copy_verb(worker& self) {
  const node_t from = self.any_node();
  const node_t to = self.node_at(self.below(self.nodes()));
  const bytes sent = pattern(self.random(), 1 + self.below(1U << 16U));
  const offload::buffer<std::uint8_t> source(from, sent.size());
  const offload::buffer<std::uint8_t> target(to, sent.size());
  offload::put_sync(sent.data(), source.ptr(), sent.size());
  offload::copy_sync(source.ptr(), target.ptr(), sent.size());
  self.count_calls(4);
  const stamp call = self.claim();
  auto sum = async(to, fn<&checksum_of>, call, offload::buffer_ptr<const std::uint8_t>(target.ptr()), sent.size());
  take_copy(self, std::move(sum), call, from, to, checksum(sent.data(), sent.size()));
}

/// Rows that are apart on either side.
void block_verb(worker& self) {
  const node_t node = self.any_node();
  offload::block there_and_back;
  there_and_back.rows = 1 + self.below(64);
  there_and_back.columns = 1 + self.below(700);
  const std::size_t wide = there_and_back.columns + self.below(300);
  const std::size_t size = there_and_back.rows * wide;
  const bytes sent = pattern(self.random(), size);
  const offload::buffer<std::uint8_t> there(node, size);
  offload::block out = there_and_back;
  out.source_pitch = wide;
  out.target_pitch = there_and_back.columns;  // packed there
  offload::put(sent.data(), there.ptr(), out).get();
  bytes packed;
  for (std::size_t row = 0; row < out.rows; ++row)
    packed.insert(packed.end(), sent.data() + row * wide, sent.data() + row * wide + out.columns);
  expect_sum(self, there, packed.size(), checksum(packed.data(), packed.size()));
  bytes back(size, 0);
  offload::block in = there_and_back;
  in.source_pitch = there_and_back.columns;
  in.target_pitch = wide;
  offload::get(there.ptr(), back.data(), in).get();
  self.count_calls(4);
  for (std::size_t row = 0; row < in.rows; ++row) {
    const auto at = static_cast<std::ptrdiff_t>(row * wide);
    const auto columns = static_cast<std::ptrdiff_t>(in.columns);
    if (!std::equal(back.begin() + at, back.begin() + at + columns, sent.begin() + at)) {
      self.wrong(node, "a block comes back changed");
      return;
    }
  }
}

void object_verb(worker& self) {
  const node_t node = self.any_node();
  vault mirror(7);
  const auto there = offload::make<vault>(node, std::uint64_t{7});
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t number = self.random();
    if (there.call<&vault::add>(number) != mirror.add(number)) self.wrong(node, "an object lost a change");
  }
  if (there.async<&vault::sum>().get() != mirror.sum()) self.wrong(node, "an object differs");
  self.count_calls(23);
}

/// In time, too late, or not even sent: each has to be true.
void deadline_verb(worker& self) {
  const node_t node = self.any_node();
  for (int i = 0; i < 10; ++i) {
    const stamp call = self.claim();
    const std::uint64_t number = self.random();
    const auto limit = std::chrono::microseconds(20 + self.below(1500));
    try {
      const std::uint64_t value = sync(within(node, limit), fn<&slow>, call, self.below(1000), number);
      self.expect(call, runs::once);
      if (value != mixed(number)) self.wrong(node, "the result is wrong");
    } catch (const deadline_exceeded& why) {
      if (why.outcome() == call_outcome::not_run) self.expect(call, runs::never);
    } catch (const node_failure& why) {
      self.lost(call, node, why);
    }
  }
}

void then_verb(worker& self) {
  const node_t node = self.any_node();
  std::vector<offload::future<std::uint64_t>> chains;
  std::vector<stamp> made;
  std::vector<std::uint64_t> wanted;
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t number = self.random();
    made.push_back(self.claim());
    wanted.push_back(mixed(mixed(number) + 1) ^ 5);
    chains.push_back(async(node, fn<&work>, made.back(), number)
                         .then([](std::uint64_t value) { return mixed(value + 1); })
                         .then([](std::uint64_t value) { return value ^ 5; }));
  }
  auto all = offload::when_all(std::move(chains)).get();
  for (std::size_t i = 0; i < all.size(); ++i) self.take(std::move(all[i]), made[i], node, wanted[i]);
}

void exception_verb(worker& self) {
  const node_t node = self.any_node();
  for (int i = 0; i < 10; ++i) {
    const stamp call = self.claim();
    const std::uint64_t number = self.random();
    try {
      static_cast<void>(sync(node, fn<&failing>, call, number));
      self.wrong(node, "an exception was lost");
    } catch (const node_failure& why) {
      self.lost(call, node, why);
    } catch (const deadline_exceeded&) {
      self.wrong(node, "another exception came");
    } catch (const std::runtime_error& thrown) {
      self.expect(call, runs::once);
      if (thrown.what() != error_text(number))
        self.wrong(node, std::string("another exception came: ") + thrown.what());
    }
  }
}

/// Nobody waits for the results; that the calls have run is known when a later one returns.
void detach_verb(worker& self) {
  const node_t node = self.any_node();
  std::vector<stamp> made;
  for (int i = 0; i < 50; ++i) {
    made.push_back(self.claim());
    auto result = async(node, fn<&work>, made.back(), self.random());
    result.detach();
  }
  const std::uint64_t value = sync(node, fn<&work>, stamp{}, std::uint64_t{3});
  if (value != mixed(3)) self.wrong(node, "the result is wrong");
  for (const stamp one : made) self.expect(one, runs::once);
}

}  // namespace

void take_copy(worker& self, offload::future<std::uint64_t> sum, stamp call, node_t from, node_t to,
               std::uint64_t wanted) {
  try {
    const bool right = sum.get() == wanted;
    self.expect(call, runs::once);
    // To put to, and copy from, a target that is killed succeeds without effect until its end is noticed.
    if (!right) self.wrong(self.gone(from) ? from : to, "a copy differs from its source");
  } catch (const node_failure& why) {
    self.lost(call, to, why);
  }
}

const worker::verb_entry* worker::verbs(std::size_t& count) {
  static constexpr verb_entry all[] = {
      {"sync", &sync_verb},
      {"async", &async_verb},
      {"try_async", &try_async_verb},
      {"ping", &ping_verb},
      {"batch", &batch_verb},
      {"order", &order_verb},
      {"context", &context_verb},
      {"nested", &nested_verb},
      {"long messages", &long_verb},
      {"put, get", &put_get_verb},
      {"copy", &copy_verb},
      {"blocks", &block_verb},
      {"objects", &object_verb},
      {"deadlines", &deadline_verb},
      {"continuations", &then_verb},
      {"exceptions", &exception_verb},
      {"abandoned", &detach_verb},
      {"policies", &policy_verb},
      {"coroutines", &coroutine_verb},
      {"combined futures", &combined_verb},
      {"executors", &executor_verb},
      {"event loop", &event_loop_verb},
      {"senders", &sender_verb},
      {"stopped senders", &stopped_sender_verb},
      {"stops", &stop_verb},
      {"stop tokens", &token_verb},
      {"late stops", &late_stop_verb},
      {"shields", &shield_verb},
      {"time left", &time_verb},
      {"put, then call", &then_call_verb},
      {"copy, then call", &copy_then_call_verb},
      {"pinned memory", &pinned_verb},
      {"stopped transfers", &stopped_transfer_verb},
      {"spans", &span_verb},
      {"matrices", &matrix_verb},
      {"pools", &pool_verb},
      {"maps", &map_verb},
      {"groups", &group_verb},
      {"reductions", &reduction_verb},
      {"broadcasts", &broadcast_verb},
      {"graphs", &graph_verb},
      {"repeats", &repeat_verb},
      {"failing graphs", &failing_graph_verb},
      {"graphs and deaths", &graph_death_verb},
      {"output", &output_verb},
      {"supervised", &supervised_verb},
      {"retries", &retry_verb},
      {"old handles", &old_handle_verb},
      {"kill_call", &kill_call_verb},
      {"hangs", &hang_verb},
  };
  count = std::size(all);
  static_assert(std::size(all) <= max_verbs);
  return all;
}

}  // namespace soak

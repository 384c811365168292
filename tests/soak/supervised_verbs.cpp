// Calls to a supervised node, whose process is killed now and then.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ham/offload/retry.hpp"
#include "soak/plants.hpp"
#include "soak/verbs.hpp"

namespace soak {

using offload::async;

bool may_be_lost(worker& self, std::uint64_t mark, const node_failure& why) {
  if (self.supervised()->may_fail(mark)) return true;
  report(std::string("of a supervised node whose process was left alone: ") + why.what());
  return false;
}

void take_supervised(worker& self, stamp made, std::uint64_t mark, std::uint64_t wanted,
                     const std::function<std::uint64_t()>& get) {
  try {
    const std::uint64_t value = get();
    self.expect(made, runs::once);
    if (value != wanted) report("the result of a call to a supervised node is wrong");
  } catch (const node_failure& why) {
    if (!may_be_lost(self, mark, why)) return;
    if (why.outcome() == call_outcome::not_run) self.expect(made, runs::never);
    if (why.outcome() == call_outcome::ran) self.expect(made, runs::once);
  }
}

/// Each process has been prepared before calls reach it.
void supervised_verb(worker& self) {
  supervised_target* const target = self.supervised();
  if (target == nullptr) return;
  self.on_node(target->number());
  if (target->death_is_due()) target->replace_process();
  struct call {
    stamp made;
    std::uint64_t mark, number;
    offload::future<std::uint64_t> result;
  };
  std::vector<call> calls;
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t mark = target->mark();
    const stamp made = self.claim();
    const std::uint64_t number = self.random();
    take_supervised(self, stamp{}, mark, 0, [&] {
      calls.push_back({made, mark, number, async(target->number(), fn<&work>, made, number)});
      return std::uint64_t{0};
    });
  }
  for (call& one : calls)
    take_supervised(self, one.made, one.mark, mixed(one.number), [&] { return one.result.get(); });
  const std::uint64_t epoch = target->epoch();
  const std::uint64_t mark = target->mark();
  const stamp made = self.claim();
  try {
    const std::uint64_t prepared = offload::sync(target->number(), fn<&prepared_epoch>, made);
    self.expect(made, runs::once);
    if (prepared < epoch) report("a call has reached a process that has died, or was not prepared");
  } catch (const node_failure& why) {
    static_cast<void>(may_be_lost(self, mark, why));
  }
}

/// Repeated until a process has answered: no death is an error.
void retry_verb(worker& self) {
  supervised_target* const target = self.supervised();
  if (target == nullptr) return;
  self.on_node(target->number());
  struct call {
    stamp made;
    std::uint64_t number;
    offload::future<std::uint64_t> result;
  };
  std::vector<call> calls;
  for (int i = 0; i < 50; ++i) {
    const stamp made = self.claim(runs::any_number);
    const std::uint64_t number = self.random();
    calls.push_back({made, number, async(offload::retry(target->number(), 1000), idempotent(fn<&work>), made, number)});
    if (i == 25 && target->death_is_due()) target->replace_process();
  }
  for (call& one : calls) {
    try {
      const std::uint64_t value = one.result.get();
      self.expect(one.made, runs::at_least_once);
      if (value != mixed(one.number)) report("the result of a repeated call is wrong");
    } catch (const node_failure& why) {
      report(std::string("a call that is repeated fails with a process: ") + why.what());
    }
  }
}

namespace {

struct handles {
  offload::buffer_ptr<std::uint8_t> memory;
  std::unique_ptr<offload::context> queue;
  offload::remote<vault> object;
};

/// Of a process that another one has replaced.
void expect_refused(const char* what, const std::function<void()>& use) {
  try {
    if (!planted(plant::usable_handle)) use();
  } catch (const node_failure&) {
    return;
  } catch (const object_error&) {
    return;
  } catch (const buffer_error&) {
    return;
  }
  report(std::string(what) + " of a process that has died can be used");
}

}  // namespace

/// Memory, contexts and objects of a process are errors in the next one, and reach nobody.
void old_handle_verb(worker& self) {
  supervised_target* const target = self.supervised();
  if (target == nullptr) return;
  const node_t number = target->number();
  self.on_node(number);
  const std::uint64_t mark = target->mark();
  bytes data = pattern(self.random(), 64);
  try {
    handles old{offload::allocate<std::uint8_t>(number, data.size()), std::make_unique<offload::context>(number),
                offload::make<vault>(number, std::uint64_t{7})};
    offload::put(data.data(), old.memory, data.size()).get();
    self.count_calls(4);
    vault mirror(7);
    if (old.object.call<&vault::add>(std::uint64_t{3}) != mirror.add(3))
      report("an object of a supervised node lost a change");
    if (!target->death_is_due()) {
      offload::free(old.memory);
      return;
    }
    target->replace_process();
    const stamp never[] = {self.claim(), self.claim()};
    const offload::buffer_ptr<const std::uint8_t> memory(old.memory);
    expect_refused("memory", [&] { offload::put(data.data(), old.memory, data.size()).get(); });
    expect_refused("memory", [&] { offload::get(old.memory, data.data(), data.size()).get(); });
    expect_refused("memory",
                   [&] { static_cast<void>(offload::sync(number, fn<&checksum_of>, never[0], memory, data.size())); });
    expect_refused("a context",
                   [&] { static_cast<void>(offload::sync(*old.queue, fn<&work>, never[1], std::uint64_t{1})); });
    expect_refused("an object", [&] { static_cast<void>(old.object.call<&vault::add>(std::uint64_t{1})); });
    for (const stamp one : never) self.expect(one, runs::never);
  } catch (const node_failure& why) {
    static_cast<void>(may_be_lost(self, mark, why));
  }
}

/// A function that never asks: its process is killed, and another one takes its place.
void kill_call_verb(worker& self) {
  supervised_target* const target = self.supervised();
  if (target == nullptr) return;
  self.on_node(target->number());
  if (!target->death_is_due()) return;
  target->replace_process([&] {
    const stamp made = self.claim();
    auto hangs = async(target->number(), fn<&endless>, made);
    if (!offload::kill_call(hangs)) report("a call that has not settled cannot be killed");
    try {
      hangs.get();
      report("a call that was killed has a result");
    } catch (const node_failure& why) {
      if (why.outcome() == call_outcome::not_run) self.expect(made, runs::never);
    }
  });
}

/// A function that gives signs of life may take longer than the limit of its node; one that gives none is ended.
void hang_verb(worker& self) {
  supervised_target* const target = self.hanging();
  if (target == nullptr || !target->death_is_due()) return;
  self.on_node(target->number());
  const std::uint64_t mark = target->mark();
  const stamp beats = self.claim();
  const std::uint64_t number = self.random();
  const auto longer = static_cast<std::uint64_t>(hang_limit.count() * 2);
  try {
    const std::uint64_t value = offload::sync(target->number(), fn<&beating>, beats, longer, number);
    self.expect(beats, runs::once);
    if (value != mixed(number)) report("the result of a long function is wrong");
  } catch (const node_failure& why) {
    if (!target->may_fail(mark)) report(std::string("a node is lost though it gives signs of life: ") + why.what());
    return;
  }
  target->replace_process([&] {
    try {
      offload::sync(target->number(), fn<&endless>, self.claim());
      report("a call that never ends has ended");
    } catch (const node_failure&) {  // it was ended: nobody else does that
    }
  });
}

}  // namespace soak

// What threads of a scenario do: each a step, or a part of one.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "explorer/search.hpp"

namespace model {

unsigned start_thread(std::function<void()> work, lifetime life) {
  const outside own;
  return the_engine->add(std::move(work), life == lifetime::daemon);
}

void join_thread(unsigned thread) {
  const outside own;
  engine& e = *the_engine;
  e.begin_step("join a thread", place::current(), [&e, thread] { return e.fibers_[thread]->finished; });
  e.memory_.join(e.memory_.threads[e.current_].current, e.memory_.threads[thread].current);
}

void at_end(std::function<void()> check) {
  const outside own;
  the_engine->checks.push_back(std::move(check));
}

void check(bool holds, const char* what, place where) {
  if (holds) return;
  const outside own;
  the_engine->fail(what, where);
}

void outcome(const std::string& which) {
  const outside own;
  the_engine->run_outcomes.insert(which.c_str());
}

unsigned this_thread() { return the_engine->now() == engine::mode::running ? the_engine->current_ : max_threads; }

unsigned choose(unsigned count, const char* what) {
  const outside own;
  engine& e = *the_engine;
  const unsigned chosen = e.choose(count);
  e.say("%s: %u", what, chosen);
  return chosen;
}

void count_pause() {
  const outside own;
  the_engine->count_pause();
}

namespace {
[[gnu::noinline]] void pause_step(place where) {
  engine& e = *the_engine;
  fiber& one = e.self();
  e.count_pause();
  e.begin_step("something that it polls to change", where, [&e, &one] {
    for (const auto& [index, value] : one.round) {
      if (e.memory_.locations()[index]->newest().value != value) return true;
    }
    return false;
  });
  one.round.clear();
  e.say("waits on                                  %s:%u", file_of(where), where.line());
}
}  // namespace

void pause(place where) {
  const outside own;
  pause_step(where);
}

namespace {
[[gnu::noinline]] std::uint64_t load_step(const void* from, unsigned size, std::memory_order order, place where) {
  engine& e = *the_engine;
  if (e.now() != engine::mode::running) return newest(from, size);
  e.begin_step("load", where);
  location& at = e.at(from, size);
  e.guard_races(at, access::atomic_read);
  const unsigned read = e.memory_.load(e.current_, at, order);
  const message& what = at.messages[read];
  e.met(at, what.value);
  e.say("reads  %#llx%s from %u  %s:%u", static_cast<unsigned long long>(what.value),
        read == at.order.back() ? "" : " (old)", at.index, file_of(where), where.line());
  return what.value;
}
}  // namespace

std::uint64_t load(const void* from, unsigned size, std::memory_order order, place where) {
  const outside own;
  return load_step(from, size, order, where);
}

namespace {
[[gnu::noinline]] void store_step(void* to, unsigned size, std::uint64_t value, std::memory_order order, place where) {
  engine& e = *the_engine;
  if (e.now() != engine::mode::running) return write_newest(to, size, value);
  e.begin_step("store", where);
  location& at = e.at(to, size);
  e.guard_races(at, access::atomic_write);
  e.memory_.store(e.current_, at, value, order);
  e.met(at, value);
  e.say("writes %#llx%s to %u  %s:%u", static_cast<unsigned long long>(value),
        at.order.back() + 1U == at.messages.size() ? "" : " (before others)", at.index, file_of(where), where.line());
}
}  // namespace

void store(void* to, unsigned size, std::uint64_t value, std::memory_order order, place where) {
  const outside own;
  store_step(to, size, value, order, where);
}

namespace {
[[gnu::noinline]] std::uint64_t update_step(void* to, unsigned size, const next_value& next, std::memory_order order,
                                            std::memory_order failure, place where) {
  engine& e = *the_engine;
  std::uint64_t result = 0;
  if (e.now() != engine::mode::running) {
    const std::uint64_t old = newest(to, size);
    if (next(old, result)) write_newest(to, size, result);
    return old;
  }
  e.begin_step("read-modify-write", where);
  location& at = e.at(to, size);
  // One that would fail may read what another one has followed: it is a load. Those that succeed come first.
  unsigned read = 0;
  bool writes = false;
  std::vector<unsigned> readable;
  const std::memory_order strictest =
      order == std::memory_order_seq_cst || failure == std::memory_order_seq_cst ? std::memory_order_seq_cst : order;
  for (const unsigned one : e.memory_.readable(e.current_, at, strictest)) {
    std::uint64_t ignored = 0;
    if (!next(at.messages[one].value, ignored) || !at.messages[one].followed) readable.push_back(one);
  }
  if (readable.empty()) std::abort();
  read = readable[e.choose(static_cast<unsigned>(readable.size()))];
  const std::uint64_t old = at.messages[read].value;
  writes = next(old, result);
  e.guard_races(at, writes ? access::atomic_write : access::atomic_read);
  if (writes) {
    e.memory_.update(e.current_, at, read, result, order);
  } else {
    e.memory_.take(e.current_, at, read, failure);
  }
  e.met(at, writes ? result : old);
  if (writes)
    e.say("turns  %#llx into %#llx at %u  %s:%u", static_cast<unsigned long long>(old),
          static_cast<unsigned long long>(result), at.index, file_of(where), where.line());
  else
    e.say("finds  %#llx at %u  %s:%u", static_cast<unsigned long long>(old), at.index, file_of(where), where.line());
  return old;
}
}  // namespace

std::uint64_t update(void* to, unsigned size, const next_value& next, std::memory_order order,
                     std::memory_order failure, place where) {
  const outside own;
  return update_step(to, size, next, order, failure, where);
}

namespace {
[[gnu::noinline]] void fence_step(std::memory_order order, place where) {
  engine& e = *the_engine;
  if (e.now() != engine::mode::running) return;
  if (order == std::memory_order_seq_cst) {  // others are matters of this thread only
    e.begin_step("fence", where);
    e.say("fence  %s:%u", file_of(where), where.line());
  } else {
  }
  e.memory_.fence(e.current_, order);
}
}  // namespace

void fence(std::memory_order order, place where) {
  const outside own;
  fence_step(order, where);
}

namespace {
[[gnu::noinline]] void light_fence_step(place where) {
  engine& e = *the_engine;
  if (e.now() != engine::mode::running) return;
  e.begin_step("light fence", where);
  e.memory_.light_fence(e.current_);
  e.say("light fence  %s:%u", file_of(where), where.line());
}
}  // namespace

void light_fence(place where) {
  const outside own;
  light_fence_step(where);
}

namespace {
[[gnu::noinline]] void heavy_fence_step(const std::function<bool(unsigned thread)>& reaches, place where) {
  engine& e = *the_engine;
  if (e.now() != engine::mode::running) return;
  const auto fence_here = [&] { e.memory_.fence(e.current_, std::memory_order_seq_cst); };
  e.begin_step("heavy fence", where);
  fence_here();
  const view before = e.memory_.threads[e.current_].current;
  std::vector<unsigned> left;
  for (unsigned i = 0; i < e.count_; ++i) {
    if (i != e.current_ && reaches(i)) left.push_back(i);
  }
  e.say("heavy fence begins  %s:%u", file_of(where), where.line());
  while (!left.empty()) {  // the kernel interrupts the cores in any order
    e.begin_step("heavy fence", where);
    const unsigned which = e.choose(static_cast<unsigned>(left.size()));
    e.memory_.heavy_fence_with(e.current_, left[which], before);
    e.say("heavy fence reaches thread %u  %s:%u", left[which], file_of(where), where.line());
    left.erase(left.begin() + which);
  }
  e.begin_step("heavy fence", where);
  fence_here();
  e.say("heavy fence ends  %s:%u", file_of(where), where.line());
}
}  // namespace

void heavy_fence(const std::function<bool(unsigned thread)>& reaches, place where) {
  const outside own;
  heavy_fence_step(reaches, where);
}

namespace {
[[gnu::noinline]] std::uint32_t plain_load_step(const void* from, place where) {
  engine& e = *the_engine;
  if (e.now() != engine::mode::running) return static_cast<std::uint32_t>(newest(from, 4));
  e.self().where = where;
  location& at = e.at(from, 4);
  e.guard_races(at, access::plain_read);
  // Without a race what happened before is the last value that was seen.
  const message& what = at.messages[e.memory_.threads[e.current_].current.seen[at.index]];
  return static_cast<std::uint32_t>(what.value);
}
}  // namespace

std::uint32_t plain_load(const void* from, place where) {
  const outside own;
  return plain_load_step(from, where);
}

namespace {
[[gnu::noinline]] void plain_store_step(void* to, unsigned size, std::uint64_t value, place where) {
  engine& e = *the_engine;
  if (e.now() != engine::mode::running) return write_newest(to, size, value);
  e.self().where = where;
  location& at = e.at(to, size);
  e.guard_races(at, access::plain_write);
  e.memory_.append(e.current_, at, value, std::memory_order_relaxed);
}
}  // namespace

void plain_store(void* to, std::uint32_t value, place where) {
  const outside own;
  plain_store_step(to, 4, value, where);
}

void free_atomic(void* what, unsigned size, place where) {
  const outside own;
  plain_store_step(what, size, newest(what, size), where);
}

std::uint64_t newest(const void* from, unsigned size) {
  if (location* const at = the_engine->memory_.known(from)) return at->newest().value;
  std::uint64_t value = 0;
  std::memcpy(&value, from, size);
  return value;
}

void write_newest(void* to, unsigned size, std::uint64_t value) {
  const outside own;
  engine& e = *the_engine;
  if (e.now() != engine::mode::running) {
    if (location* const at = e.memory_.known(to)) {
      at->messages[at->order.back()].value = value;
      return;
    }
    std::memcpy(to, &value, size);
    return;
  }
  location& at = e.at(to, size);
  e.memory_.append(e.current_, at, value, std::memory_order_seq_cst);
}

namespace {
[[gnu::noinline]] std::uint64_t object_step(const object& which, const char* what, const std::function<bool()>& ready,
                                            const std::function<std::uint64_t()>& act, place where) {
  engine& e = *the_engine;
  if (e.now() != engine::mode::running) return act();
  e.begin_step(what, where, ready);
  view& current = e.memory_.threads[e.current_].current;
  view& brings = e.brought_by(which);
  e.memory_.join(current, brings);
  const std::uint64_t value = act();
  e.memory_.join(brings, current);
  e.say("%s: %llu  %s:%u", what, static_cast<unsigned long long>(value), file_of(where), where.line());
  return value;
}

}  // namespace

std::uint64_t object::step(const char* what, const std::function<bool()>& ready,
                           const std::function<std::uint64_t()>& act, place where) {
  const outside own;
  return object_step(*this, what, ready, act, where);
}

}  // namespace model

// What futures of all types share: errors, and the race of several.
#include "ham/offload/future.hpp"

#include <atomic>
#include <memory>
#include <vector>

#include "ham/offload/when.hpp"

namespace ham::inline v1 {

std::exception_ptr detail::no_result() noexcept {
  try {
    return std::make_exception_ptr(
        error("this future has no result (it was default-constructed, moved from, or read "
              "already) keep the value that get() returned"));
  } catch (...) {
    return std::current_exception();
  }
}

void detail::throw_no_result() { std::rethrow_exception(no_result()); }

void detail::rethrow(std::exception_ptr what) { std::rethrow_exception(std::move(what)); }

std::exception_ptr detail::see_failure(call_slot& slot) noexcept {
  if (!slot.has_failed()) return nullptr;
  slot.state.store(slot_state::seen, std::memory_order_release);
  return slot_error(slot);
}

void detail::fail_local(call_slot& slot, std::exception_ptr why) noexcept {
  if (slot.settled()) return;  // with its runtime
  ::new (static_cast<void*>(slot.storage)) std::exception_ptr(std::move(why));
  settle_local(slot, slot_state::failed);
}

void detail::throw_no_runtime() {
  throw error("no continuation can run any more (the runtime of this future has ended)");
}

void detail::rethrow_failure(call_slot& slot) {
  const std::exception_ptr failure = std::move(slot_error(slot));
  slot_error(slot).~exception_ptr();
  release_slot(slot);
  std::rethrow_exception(failure);
}

namespace offload::detail {

void throw_no_futures() { throw error("when_any of no futures (none could ever settle) pass at least one"); }

void require_results(bool all_valid) {
  if (!all_valid)
    throw error(
        "one of these futures has no result (it was default-constructed, moved from, or read already); take it "
        "out before");
}

namespace {

struct runner : continuation {
  race* of = nullptr;
};

}  // namespace

struct race {
  explicit race(std::size_t count) : left(count), runners(count) {}
  std::atomic<bool> decided{false};
  std::atomic<std::size_t> left;
  std::vector<runner> runners;
  call_slot* result = nullptr;
};

namespace {

void arrive(continuation* self) {
  auto& one = *static_cast<runner*>(self);
  race& all = *one.of;
  if (!all.decided.exchange(true))
    fulfil<std::size_t>(*all.result, [&] { return static_cast<std::size_t>(&one - all.runners.data()); });
  if (all.left.fetch_sub(1, std::memory_order_acq_rel) == 1) delete &all;
}

}  // namespace

race* start_race(engine& at, std::size_t runners) {
  auto all = std::make_unique<race>(runners);
  for (runner& one : all->runners) {
    one.of = all.get();
    one.run = &arrive;
  }
  all->result = make_local_slot(at);
  return all.release();
}

call_slot* result_of(race& all) noexcept { return all.result; }
continuation* runner_of(race& all, std::size_t index) noexcept { return &all.runners[index]; }

}  // namespace offload::detail
}  // namespace ham

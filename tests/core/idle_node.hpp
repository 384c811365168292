// A node without transports, whose threads wait for what the test does.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/clock.hpp"
#include "core/standby_receiver.hpp"
#include "core/waiter.hpp"

namespace ham::inline v1::test {

class idle_node : public detail::waiting_node, public detail::served_node {
 public:
  // What the test sets.
  std::atomic<bool> spare_cores{true};
  std::atomic<bool> deferred{false};
  std::atomic<bool> refuses_sleep{false};
  std::atomic<bool> is_connected{true};
  std::atomic<bool> serves{true};
  std::atomic<bool> stops{false};
  std::atomic<bool> executes{false};
  std::atomic<std::uint64_t> executed{0};
  std::atomic<std::int64_t> wakeup_ns{base::never_ns};
  std::function<bool()> on_receive = [] { return false; };
  // What the test reads.
  std::atomic<int> armed{0}, disarmed{0}, clock_checks{0}, finished{0}, polls{0};

  detail::waiter waits{*this};

  bool progress() {
    ++polls;
    if (!waits.try_lock_to_poll()) return false;
    const bool any = on_receive();
    waits.unlock();
    return any;
  }
  template <class Done>
  bool wait(Done done, std::int64_t until_ns = base::never_ns) {
    return waits.wait_until(
        done, [this] { return progress(); }, until_ns);
  }

 private:
  std::int64_t check_clock(std::int64_t, const detail::call_slot*, std::int64_t&) override {
    ++clock_checks;
    return base::never_ns;
  }
  bool wakes_up(const detail::call_slot&) noexcept override { return false; }
  bool oversubscribed() const noexcept override { return !spare_cores; }
  bool has_deferred() const noexcept override { return deferred; }
  bool has_runnable() const override { return false; }
  bool run_deferred(const detail::call_slot* /*awaited*/) override {
    const bool had_some = deferred;
    deferred = false;
    return had_some;
  }
  bool connected() const noexcept override { return is_connected; }
  bool arm() override {
    if (refuses_sleep) return false;
    ++armed;
    return true;
  }
  void disarm() noexcept override { ++disarmed; }
  std::int64_t next_wakeup_ns() const noexcept override { return wakeup_ns; }
  int home_core() const noexcept override { return -1; }
  void finish_progress() override {
    ++finished;
    waits.unlock();
  }

  bool serving() const noexcept override { return serves; }
  bool stopping() const noexcept override { return stops; }
  bool executing() const noexcept override { return executes; }
  std::uint64_t calls_executed() const noexcept override { return executed; }
  bool receive() override { return progress(); }
};

}  // namespace ham::test

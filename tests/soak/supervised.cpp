#include "soak/supervised.hpp"

#include <signal.h>

#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "soak/functions.hpp"
#include "soak/plants.hpp"
#include "soak/problems.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;

constexpr auto restart_limit = 20s;
constexpr auto planted_restart_limit = 100ms;

}  // namespace

supervised_target::supervised_target(const std::string& kind, std::chrono::nanoseconds hang_after)
    : number_(offload::add_node(kind)) {
  offload::supervise(
      number_,
      {.max_restarts = 1'000'000, .within = 1s, .hang_after = hang_after, .on_respawn = [this](const auto& fresh) {
         offload::sync(fresh.node, fn<&prepare>, fresh.epoch);
         epoch_.store(fresh.epoch);
       }});
}

bool supervised_target::death_is_due() {
  const std::int64_t now = base::now_ns();
  std::int64_t next = next_ns_.load();
  const bool due = now >= next && next_ns_.compare_exchange_strong(next, now + pace_ns_.load());
  if (!due || !planted(plant::unannounced_death)) return due;
  kill_process();
  return false;
}

void supervised_target::kill_process() const {
  ::kill(static_cast<pid_t>(offload::get_node_descriptor(offload::process_of(number_)).pid()), SIGKILL);
}

void supervised_target::replace_process(const std::function<void()>& kill) {
  const std::lock_guard guard(mutex_);
  const node_t before = offload::process_of(number_);
  const std::uint64_t epoch_before = epoch_.load();
  begun_.fetch_add(1);
  const bool not_killed = planted(plant::no_restart);
  if (!not_killed) kill();
  const auto until = std::chrono::steady_clock::now() + (not_killed ? planted_restart_limit : restart_limit);
  while (offload::process_of(number_) == before) {
    if (std::chrono::steady_clock::now() > until) {
      report("a supervised process was killed, and no other one has its number");
      return;
    }
    std::this_thread::sleep_for(1ms);
  }
  try {
    if (offload::sync(number_, fn<&prepared_epoch>, stamp{}) != epoch_before + 1)
      report("a supervised process was called before it was prepared, or is another one than it should be");
  } catch (const std::exception& why) {
    report(std::string("a supervised process does not answer after its start: ") + why.what());
  }
  replaced_.fetch_add(1);
}

}  // namespace soak

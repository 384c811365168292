// A restart is an addition to the job, and then the number is given to the new process.
#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/thread.hpp"
#include "core/thread_state.hpp"
#include "job/sole_change.hpp"
#include "job/supervisor.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::chrono::milliseconds min_pause{10}, max_pause{1000};
constexpr const char* no_thread =
    "there can be no thread that starts it again (raise the limit of processes, ulimit -u)";
using phase = replacements::phase;

std::string limit_of(const offload::supervision& how) {
  return "it has died, and was started again " + std::to_string(how.max_restarts) + " times within " +
         seconds_of(how.within) + " s already";
}

std::string text_of_end(node_t number, const std::string& why, const std::deque<std::string>& reasons) {
  std::string text = "node " + std::to_string(number) + " is given up: " + why + ". Its last ends:";
  std::size_t which = 0;
  for (const std::string& one : reasons) text += " " + std::to_string(++which) + ". " + one + ";";
  text.pop_back();
  return text;
}

}  // namespace

/// While it lives, there is a thread that executes calls and continuations. Throws std::system_error.
class supervisor::preparation {
 public:
  explicit preparation(supervisor& of) : of_(of) {
    const std::lock_guard guard(of_.mutex_);
    if (!of_.executing_.joinable())
      of_.executing_ = base::start_thread([at = &of_] { at->execute_for_preparations(); });
    of_.preparing_.fetch_add(1);
    of_.news_.notify_all();
  }
  preparation(const preparation&) = delete;
  preparation& operator=(const preparation&) = delete;
  ~preparation() {
    {
      const std::lock_guard guard(of_.mutex_);
      of_.preparing_.fetch_sub(1);
      of_.news_.notify_all();
    }
    of_.host_.waits.wake();
  }

 private:
  supervisor& of_;
};

void supervisor::execute_for_preparations() {
  const engine_scope scope(&host_);
  for (std::unique_lock guard(mutex_);;) {
    news_.wait(guard, [&] { return ending_ || preparing_.load() != 0; });
    if (preparing_.load() == 0) return;
    guard.unlock();
    host_.progress_while(preparing_);
    guard.lock();
  }
}

/// Whoever has the receiving lock may have looked at reports before, and leave this one.
void supervisor::notice() {
  constexpr std::int64_t pause_ns = 100'000;
  while (host_.events.pending() && !host_.is_ending()) {
    host_.take_notice();
    if (host_.events.pending()) base::sleep_ns(pause_ns);
  }
  if (host_.continuations.due()) host_.waits.wake();  // they are others' to run
}

void supervisor::work() {
  const engine_scope scope(&host_);
  const receiving_thread role;
  for (std::unique_lock guard(mutex_);;) {
    auto next = nodes_.end();
    const auto has_work = [&] {
      next = std::ranges::find_if(nodes_, [](const auto& one) { return one.second.due && !one.second.working; });
      return ending_ || reported_ || next != nodes_.end();
    };
    if (const std::int64_t pause_ns = check_interval_ns(); pause_ns == base::never_ns) {
      news_.wait(guard, [&] { return has_work() || check_interval_ns() != base::never_ns; });
    } else if (!news_.wait_for(guard, std::chrono::nanoseconds(pause_ns), has_work)) {
      guard.unlock();
      check_for_hangs();
      guard.lock();
      continue;
    }
    if (ending_) return;
    if (std::exchange(reported_, false)) {
      guard.unlock();
      notice();
      guard.lock();
      continue;
    }
    if (next == nodes_.end()) continue;
    const node_t number = next->first;
    if (begin_restart(number, next->second)) continue;
    guard.unlock();
    give_up(number, no_thread);
    guard.lock();
  }
}

/// False: there can be no thread for it. mutex_ is held.
bool supervisor::begin_restart(node_t number, watched& one) {
  if (one.worker.joinable()) one.worker.join();  // it is not working: it needs no lock any more
  const auto restart_and_say_so = [this, number] {
    const engine_scope scope(&host_);
    {
      const executing_nothing role(host_);
      restart(number);
    }
    bool released = false;
    {
      std::lock_guard guard(mutex_);
      if (const auto found = nodes_.find(number); found != nodes_.end()) {
        found->second.working = false;
        found->second.restarting = false;
        news_.notify_all();
      } else {
        host_.numbers.forget(number);
        released = true;
      }
    }
    if (released) starter_.announce_numbers();
  };
  try {
    one.worker = base::start_thread(restart_and_say_so);
    one.due = false;
    one.restarting = true;
    one.working = true;
    return true;
  } catch (const std::exception&) {  // also for want of memory
    one.due = false;
    return false;
  }
}

void supervisor::restart(node_t number) {
  starter_.announce_numbers();  // calls of other nodes wait from now on
  for (std::chrono::milliseconds pause{0}; rest(number, pause); pause = std::clamp(2 * pause, min_pause, max_pause)) {
    const auto how = settings_of(number);
    if (how == nullptr) return;
    if (!allows_another(number)) {
      give_up(number, limit_of(*how));
      return;
    }
    if (attempt(number)) return;
  }
}

/// Between two attempts, the first of which has failed. False: no other one is wanted any more.
bool supervisor::rest(node_t number, std::chrono::milliseconds time) {
  std::unique_lock guard(mutex_);
  return !news_.wait_for(guard, time, [&] { return ending_ || !nodes_.contains(number); });
}

/// nullptr: it is not supervised any more, or the job ends.
std::shared_ptr<const offload::supervision> supervisor::settings_of(node_t number) const {
  std::lock_guard guard(mutex_);
  const auto found = nodes_.find(number);
  return ending_ || found == nodes_.end() ? nullptr : found->second.how;
}

bool supervisor::allows_another(node_t number) {
  std::lock_guard guard(mutex_);
  const auto found = nodes_.find(number);
  if (found == nodes_.end()) return true;  // attempt() sees that, too
  watched& one = found->second;
  const std::int64_t now = base::now_ns();
  std::erase_if(one.restarts, [&](std::int64_t time) { return now - time > one.how->within.count(); });
  if (one.restarts.size() >= one.how->max_restarts) return false;
  one.restarts.push_back(now);
  return true;
}

/// True: there is a process again, or none is wanted any more.
bool supervisor::attempt(node_t number) {
  node_t process = -1;
  std::string why;
  try {
    process = starter_.start_again(number);
    const auto how = settings_of(number);
    const auto fresh = assign(number, process);
    if (how == nullptr || !fresh) {
      starter_.end(process);
      return true;
    }
    if (how->on_respawn) {
      const preparation others_go_on(*this);
      const replacements::rebuilding scope(host_.numbers, number, process);
      how->on_respawn(*fresh);
    }
    why = publish(number, process);
    if (why.empty()) {
      starter_.announce_numbers();
      base::log("job", base::log_level::info, "node %d was started again as process %d", number, process);
      return true;
    }
  } catch (const std::exception& problem) {
    why = problem.what();
  } catch (...) {
    why = "on_respawn has thrown something that is no std::exception";
  }
  if (process >= 0) starter_.end(process);
  note_end(number, why);
  return false;
}

/// Its end is this number's from now on, and it learns the number. nullopt: the number is not supervised any more.
std::optional<offload::respawned> supervisor::assign(node_t number, node_t process) {
  offload::respawned fresh{number, process, 0, {}};
  {
    std::lock_guard guard(mutex_);
    const auto found = nodes_.find(number);
    if (ending_ || found == nodes_.end()) return std::nullopt;
    watched& one = found->second;
    one.process = process;
    one.hang.restart();
    one.check.reset();
    one.hung = false;
    fresh.epoch = ++one.epoch;
    if (!one.reasons.empty()) fresh.reason = one.reasons.back();
    host_.numbers.set(number, process, phase::restarting);
  }
  starter_.announce_numbers();
  return fresh;
}

/// Calls reach it from now on. Not empty: why they do not.
std::string supervisor::publish(node_t number, node_t process) {
  std::string why;
  host_.locked([&] {
    std::lock_guard guard(mutex_);
    const auto found = nodes_.find(number);
    if (!host_.peers.is_ready(process))
      why = "it died while it was prepared" +
            (host_.peers.has(process) ? ": " + host_.peers[process].about.loss() : std::string());
    if (!why.empty() || found == nodes_.end()) return;
    found->second.restarting = false;  // the next loss of it is told to this
    host_.numbers.set(number, process, phase::up);
    host_.peers[process].show_restart(number, found->second.epoch);
    host_.waits.wake_finished();
    const auto& reasons = found->second.reasons;
    host_.reports.add(offload::event_kind::respawned, number, reasons.empty() ? std::string_view() : reasons.back());
  });
  return why;
}

void supervisor::note_end(node_t number, const std::string& why) {
  std::lock_guard guard(mutex_);
  const auto found = nodes_.find(number);
  if (found != nodes_.end() && !std::exchange(found->second.hung, false)) add_reason(found->second.reasons, why);
}

void supervisor::give_up(node_t number, const std::string& why) {
  std::string text;
  node_t process = -1;
  host_.locked([&] {
    std::lock_guard guard(mutex_);
    const auto found = nodes_.find(number);
    if (ending_ || found == nodes_.end()) return;
    process = found->second.process;
    text = text_of_end(number, why, found->second.reasons);
    host_.numbers.set(number, found->second.process, phase::given_up, text);
    host_.waits.wake_finished();
    host_.reports.add(offload::event_kind::given_up, number, text);
  });
  if (text.empty()) return;
  base::log("job", base::log_level::error, "%s", text.c_str());
  starter_.announce_numbers();
  starter_.end_lost(process);  // other nodes may still call it, and its own calls to the host are read by nobody
}

}  // namespace ham::detail

// What the host and the node that runs main tell each other.
#include "job/main_role.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <tuple>

#include "base/clock.hpp"

namespace ham::inline v1::detail {

namespace {

/// What main left to the exit of its process takes the time that it takes. Somebody else reaps it.
void await_child(pid_t pid) {
  for (;;) {
    siginfo_t ended{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0) return;
    base::sleep_ns(1'000'000);
  }
}

}  // namespace

int main_role::run_on(node_t where, const std::vector<std::string>& arguments, bool progress_thread) {
  where_.store(where, std::memory_order_release);
  node_.end_with(where);
  pid_t pid = 0;
  {
    const peer_hold who = node_.peer_of(where);
    pid = static_cast<pid_t>(who->about.pid());
    node_.replies.reply_with(*who, frame_header::of(wire_kind::notice),
                             pack(main_request{kind_of(notice::run_main), arguments, progress_thread}));
  }
  node_.serve();
  if (const auto end = end_of_main()) {
    const auto& [kind, status, exits, why] = *end;
    if (!why.empty()) throw config_error("node " + std::to_string(where) + " cannot run main: " + why);
    if (exits) await_child(pid);
    return status;
  }
  static_cast<void>(node_.peer_of(where));  // throws: it is lost
  throw config_error("node " + std::to_string(where) + " has not told how main ended");
}

std::optional<main_end> main_role::end_of_main() const {
  std::lock_guard guard(mutex_);
  return end_;
}

std::vector<std::string> main_role::arguments() const {
  std::lock_guard guard(mutex_);
  return arguments_;
}

bool main_role::wants_progress_thread() const {
  std::lock_guard guard(mutex_);
  return progress_thread_;
}

void main_role::report_end(int status, bool exits, const std::string& why) {
  const peer_hold host = node_.peers.hold(0);
  if (host && host->state.load() == peer_state::ready)
    node_.replies.reply_with(*host, frame_header::of(wire_kind::notice),
                             pack(main_end{kind_of(notice::main_ended), status, exits, why}));
}

void main_role::on_notice(node_t from, std::span<const std::byte> text) {
  if (notice_in(text) == notice::run_main) {
    if (from != 0 || requested()) throw protocol_error("a request to run main, which the host makes once");
    auto [kind, arguments, progress_thread] = unpack<main_request>(text);
    if (arguments.empty()) throw protocol_error("a request to run main without the program's name");
    for (const std::string& one : arguments) {
      if (one.find('\0') != std::string::npos) throw protocol_error("an argument of main with a zero byte");
    }
    std::lock_guard guard(mutex_);
    arguments_ = std::move(arguments);
    progress_thread_ = progress_thread;
    requested_.store(true, std::memory_order_release);
    node_.interrupt_service();
    return;
  }
  if (from == 0 || from != where_.load(std::memory_order_acquire))
    throw protocol_error("word of the end of main, which does not run there");
  auto end = unpack<main_end>(text);
  {
    std::lock_guard guard(mutex_);
    end_ = std::move(end);
  }
  // It waits for this word; and calls to it that functions here wait for would not return.
  peer& runner = node_.peers[from];
  if (runner.state.load() == peer_state::ready)
    node_.replies.reply_with(runner, frame_header::of(wire_kind::goodbye), {});
  node_.all_connections.lose(runner, "main, which ran there, has ended", peer_end::left);
  node_.end();
}

}  // namespace ham::detail

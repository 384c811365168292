// The keeper's thread.
#include "transport/common/child_keeper.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.hpp"
#include "base/own_program.hpp"
#include "base/refused_call.hpp"
#include "base/thread.hpp"
#include "transport/common/joining.hpp"

namespace ham::transport {
namespace {

constexpr std::chrono::milliseconds patience_at_end{500};
constexpr int look_again_ms = 200;  // a start that hangs is seen late rather than by a timer of its own

}  // namespace

child_keeper::child_keeper(std::string transport, end_handler on_end)
    : transport_(std::move(transport)),
      on_end_(std::move(on_end)),
      start_limit_ns_(start_limit_ns()),
      command_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!command_event_) {
    throw config_error("cannot make an event descriptor" +
                       base::refused_call("eventfd2", "raise the limit of open files (ulimit -n)"));
  }
  thread_ = base::start_thread([this] { keep(); });
}

child_keeper::~child_keeper() { stop(); }

void child_keeper::run(std::function<void()> task) {
  std::exception_ptr problem;
  bool done = false;
  std::unique_lock lock(mutex_);
  if (stop_) throw config_error("this host is about to end; it starts no targets any more");
  tasks_.emplace_back([&] {
    try {
      task();
    } catch (...) {
      problem = std::current_exception();
    }
    std::lock_guard guard(mutex_);
    done = true;
    done_.notify_all();
  });
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(command_event_.get(), &one, sizeof one);
  done_.wait(lock, [&] { return done; });
  if (problem) std::rethrow_exception(problem);
}

void child_keeper::start(const plan& what, std::span<const std::byte> welcome, std::span<const int> fds) {
  run([&] { start_here(what, welcome, fds); });
}

void child_keeper::end(node_t node, std::chrono::milliseconds patience) {
  if (pid(node) < 0) return;
  run([&] {
    for (auto& one : children_) {
      if (one->node != node || one->ended) continue;
      one->leaving = true;
      one->end_by = base::now_ns() + std::chrono::nanoseconds(patience).count();
    }
  });
}

std::int64_t child_keeper::pid(node_t node) const noexcept {
  std::lock_guard guard(mutex_);
  const auto found = pids_.find(node);
  return found == pids_.end() ? -1 : found->second;
}

void child_keeper::stop() noexcept {
  {
    std::lock_guard guard(mutex_);
    if (stop_) return;
    stop_ = true;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(command_event_.get(), &one, sizeof one);
  thread_.join();
}

void child_keeper::keep() {
  for (;;) {
    wait_for_events();
    for (;;) {
      std::function<void()> task;
      {
        std::lock_guard guard(mutex_);
        if (tasks_.empty()) {
          if (!stop_) break;
        } else {
          task = std::move(tasks_.front());
          tasks_.pop_front();
        }
      }
      if (!task) {
        stop_children();
        return;
      }
      task();
    }
  }
}

void child_keeper::start_here(const plan& what, std::span<const std::byte> welcome, std::span<const int> fds) {
  auto one = std::make_unique<child>();
  one->node = what.node;
  auto [mine, theirs] = base::make_control_pair();
  one->control = std::move(mine);
  if (!base::send_control(one->control.get(), welcome, fds)) {
    throw config_error("cannot send descriptors to a target" +
                       base::refused_call("sendmsg", "raise the limit of open files (ulimit -n)"));
  }
  base::process_request request;
  request.command = what.command;
  if (what.command.front() == base::own_program_link)
    request.shown_name = base::target_name(base::own_program_name(), what.node);
  request.cpus = what.cpus;
  request.inherited_fd = theirs.get();
  request.extra_environment = {"HAM_TARGET=" + transport_ + ":" + std::to_string(theirs.get())};
  one->process = base::start_process(request);
  one->program = words(what.command);
  one->end_by = start_limit_ns_ == 0 ? 0 : base::now_ns() + start_limit_ns_;
  {
    std::lock_guard guard(mutex_);
    pids_[what.node] = one->process.pid;
  }
  children_.push_back(std::move(one));
}

void child_keeper::wait_for_events() {
  std::vector<pollfd> waiting{{command_event_.get(), POLLIN, 0}};
  std::vector<std::pair<child*, bool>> whose;  // and whether it is the control socket
  bool limited = false;
  for (const auto& one : children_) {
    if (one->ended) continue;
    limited = limited || one->end_by != 0;
    waiting.push_back({one->process.pid_fd.get(), POLLIN, 0});
    whose.emplace_back(one.get(), false);
    if (!one->control) continue;
    waiting.push_back({one->control.get(), POLLIN, 0});
    whose.emplace_back(one.get(), true);
  }
  if (::poll(waiting.data(), waiting.size(), limited ? look_again_ms : -1) < 0) return;
  std::uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = ::read(command_event_.get(), &ignored, sizeof ignored);
  // Words before the end: they say why.
  for (const bool control : {true, false}) {
    for (std::size_t i = 0; i < whose.size(); ++i) {
      if (waiting[i + 1].revents == 0 || whose[i].second != control) continue;
      if (control)
        read_control(*whose[i].first);
      else
        reap(*whose[i].first, std::chrono::milliseconds(0));
    }
  }
  if (limited) kill_late_ones();
  drop_ended();
}

void child_keeper::drop_ended() {
  constexpr std::size_t most_remembered = 64;  // whose process ids are still told
  for (const auto& one : children_) {
    if (!one->ended) continue;
    std::lock_guard guard(mutex_);
    dropped_.push_back(one->node);
    if (dropped_.size() <= most_remembered) continue;
    pids_.erase(dropped_.front());
    dropped_.pop_front();
  }
  std::erase_if(children_, [](const auto& one) { return one->ended; });
}

void child_keeper::read_control(child& from) {
  bool closed = false;
  const auto message = base::receive_control(from.control.get(), false, closed);
  if (closed) {
    from.control.reset();
    // It most likely ends at this moment, and how it ends is worth more than that it hung up.
    reap(from, from.has_joined ? std::chrono::milliseconds(0) : std::chrono::milliseconds(2000));
    if (!from.ended) tell_end(from, "closed the connection");
    return;
  }
  if (!message || message->from_other_user) return;
  const std::string_view text(reinterpret_cast<const char*>(message->bytes.data()), message->bytes.size());
  if (from.has_joined) return;
  if (text.starts_with(declined)) from.last_words = text.substr(declined.size());
  if (text != joined) return;
  from.has_joined = true;
  if (!from.leaving) from.end_by = 0;
}

void child_keeper::reap(child& one, std::chrono::milliseconds patience) {
  if (one.ended) return;
  const std::string how = base::wait_for_end(one.process, patience);
  if (how.empty()) return;
  one.ended = true;
  tell_end(one, how);
}

void child_keeper::tell_end(child& one, const std::string& how) {
  if (one.told) return;
  one.told = true;
  on_end_(one.node, one.has_joined ? "its process " + how : why_not_joined(one.program, how, one.last_words));
}

void child_keeper::kill_late_ones() {
  const std::int64_t now = base::now_ns();
  for (auto& one : children_) {
    if (one->ended || one->end_by == 0 || now < one->end_by) continue;
    base::kill_process(one->process);
    one->end_by = 0;
    if (one->leaving || one->has_joined) continue;
    tell_end(*one, too_slow(start_limit_ns_));
  }
}

void child_keeper::stop_children() {
  const std::int64_t until = base::now_ns() + std::chrono::nanoseconds(patience_at_end).count();
  for (auto& one : children_) one->control.reset();
  for (auto& one : children_) {
    if (one->ended) continue;
    const std::int64_t left_ms = std::max<std::int64_t>(0, (until - base::now_ns()) / 1'000'000);
    if (!base::wait_for_end(one->process, std::chrono::milliseconds(left_ms)).empty()) continue;
    base::kill_process(one->process);
    static_cast<void>(base::wait_for_end(one->process, std::chrono::seconds(1)));
  }
}

}  // namespace ham::transport

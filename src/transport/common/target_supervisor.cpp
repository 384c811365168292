// The control thread.
#include "transport/common/target_supervisor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/own_program.hpp"
#include "base/printable.hpp"
#include "base/process_end.hpp"
#include "base/refused_call.hpp"
#include "base/thread.hpp"
#include "transport/common/joining.hpp"

namespace ham::inline v1::transport {
namespace {

constexpr std::chrono::milliseconds end_timeout{500};
// From the close of the control socket to the end of a process that closed it by ending.
constexpr std::chrono::milliseconds quick_exit_timeout{10};
constexpr std::chrono::milliseconds joined_exit_timeout{90};
constexpr std::chrono::milliseconds status_timeout{10};  // of one that ends for sure
constexpr std::chrono::milliseconds unjoined_exit_timeout{2000};

}  // namespace

target_supervisor::target_supervisor(std::string transport, end_handler on_end)
    : transport_(std::move(transport)),
      on_end_(std::move(on_end)),
      start_limit_ns_(start_limit_ns()),
      command_event_(base::make_event()) {
  thread_ = base::start_thread([this] { control_loop(); });
}

target_supervisor::~target_supervisor() { stop(); }

bool target_supervisor::post(std::function<void()> task) {
  {
    std::lock_guard guard(mutex_);
    if (stop_) return false;
    tasks_.push_back(std::move(task));
  }
  base::signal_event(command_event_.get());
  return true;
}

void target_supervisor::run(std::function<void()> task) {
  std::exception_ptr problem;
  bool done = false;
  const bool posted = post([&] {
    try {
      task();
    } catch (...) {
      problem = std::current_exception();
    }
    std::lock_guard guard(mutex_);
    done = true;
    done_.notify_all();
  });
  if (!posted) throw config_error("this host is about to end; it starts no targets any more");
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return done; });
  if (problem) std::rethrow_exception(problem);
}

void target_supervisor::start(const plan& what, std::span<const std::byte> welcome, std::span<const int> fds) {
  run([&] { start_here(what, welcome, fds); });
}

void target_supervisor::end(node_t node, std::chrono::milliseconds timeout) {
  if (pid(node) < 0) return;
  const std::int64_t until = base::now_ns() + std::chrono::nanoseconds(timeout).count();
  static_cast<void>(post([this, node, until] {  // else all are about to be ended
    child* const one = find(node);
    if (one == nullptr) return;
    one->leaving = true;
    supervisor_.kill_at(node, until);
  }));
}

target_supervisor::child* target_supervisor::find(node_t node) noexcept {
  for (auto& one : children_) {
    if (one->node == node && !one->ended) return one.get();
  }
  return nullptr;
}

void target_supervisor::stop() noexcept {
  {
    std::lock_guard guard(mutex_);
    if (stop_) return;
    stop_ = true;
  }
  base::signal_event(command_event_.get());
  thread_.join();
}

void target_supervisor::control_loop() {
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

void target_supervisor::start_here(const plan& what, std::span<const std::byte> welcome, std::span<const int> fds) {
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
  request.output = what.output;
  request.inherited_fd = theirs.get();
  request.extra_environment = what.environment;
  request.extra_environment.push_back("HAM_TARGET=" + transport_ + ":" + std::to_string(theirs.get()));
  supervisor_.start(what.node, request);
  if (start_limit_ns_ != 0) supervisor_.kill_at(what.node, base::now_ns() + start_limit_ns_);
  one->program = words(what.command);
  children_.push_back(std::move(one));
}

void target_supervisor::wait_for_events() {
  std::vector<pollfd> waiting{{command_event_.get(), POLLIN, 0}, {supervisor_.fd(), POLLIN, 0}};
  std::vector<child*> whose;
  for (const auto& one : children_) {
    if (!one->control) continue;
    waiting.push_back({one->control.get(), POLLIN, 0});
    whose.push_back(one.get());
  }
  if (::poll(waiting.data(), waiting.size(), base::milliseconds_until(next_ns())) < 0) return;
  base::drain_event(command_event_.get());
  // Words before the end: they say why.
  for (std::size_t i = 0; i < whose.size(); ++i) {
    if (waiting[i + 2].revents != 0) read_control(*whose[i]);
  }
  look_after_processes();
  const std::int64_t now = base::now_ns();
  for (const auto& one : children_) {
    if (one->tell_ns > now) continue;
    one->tell_ns = base::never_ns;
    report_end(*one, "closed the connection");
  }
  std::erase_if(children_, [](const auto& one) { return one->ended; });
}

std::int64_t target_supervisor::next_ns() const {
  std::int64_t next = supervisor_.next_ns();
  for (const auto& one : children_) next = std::min(next, one->tell_ns);
  return next;
}

void target_supervisor::look_after_processes() {
  for (const process_supervisor::event& news : supervisor_.turn()) {
    child* const one = find(static_cast<node_t>(news.who));
    if (one == nullptr) continue;
    if (news.what == process_supervisor::event::kind::ended) {
      one->ended = true;
      report_end(*one, news.how);
      continue;
    }
    if (!one->leaving && !one->has_joined) report_end(*one, too_slow(start_limit_ns_));
    one->control.reset();  // where the kernel refuses to kill it, it ends by itself when it sees that
  }
}

void target_supervisor::read_control(child& from) {
  if (base::next_control_has_fds(from.control.get())) {
    base::abandon_control(std::move(from.control));
    report_end(from, "sent descriptors to its host, which no target does, and was ended");
    from.leaving = true;
    supervisor_.kill_at(from.node, base::now_ns());
    return;
  }
  bool closed = false;
  const auto message = base::receive_control(from.control.get(), false, closed);
  if (closed) {
    from.control.reset();
    // It most likely ends at this moment, and how it ends is worth more than that it hung up. One that has a GPU takes
    // 0.1 s and more to be over. For one that has not joined nobody waits here: there may be many.
    if (!from.has_joined) {
      from.tell_ns = base::now_ns() + std::chrono::nanoseconds(unjoined_exit_timeout).count();
      return;
    }
    const auto process = static_cast<pid_t>(pid(from.node));
    std::string how = supervisor_.wait(from.node, quick_exit_timeout);
    if (how.empty() && process > 0 && base::confirms_end(process, joined_exit_timeout))
      how = base::end_of(process, status_timeout);
    from.ended = !how.empty();
    report_end(from, from.ended ? how : "closed the connection");
    return;
  }
  if (!message || message->from_other_user) return;
  const std::string_view text(reinterpret_cast<const char*>(message->bytes.data()), message->bytes.size());
  if (from.has_joined) return;
  if (text.starts_with(declined)) from.last_words = base::printable(text.substr(declined.size()));
  if (text != joined) return;
  from.has_joined = true;
  if (!from.leaving) supervisor_.kill_at(from.node, base::never_ns);
}

void target_supervisor::report_end(child& one, const std::string& how) {
  if (one.told) return;
  one.told = true;
  const child_end kind = one.ended ? child_end::exited : child_end::disconnected;
  on_end_(one.node, one.has_joined ? "its process " + how : why_not_joined(one.program, how, one.last_words), kind);
}

void target_supervisor::stop_children() {
  for (auto& one : children_) one->control.reset();
  supervisor_.stop(end_timeout);
}

}  // namespace ham::transport

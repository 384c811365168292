// The waiting process keeps one child that waits for the next host; a child that got one serves its job, and is killed
// if it does not end when its host has gone.
#include "job/serve.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/log.hpp"
#include "base/own_program.hpp"
#include "base/refused_call.hpp"
#include "base/unique_fd.hpp"
#include "compose/transports.hpp"
#include "job/key_file.hpp"
#include "job/own_targets.hpp"
#include "job/run_target.hpp"
#include "runtime/engine.hpp"
#include "runtime/options.hpp"
#include "transport/common/process_supervisor.hpp"

namespace ham::inline v1::detail {
namespace {

/// A job's process that is still there so long after its host has gone is killed, as over shared memory; one that has
/// targets of its own ends them first.
constexpr std::int64_t grace_ns = 500'000'000;
constexpr std::int64_t grace_with_targets_ns = 2'000'000'000;

/// What the process of a job tells the waiting one.
enum class job_event : char { begins = 'b', has_targets = 't', host_gone = 'g' };

/// Hands on to the engine what the transport observes. The loss of the host goes to the waiting process besides: from
/// the transport's own thread, so also while every other one of this process executes a function that does not end.
class job_observer final : public transport::observer {
 public:
  explicit job_observer(base::unique_fd news) : news_(std::move(news)) {}
  /// The other end sees this process end, not this object.
  ~job_observer() override { static_cast<void>(news_.release()); }
  job_observer(const job_observer&) = delete;
  job_observer& operator=(const job_observer&) = delete;

  void report(job_event what) const noexcept {
    if (main_ended_.load() && what == job_event::host_gone) return;
    const char byte = static_cast<char>(what);
    while (::write(news_.get(), &byte, 1) < 0 && errno == EINTR) {
    }
  }
  void use(engine& target) noexcept { target_ = &target; }
  /// From now on the end of the host is no reason to end this process, which is about to.
  void end_of_main() noexcept { main_ended_.store(true); }

  void on_connected(transport::endpoint& with) override { target_->events.on_connected(with); }
  void on_broken(node_t peer, const std::string& reason) override { target_->events.on_broken(peer, reason); }
  void on_lost(node_t peer, const std::string& reason) override {
    if (peer == 0) report(job_event::host_gone);
    target_->events.on_lost(peer, reason);
  }

 private:
  base::unique_fd news_;
  engine* target_ = nullptr;
  std::atomic<bool> main_ended_{false};
};

/// In the child: waits for a host and works for it. By then the server's key and its listening socket are gone: what
/// one host calls here cannot answer the invitation of another one.
target_of_main wait_and_serve(std::unique_ptr<transport::listener> at, base::unique_fd news, target_defaults how) {
  const std::shared_ptr<transport::arrival> host = at->wait();
  at.reset();
  const auto observer = std::make_shared<job_observer>(std::move(news));
  observer->report(job_event::begins);
  const tcp_security security = security_of();
  base::name_this_target(host->node());
  target_boot boot;
  boot.self = host->node();
  boot.nodes = static_cast<std::size_t>(host->node()) + 1;
  boot.how.timeout = tcp_timeout();
  boot.how.job_key = host->job_key();
  boot.how.secure = security == tcp_security::on;
  boot.how.force_insecure = security == tcp_security::forced_off;
  const auto targets = std::make_shared<own_targets>(std::move(how));
  boot.open = [observer, host, targets](engine& target, node_directory& directory) {
    observer->use(target);
    targets->attach(target, directory);
    auto made = host->join(&target.memory.own(), *observer);
    target.greetings.set_address(made->address());
    directory.use_network(*made);
    return made;
  };
  boot.start = [observer, targets](const start_request& request) {
    observer->report(job_event::has_targets);
    targets->start(request);
  };
  boot.main_ended = [observer] { observer->end_of_main(); };
  boot.ended = [observer] { observer->report(job_event::host_gone); };
  boot.left = [targets] { targets->end(); };
  return run_target(std::move(boot));
}

/// The processes of the waiting one: one that waits for a host, and one for each job.
class job_processes {
 public:
  job_processes(std::unique_ptr<transport::listener> at, std::size_t jobs, target_defaults how)
      : at_(std::move(at)), jobs_(jobs), how_(std::move(how)) {}

  /// Returns in children only.
  target_of_main run() {
    for (;;) {
      const bool one_waits =
          std::any_of(children_.begin(), children_.end(), [](const auto& one) { return one.second.waiting; });
      const bool full = !one_waits && children_.size() >= jobs_;
      if (!full && std::exchange(refusing_, false)) at_->leave();
      if (!one_waits && !full && fork_one()) return std::move(served_);
      wait_for_events(full);
    }
  }

 private:
  struct child {
    base::unique_fd news;  // job_event
    bool waiting = true;
    bool has_targets = false;
    bool host_gone = false;  // it is killed if it stays
    bool killed = false;
  };

  /// True in the child, when its job has ended or wants main.
  bool fork_one() {
    int news[2];
    if (::pipe2(news, O_CLOEXEC) != 0)
      return give_up_for_a_while("make a pipe", "pipe2", "raise the limit of open files (ulimit -n)");
    base::unique_fd out(news[0]);
    base::unique_fd in(news[1]);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return give_up_for_a_while("start a process", "clone", "raise the limit of processes (ulimit -u)");
    if (pid != 0) {
      supervisor_.adopt(pid, std::make_unique<transport::child_process>(base::process{pid, open_pid(pid)}));
      children_[pid].news = std::move(out);
      return false;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(0);
    supervisor_.detach_after_fork();
    children_.clear();
    try {
      served_ = wait_and_serve(std::move(at_), std::move(in), std::move(how_));
    } catch (const std::exception& problem) {
      base::log("job", base::log_level::error, "%s", problem.what());
    }
    return true;
  }

  static base::unique_fd open_pid(pid_t pid) noexcept {
    return base::unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }

  static bool give_up_for_a_while(const char* what, const char* call, const char* advice) {
    base::log("job", base::log_level::warning, "cannot %s for the next job%s; it is tried again every second", what,
              base::refused_call(call, advice).c_str());
    base::sleep_ns(1'000'000'000);
    return false;
  }

  void wait_for_events(bool full) {
    std::vector<pollfd> waiting;
    std::vector<pid_t> whose;
    for (const auto& [pid, one] : children_) {
      waiting.push_back({one.news.get(), POLLIN, 0});
      whose.push_back(pid);
    }
    waiting.push_back({supervisor_.fd(), POLLIN, 0});
    std::int64_t next = supervisor_.next_ns();
    if (full) {
      refusing_ = true;
      next = std::min(next, at_->refuse());
      waiting.push_back({at_->fd(), POLLIN, 0});
    }
    if (::poll(waiting.data(), waiting.size(), base::milliseconds_until(next)) < 0) return;
    for (std::size_t i = 0; i < whose.size(); ++i) {
      if (waiting[i].revents != 0) on_news(whose[i]);
    }
    for (const transport::process_supervisor::event& what : supervisor_.turn()) {
      const auto found = children_.find(static_cast<pid_t>(what.who));
      if (what.what == transport::process_supervisor::event::kind::killed) {
        found->second.killed = true;
        continue;
      }
      report_end(found->second, what.how);
      children_.erase(found);
    }
  }

  void on_news(pid_t pid) {
    child& from = children_.at(pid);
    char byte = 0;
    const ssize_t got = ::read(from.news.get(), &byte, 1);
    if (got < 0 && errno == EINTR) return;
    if (got != 1) {
      from.news.reset();
      return;
    }
    from.waiting = false;
    if (static_cast<job_event>(byte) == job_event::has_targets) from.has_targets = true;
    if (static_cast<job_event>(byte) != job_event::host_gone || std::exchange(from.host_gone, true)) return;
    supervisor_.kill_at(pid, base::now_ns() + grace_of(from));
  }

  static std::int64_t grace_of(const child& one) { return one.has_targets ? grace_with_targets_ns : grace_ns; }

  static void report_end(const child& one, const std::string& how) {
    constexpr std::string_view by_signal = "was killed by signal ";
    if (one.killed) {
      base::log("job", base::log_level::warning,
                "the process of a job was killed: %d ms after its host had gone it was still there",
                static_cast<int>(grace_of(one) / 1'000'000));
    } else if (how.starts_with(by_signal)) {
      base::log("job", base::log_level::warning, "the process of a job was ended by signal %s",
                how.c_str() + by_signal.size());
    }
    if (one.waiting) base::sleep_ns(100'000'000);  // whatever ended it before it had a host will do so again
  }

  std::unique_ptr<transport::listener> at_;
  const std::size_t jobs_;
  target_defaults how_;
  transport::process_supervisor supervisor_;
  std::map<pid_t, child> children_;
  target_of_main served_;  // in a child
  bool refusing_ = false;
};

}  // namespace

target_of_main serve_hosts(const runtime_options& options, std::vector<std::string> command) {
  transport::network_module& module = network_transport().module();
  transport::listen_options how;
  how.address = options.serve;
  how.timeout = tcp_timeout();
  how.records = records_of_tls();
  const tcp_security security = security_of();
  how.force_insecure = security == tcp_security::forced_off;
  if (security == tcp_security::on) {
    if (const std::string why = module.why_insecure(); !why.empty()) {
      throw config_error("cannot wait for hosts at " + options.serve + " with a key (" + why +
                         "); HAM_TCP_SECURITY=off does without on loopback addresses");
    }
    if (options.key.empty()) {
      throw config_error(
          "--ham-serve needs the key that hosts have to show; make one with --ham-make-key=FILE and name "
          "it here and on the host with --ham-key=FILE");
    }
    how.key = read_key(options.key);
  }
  std::unique_ptr<transport::listener> at = module.listen(how);
  how.key.reset();
  std::fprintf(stderr, "ham: waiting for hosts at %s\n", at->address().c_str());
  return job_processes(std::move(at), options.jobs, {std::move(command), parse_placement("auto")}).run();
}

}  // namespace ham::detail

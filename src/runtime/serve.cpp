// The waiting process keeps one child that waits for the next host; a child that got one serves its job, and is killed
// if it does not end when its host has gone.
#include "runtime/serve.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/own_program.hpp"
#include "base/unique_fd.hpp"
#include "ham/msg/thread_pool.hpp"
#include "runtime/engine.hpp"
#include "runtime/key_file.hpp"
#include "runtime/links.hpp"
#include "runtime/network_loader.hpp"
#include "runtime/options.hpp"

namespace ham::detail {
namespace {

/// A job's process that is still there so long after its host has gone is killed, as over shared memory.
constexpr std::int64_t grace_ns = 500'000'000;

/// What the process of a job tells the waiting one.
enum class job_event : char { begins = 'b', host_gone = 'g' };

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
    const char byte = static_cast<char>(what);
    while (::write(news_.get(), &byte, 1) < 0 && errno == EINTR) {
    }
  }
  void use(engine& target) noexcept { target_ = &target; }

  void on_connected(transport::endpoint& with) override { target_->on_connected(with); }
  void on_broken(node_t peer, const std::string& reason) override { target_->on_broken(peer, reason); }
  void on_lost(node_t peer, const std::string& reason) override {
    if (peer == 0) report(job_event::host_gone);
    target_->on_lost(peer, reason);
  }

 private:
  base::unique_fd news_;
  engine* target_ = nullptr;
};

void serve_one(transport::arrival& host, tcp_security security, job_observer& observer) {
  const node_t self = host.node();
  base::name_this_target(self);
  engine target(self, static_cast<std::size_t>(self) + 1, std::make_unique<base::heap>(base::heap::make_file()));
  observer.use(target);
  target.limit_messages(message_limit());
  network_settings how;
  how.timeout = tcp_timeout();
  how.job_key = host.job_key();
  how.secure = security == tcp_security::on;
  how.force_insecure = security == tcp_security::forced_off;
  links whole(target, how);
  target.belong_to(&whole);
  std::unique_ptr<transport::network> network = host.join(&target.memory(), observer);
  target.set_address(network->address());
  whole.use_network(*network);
  target.use(std::move(network));
  set_process_engine(&target);
  target.serve();
  observer.report(job_event::host_gone);
  msg::thread_pool::process().shutdown();
  target.leave();
  set_process_engine(nullptr);
}

/// In the child: waits for a host and works for it. By then the server's key and its listening socket are gone: what
/// one host calls here cannot answer the invitation of another one.
void wait_and_serve(std::unique_ptr<transport::listener> at, base::unique_fd news) {
  const std::unique_ptr<transport::arrival> host = at->wait();
  at.reset();
  job_observer observer(std::move(news));
  observer.report(job_event::begins);
  serve_one(*host, security_of(), observer);
}

/// A process of the supervisor's, as the supervisor sees it.
struct child {
  pid_t pid = -1;
  base::unique_fd news;  // job_event
  base::unique_fd life;  // a pidfd; without one, the end of `news` stands for the end of the process
  bool waiting = true;
  bool killed = false;
  std::int64_t kill_ns = base::never_ns;
};

class supervisor {
 public:
  supervisor(std::unique_ptr<transport::listener> at, std::size_t jobs) : at_(std::move(at)), jobs_(jobs) {}

  /// Returns in children only.
  void run() {
    for (;;) {
      const bool one_waits =
          std::any_of(children_.begin(), children_.end(), [](const child& one) { return one.waiting; });
      const bool full = !one_waits && children_.size() >= jobs_;
      if (!full && std::exchange(refusing_, false)) at_->leave();
      if (!one_waits && !full && fork_one()) return;
      look(full);
    }
  }

 private:
  /// True in the child, when its job has ended.
  bool fork_one() {
    int news[2];
    if (::pipe2(news, O_CLOEXEC) != 0) return give_up_for_a_while("cannot make a pipe");
    base::unique_fd out(news[0]);
    base::unique_fd in(news[1]);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return give_up_for_a_while("cannot start a process");
    if (pid != 0) {
      children_.push_back({pid, std::move(out), open_pid(pid)});
      return false;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(0);
    children_.clear();
    try {
      wait_and_serve(std::move(at_), std::move(in));
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "ham: %s\n", problem.what());
    }
    return true;
  }

  static base::unique_fd open_pid(pid_t pid) noexcept {
    return base::unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }

  static bool give_up_for_a_while(const char* what) {
    std::fprintf(stderr, "ham: %s (%s); trying again in a second\n", what, std::strerror(errno));
    ::sleep(1);
    return false;
  }

  void look(bool full) {
    std::vector<pollfd> waiting;
    for (const child& one : children_) {
      waiting.push_back({one.news.get(), POLLIN, 0});
      waiting.push_back({one.life.get(), POLLIN, 0});
    }
    std::int64_t next = base::never_ns;
    for (const child& one : children_) next = std::min(next, one.kill_ns);
    if (full) {
      refusing_ = true;
      next = std::min(next, at_->refuse());
      waiting.push_back({at_->fd(), POLLIN, 0});
    }
    if (waiting.empty() || ::poll(waiting.data(), waiting.size(), milliseconds_until(next)) < 0) return;
    for (std::size_t i = children_.size(); i-- > 0;) {
      child& one = children_[i];
      bool ended = waiting[2 * i + 1].revents != 0;
      if (waiting[2 * i].revents != 0) ended = !hear(one) || ended;
      if (ended) {
        reap(one);
        children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (one.kill_ns <= base::now_ns()) {
        one.kill_ns = base::never_ns;
        one.killed = ::kill(one.pid, SIGKILL) == 0;
      }
    }
  }

  /// For poll(): -1 is without end.
  static int milliseconds_until(std::int64_t time_ns) noexcept {
    if (time_ns == base::never_ns) return -1;
    const std::int64_t left = std::max<std::int64_t>(0, time_ns - base::now_ns());
    return static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 3'600'000));
  }

  /// False: the process has ended.
  static bool hear(child& from) {
    char byte = 0;
    const ssize_t got = ::read(from.news.get(), &byte, 1);
    if (got < 0 && errno == EINTR) return true;
    if (got != 1) {
      from.news.reset();
      return static_cast<bool>(from.life);
    }
    from.waiting = false;
    const bool first = from.kill_ns == base::never_ns && !from.killed;
    if (static_cast<job_event>(byte) == job_event::host_gone && first) from.kill_ns = base::now_ns() + grace_ns;
    return true;
  }

  static void reap(const child& one) {
    int status = 0;
    while (::waitpid(one.pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (one.killed) {
      std::fprintf(stderr, "ham: the process of a job was killed: 500 ms after its host had gone it was still there\n");
    } else if (WIFSIGNALED(status)) {
      std::fprintf(stderr, "ham: the process of a job was ended by signal %d (%s)\n", WTERMSIG(status),
                   ::strsignal(WTERMSIG(status)));
    }
    if (one.waiting) ::usleep(100'000);  // whatever ended it before it had a host will do so again
  }

  std::unique_ptr<transport::listener> at_;
  const std::size_t jobs_;
  std::vector<child> children_;
  bool refusing_ = false;
};

}  // namespace

void serve_hosts(const runtime_options& options) {
  transport::network_module& module = load_network("tcp");
  transport::listen_options how;
  how.address = options.serve;
  how.timeout = tcp_timeout();
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
  supervisor(std::move(at), options.jobs).run();
}

}  // namespace ham::detail

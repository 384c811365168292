// The waiting process keeps one child that waits for the next host; a child that got one serves its job.
#include "runtime/serve.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
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
#include "base/unique_fd.hpp"
#include "ham/msg/thread_pool.hpp"
#include "runtime/engine.hpp"
#include "runtime/key_file.hpp"
#include "runtime/links.hpp"
#include "runtime/network_loader.hpp"
#include "runtime/options.hpp"

namespace ham::detail {
namespace {

struct child {
  pid_t pid = -1;
  base::unique_fd news;  // readable: it has a host; at its end: it has ended
  bool waiting = true;
};

void serve_one(transport::arrival& host, bool secure, bool force_insecure) {
  const node_t self = host.node();
  engine target(self, static_cast<std::size_t>(self) + 1, std::make_unique<base::heap>(base::heap::make_file()));
  target.limit_messages(message_limit());
  network_settings how;
  how.timeout = tcp_timeout();
  how.job_key = host.job_key();
  how.secure = secure;
  how.force_insecure = force_insecure;
  links whole(target, how);
  target.belong_to(&whole);
  std::unique_ptr<transport::network> network = host.join(&target.memory(), target);
  target.set_address(network->address());
  whole.use_network(*network);
  target.use(std::move(network));
  set_process_engine(&target);
  target.serve();
  msg::thread_pool::process().shutdown();
  target.leave();
  set_process_engine(nullptr);
}

/// In the child: waits for a host and works for it.
void wait_and_serve(transport::listener& at, base::unique_fd news) {
  const std::unique_ptr<transport::arrival> host = at.wait();
  const char any = 1;
  static_cast<void>(!::write(news.get(), &any, 1));
  const tcp_security security = security_of();
  serve_one(*host, security == tcp_security::on, security == tcp_security::forced_off);
}

class supervisor {
 public:
  supervisor(transport::listener& at, const runtime_options& options) : at_(at), options_(options) {}

  /// Returns in children only.
  void run() {
    for (;;) {
      const bool one_waits =
          std::any_of(children_.begin(), children_.end(), [](const child& one) { return one.waiting; });
      const bool full = !one_waits && children_.size() >= options_.jobs;
      if (!full && std::exchange(refusing_, false)) at_.leave();
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
      children_.push_back({pid, std::move(out)});
      return false;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(0);
    children_.clear();
    try {
      wait_and_serve(at_, std::move(in));
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "ham: %s\n", problem.what());
    }
    return true;
  }

  static bool give_up_for_a_while(const char* what) {
    std::fprintf(stderr, "ham: %s (%s); trying again in a second\n", what, std::strerror(errno));
    ::sleep(1);
    return false;
  }

  void look(bool full) {
    std::vector<pollfd> waiting;
    for (const child& one : children_) waiting.push_back({one.news.get(), POLLIN, 0});
    int wait_ms = -1;
    if (full) {
      refusing_ = true;
      const std::int64_t next = at_.refuse();
      if (next != base::never_ns)
        wait_ms = static_cast<int>(std::max<std::int64_t>(0, next - base::now_ns()) / 1'000'000 + 1);
      waiting.push_back({at_.fd(), POLLIN, 0});
    }
    if (waiting.empty() || ::poll(waiting.data(), waiting.size(), wait_ms) < 0) return;
    for (std::size_t i = children_.size(); i-- > 0;) {
      if (waiting[i].revents == 0) continue;
      char any = 0;
      if (::read(waiting[i].fd, &any, 1) == 1) {
        children_[i].waiting = false;
      } else {
        bury(children_[i]);
        children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  static void bury(const child& one) {
    int status = 0;
    while (::waitpid(one.pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
      std::fprintf(stderr, "ham: the process of a job was ended by signal %d (%s)\n", WTERMSIG(status),
                   ::strsignal(WTERMSIG(status)));
    }
    if (one.waiting) ::usleep(100'000);  // whatever ended it before it had a host will do so again
  }

  transport::listener& at_;
  const runtime_options& options_;
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
  const std::unique_ptr<transport::listener> at = module.listen(how);
  std::fprintf(stderr, "ham: waiting for hosts at %s\n", at->address().c_str());
  supervisor(*at, options).run();
}

}  // namespace ham::detail

#include "runtime/metrics_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/immortal.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/thread.hpp"
#include "ham/error.hpp"
#include "runtime/metrics_text.hpp"

namespace ham::inline v1::detail {
namespace {

[[noreturn]] void throw_no_metrics(std::uint16_t port, int problem) {
  throw config_error("cannot serve metrics on 127.0.0.1:" + std::to_string(port) + " (" + std::strerror(problem) +
                     "); choose another port by HAM_METRICS");
}

base::unique_fd listen_on_loopback(std::uint16_t port) {
  base::unique_fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) throw_no_metrics(port, errno);
  const int yes = 1;
  ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // connections of a job that has ended linger
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  constexpr int max_waiting = 8;
  if (::bind(made.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      ::listen(made.get(), max_waiting) != 0)
    throw_no_metrics(port, errno);
  return made;
}

std::uint16_t port_of(int listener) noexcept {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  return ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) == 0 ? ntohs(at.sin_port) : 0;
}

/// On the server's thread. Every user of the machine may ask: all processes are searched no more often than this.
std::string metrics_of_own_jobs() {
  constexpr std::int64_t often_ns = 250'000'000;
  static thread_local std::string last;
  static thread_local std::int64_t read_ns = 0;
  if (read_ns != 0 && base::now_ns() - read_ns < often_ns) return last;
  std::vector<job_counters> jobs = read_counters();
  std::erase_if(jobs, [](const job_counters& one) { return one.pid != ::getpid(); });
  last = metrics_text(jobs);
  read_ns = base::now_ns();
  return last;
}

}  // namespace

metrics_server::metrics_server(std::uint16_t port, std::function<std::string()> text)
    : text_(std::move(text)), listener_(listen_on_loopback(port)), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!stop_) throw_no_metrics(port, errno);
  port_ = port_of(listener_.get());
  thread_ = base::start_thread([this] { serve(); });
}

metrics_server::~metrics_server() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(stop_.get(), &one, sizeof one));
  thread_.join();
}

std::shared_ptr<metrics_server> metrics_server::of_process() {
  struct only_one {
    std::mutex mutex;
    std::weak_ptr<metrics_server> made;
    pid_t by = 0;
  };
  only_one& here = base::immortal<only_one>();
  const auto port = base::number_of(base::setting::metrics);
  if (!port) return nullptr;
  const std::lock_guard guard(here.mutex);
  if (auto there = here.made.lock(); there != nullptr && here.by == ::getpid()) return there;
  try {
    auto made = std::make_shared<metrics_server>(static_cast<std::uint16_t>(*port), &metrics_of_own_jobs);
    here.made = made;
    here.by = ::getpid();
    base::log("runtime", base::log_level::info, "metrics are served on http://127.0.0.1:%d/metrics", made->port());
    return made;
  } catch (const std::exception& problem) {
    base::log("runtime", base::log_level::warning, "%s", problem.what());
    return nullptr;
  }
}

/// Whoever wants something of the server, or has no time left.
class metrics_server::polled {
 public:
  polled(int stop, int listener, const std::list<metrics_client>& clients) noexcept {
    add(stop, POLLIN);
    add(clients.size() < max_clients ? listener : -1, POLLIN);  // the others wait in the queue of the kernel
    for (const metrics_client& one : clients) {
      add(one.fd(), one.awaits());
      until_ns_ = std::min(until_ns_, one.until_ns());
    }
  }
  /// Waits until there is one. False: the server ends.
  [[nodiscard]] bool wait() noexcept {
    constexpr std::int64_t ms = 1'000'000;
    const std::int64_t left = std::max<std::int64_t>(until_ns_ - base::now_ns() + ms - 1, 0) / ms;
    const int ready = ::poll(all_.data(), count_, until_ns_ == base::never_ns ? -1 : static_cast<int>(left));
    if (ready < 0)
      for (pollfd& one : all_) one.revents = 0;
    return all_[0].revents == 0 && (ready >= 0 || errno == EINTR);
  }
  [[nodiscard]] bool has_connection() const noexcept { return all_[1].revents != 0; }
  [[nodiscard]] bool is_ready(std::size_t client) const noexcept { return all_[2 + client].revents != 0; }

 private:
  void add(int fd, short what) noexcept { all_[count_++] = {fd, what, 0}; }

  std::array<pollfd, 2 + max_clients> all_{};
  nfds_t count_ = 0;
  std::int64_t until_ns_ = base::never_ns;
};

void metrics_server::serve() noexcept {
  std::list<metrics_client> clients;
  for (;;) {
    polled now(stop_.get(), listener_.get(), clients);
    if (!now.wait()) return;
    std::size_t number = 0;
    for (auto one = clients.begin(); one != clients.end(); ++number) {
      const bool is_due = now.is_ready(number) || base::now_ns() >= one->until_ns();
      one = is_due && !goes_on(*one) ? clients.erase(one) : std::next(one);
    }
    if (now.has_connection()) accept(clients);
  }
}

void metrics_server::accept(std::list<metrics_client>& clients) const noexcept {
  constexpr std::int64_t rest_ns = 50'000'000;  // when there are no descriptors left, for one
  base::unique_fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  try {
    if (connection)
      clients.emplace_back(std::move(connection), text_);
    else if (errno != EAGAIN && errno != ECONNABORTED)
      base::sleep_ns(rest_ns);
  } catch (const std::bad_alloc&) {
    base::sleep_ns(rest_ns);
  }
}

bool metrics_server::goes_on(metrics_client& one) noexcept {
  try {
    return one.go_on(base::now_ns());
  } catch (const std::exception& problem) {
    base::log("runtime", base::log_level::warning, "a request for metrics is not answered: %s", problem.what());
    return false;
  }
}

}  // namespace ham::detail

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
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/immortal.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/thread.hpp"
#include "ham/error.hpp"
#include "runtime/metrics_text.hpp"

namespace ham::inline v0::detail {
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

std::string answer_with(const char* status, const std::string& headers, std::string_view body, bool send_body = true) {
  return std::string("HTTP/1.1 ") + status + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + std::string(send_body ? body : std::string_view());
}

/// Up to a blank, which is taken as well.
std::string_view take_word(std::string_view& from) noexcept {
  const std::size_t end = std::min(from.find(' '), from.size());
  const std::string_view word = from.substr(0, end);
  from.remove_prefix(std::min(end + 1, from.size()));
  return word;
}

bool is_complete(std::string_view request) noexcept {
  return request.find("\r\n\r\n") != std::string_view::npos || request.find("\n\n") != std::string_view::npos;
}

}  // namespace

std::string http_answer(std::string_view request, const std::function<std::string()>& text) {
  const std::string plain = "Content-Type: text/plain; charset=utf-8\r\n";
  if (!is_complete(request)) return answer_with("400 Bad Request", plain, "no whole request\n");
  std::string_view line = request.substr(0, request.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const std::string_view method = take_word(line);
  std::string_view target = take_word(line);
  if (!line.starts_with("HTTP/1.")) return answer_with("400 Bad Request", plain, "no request of HTTP/1\n");
  if (method != "GET" && method != "HEAD")
    return answer_with("405 Method Not Allowed", plain + "Allow: GET, HEAD\r\n", "GET alone is answered\n");
  target = target.substr(0, target.find('?'));
  if (target != "/metrics" && target != "/") return answer_with("404 Not Found", plain, "there is /metrics\n");
  return answer_with("200 OK", std::string("Content-Type: ") + metrics_content_type + "\r\n", text(), method == "GET");
}

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

/// False: the time has come, the server ends, or the descriptor is of no use.
bool metrics_server::await(int fd, short what, std::int64_t until_ns) const noexcept {
  constexpr std::int64_t ms = 1'000'000;
  for (;;) {
    std::array<pollfd, 2> both{pollfd{fd, what, 0}, pollfd{stop_.get(), POLLIN, 0}};
    const std::int64_t left = until_ns == base::never_ns ? -1 : (until_ns - base::now_ns() + ms - 1) / ms;
    if (until_ns != base::never_ns && left <= 0) return false;
    const int ready = ::poll(both.data(), both.size(), static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || both[1].revents != 0) return false;
    return (both[0].revents & what) != 0;
  }
}

void metrics_server::serve() noexcept {
  constexpr std::int64_t rest_ns = 50'000'000;  // when there are no descriptors left, for one
  while (await(listener_.get(), POLLIN, base::never_ns)) {
    const base::unique_fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) {
      if (errno != EAGAIN && errno != ECONNABORTED) base::sleep_ns(rest_ns);
      continue;
    }
    try {
      answer(connection.get());
    } catch (const std::exception& problem) {
      base::log("runtime", base::log_level::warning, "a request for metrics is not answered: %s", problem.what());
    }
  }
}

void metrics_server::answer(int connection) {
  const std::string request = receive(connection, base::now_ns() + request_limit_ns);
  if (request.empty()) return;
  const std::string made = http_answer(request, text_);  // takes its time, which is not the reader's
  const std::int64_t until = base::now_ns() + request_limit_ns;
  send(connection, made, until);
  // What was not read would take the answer away from whoever has sent it.
  ::shutdown(connection, SHUT_WR);
  std::array<char, 1024> rest{};
  for (std::size_t left = max_request_bytes; left >= rest.size() && await(connection, POLLIN, until);
       left -= rest.size()) {
    if (::recv(connection, rest.data(), rest.size(), 0) <= 0) break;
  }
}

/// Up to the end of its headers, or what has come of it.
std::string metrics_server::receive(int connection, std::int64_t until_ns) const {
  std::string request;
  std::array<char, 1024> piece{};
  while (request.size() < max_request_bytes && !is_complete(request) && await(connection, POLLIN, until_ns)) {
    const ssize_t count = ::recv(connection, piece.data(), piece.size(), 0);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) break;
    request.append(piece.data(), static_cast<std::size_t>(count));
  }
  return request;
}

void metrics_server::send(int connection, std::string_view bytes, std::int64_t until_ns) const noexcept {
  while (!bytes.empty() && await(connection, POLLOUT, until_ns)) {
    const ssize_t count = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace ham::detail

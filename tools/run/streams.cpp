// One poll over all outputs of the job.
#include "streams.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

namespace ham::inline v1::run {
namespace {

constexpr std::size_t max_line = 1 << 20;

}  // namespace

bool print_out(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(to, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      pollfd room{to, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

void streams::add_lines(descriptor from, line_handler handler) {
  streams_.push_back({std::move(from), std::move(handler), -1, {}});
}

void streams::add_copy(descriptor from, int to, const std::string& prefix) {
  if (prefix.empty()) {
    streams_.push_back({std::move(from), {}, to, {}});
    return;
  }
  add_lines(std::move(from),
            [to, prefix](std::string_view line) { return print_out(to, prefix + std::string(line) + "\n"); });
}

void streams::wait(int timeout_ms, int other) {
  std::vector<pollfd> waiting;
  for (const stream& one : streams_) waiting.push_back({one.from.get(), POLLIN, 0});
  waiting.push_back({other, POLLIN, 0});  // -1 is passed over
  if (::poll(waiting.data(), waiting.size(), timeout_ms) <= 0) return;
  std::size_t at = 0;
  for (auto one = streams_.begin(); one != streams_.end();) {
    const bool ready = waiting[at++].revents != 0;
    if (ready && !read_some(*one))
      one = streams_.erase(one);
    else
      ++one;
  }
}

bool streams::read_some(stream& one) {
  std::array<char, 1 << 16> room;
  const ssize_t got = ::read(one.from.get(), room.data(), room.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) {
    if (!one.partial.empty()) one.on_line(one.partial);
    return false;
  }
  const std::string_view fresh(room.data(), static_cast<std::size_t>(got));
  return one.on_line ? hand_on_lines(one, fresh) : print_out(one.to, fresh);
}

bool streams::hand_on_lines(stream& one, std::string_view fresh) {
  for (;;) {
    const std::size_t end = fresh.find('\n');
    one.partial += fresh.substr(0, end);
    if (end == fresh.npos && one.partial.size() < max_line) return true;
    if (!one.on_line(std::exchange(one.partial, {}))) return false;
    if (end == fresh.npos) return true;
    fresh.remove_prefix(end + 1);
  }
}

}  // namespace ham::run

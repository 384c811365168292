// The words of hosts and targets before they are connected.
#include "transport/common/joining.hpp"

#include <fcntl.h>

#include <cerrno>
#include <span>
#include <utility>

#include "base/memory_file.hpp"
#include "base/numbers.hpp"
#include "base/refused_call.hpp"
#include "base/settings.hpp"

namespace ham::inline v1::transport {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

}  // namespace

int control_fd_of(std::string_view told) noexcept {
  return static_cast<int>(base::parse_integer(told, 0, 1 << 30).value_or(-1));
}

base::control_message receive_welcome(int control_fd) {
  ::fcntl(control_fd, F_SETFD, FD_CLOEXEC);
  bool closed = false;
  errno = 0;
  auto message = base::receive_control(control_fd, true, closed);
  if (!message && errno != 0) {
    throw config_error("cannot receive from the host of this target" +
                       base::refused_call("recvmsg", "unset HAM_TARGET to run this program by itself"));
  }
  if (!message) {
    throw config_error(
        "this process was started as a HAM target (HAM_TARGET is set) but its host does not answer; "
        "unset HAM_TARGET to run it by itself");
  }
  return std::move(*message);
}

base::control_message receive_welcome_of_own_user(int control_fd) {
  base::control_message message = receive_welcome(control_fd);
  if (message.from_other_user) {
    decline(control_fd, "the host of this target belongs to another user; start both as the same user");
  }
  return message;
}

void expect_descriptors(int control_fd, const base::control_message& message, std::size_t count) {
  if (message.fds.size() == count) return;
  decline(control_fd, "its host's descriptors did not arrive; raise the limit of open files (ulimit -n)");
}

void decline(int control_fd, const std::string& why) {
  const std::string text = std::string(declined) + why;
  base::send_control(control_fd, std::as_bytes(std::span(text)), {});
  throw config_error(why);
}

availability shared_memory_here() {
  return found_by([] {
    static_cast<void>(base::make_memory_file("ham-probe", 4096));
    return availability{};
  });
}

std::int64_t start_limit_ns() { return base::number_of(base::setting::start_timeout).value_or(60) * second_ns; }

std::string words(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& one : command) text += (text.empty() ? "" : " ") + one;
  return text;
}

std::string why_not_joined(const std::string& program, const std::string& how, const std::string& last_words) {
  if (!last_words.empty()) return "it did not join: " + last_words;
  return "its process '" + program + "' " + how +
         " before it joined; what it wrote may say why. It must be a build of this application with HAM";
}

std::string too_slow(std::int64_t limit_ns) {
  return "did not answer within " + std::to_string(limit_ns / second_ns) + " s (HAM_START_TIMEOUT) and was ended";
}

std::string no_greeting(std::int64_t limit_ns) {
  return "it joined, but did not greet its host within " + std::to_string(limit_ns / second_ns) +
         " s (HAM_START_TIMEOUT) and was given up; see whether something has stopped it, or raise HAM_START_TIMEOUT";
}

}  // namespace ham::transport

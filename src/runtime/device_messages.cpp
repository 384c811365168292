#include "runtime/device_messages.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/file_bytes.hpp"
#include "base/immortal.hpp"
#include "base/log.hpp"
#include "ham/device/offloading.hpp"
#include "ham/device/print.hpp"

namespace ham::inline v1::device::detail {
namespace {

/// Never destroyed: the device may call while the process ends.
struct host_function_list {
  std::mutex mutex;
  std::vector<const host_function*> all;
  std::vector<number_variable> variables;
};
host_function_list& listed_host_functions() { return base::immortal<host_function_list>(); }

}  // namespace

void host_function::enlist() {
  host_function_list& to = listed_host_functions();
  std::lock_guard guard(to.mutex);
  number_ = static_cast<std::uint32_t>(std::min<std::size_t>(to.all.size(), unknown_function));
  to.all.push_back(this);
}

bool enlist_number_variable(const number_variable& one) {
  host_function_list& to = listed_host_functions();
  std::lock_guard guard(to.mutex);
  to.variables.push_back(one);
  return true;
}

std::uint32_t count_number_variables() noexcept {
  host_function_list& from = listed_host_functions();
  std::lock_guard guard(from.mutex);
  return static_cast<std::uint32_t>(from.variables.size());
}

number_variable number_variable_at(std::uint32_t index) noexcept {
  host_function_list& from = listed_host_functions();
  std::lock_guard guard(from.mutex);
  return from.variables[index];
}

const host_function* host_function_at(std::uint32_t number) noexcept {
  host_function_list& from = listed_host_functions();
  std::lock_guard guard(from.mutex);
  return number < std::min<std::size_t>(from.all.size(), unknown_function) ? from.all[number] : nullptr;
}

}  // namespace ham::device::detail

namespace ham::inline v1::detail {
namespace {

namespace wire = device::detail;

/// A number at the begin of `parts`, which it is taken from.
template <class Number>
[[nodiscard]] bool take_number(std::span<const std::byte>& parts, Number& to) noexcept {
  if (parts.size() < sizeof to) return false;
  std::memcpy(&to, parts.data(), sizeof to);
  parts = parts.subspan(sizeof to);
  return true;
}

[[nodiscard]] bool append_text(std::span<const std::byte>& parts, std::string& to) {
  std::uint8_t length = 0;
  if (!take_number(parts, length) || parts.size() < length) return false;
  to.append(reinterpret_cast<const char*>(parts.data()), length);
  parts = parts.subspan(length);
  return true;
}

template <class Number>
[[nodiscard]] bool append_number(std::span<const std::byte>& parts, std::string& to) {
  Number number{};
  if (!take_number(parts, number)) return false;
  if constexpr (std::is_floating_point_v<Number>) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    to += text;
  } else {
    to += std::to_string(number);
  }
  return true;
}

[[nodiscard]] bool append_part(std::span<const std::byte>& parts, std::string& to) {
  const auto kind = static_cast<wire::print_part>(parts.front());
  parts = parts.subspan(1);
  switch (kind) {
    case wire::print_part::text: return append_text(parts, to);
    case wire::print_part::integer: return append_number<std::int64_t>(parts, to);
    case wire::print_part::natural: return append_number<std::uint64_t>(parts, to);
    case wire::print_part::real: return append_number<double>(parts, to);
  }
  return false;
}

/// One write for the line, so that those of several processes do not mix. The stream is not locked meanwhile: who does
/// not read must not keep the process from its end, which flushes it. Of a target it has no descriptor (line_output).
void print_line(std::string line) {
  line += '\n';
  std::fflush(stdout);
  const int of_stream = ::fileno(stdout);
  static_cast<void>(base::write_bytes(of_stream < 0 ? STDOUT_FILENO : of_stream, line));
}

/// Who awaits an answer is told, and nobody else.
void report_message_failure(engine& at, const device_message& of, const char* why) noexcept {
  static constinit line_limiter lines;
  if (of.answer.slot != wire::no_answer) {
    wire::fail_device(of.answer);
    return;
  }
  const std::optional<std::uint64_t> held_back = lines.pass(base::now_ns());
  if (!held_back) return;
  char others[64] = "";  // there may be no memory
  if (*held_back != 0)
    std::snprintf(others, sizeof others, " (%llu others have failed since the last line)",
                  static_cast<unsigned long long>(*held_back));
  base::log("runtime", base::log_level::error, "a call by the device of node %d to node %d has failed: %s%s", at.self(),
            of.node, why, others);
}

}  // namespace

std::string printed_text(std::span<const std::byte> parts) {
  std::string text;
  while (!parts.empty() && append_part(parts, text)) {
  }
  return text;
}

void execute_device_message(engine& at, const device_message& what) noexcept {
  try {
    if (what.function == wire::print_function) {
      print_line(printed_text({what.arguments, what.size}));
      return;
    }
    const wire::host_function* const function = wire::host_function_at(what.function);
    if (function == nullptr) {
      const std::string why = "it is function " + std::to_string(what.function) + ", which is none";
      report_message_failure(at, what, why.c_str());
      return;
    }
    function->run()(what.arguments, what.size, what.node, what.answer);
  } catch (const std::exception& problem) {
    report_message_failure(at, what, problem.what());
  }
}

std::optional<std::uint64_t> line_limiter::pass(std::int64_t now_ns) noexcept {
  const std::lock_guard guard(mutex_);
  if (now_ns < next_ns_) {
    ++held_back_;
    return std::nullopt;
  }
  next_ns_ = now_ns + interval_ns;
  return std::exchange(held_back_, 0);
}

}  // namespace ham::detail

namespace ham::inline v1::device::detail {

void print_here(const std::byte* parts, std::size_t size) {
  ham::detail::print_line(ham::detail::printed_text({parts, size}));
}

}  // namespace ham::device::detail

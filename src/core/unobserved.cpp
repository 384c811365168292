// The handler of the program, and the lines that stand in for it.
#include "core/unobserved.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/immortal.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "core/node_loss.hpp"
#include "ham/msg/handler_table.hpp"

namespace ham::inline v1 {

const char* to_string(operation what) noexcept {
  switch (what) {
    case operation::continuation: return "continuation";
    case operation::call: return "call";
    case operation::ping: return "ping";
    case operation::put: return "put";
    case operation::get: return "get";
    case operation::copy: return "copy";
  }
  return "unknown";
}

namespace detail {
namespace {

constinit std::atomic<unobserved_error_handler> the_handler{nullptr};
constinit thread_local bool in_handler = false;

/// Lines for a burst, then one in a second: thousands of futures may fail together.
class line_limit {
 public:
  /// Whether one may be written now; `left_out`: how many were not since the last one.
  [[nodiscard]] bool take(std::uint64_t& left_out) noexcept {
    const std::lock_guard guard(mutex_);
    const std::int64_t now = base::now_ns();
    const std::int64_t refill = std::min((now - refilled_ns_) / second_ns, burst);
    if (refill > 0) {
      lines_ = std::min(lines_ + refill, burst);
      refilled_ns_ = now;
    }
    if (lines_ == 0) {
      ++left_out_;
      return false;
    }
    --lines_;
    left_out = std::exchange(left_out_, 0);
    return true;
  }
  [[nodiscard]] std::uint64_t take_left_out() noexcept {
    const std::lock_guard guard(mutex_);
    return std::exchange(left_out_, 0);
  }

 private:
  static constexpr std::int64_t second_ns = 1'000'000'000;
  static constexpr std::int64_t burst = 10;
  std::mutex mutex_;
  std::int64_t lines_ = burst;
  std::int64_t refilled_ns_ = 0;
  std::uint64_t left_out_ = 0;
};
line_limit& lines() noexcept { return base::immortal<line_limit>(); }

bool ignored() noexcept {
  try {
    return base::number_of(base::setting::unobserved_errors) == 1;
  } catch (...) {
    return false;  // the start of a runtime says what is wrong with it
  }
}

/// "the put to node 1".
std::string subject_of(const unobserved_error& what) {
  const std::string node = what.node < 0 ? "" : " node " + std::to_string(what.node);
  switch (what.what) {
    case operation::call: return "the call of " + what.function + (node.empty() ? "" : " on" + node);
    case operation::get: return "a get" + (node.empty() ? "" : " from" + node);
    case operation::put:
    case operation::copy: return std::string("a ") + to_string(what.what) + (node.empty() ? "" : " to" + node);
    default: return "a continuation";
  }
}

std::string line_for(const unobserved_error& what) {
  const std::string begin = what.at < 0 ? "" : "node " + std::to_string(what.at) + ": ";
  if (what.what == operation::ping) return begin + what.function + ", called by ping, threw " + describe(what.error);
  return begin + "nobody has read the error of " + subject_of(what) + ": " + describe(what.error);
}

void write_line(const unobserved_error& what) {
  std::uint64_t left_out = 0;
  if (ignored() || !lines().take(left_out)) return;
  std::string text = line_for(what);
  static std::atomic<bool> explained{false};
  if (what.what != operation::ping && !explained.exchange(true))
    text +=
        " (get() or error() of its future read it; ham::on_unobserved_error handles such errors, "
        "HAM_UNOBSERVED_ERRORS=ignore is silent)";
  if (left_out != 0) text += " (" + std::to_string(left_out) + " before it are not shown)";
  base::log("runtime", base::log_level::warning, "%s", text.c_str());
}

struct verb {
  std::string_view function;
  operation what;
};
/// What nodes call of each other where put, get and copy travel in messages.
constexpr std::array<verb, 8> verbs{{{"store_here", operation::put},
                                     {"store_rows_here", operation::put},
                                     {"copy_in_here", operation::put},
                                     {"copy_out_here", operation::get},
                                     {"load_here", operation::get},
                                     {"load_rows_here", operation::get},
                                     {"copy_from_here", operation::copy},
                                     {"copy_rows_from_here", operation::copy}}};

/// Mangled, in a name that begins with ham::v1: ham::v1::offload::detail.
constexpr std::string_view library_scope = "NS0_7offload6detail";

void name_function(unobserved_error& what, const msg::handler_entry& function) {
  what.what = operation::call;
  what.function = msg::handler_table::local().pretty_name(function.key());
  const std::string_view mangled = function.type_name();
  const std::size_t library = mangled.find(library_scope);
  if (library == std::string_view::npos) return;
  const std::string_view rest = mangled.substr(library + library_scope.size());
  for (const verb& one : verbs) {
    const std::string name = std::to_string(one.function.size()).append(one.function).append("E");
    if (rest.find(name) == std::string_view::npos) continue;  // the name of a policy may stand before it
    what.what = one.what;
    what.function.clear();
    return;
  }
}

}  // namespace

std::string describe(const std::exception_ptr& error) {
  std::string text;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    text = name_of_thrown(*abi::__cxa_current_exception_type());
    if (const char* const what = thrown.what(); what != nullptr && *what != '\0') text += std::string(": ") + what;
  } catch (...) {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    text = type == nullptr ? "a foreign exception" : name_of_thrown(*type);
  }
  constexpr std::size_t max_length = 2000;
  if (text.size() > max_length) text = text.substr(0, max_length) + " ...";
  for (char& one : text) {
    if (static_cast<unsigned char>(one) < ' ' || one == '\x7f') one = ' ';
  }
  return text;
}

bool is_orderly_end(const std::exception_ptr& error, bool ends) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const runtime_ended&) {
    return true;
  } catch (const node_failure& lost) {
    return ends || lost.orderly();
  } catch (...) {
    return false;
  }
}

void report_unread(unobserved_error what) noexcept {
  try {
    const unobserved_error_handler handler = the_handler.load(std::memory_order_acquire);
    if (handler == nullptr || in_handler) {
      write_line(what);
      return;
    }
    in_handler = true;
    try {
      handler(what);
    } catch (...) {  // it must not, and there is nobody left to tell
      what.function.clear();
    }
    in_handler = false;
  } catch (...) {  // no memory for a line
    return;
  }
}

void report_slot(const call_slot& slot, node_t at, bool ends) noexcept {
  try {
    unobserved_error what;
    what.error = slot_error(const_cast<call_slot&>(slot));
    if (is_orderly_end(what.error, ends)) return;
    what.at = at;
    if (slot.function != nullptr) {
      what.node = slot.node.load(std::memory_order_relaxed);
      name_function(what, *slot.function);
    } else {
      what.what = static_cast<operation>(slot.position & 0xffU);
      what.node = what.what == operation::continuation ? -1 : static_cast<node_t>(slot.position >> 8U);
    }
    report_unread(std::move(what));
  } catch (...) {  // no memory
    return;
  }
}

continuation* report_later(node_t at, node_t node, const msg::handler_entry& function, std::exception_ptr why,
                           bool ends) noexcept {
  struct later : continuation {
    unobserved_error what;
  };
  try {
    if (is_orderly_end(why, ends)) return nullptr;
    auto* const made = new later;
    made->run = [](continuation* self) {
      auto* const mine = static_cast<later*>(self);
      report_unread(std::move(mine->what));
      delete mine;
    };
    made->what.at = at;
    made->what.node = node;
    made->what.error = std::move(why);
    name_function(made->what, function);
    return made;
  } catch (...) {  // no memory
    return nullptr;
  }
}

std::uint64_t take_unreported() noexcept { return lines().take_left_out(); }

}  // namespace detail

unobserved_error_handler on_unobserved_error(unobserved_error_handler handler) noexcept {
  return detail::the_handler.exchange(handler, std::memory_order_acq_rel);
}

}  // namespace ham

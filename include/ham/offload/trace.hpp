// Traces: what the nodes of a job did when, for ui.perfetto.dev; the program's own spans and counters in them.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ham/error.hpp"

/// A job whose host has HAM_TRACE=run.pftrace writes that file when it ends (docs/tracing.md). The rest is for what the
/// library cannot know.
namespace ham::inline v1::trace {

namespace detail {

/// 0: this process is not traced.
extern constinit std::atomic<std::uint32_t> session;
[[nodiscard]] inline bool on() noexcept { return session.load(std::memory_order_relaxed) != 0; }
[[nodiscard]] std::uint64_t begin_span() noexcept;
void end_span(std::uint64_t begun, std::string_view name) noexcept;
void add_count(std::string_view name, double value) noexcept;

}  // namespace detail

/// A slice of the calling thread's track, from here to the end of the scope: `trace::span s("assemble");`. Costs a load
/// where nothing is traced, else two readings of a clock and a store. To be destroyed by the thread that made it, in
/// the reverse order. Needs no runtime. Never throws.
class span {
 public:
  /// `name`: any text, of which the first 200 bytes count; the object refers to it until it goes.
  explicit span(std::string_view name) noexcept : name_(name), begun_(detail::on() ? detail::begin_span() : 0) {}
  /// A string that ends before the span does.
  template <std::same_as<std::string> Text>
  explicit span(Text&& name) = delete;
  span(const span&) = delete;
  span& operator=(const span&) = delete;
  ~span() {
    if (begun_ != 0) [[unlikely]]
      detail::end_span(begun_, name_);
  }

 private:
  const std::string_view name_;
  const std::uint64_t begun_;
};

/// Sets a counter of this node, shown as a curve under that name: `trace::counter("residual", r);`. Any thread; costs
/// as a span. Never throws.
inline void counter(std::string_view name, double value) noexcept {
  if (detail::on()) [[unlikely]]
    detail::add_count(name, value);
}

/// What a trace consists of.
struct contents {
  std::size_t nodes = 0;      ///< whose parts it consists of
  std::size_t calls = 0;      ///< in the whole trace
  std::uint64_t dropped = 0;  ///< events for which there was no room
  double max_backwards_ns =
      0;  ///< by which an arrow points backwards; never more than the bounds that the trace states
};

/// Makes the trace `path` of what the nodes of a job have left in the folder `path`.parts, because its host was killed:
/// the host does the same at its end. The folder stays. Needs no runtime; blocks until all parts are
/// read and written, seconds for millions of calls.
/// Throws ham::config_error if there are no parts, or the file cannot be written.
contents join(const std::string& path);

}  // namespace ham::trace

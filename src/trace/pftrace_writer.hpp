// A trace of Perfetto: the packets of which ui.perfetto.dev makes tracks, slices, arrows and counters.
// Source: perfetto.dev/docs/reference/synthetic-track-event, protos/perfetto/trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/protobuf.hpp"

namespace ham::inline v1::trace {

/// Tracks by number, from 1 on; times in nanoseconds. Events of one track come in their order, slices one inside of
/// the other; tracks may come in any order. Not for several threads.
class pftrace_writer {
 public:
  using track = std::uint64_t;
  enum class category : std::uint8_t { encode, queue, execute, reply, wait, transfer, sleep, span, trace };
  static constexpr std::size_t categories = 9;
  [[nodiscard]] static std::string_view name_of(category which) noexcept;

  /// A number that stands for a text of this trace.
  using text = std::uint64_t;
  struct note {
    text name;
    std::int64_t value;
  };
  /// What there is to say of a slice or a moment.
  struct details {
    std::uint64_t flow_out = 0;  ///< the number of an arrow that begins here, 0: none
    std::uint64_t flow_in = 0;   ///< that ends here
    std::span<const note> notes{};
  };

  /// `to` outlives this.
  explicit pftrace_writer(std::ostream& to);
  ~pftrace_writer() { flush(); }
  pftrace_writer(const pftrace_writer&) = delete;
  pftrace_writer& operator=(const pftrace_writer&) = delete;

  [[nodiscard]] text intern(std::string_view what);

  // ---- tracks; 0 is none
  track add_process(std::int64_t pid, std::string_view name, std::int64_t order);
  track add_thread(std::int64_t pid, std::int64_t tid, std::string_view name);
  track add_track(track parent, std::string_view name);
  track add_counter(track parent, std::string_view name, std::string_view unit);

  // ---- events
  void begin(track on, std::int64_t ns, category what, text name, const details& more);
  void end(track on, std::int64_t ns);
  void moment(track on, std::int64_t ns, category what, text name, const details& more);
  void count(track on, std::int64_t ns, double value);
  void flush();

 private:
  void add_track(const protobuf& about);
  void add_event(std::int64_t ns);
  void write_named(std::uint32_t type, track on, category what, text name, const details& more);
  void teach(std::uint32_t kind, std::uint64_t number, std::string_view what);

  std::ostream& to_;
  std::string pending_;
  track last_track_ = 0;
  std::unordered_map<std::string, text> texts_;
  std::vector<std::string> spelled_;
  std::vector<std::uint8_t> known_;  ///< per text: as the name of an event, of a note
  std::array<bool, categories> known_categories_{};
  bool first_ = true;
  protobuf event_;     // reused
  protobuf interned_;  // what the next packet teaches
  protobuf packet_;
  protobuf part_;
};

}  // namespace ham::trace

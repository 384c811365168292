// The floors of latency: a cache line bounced between two processes, and a ping-pong over a shared futex.
#pragma once

#include "affinity.hpp"
#include "timing.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string_view>

namespace ham::inline v1::bench {

struct floor_page;

/// First argument of the process that answers for the floors; main() passes such a call on to run_floor_partner().
inline constexpr std::string_view floor_partner_argument = "floor-partner";
/// First argument of a process that ends at once: the floor of starting targets.
inline constexpr std::string_view floor_nothing_argument = "floor-nothing";

/// A second process on the target's core that answers as barely as can be. It sleeps in a futex except during a block
/// of its own, so that it never competes with a target for the core. It is a fresh image of this program (not a fork of
/// the host), so that it shares neither descriptors nor memory with a runtime that is up.
class floor_partner {
 public:
  /// Starts the partner on `cores.target`. Throws std::system_error.
  explicit floor_partner(const core_pair& cores);
  ~floor_partner();
  floor_partner(const floor_partner&) = delete;
  floor_partner& operator=(const floor_partner&) = delete;

  /// One line each way, both sides spin on plain loads without a pause instruction. One operation is a round trip.
  [[nodiscard]] block_times bounce(const block_plan& plan = {});

  /// This process writes `size_bytes` from `from` into shared memory, the partner copies them out, both spin. At most
  /// 32 MiB. One operation ends when they are copied out.
  [[nodiscard]] block_times copy_through(const void* from, std::size_t size_bytes, const block_plan& plan);

  /// This process writes a message into lines of shared memory, the partner copies it out and sets one flag; both
  /// spin. A round trip with that much of arguments. At most 64 KiB. From 4 KiB on messages take turns in memory that
  /// the cores' own caches hold, or in more, whichever is faster.
  [[nodiscard]] block_times message_there(std::size_t size_bytes, const block_plan& plan);

  /// Mirrored: one flag there, the message back. A round trip with that large a result. At most 64 KiB.
  [[nodiscard]] block_times message_back(std::size_t size_bytes, const block_plan& plan);

  /// Both sides sleep in FUTEX_WAIT until the other one wakes them. One operation is a round trip.
  [[nodiscard]] block_times futex_ping_pong(const block_plan& plan);

  /// One futex round trip after both sides slept for `idle`, in nanoseconds.
  [[nodiscard]] double futex_after_sleep_ns(std::chrono::nanoseconds idle);

 private:
  void begin(unsigned command);
  void finish();
  void futex_round();
  template <class Measure>
  block_times over_both_rings(std::size_t size_bytes, block_plan plan, Measure measure);
  block_times message_there_once(std::size_t size_bytes, const block_plan& plan);
  block_times message_back_once(std::size_t size_bytes, const block_plan& plan);

  floor_page* page_ = nullptr;
  pid_t pid_ = -1;
};

/// Main program of the partner. `argv` = {program, "floor-partner", descriptor, core}.
int run_floor_partner(int argc, char** argv);

}  // namespace ham::bench

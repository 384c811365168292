// One event of the flight recorder: 32 bytes that a reader can check by themselves.
#pragma once

#include <cstdint>

namespace ham::inline v1::base {

enum class recorded_kind : std::uint8_t {
  none,
  sent,        ///< a call that has a result, to `peer`
  pinged,      ///< a call without one, to `peer`
  sent_batch,  ///< `call` calls as one message, to `peer`
  executing,   ///< a call of `peer`, which has begun
  executed,    ///< the same, which is over; the time is that of its begin
  queued,      ///< a call of `peer`, which was given to another thread of its node
};
inline constexpr auto last_recorded_kind = recorded_kind::queued;

/// Keys of functions that are no handlers, but have names of their own, begin here.
inline constexpr std::uint32_t first_named_function = 1U << 31U;

/// Plain memory that its thread writes while others may read: a reader takes a copy, and believes it if it is sound().
struct alignas(32) recorded_event {
  std::uint64_t ticks = 0;
  std::uint64_t what = 0;  ///< the function's key on the recording node; from bit 32 on the call
  std::uint64_t whom = 0;  ///< the number of the peer; from bit 32 on the kind
  std::uint64_t check = 0;

  [[nodiscard]] static constexpr recorded_event make(recorded_kind kind, std::uint64_t ticks, std::int32_t peer,
                                                     std::uint32_t function, std::uint32_t call) noexcept {
    recorded_event made{ticks, function | std::uint64_t{call} << 32U,
                        static_cast<std::uint32_t>(peer) | static_cast<std::uint64_t>(kind) << 32U, 0};
    made.check = made.sum();
    return made;
  }

  /// It was written in one piece. Zeros are not sound.
  [[nodiscard]] constexpr bool sound() const noexcept {
    return check == sum() && whom >> 32U != 0 && whom >> 32U <= static_cast<std::uint64_t>(last_recorded_kind);
  }
  [[nodiscard]] constexpr recorded_kind kind() const noexcept {
    return sound() ? static_cast<recorded_kind>(whom >> 32U) : recorded_kind::none;
  }
  [[nodiscard]] constexpr std::int32_t peer() const noexcept { return static_cast<std::int32_t>(whom); }
  [[nodiscard]] constexpr std::uint32_t function() const noexcept { return static_cast<std::uint32_t>(what); }
  [[nodiscard]] constexpr std::uint32_t call() const noexcept { return static_cast<std::uint32_t>(what >> 32U); }

  /// For the thread that has written it, and knows that it is sound or empty.
  [[nodiscard]] constexpr bool is_of(recorded_kind kind) const noexcept {
    return whom >> 32U == static_cast<std::uint64_t>(kind);
  }
  /// The same, of what was executing.
  [[nodiscard]] constexpr recorded_event executed() const noexcept {
    constexpr auto change = static_cast<std::uint64_t>(static_cast<unsigned>(recorded_kind::executing) ^
                                                       static_cast<unsigned>(recorded_kind::executed))
                            << 32U;
    return {ticks, what, whom ^ change, check ^ change};
  }
  /// The same with another kind.
  [[nodiscard]] constexpr recorded_event as(recorded_kind kind) const noexcept {
    return make(kind, ticks, peer(), function(), call());
  }

 private:
  [[nodiscard]] constexpr std::uint64_t sum() const noexcept { return ~(ticks ^ what ^ whom); }
};
static_assert(sizeof(recorded_event) == 32);

/// Threads that take the ring of one over that has ended are ordered behind it by the kernel, which no sanitizer sees.
__attribute__((no_sanitize("thread"))) inline void store_event(recorded_event& at, const recorded_event& one) noexcept {
  at = one;
}

/// By the thread that writes it. Word by word, as GCC writes it: a processor forwards what it has just written to reads
/// of the same width only, and a wider one waits for the cache.
[[nodiscard]] inline recorded_event load_event(const recorded_event& at) noexcept {
  const volatile recorded_event& place = at;
  return {place.ticks, place.what, place.whom, place.check};
}

}  // namespace ham::base

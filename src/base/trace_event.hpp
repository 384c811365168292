// One event of a trace: 32 bytes in memory that outlives its process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ham::inline v1::base {

enum class trace_kind : std::uint8_t {
  none,
  sent,        ///< a call that has a result, to `peer`: until its message was complete
  pinged,      ///< a call without one
  sent_batch,  ///< `call` calls as one message; each of them is `sent` as well
  settled,     ///< the answer to a call has come from `peer`; no length
  executed,    ///< a call of `peer`; `bytes`: how many ticks before its end the reply began, 0: there was none
  queued,      ///< a call of `peer` was received, and given to another thread
  waited,      ///< for the answer to a call to `peer`
  slept,       ///< the thread had nothing to do
  put,         ///< `wide` bytes to memory of `peer`
  got,         ///< the same from there
  span,        ///< of the program; `wide`: its name
  counter,     ///< of the program; `wide`: its name, `value`: what it is now
  name,        ///< `length` bytes of text follow, in whole events; `wide` stands for it from now on
  stage,       ///< a stage of a graph; `call`: its number in there. No call was sent for it
  answered,    ///< waited, and settled at its end by the same thread: read as these two
};
inline constexpr auto last_trace_kind = trace_kind::answered;

/// Its thread writes it, others may read meanwhile, and the process may be killed meanwhile: the word with the kind is
/// written last.
struct alignas(32) trace_event {
  std::uint64_t begin = 0;  ///< in ticks
  std::uint64_t span = 0;   ///< how long it took in ticks; from bit 56 on the kind
  std::uint64_t whom = 0;   ///< the number of the peer, from bit 32 on a number of bytes; or a value
  std::uint64_t what = 0;   ///< the function's key on the tracing node, from bit 32 on the call; or a wide number

  static constexpr unsigned kind_bit = 56;
  static constexpr std::uint64_t max_length = (std::uint64_t{1} << kind_bit) - 1;

  [[nodiscard]] static constexpr std::uint64_t pair(std::uint32_t low, std::uint64_t high) noexcept {
    return low | std::min<std::uint64_t>(high, std::numeric_limits<std::uint32_t>::max()) << 32U;
  }
  [[nodiscard]] static constexpr trace_event make(trace_kind kind, std::uint64_t begin, std::uint64_t end,
                                                  std::uint64_t whom, std::uint64_t what) noexcept {
    const std::uint64_t length = end > begin ? std::min(end - begin, max_length) : 0;
    return {begin, length | static_cast<std::uint64_t>(kind) << kind_bit, whom, what};
  }

  [[nodiscard]] constexpr trace_kind kind() const noexcept {
    const std::uint64_t number = span >> kind_bit;
    return number <= static_cast<std::uint64_t>(last_trace_kind) ? static_cast<trace_kind>(number) : trace_kind::none;
  }
  [[nodiscard]] constexpr std::uint64_t length() const noexcept { return span & max_length; }
  [[nodiscard]] constexpr std::int32_t peer() const noexcept { return static_cast<std::int32_t>(whom); }
  [[nodiscard]] constexpr std::uint32_t bytes() const noexcept { return static_cast<std::uint32_t>(whom >> 32U); }
  [[nodiscard]] constexpr std::uint32_t function() const noexcept { return static_cast<std::uint32_t>(what); }
  [[nodiscard]] constexpr std::uint32_t call() const noexcept { return static_cast<std::uint32_t>(what >> 32U); }
};
static_assert(sizeof(trace_event) == 32);

/// The kind last: what a killed process has left is whole or not there.
inline void store_event(trace_event& at, const trace_event& one) noexcept {
  __atomic_store_n(&at.begin, one.begin, __ATOMIC_RELAXED);
  __atomic_store_n(&at.whom, one.whom, __ATOMIC_RELAXED);
  __atomic_store_n(&at.what, one.what, __ATOMIC_RELAXED);
  __atomic_store_n(&at.span, one.span, __ATOMIC_RELEASE);
}

}  // namespace ham::base

// How long the destructors of handles wait for a node that does not answer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "core/peer.hpp"
#include "ham/offload/future.hpp"

namespace ham::inline v1::detail {

class engine;

/// Waits as long as the node shows that it lives: it takes messages, or its process is not stopped. It has 10 s for
/// that, or HAM_CLOSE_TIMEOUT seconds, after which it is given up whatever it shows. Once a node was given up, nobody
/// waits for it again until it shows something. One thread.
class sign_of_life {
 public:
  /// `what` is what is waited for, "a buffer"; for the line that says that it is given up. `limit_ns`: the most that is
  /// waited, whatever it shows; negative: HAM_CLOSE_TIMEOUT.
  sign_of_life(engine& at, node_t node, const char* what, std::int64_t limit_ns = -1);
  /// False: the node is given up, and has been told of on stderr.
  [[nodiscard]] bool wait_on();

 private:
  [[nodiscard]] bool shows_one();
  void give_up(std::int64_t waited_ns);

  engine& at_;
  const peer_hold who_;
  const char* what_;
  const std::optional<std::int64_t> limit_ns_;
  const std::int64_t started_ns_;
  std::int64_t last_sign_ns_;
  std::int64_t next_probe_ns_;
  std::uint64_t consumed_;  ///< peer::never: not known
};

/// As detach(), and an error of it is nobody's business: the node may be gone.
template <class Result>
void let_go(offload::future<Result>&& what) noexcept {
  call_slot* const slot = offload::detail::future_access::release(what);
  if (slot == nullptr || abandon_quietly(*slot)) return;
  const auto settled = offload::detail::future_access::make<Result>(slot);
  static_cast<void>(settled.has_value());
}

/// The same of what `call()` begins, which gives something back: if that cannot be sent, the node has gone, and with it
/// what was to be given back.
template <class Call>
void give_back(Call call) noexcept {
  try {
    let_go(call());
  } catch (const std::exception&) {
    return;
  }
}

/// Runs `attempt` again now and then until it has succeeded; or the node is lost, or the runtime ends, before. What it
/// throws is nobody's business. Threads of the runtime run it, one at a time, within whatever they wait for: it must
/// not wait itself, so a call in it is for the process and not for its number (engine::exactly). Each that is not done
/// yet is an entry of engine::run_when_lost.
void keep_trying(engine& at, node_t node, std::function<bool()> attempt) noexcept;

/// Makes a call whose answer ends a handle, and waits for it as sign_of_life says; after that the call is on its own,
/// and is made later if there was no room for it until then. `try_call()` gives an optional future, as keep_trying()
/// says; it is copied, and must not refer to what ends with the caller. Throws what the call throws. False: the node
/// was given up.
template <class TryCall>
bool end_handle(engine& at, node_t node, const char* what, TryCall try_call, std::int64_t limit_ns = -1) {
  constexpr std::int64_t interval_ns = 20'000'000;
  const std::chrono::nanoseconds interval(limit_ns < 0 ? interval_ns : std::min(interval_ns, limit_ns));
  sign_of_life sign(at, node, what, limit_ns);
  auto answer = try_call();
  while (!answer) {
    if (!sign.wait_on()) {
      keep_trying(at, node, [try_call] {
        auto late = try_call();
        if (!late) return false;
        let_go(std::move(*late));
        return true;
      });
      return false;
    }
    base::sleep_ns(1'000'000);
    answer = try_call();
  }
  while (!answer->wait_for(interval)) {
    if (sign.wait_on()) continue;
    let_go(std::move(*answer));
    return false;
  }
  answer->get();
  return true;
}

}  // namespace ham::detail

// Signs of life: messages consumed, and for processes of this machine whether the kernel has stopped them.
#include "runtime/end_of_handle.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "ham/offload/call.hpp"
#include "runtime/engine.hpp"
#include "runtime/forks.hpp"
#include "runtime/options.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

void nothing() {}

/// The letter of a process's state in /proc; 0: unknown.
char state_of(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end_of_name = text.rfind(") ");
  return end_of_name == std::string::npos || end_of_name + 2 >= text.size() ? '\0' : text[end_of_name + 2];
}

/// Owns itself from begin() on.
class repeated_attempt final : continuation {
 public:
  static void begin(engine& at, node_t node, std::function<bool()> what) {
    std::unique_ptr<repeated_attempt> fresh(new repeated_attempt(at.serial, node, std::move(what)));
    wait(at, std::move(fresh));
  }

 private:
  repeated_attempt(std::uint64_t runtime, node_t node, std::function<bool()> what)
      : continuation{[](continuation* self) {
          go_on(std::unique_ptr<repeated_attempt>(static_cast<repeated_attempt*>(self)));
        }},
        runtime_(runtime),
        node_(node),
        attempt_(std::move(what)) {}

  static void go_on(std::unique_ptr<repeated_attempt> me) noexcept {
    engine* const at = find_engine(me->runtime_);
    if (at == nullptr) return;
    const engine_scope scope(at);
    try {
      if (me->attempt_()) return;
    } catch (const std::exception&) {  // the node is lost, or there is no memory
      return;
    }
    me->pause_ns_ = std::min(2 * me->pause_ns_, second_ns);
    wait(*at, std::move(me));
  }
  static void wait(engine& at, std::unique_ptr<repeated_attempt> me) noexcept {
    // After that it is another thread's, and may have gone.
    repeated_attempt* const one = me.release();
    if (!at.run_when_lost(one->node_, one, base::now_ns() + one->pause_ns_)) delete one;
  }

  const std::uint64_t runtime_;
  const node_t node_;
  const std::function<bool()> attempt_;
  std::int64_t pause_ns_ = 20'000'000;
};

/// How many bytes of messages the node has consumed, as its endpoint counts them. Where that is unknown, how many it
/// has sent: it grows as well while the node answers.
std::uint64_t consumed_by(engine& at, const peer& who) {
  std::uint64_t position = 0;
  at.locked([&] { position = who.to == nullptr ? 0 : who.to->consumed(); });
  return position == UINT64_MAX ? who.bytes_received.bytes() : position;
}

}  // namespace

void keep_trying(engine& at, node_t node, std::function<bool()> attempt) noexcept {
  try {
    repeated_attempt::begin(at, at.peer_of(node)->node, std::move(attempt));
  } catch (const std::exception&) {
    return;  // the node is lost, or there is no memory
  }
}

sign_of_life::sign_of_life(engine& at, node_t node, const char* what, std::int64_t limit_ns)
    : at_(at),
      who_(at.peer_of(node)),
      what_(what),
      limit_ns_(limit_ns < 0 ? close_timeout_ns() : std::optional(limit_ns)),
      started_ns_(base::now_ns()),
      last_sign_ns_(started_ns_),
      next_probe_ns_(started_ns_ + second_ns / 2),
      consumed_(who_->given_up_at.load()) {}

bool sign_of_life::shows_one() {
  const std::uint64_t before = std::exchange(consumed_, consumed_by(at_, *who_));
  if (before != peer::never && before != consumed_) return true;
  const char state = state_of(at_.all_connections.local_process(*who_));
  if (state != '\0') return state != 'T' && state != 't';
  return false;
}

bool sign_of_life::wait_on() {
  at_.poll_once();
  if (who_->state.load() == peer_state::lost) return true;  // the call tells
  const std::int64_t now = base::now_ns();
  const std::optional<std::int64_t>& most = limit_ns_;
  if (shows_one()) {
    last_sign_ns_ = now;
    who_->given_up_at.store(peer::never);
  }
  const bool over = most ? now - started_ns_ >= *most : now - last_sign_ns_ >= 10 * second_ns;
  if (over || who_->given_up_at.load() != peer::never) {
    give_up(now - (most ? started_ns_ : last_sign_ns_));
    return false;
  }
  if (now >= next_probe_ns_) {  // something to take, for a node that has taken all
    next_probe_ns_ = now + second_ns;
    if (auto probe = offload::try_async(who_->node, fn<&nothing>)) let_go(std::move(*probe));
  }
  return true;
}

void sign_of_life::give_up(std::int64_t waited_ns) {
  if (who_->given_up_at.exchange(consumed_) != peer::never) return;
  const char state = state_of(at_.all_connections.local_process(*who_));
  base::log("runtime", base::log_level::warning,
            "node %d: %s of node %d is left to that node, which has not answered for %.1f s (%s); it ends there if "
            "the node goes on",
            at_.self(), what_, who_->node, static_cast<double>(waited_ns) * 1e-9,
            state == 'T' || state == 't' ? "its process is stopped" : "it hangs, computes, or cannot be reached");
}

}  // namespace ham::detail

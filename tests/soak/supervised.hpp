// A target that is started again under its number when its process is killed, which happens as the run goes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "ham/offload.hpp"

namespace soak {

using ham::node_t;

/// Longer than calls to a target take that is ended when it hangs, on a busy machine, too.
inline constexpr std::chrono::milliseconds hang_limit{3000};

class supervised_target {
 public:
  /// Adds it to the job, written as in HAM_NODES. `hang_after`: see ham::offload::supervision.
  explicit supervised_target(const std::string& kind, std::chrono::nanoseconds hang_after = {});

  [[nodiscard]] node_t number() const noexcept { return number_; }

  /// What a worker asks for before a call, for may_fail().
  [[nodiscard]] std::uint64_t mark() const noexcept { return replaced_.load(); }
  /// Whether a process has died, or been replaced, since: only then a call may fail.
  [[nodiscard]] bool may_fail(std::uint64_t marked) const noexcept { return begun_.load() != marked; }
  [[nodiscard]] std::uint64_t deaths() const noexcept { return begun_.load(); }
  /// How many processes have been prepared in place of others.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_.load(); }

  /// So often processes may die when workers ask for it.
  void set_pace(double seconds) noexcept { pace_ns_.store(static_cast<std::int64_t>(seconds * 1e9)); }
  /// Whether it is time; true for one of those who ask.
  [[nodiscard]] bool death_is_due();

  /// Kills its process, or has `kill` do it, and waits until another one answers in its place.
  void replace_process() {
    replace_process([this] { kill_process(); });
  }
  void replace_process(const std::function<void()>& kill);

 private:
  void kill_process() const;

  const node_t number_;
  std::mutex mutex_;  ///< one death at a time
  std::atomic<std::uint64_t> begun_{0}, replaced_{0}, epoch_{0};
  std::atomic<std::int64_t> pace_ns_{1'000'000'000}, next_ns_{0};
};

}  // namespace soak

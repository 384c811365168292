// The targets of a soak run by seat: who sits there changes, because targets are killed and removed as it goes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "ham/offload.hpp"

namespace soak {

using ham::node_t;

/// How a target was made to end.
enum class ending : std::uint8_t { killed, removed };
[[nodiscard]] constexpr const char* text_of(ending how) noexcept {
  return how == ending::killed ? "killed" : "removed in order";
}

class seats {
 public:
  /// The targets that the job has. Those whose nodes are written as `spare` (HAM_NODES) may be killed, but for the
  /// first of all, which stays for the whole run.
  seats(std::string spare, std::size_t spares);

  [[nodiscard]] std::size_t size() const noexcept { return sitting_.size(); }
  [[nodiscard]] node_t at(std::size_t seat) const noexcept { return sitting_[seat].load(); }
  /// Whether the node was made to fail, now or earlier: what then fails is nobody's fault.
  [[nodiscard]] bool given_up(node_t node) const;
  /// All those, with how they have ended.
  [[nodiscard]] std::map<node_t, ending> ended() const;
  /// All nodes that have sat here.
  [[nodiscard]] std::vector<node_t> ever() const;
  /// Whether it has come in the place of another one.
  [[nodiscard]] bool was_added(node_t node) const noexcept { return static_cast<std::size_t>(node) > size(); }

  /// Kills a target, or removes it in order, and puts a new one in its place. False: there is none that may go.
  bool replace_one(std::mt19937_64& random);
  [[nodiscard]] std::uint64_t kills() const noexcept { return kills_.load(); }
  [[nodiscard]] std::uint64_t removals() const noexcept { return removals_.load(); }
  [[nodiscard]] std::uint64_t spawned() const noexcept { return spawned_.load(); }
  /// Those whose nodes may be replaced and are processes that this one has started.
  [[nodiscard]] std::vector<std::size_t> started_here() const;
  /// Its process.
  [[nodiscard]] std::int64_t pid(std::size_t seat) const;

 private:
  [[nodiscard]] bool starts_here() const { return spare_.starts_with("shm"); }
  void end(std::size_t seat, node_t node, bool kill);

  const std::string spare_;
  const std::size_t fixed_;  ///< seats in front, whose nodes stay
  std::vector<std::atomic<node_t>> sitting_;
  mutable std::mutex mutex_;  ///< guards the next three
  std::map<node_t, ending> given_up_;
  std::vector<node_t> ever_;
  std::vector<std::int64_t> pids_;
  std::atomic<std::uint64_t> kills_{0}, removals_{0}, spawned_{0};
};

}  // namespace soak

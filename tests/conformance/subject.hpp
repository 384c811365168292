// How a transport joins the conformance suite: it connects the suite with a peer that does what frames tell it.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/heap.hpp"
#include "transport/fragments.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport::conformance {

using bytes = std::vector<std::byte>;

/// What the frames of the suite ask of the peer; the key of the frame.
enum class order : std::uint32_t {
  echo = 1,   ///< send the payload back, in one frame or in pieces as it came
  stop_for,   ///< u32 milliseconds: look at nothing meanwhile
  send_many,  ///< u32 count, u32 size: send that many numbered frames
  allocate,   ///< u64 size: answer with u64 address, u64 tag
  free,       ///< u64 address, u64 tag
  sum,        ///< u64 address, u64 size: answer with the sum of the bytes, u64
  fill,       ///< u64 address, u64 size, u64 value
  leave,      ///< end in order
};

inline constexpr std::uint8_t plain_kind = 1;
inline constexpr std::uint8_t piece_kind = 2;

template <class... T>
bytes pack(const T&... values) {
  bytes result((sizeof values + ... + 0));
  std::size_t at = 0;
  ((std::memcpy(result.data() + at, &values, sizeof values), at += sizeof values), ...);
  return result;
}
template <class T>
T word(std::span<const std::byte> from, std::size_t index = 0) {
  T result{};
  std::memcpy(&result, from.data() + index * sizeof(T), sizeof(T));
  return result;
}

/// News from a transport, kept.
class recorder final : public observer {
 public:
  void on_connected(endpoint& with) override {
    std::lock_guard guard(mutex_);
    connected_[with.peer()] = &with;
  }
  void on_broken(node_t peer, const std::string& reason) override { on_lost(peer, "broken: " + reason); }
  void on_lost(node_t peer, const std::string& reason) override {
    std::lock_guard guard(mutex_);
    lost_[peer].push_back(reason);
  }
  [[nodiscard]] endpoint* connected(node_t peer) const {
    std::lock_guard guard(mutex_);
    const auto found = connected_.find(peer);
    return found == connected_.end() ? nullptr : found->second;
  }
  [[nodiscard]] std::vector<std::string> lost(node_t peer) const {
    std::lock_guard guard(mutex_);
    const auto found = lost_.find(peer);
    return found == lost_.end() ? std::vector<std::string>() : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<node_t, endpoint*> connected_;
  std::map<node_t, std::vector<std::string>> lost_;
};

/// Sleeps as the contract says, until something arrives or the time is over. True if it really slept.
inline bool sleep_on(transport& at, std::chrono::milliseconds longest, std::atomic<bool>* armed = nullptr) {
  if (!at.arm()) return false;
  if (armed != nullptr) *armed = true;
  pollfd waiting{at.wake_fd(), POLLIN, 0};
  ::poll(&waiting, 1, static_cast<int>(longest.count()));
  at.disarm();
  return true;
}

/// The other end: obeys frames until it is told to leave or `stop` says so.
void obey(transport& at, base::heap& memory, const std::function<bool()>& stop);

/// One connection between the suite and such a peer.
class subject {
 public:
  virtual ~subject() = default;
  [[nodiscard]] virtual transport& here() = 0;
  [[nodiscard]] virtual node_t peer() = 0;
  [[nodiscard]] virtual recorder& news() = 0;
  /// Whether the peer can die alone: not if it is a thread.
  [[nodiscard]] virtual bool mortal() const { return false; }
  /// Whether what the peer sent and took can be seen after its death: not if it was in its memory only.
  [[nodiscard]] virtual bool leaves_traces() const { return true; }
  /// Ends a mortal peer as by kill -9.
  virtual void kill_peer() {}
};

using maker = std::unique_ptr<subject> (*)();
/// The transports that joined.
[[nodiscard]] inline std::map<std::string, maker>& subjects() {
  static std::map<std::string, maker> all;
  return all;
}
struct join {
  join(const char* name, maker make) { subjects()[name] = make; }
};

}  // namespace ham::transport::conformance

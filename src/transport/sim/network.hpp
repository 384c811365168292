// The network of simulated nodes: connections with delays and little room, that can be cut, between processes that can
// die.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/heap.hpp"
#include "transport/device.hpp"
#include "transport/starting.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport::sim {

struct packet;

/// The device of a node, with its memory.
struct node_device {
  std::unique_ptr<device_driver> driver;  ///< nullptr: it has none
  std::unique_ptr<device_memory> memory;  ///< nullptr: the node allocates memory of its process
  device_owner::limits limits{};
};

/// Who decides what happens on the network, and runs its nodes: the simulation.
class director {
 public:
  director() = default;
  virtual ~director() = default;
  director(const director&) = delete;
  director& operator=(const director&) = delete;

  /// How long a frame takes from one node to the other; it does not overtake the one before.
  [[nodiscard]] virtual std::int64_t delay_ns(node_t from, node_t to) = 0;
  /// How many frames the link holds that have not been taken.
  [[nodiscard]] virtual std::size_t capacity(node_t from, node_t to) = 0;
  /// Largest payload of one frame in bytes.
  [[nodiscard]] virtual std::size_t max_payload() const = 0;
  /// Runs a target, which reaches its host and `others`, from its start to its end on threads of its own.
  virtual void start(std::unique_ptr<target_side> target, company others) = 0;
  /// The device of a node, asked for once, when the node opens its transport.
  [[nodiscard]] virtual node_device device_of(node_t) { return {}; }
  /// The process of a node is ended if it has not done so within `timeout`. Does not wait.
  virtual void end(node_t node, std::chrono::milliseconds timeout) = 0;
  /// What the kernel calls the process of a node; -1: nobody can end it.
  [[nodiscard]] virtual std::int64_t pid_of(node_t) const noexcept { return -1; }
  /// Is told of every frame when it leaves, and may change it, and when its receiver has taken it; with the network's
  /// lock.
  virtual void on_sent(node_t, node_t, packet&) {}
  virtual void on_consumed(node_t, node_t, const packet&) {}
};

/// A frame on its way.
struct packet {
  frame_head head;
  std::vector<std::byte> payload;  ///< at least readable_payload bytes of memory
  std::size_t size = 0;
  std::int64_t arrives_ns = 0;
};

/// One direction between two nodes.
struct link {
  node_t from = -1;
  node_t to = -1;
  std::atomic<std::size_t> frames{0};  ///< under way; changes with the network's lock
  std::deque<packet> under_way;
  std::uint64_t consumed = 0;  ///< frames
  std::int64_t last_arrival_ns = 0;
  bool cut = false;  ///< what is sent from now on is lost
};

/// What a node hears of the others.
struct news {
  enum class kind : std::uint8_t { connected, lost, died } what;
  node_t node;
  std::string reason;
  bool has_memory = false;  ///< of a connection: the other one's is reached in one-sided accesses
};

class node_transport;

/// All members may be called from any thread.
class network {
 public:
  explicit network(director& by) : by_(by) {}

  [[nodiscard]] director& directing() noexcept { return by_; }
  /// The lock of what nodes share here; a process must not be killed with it.
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

  // ---- of transports
  void join(node_t node, node_transport& here, base::heap* memory);
  void leave(node_t node);
  /// Tells both sides of each other. False: one of them is not there.
  bool introduce(node_t from, node_t to);
  /// Stays as long as the network.
  [[nodiscard]] link& between(node_t from, node_t to);
  /// False: there is no room now.
  [[nodiscard]] bool has_room(const link& on);
  void send(link& on, packet what);
  /// The next frame that has arrived; stays until it is taken. nullptr: none, or not yet.
  [[nodiscard]] const packet* arrived(const link& on);
  void take(link& on);
  [[nodiscard]] std::uint64_t consumed(const link& on);
  /// When the next frame arrives, if one is on its way.
  [[nodiscard]] std::int64_t arrival_ns(const link& on);
  [[nodiscard]] access_result access(node_t owner, std::uint64_t address, std::uint64_t tag, std::size_t size,
                                     const std::byte* from, std::byte* to);

  // ---- of the simulation
  /// Nothing that is sent from now on arrives, and both hear that they have lost each other: before or after what is on
  /// its way.
  void cut(node_t first, node_t second);
  /// The process of a node has ended: what it has sent arrives, then the others hear of it; so does the host that has
  /// started it if it has not joined.
  void died(node_t node, node_t host = 0);
  [[nodiscard]] bool is_there(node_t node);

 private:
  struct seat {
    node_transport* here = nullptr;
    base::heap* memory = nullptr;
    bool dead = false;
  };

  [[nodiscard]] link& between_unlocked(node_t from, node_t to);
  [[nodiscard]] static std::pair<node_t, node_t> both(node_t one, node_t other) { return std::minmax(one, other); }

  director& by_;
  std::mutex mutex_;  // what follows
  std::map<node_t, seat> seats_;
  std::map<std::pair<node_t, node_t>, link> connections_;  // from, to
  std::map<std::pair<node_t, node_t>, bool> introduced_;   // and not lost
};

/// The network of this process, while a simulation runs; nullptr: none does.
[[nodiscard]] network* current_network() noexcept;
void set_current_network(network* to) noexcept;

}  // namespace ham::transport::sim

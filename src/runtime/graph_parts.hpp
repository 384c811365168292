// The parts of graphs that a node has, and its own graphs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/biased_lock.hpp"
#include "core/call_stops.hpp"
#include "core/ready_queue.hpp"
#include "runtime/graph_part.hpp"

namespace ham::inline v1::detail {

/// What ends the replays that a graph of this node has in flight. The receiving lock is held.
class replay_owner {
 public:
  virtual ~replay_owner() = default;
  virtual void lose(node_t node) noexcept = 0;
  /// Whether the slot is that of one of its replays, which fails then.
  [[nodiscard]] virtual bool expire(call_slot& slot) noexcept = 0;
  [[nodiscard]] virtual bool stop(call_slot& slot) noexcept = 0;
  /// The number of the replay that the slot is of; 0: it is of none.
  [[nodiscard]] virtual std::uint32_t number_of(const call_slot& slot) const noexcept = 0;
  /// The result of a replay, from `node`, for the part that expect_results() has named last.
  virtual void take_result(node_t node, std::uint32_t replay, std::span<const std::byte> value) noexcept = 0;
  [[nodiscard]] virtual std::shared_ptr<replay_owner> keep() = 0;

  /// Tells the graph's nodes that a replay was stopped, unless they were told, or queues to them are full: then they
  /// are told when this node makes progress. Waits for nothing. Nobody holds a lock.
  virtual void announce_stop(std::uint32_t replay) noexcept = 0;
};

/// One replay of a graph of this node.
struct held_replay {
  std::shared_ptr<replay_owner> of;
  std::uint32_t number = 0;
  explicit operator bool() const noexcept { return of != nullptr; }
};

class graph_parts;

/// Keeps a part while it is used. Costs no atomic operation while one thread uses the parts of a node.
class part_hold {
 public:
  part_hold() noexcept = default;
  part_hold(graph_parts& of, std::uint64_t id, graph_part& part) noexcept : of_(&of), id_(id), part_(&part) {}
  part_hold(const part_hold&) = delete;
  part_hold& operator=(const part_hold&) = delete;
  ~part_hold();
  explicit operator bool() const noexcept { return part_ != nullptr; }
  [[nodiscard]] graph_part* operator->() const noexcept { return part_; }

 private:
  graph_parts* of_ = nullptr;
  std::uint64_t id_ = 0;
  graph_part* part_ = nullptr;
};

/// Any thread.
class graph_parts {
 public:
  using address = offload::detail::part_address;

  /// `node`: the engine, as calls that can be stopped see it.
  graph_parts(engine& at, stopped_node& node, ready_queue& due) noexcept;
  graph_parts(const graph_parts&) = delete;
  graph_parts& operator=(const graph_parts&) = delete;

  // ---- parts
  /// A number for a part, which is not that of any other one, also of other processes.
  [[nodiscard]] std::uint64_t reserve();
  /// Throws ham::call_error if it was not reserved, or has a part.
  void install(std::uint64_t id, std::shared_ptr<graph_part> part);
  /// None: it is not there any more. What is held when it is released goes with the last who holds it.
  [[nodiscard]] part_hold hold(std::uint64_t id) noexcept;
  void release(std::uint64_t id) noexcept;
  /// As the functions of a part, of one that is there. Takes the lock as often as hold() and its end do alone.
  void start(std::uint64_t id, std::uint32_t replay, std::span<const std::byte> inputs,
             const replay_terms& terms = {}) noexcept;
  void deliver(std::uint64_t id, std::uint32_t replay, std::uint32_t port, std::span<const std::byte> value,
               const replay_terms& terms = {}) noexcept;
  [[nodiscard]] std::size_t installed() const noexcept;
  /// The one of all parts of the node: held for some lines, and while the frame of a replay is made ready.
  [[nodiscard]] base::biased_lock& lock() noexcept { return lock_; }
  [[nodiscard]] stopped_node& node() const noexcept { return node_; }
  /// Of the functions that run as stages of replays that can be stopped.
  [[nodiscard]] call_stops& stage_stops() noexcept { return stage_stops_; }
  /// Another one for each of these functions, so that the list finds it.
  [[nodiscard]] std::uint32_t number_of_stage() noexcept { return stages_.fetch_add(1, std::memory_order_relaxed); }

  // ---- graphs of this node
  void enlist(replay_owner& one);
  void remove(replay_owner& one) noexcept;

  // ---- the receiving lock is held
  /// Parts of graphs of that node go; graphs of others, which have it, are told.
  void lose(node_t node, const std::string& why) noexcept;
  [[nodiscard]] bool expire(call_slot& slot) noexcept;
  [[nodiscard]] bool stop(call_slot& slot) noexcept;
  /// Results of replays of a graph that was enlisted go to this part of it from now on.
  void expect_results(replay_owner& of, std::uint64_t part) noexcept;
  /// A result of a replay has come from `node`; if that is over, nothing.
  void take_result(node_t node, std::uint64_t part, std::uint32_t replay, std::span<const std::byte> value) noexcept;
  /// None: the slot is not of a replay.
  [[nodiscard]] held_replay replay_of(const call_slot& slot) const noexcept;

  /// The node ends: nothing of any graph is left.
  void clear() noexcept;
  /// In a child after fork: no thread holds the lock.
  void detach_after_fork() noexcept;

 private:
  struct place {
    std::uint64_t id = 0;  // 0: free
    std::shared_ptr<graph_part> part;
    std::uint32_t holds = 0;
    bool released = false;  ///< but held
  };
  struct owner {
    std::uint64_t results;  // the part that they go to; 0: none yet
    replay_owner* of;
  };
  friend class part_hold;
  template <class Work>
  void work_in(std::uint64_t id, std::uint32_t replay, bool starts, const replay_terms& terms, Work work) noexcept;
  [[nodiscard]] place* usable(std::uint64_t id) noexcept;
  void let_go(std::uint64_t id) noexcept;
  [[nodiscard]] std::shared_ptr<graph_part> let_go_locked(std::uint64_t id) noexcept;
  [[nodiscard]] const place* place_of(std::uint64_t id) const noexcept;
  [[nodiscard]] place* place_of(std::uint64_t id) noexcept {
    return const_cast<place*>(std::as_const(*this).place_of(id));
  }

  engine& at_;
  stopped_node& node_;
  ready_queue& due_;
  call_stops stage_stops_;
  std::atomic<std::uint32_t> stages_{0};
  mutable base::biased_lock lock_;  ///< guards the places
  std::vector<place> places_;
  std::vector<owner> owners_;  ///< by where results go: there may be many graphs
  std::uint64_t last_;
};

}  // namespace ham::detail

// The part of a compiled graph that one node executes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/biased_lock.hpp"
#include "base/clock.hpp"
#include "runtime/graph_plan.hpp"

namespace ham::inline v1::detail {

class engine;
class device_chain;

/// What the caller of a replay has given it.
struct replay_terms {
  bool stoppable = false;  ///< functions that run learn that it is over
  std::int64_t deadline_ns = base::never_ns;
};

/// Where the end of replays is told: on the node that has compiled the graph. Nobody holds a lock.
class replay_observer {
 public:
  virtual ~replay_observer() = default;
  virtual void on_result(std::uint32_t replay, std::span<const std::byte> value) noexcept = 0;
  /// `why` is what the stage has thrown.
  virtual void on_failed(std::uint32_t replay, std::uint32_t stage, std::exception_ptr why) noexcept = 0;
  /// A node of the graph cannot be reached by another one of it.
  virtual void on_lost(node_t node, const std::string& why) noexcept = 0;
  /// Whether nobody waits for the replay any more; it ends if its deadline has passed.
  [[nodiscard]] virtual bool is_over(std::uint32_t /*replay*/) noexcept { return false; }
  /// A transfer begins to use memory of the caller. False: none may any more, since the graph goes.
  [[nodiscard]] virtual bool begin_transfer() noexcept { return true; }
  /// It does not use it any more. Comes before what is told of its stage, which may end the graph.
  virtual void end_transfer() noexcept {}
};

/// Each replay has a frame: the values of the part, and what its stages still wait for. Frames are made once and used
/// again by a later replay. If something of an earlier one, which was given up, still runs in its frame, the later one
/// gets a fresh frame, and the old one goes with what runs.
///
/// A stage begins on the thread that brings the last of what it waits for. All members may be called from any thread,
/// which holds no lock and keeps the part from going meanwhile. All parts of a node have the lock of its graph_parts.
class graph_part : public std::enable_shared_from_this<graph_part> {
 public:
  using plan = offload::detail::part_plan;
  using transfers = std::vector<offload::detail::graph_transfer>;

  /// `from`: the node that has compiled the graph. `observer`, `transfers`: there; else none. Throws ham::call_error
  /// for a plan that cannot be executed here.
  graph_part(engine& at, node_t from, plan what, std::shared_ptr<replay_observer> observer = {}, transfers moves = {});
  graph_part(const graph_part&) = delete;
  graph_part& operator=(const graph_part&) = delete;
  ~graph_part();

  /// A replay begins. `inputs`: each with its size, 32 bits, in front.
  void start(std::uint32_t replay, std::span<const std::byte> inputs, const replay_terms& terms = {}) noexcept;
  /// A stage of another part has ended.
  void deliver(std::uint32_t replay, std::uint32_t port, std::span<const std::byte> value,
               const replay_terms& terms = {}) noexcept;
  /// No further stage of the replay begins, and functions that run are told if its terms say so.
  void abort(std::uint32_t replay) noexcept;

  [[nodiscard]] node_t from() const noexcept { return from_; }
  [[nodiscard]] const plan& of() const noexcept { return plan_; }
  /// Whether that node has a part which this one sends to or hears of.
  [[nodiscard]] bool is_neighbour(node_t node) const noexcept;
  [[nodiscard]] const std::shared_ptr<replay_observer>& observer() const noexcept { return observer_; }

 private:
  friend class graph_parts;  // which enters and leaves with the lock that it has anyway
  /// What has come of some stages of a replay; `result`: in its frame, until the replay is told of it.
  struct outcome {
    bool finished = false;
    std::span<const std::byte> result{};
  };
  struct frame;
  class stage_run;
  struct ready_list;
  struct executions;

  [[nodiscard]] frame* enter(std::uint32_t replay, bool starts, const replay_terms& terms) noexcept;
  [[nodiscard]] frame* enter_locked(std::uint32_t replay, bool starts, const replay_terms& terms,
                                    frame*& given_up) noexcept;
  void give_up(frame* replaced) noexcept;
  [[nodiscard]] outcome start_in(frame& in, std::span<const std::byte> inputs) noexcept;
  [[nodiscard]] outcome deliver_in(frame& in, std::uint32_t port, std::span<const std::byte> value) noexcept;
  void end(frame& in, const outcome& of) noexcept;
  [[nodiscard]] std::unique_ptr<frame> make_frame();
  [[nodiscard]] stage_run* only_behind(frame& of, std::uint32_t stage) const noexcept;
  void leave(frame& of) noexcept;
  [[nodiscard]] static frame* leave_locked(frame& of) noexcept;
  static void free(frame* of) noexcept;
  void reset(frame& of, std::uint32_t replay, const replay_terms& terms) noexcept;
  void count_down(frame& of, const std::vector<std::uint32_t>& stages, ready_list& ready) noexcept;
  [[nodiscard]] outcome run(frame& in, ready_list& ready) noexcept;
  [[nodiscard, gnu::always_inline]] inline stage_run* run_one(stage_run& stage, ready_list& ready,
                                                              executions& observed) noexcept;
  [[nodiscard, gnu::always_inline]] inline stage_run& begin(stage_run& stage, ready_list& ready,
                                                            executions& observed) noexcept;
  [[gnu::always_inline]] inline void begin_call(stage_run& stage, executions& observed);
  [[gnu::always_inline]] inline void observe(stage_run& stage, const incoming_call& call,
                                             executions& observed) noexcept;
  [[nodiscard]] stage_run& begin_on_device(stage_run& first, executions& observed);
  [[nodiscard]] stage_run* make_chain(stage_run& first, device_chain& chain) const;
  [[nodiscard]] std::vector<stage_run*> find_chain(stage_run& first) const;
  [[nodiscard]] static std::size_t closed(const std::vector<stage_run*>& chain, std::size_t count) noexcept;
  [[nodiscard]] bool add_to(device_chain& to, const std::vector<stage_run*>& chain, std::size_t place) const;
  [[nodiscard]] bool was_aborted(const frame& in) noexcept;
  void begin_transfer(stage_run& stage);
  void decide(stage_run& stage, ready_list& ready);
  void complete(stage_run& stage, ready_list& ready) noexcept;
  void fan_out(frame& of, std::uint32_t stage, ready_list& ready);
  void resume(stage_run& stage) noexcept;
  [[nodiscard]] std::span<const std::byte> source(const frame& of, std::uint32_t stage,
                                                  std::size_t index) const noexcept;
  [[nodiscard]] std::span<const std::byte> gather(stage_run& stage);
  void report(const frame& of, std::uint32_t stage, std::exception_ptr why) noexcept;

  engine& at_;
  const node_t from_;
  const plan plan_;
  std::vector<bool> follows_one_;                   ///< of each stage; see stages_behind_one()
  const bool has_device_;                           ///< that executes functions of the node
  std::unique_ptr<std::atomic<bool>[]> on_device_;  ///< of each stage: so did its function, the last time
  const std::shared_ptr<replay_observer> observer_;
  const transfers transfers_;
  base::biased_lock& lock_;  ///< of graph_parts; guards the next, and of each frame what says so
  std::vector<std::unique_ptr<frame>> frames_;
};

}  // namespace ham::detail

// What a part of a graph keeps of one replay: a frame, with the runs of its stages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/thread.hpp"
#include "core/call_stops.hpp"
#include "runtime/engine.hpp"
#include "runtime/graph_part.hpp"
#include "runtime/repeat_polls.hpp"

namespace ham::inline v1::detail {

/// One stage in one frame: takes the result of its call, or the end of its transfer. Who has begun it and who ends it
/// may be two threads: the second one of them goes on. Most end while their thread begins them, and need not ask.
class graph_part::stage_run final : public result_sink, public continuation {
 public:
  using bytes = std::vector<std::byte>;

  enum class phase : std::uint8_t { begun, left, ended, failed };

  stage_run() noexcept : continuation{[](continuation* self) { static_cast<stage_run*>(self)->transferred(); }} {}

  std::byte* begin(std::size_t size) override;
  void finish() noexcept override {
    end_stop();
    end(phase::ended);
  }
  void fail() noexcept override;
  /// The replay is over, by its deadline, a stop or an error elsewhere.
  [[nodiscard]] bool stop_requested() const noexcept override;
  /// The slot of its transfer has settled.
  void transferred() noexcept;
  /// It waits for one thing less. True: for nothing, so it may begin, and waits anew for its next iteration.
  [[nodiscard]] bool count_down() noexcept {
    std::uint32_t left = pending.load(std::memory_order_relaxed);
    while (left != 0 && !follows_one &&
           !pending.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    if (left != 1) return false;  // 0: it waited for nothing, and a peer has told the same twice
    pending.store(what->needs_again, std::memory_order_relaxed);
    return true;
  }
  /// Whether who has begun it goes on with it; else who ends it does.
  [[nodiscard]] bool ended_meanwhile() noexcept {
    return now_.exchange(phase::left, std::memory_order_acq_rel) != phase::begun;
  }
  /// The calling thread begins it, and has this identity.
  void begin_on(const void* thread) noexcept {
    now_.store(phase::begun, std::memory_order_relaxed);
    failed = false;
    beginner = thread;
  }
  [[nodiscard]] bool has_ended() const noexcept { return now_.load(std::memory_order_acquire) != phase::begun; }

  graph_part* part = nullptr;
  frame* in = nullptr;
  stage_run* next_ready = nullptr;
  call_slot* moved = nullptr;
  std::atomic<std::uint32_t> pending{0};
  std::uint32_t number = 0;  // within the part
  const offload::detail::part_stage* what = nullptr;
  bytes* value = nullptr;           // its own, in the frame
  const bytes* argument = nullptr;  // its only one, if that is a value of the frame
  stage_run* only_next = nullptr;   // all that waits for it, if that waits for nothing else
  stage_run* chain_end = nullptr;   // of a chain that it was begun in, which ends for all; else nullptr
  bool follows_one = false;         // see stages_behind_one()
  bool sends_on = false;            // to other parts; the result of a replay never waits
  const void* beginner = nullptr;   // the thread that has begun it
  std::atomic<bool> quick{false};   // see observed_execution::next(); its next iteration may begin on another thread
  bool failed = false;
  std::shared_ptr<graph_part> kept;  // while another thread ends it
  bytes payload;                     // of several sources
  std::weak_ptr<call_stop> stop;     // while its function runs and is told; written under the lock of the part
  repeat_polls polls;                // of a decision
  std::atomic<phase> now_{phase::begun};

 private:
  /// Its function has ended: no stop is for it any more.
  void end_stop() noexcept;
  void end(phase how) noexcept {
    failed = how == phase::failed;
    if (beginner == base::thread_identity() && now_.load(std::memory_order_relaxed) == phase::begun)
      now_.store(how, std::memory_order_relaxed);  // the thread that begins it: nobody else reads it yet
    else if (now_.exchange(how, std::memory_order_acq_rel) == phase::left)
      part->resume(*this);
  }
};

/// The values of a replay, and what its stages wait for. The stops of its functions ask it as their node.
struct graph_part::frame final : stopped_node {
  explicit frame(graph_part& of) noexcept : part(of) {}

  graph_part& part;
  std::uint32_t replay = 0;          // under the lock of the part, as the next four
  std::uint32_t users = 0;           // threads, and stages that end on another one
  bool started = false;              // its start has come
  bool replaced = false;             // goes with the last user
  replay_terms terms;                // also read by users
  std::atomic<bool> stopped{false};  // no further stage begins
  std::atomic<std::int64_t> next_ask_ns{0};
  std::vector<std::vector<std::byte>> values;
  std::vector<stage_run> stages;

  /// No further stage begins, and functions that run are told if the terms say so. By a user, who holds no lock.
  void give_up() noexcept;
  /// Calls the function of a stage, which is told; or has the device execute a chain, which ends with the stage.
  void execute(stage_run& stage, const incoming_call& plain, device_chain* chain = nullptr);

  // ---- stopped_node
  void receive_stops(bool all) noexcept override;
  void stop_nested(const nested_call& call) noexcept override;
  void stop_nested_locked(const nested_call& call) noexcept override;
  void count_stoppable(int more) noexcept override;
  void drop_settled(std::vector<nested_call>& calls) noexcept override;
};

inline void graph_part::stage_run::end_stop() noexcept {
  if (!in->terms.stoppable) [[likely]]
    return;
  if (const std::shared_ptr<call_stop> ended = stop.lock(); ended != nullptr) ended->end();
}

}  // namespace ham::detail

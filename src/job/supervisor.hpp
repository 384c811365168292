// Starts nodes again that have died: on threads of its own, with limits.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload/supervise.hpp"
#include "job/hang_watch.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

/// For people: "0.5".
[[nodiscard]] std::string seconds_of(std::chrono::nanoseconds time);

/// What starts processes for it.
class process_starter {
 public:
  virtual ~process_starter() = default;
  /// Another process in place of that of `number`, in the same way; waits until it can be called, and gives its number.
  /// Throws ham::error.
  [[nodiscard]] virtual node_t start_again(node_t number) = 0;
  /// A process that is not to be used.
  virtual void end(node_t process) noexcept = 0;
  /// The process of a node that is lost, and is not needed any more: where only the connection broke, it lives on.
  virtual void end_lost(node_t process) noexcept = 0;
  /// Tells other nodes of engine::numbers.
  virtual void announce_numbers() noexcept = 0;
};

/// On the host. One thread watches, also for reports of transports, which else wait for a thread of the program, and
/// each restart has a thread: what one rebuilds may need another node that is being restarted as well. These threads
/// receive, but execute no calls and run no continuations, which might wait for them, or would take a process that is
/// still prepared for one that may be called: while on_respawn runs, another thread does that. All members may be
/// called from any thread, which holds no lock, unless said otherwise.
class supervisor final : private report_listener {
 public:
  /// Both outlive this.
  supervisor(engine& host, process_starter& starter) noexcept : host_(host), starter_(starter) {}
  ~supervisor() override { stop(); }

  /// See offload::supervise. Throws std::system_error if there can be no thread.
  void supervise(node_t number, offload::supervision how);
  [[nodiscard]] bool supervises(node_t number) const;
  /// The process is lost. The receiving lock is held.
  void on_lost(node_t process, const std::string& why) noexcept;
  /// The process is at work. The receiving lock is held.
  void on_heartbeat(node_t process) noexcept;
  /// It is not started again; gives its process, or the number itself if that is not supervised.
  node_t release(node_t number);
  /// Begins no more restarts. Does not wait.
  void end() noexcept;
  /// The same, and waits for what is under way.
  void stop() noexcept;

 private:
  struct watched {
    std::shared_ptr<const offload::supervision> how;
    node_t process = -1;
    std::uint64_t epoch = 0;
    std::deque<std::int64_t> restarts;  ///< when, of those within the time that counts
    std::deque<std::string> reasons;    ///< of ends, the latest last
    hang_watch hang;
    std::optional<std::uint32_t> check;       ///< the call of the supervisor, the last that was sent
    std::int64_t checked_ns = INT64_MIN / 2;  ///< when that was
    bool hung = false;                        ///< why its process ends is among the reasons already
    bool due = false;
    bool restarting = false;  ///< there is no process that its loss would tell of
    bool working = false;     ///< the thread is at it
    std::thread worker;       ///< of the last restart
  };
  struct hanging {
    node_t number, process;
    std::string why;
  };
  void on_report() noexcept override;
  static void add_reason(std::deque<std::string>& reasons, const std::string& why);
  void work();
  void notice();
  [[nodiscard]] std::int64_t check_interval_ns() const noexcept;
  void check_for_hangs();
  [[nodiscard]] std::vector<hanging> find_hanging();
  void check_idle(watched& one, std::int64_t now_ns) noexcept;
  [[nodiscard]] std::string text_of_hang(const watched& one, const call_slot& oldest) const;
  bool begin_restart(node_t number, watched& one);
  void restart(node_t number);
  [[nodiscard]] bool rest(node_t number, std::chrono::milliseconds time);
  bool attempt(node_t number);
  [[nodiscard]] bool allows_another(node_t number);
  [[nodiscard]] std::optional<offload::respawned> assign(node_t number, node_t process);
  [[nodiscard]] std::string publish(node_t number, node_t process);
  void note_end(node_t number, const std::string& why);
  void end_number(node_t number, node_t process) noexcept;
  void give_up(node_t number, const std::string& why);
  class preparation;
  void execute_for_preparations();
  [[nodiscard]] std::shared_ptr<const offload::supervision> settings_of(node_t number) const;

  engine& host_;
  process_starter& starter_;
  mutable std::mutex mutex_;  // taken with the receiving lock, never the other way round
  std::condition_variable news_;
  std::map<node_t, watched> nodes_;
  bool ending_ = false;
  bool reported_ = false;               ///< something has to be handled
  std::vector<std::thread> left_over_;  ///< workers of nodes that were released
  std::thread thread_;
  std::atomic<unsigned> preparing_{0};  ///< on_respawns that run; changes under the lock
  std::thread executing_;               ///< from the first one on
};

}  // namespace ham::detail

// Starts targets as processes, tells when they end, and ends them with the host.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/control_socket.hpp"
#include "ham/error.hpp"
#include "transport/common/process_supervisor.hpp"

namespace ham::inline v1::transport {

/// All of it happens on one thread, which the children are tied to: the kernel kills them when it ends. A child gets
/// the name of its control socket in HAM_TARGET, and says there that it has joined, or why it does not.
class target_supervisor {
 public:
  /// What a child sends when it has joined; else it declines (joining.hpp).
  static constexpr std::string_view joined = "ham: joined";

  struct plan {
    node_t node = 1;
    std::vector<std::string> command;           ///< program and arguments
    std::vector<int> cpus;                      ///< empty: anywhere
    base::output_fds output = {};               ///< open until start() has returned
    std::vector<std::string> environment = {};  ///< NAME=value, in addition to this process's own
  };
  /// exited: the process has ended, or the kernel says that all of it has begun to (observer::on_died); disconnected:
  /// it has hung up, or did not join.
  enum class child_end : std::uint8_t { exited, disconnected };
  /// A child is no target any more; `reason` completes "node 3 failed: ...". Called once per child, on the thread.
  using end_handler = std::function<void(node_t, const std::string& reason, child_end how)>;

  /// Children are started with HAM_TARGET=`transport`:FD.
  target_supervisor(std::string transport, end_handler on_end);
  ~target_supervisor();

  /// Starts a child; the first thing that it reads is `welcome` with `fds`. Throws ham::config_error.
  void start(const plan& what, std::span<const std::byte> welcome, std::span<const int> fds);
  /// Sees to it that a child which was told to end does so within `timeout`. Does not wait.
  void end(node_t node, std::chrono::milliseconds timeout);
  /// -1: there is none.
  [[nodiscard]] std::int64_t pid(node_t node) const noexcept { return supervisor_.pid(node); }
  /// Waits a little for all children, then ends them by force. May be called again.
  void stop() noexcept;

 private:
  struct child {
    node_t node = 0;
    base::unique_fd control;
    std::string program;     // for people
    std::string last_words;  // why it does not join
    bool has_joined = false;
    bool leaving = false;
    bool told = false;
    bool ended = false;
    std::int64_t tell_ns = base::never_ns;  // it hung up: until then how its process ends is worth waiting for
  };

  bool post(std::function<void()> task);  // on the thread; false: it is about to stop
  void run(std::function<void()> task);   // the same; waits
  void control_loop();
  void wait_for_events();
  void start_here(const plan& what, std::span<const std::byte> welcome, std::span<const int> fds);
  void read_control(child& from);
  void look_after_processes();
  void report_end(child& one, const std::string& how);
  [[nodiscard]] std::int64_t next_ns() const;
  [[nodiscard]] child* find(node_t node) noexcept;
  void stop_children();

  const std::string transport_;
  const end_handler on_end_;
  const std::int64_t start_limit_ns_;
  base::unique_fd command_event_;

  mutable std::mutex mutex_;
  std::condition_variable done_;
  std::deque<std::function<void()>> tasks_;
  bool stop_ = false;

  process_supervisor supervisor_;                 // of the thread
  std::vector<std::unique_ptr<child>> children_;  // of the thread
  std::thread thread_;
};

}  // namespace ham::transport

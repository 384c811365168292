// Which node runs main: the host serves while main runs on a target (paper 3's reverse offloading, HAM_MAIN_NODE).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job/notices.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

/// What one node has to do with it. Each of its two sides is for one kind of node; notices come on any thread.
class main_role {
 public:
  /// `node` outlives this.
  explicit main_role(engine& node) noexcept : node_(node) {}

  // ---- on the host
  /// Has `where` run main with `arguments`, the program's name first, and with a progress thread if that is said;
  /// executes calls until it has ended. Gives its exit status. If its process exits and is a child of this one, that is
  /// waited for. Throws ham::config_error if it cannot run there; ham::node_failure if that node is lost.
  [[nodiscard]] int run_on(node_t where, const std::vector<std::string>& arguments, bool progress_thread = false);

  // ---- on a target
  /// Whether the host has asked for main: the serving thread comes back then.
  [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }
  /// The program's name and the arguments that the host was started with.
  [[nodiscard]] std::vector<std::string> arguments() const;
  [[nodiscard]] bool wants_progress_thread() const;
  /// Tells the host that main has ended with `status`, and whether its process exits with that; or `why` it did not
  /// run, if that is not empty.
  void report_end(int status, bool exits, const std::string& why = {});

  // ---- what other nodes tell
  [[nodiscard]] static bool is_about_main(notice what) noexcept {
    return what == notice::run_main || what == notice::main_ended;
  }
  /// `text` is not trusted: throws ham::protocol_error. The receiving lock is held.
  void on_notice(node_t from, std::span<const std::byte> text);

 private:
  [[nodiscard]] std::optional<main_end> end_of_main() const;

  engine& node_;
  std::atomic<node_t> where_{0};  ///< on the host: whom it has asked
  std::atomic<bool> requested_{false};
  mutable std::mutex mutex_;  // what follows
  std::vector<std::string> arguments_;
  bool progress_thread_ = false;
  std::optional<main_end> end_;
};

}  // namespace ham::detail

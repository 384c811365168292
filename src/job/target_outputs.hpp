// The output of targets that this process starts: who wants it, and the pipes that it comes through.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/line_reader.hpp"
#include "base/process.hpp"
#include "base/unique_fd.hpp"
#include "ham/misc/types.hpp"
#include "job/node_output.hpp"

namespace ham::inline v1::detail {

/// What targets write to: for their start, or to be handed to them.
struct output_pipes {
  base::unique_fd out;
  base::unique_fd err;
  [[nodiscard]] base::output_fds fds() const noexcept { return {out.get(), err.get()}; }
};

/// Without HAM_OUTPUT and handlers nothing is made: no pipe, no thread. Any thread.
class target_outputs {
 public:
  ~target_outputs() { reader_.stop(); }

  // ---- processes, by those who start them
  /// While it lives, the process that is about to be started has the output of the supervised `number`; a negative one:
  /// its own.
  class number_of_start {
   public:
    number_of_start(target_outputs& at, node_t process, node_t number) : at_(at), process_(process) {
      const std::lock_guard guard(at_.mutex_);
      if (number >= 0) at_.numbers_[process] = number;
    }
    ~number_of_start() {
      const std::lock_guard guard(at_.mutex_);
      at_.numbers_.erase(process_);
    }
    number_of_start(const number_of_start&) = delete;
    number_of_start& operator=(const number_of_start&) = delete;

   private:
    target_outputs& at_;
    const node_t process_;
  };
  /// A process is about to be started whose output can be led elsewhere: pipes for it, or none, as nobody wants it.
  /// Throws ham::config_error, std::system_error.
  [[nodiscard]] output_pipes begin(node_t process);
  /// No process has the number any more; what is in its pipes is still delivered.
  void forget(node_t number) noexcept;

  // ---- by those who want output, of numbers that have begun
  /// While it lives, no other thread has one of the same number: waits for that, but not in a handler, for which who
  /// has it may wait.
  class turn {
   public:
    turn(target_outputs& at, node_t number);
    ~turn();
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

   private:
    target_outputs& at_;
    const node_t number_;
    bool taken_ = false;
  };
  [[nodiscard]] bool can_capture(node_t number) const;
  /// Everything that has arrived is delivered before; returns when the handler before is not called any more.
  void use(node_t number, offload::output_handler handler);
  /// Pipes for the process that has the number, which runs already; empty: it has some.
  [[nodiscard]] output_pipes open(node_t number);
  /// It has not got what open() gave.
  void undo_open(node_t number) noexcept;

 private:
  struct record {
    std::shared_ptr<node_output> to;
    bool has_pipes = false;  ///< the newest process
  };
  [[nodiscard]] output_pipes make_pipes(const record& of);
  [[nodiscard]] int folder();

  base::line_reader reader_{offload::max_output_line};
  mutable std::mutex mutex_;  // not held while a handler runs
  std::map<node_t, record> records_;
  std::map<node_t, node_t> numbers_;  ///< of processes that are being started
  base::unique_fd folder_;            ///< of HAM_OUTPUT
  std::set<node_t> turns_;
  std::condition_variable turn_ended_;
};

}  // namespace ham::detail

// The output of targets that this process starts: who wants it, and the pipes that it comes through.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/line_reader.hpp"
#include "base/process.hpp"
#include "base/unique_fd.hpp"
#include "ham/misc/types.hpp"
#include "job/node_output.hpp"

namespace ham::inline v0::detail {

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
  /// The process that is about to be started gets the output of the supervised `number`.
  void set_number(node_t process, node_t number);
  /// A process is about to be started whose output can be led elsewhere: pipes for it, or none, as nobody wants it.
  /// Throws ham::config_error, std::system_error.
  [[nodiscard]] output_pipes begin(node_t process);
  /// No process has the number any more; what is in its pipes is still delivered.
  void forget(node_t number) noexcept;

  // ---- by those who want output, of numbers that have begun
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
  std::map<node_t, node_t> numbers_;  ///< of processes that have not begun
  base::unique_fd folder_;            ///< of HAM_OUTPUT
};

}  // namespace ham::detail

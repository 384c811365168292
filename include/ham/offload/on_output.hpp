// What targets print, given to the program line by line.
//
//   offload::on_output(1, [](node_t node, offload::output_stream, std::string_view line) { log(node, line); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "ham/offload/node_number.hpp"

namespace ham::inline v1::offload {

enum class output_stream : std::uint8_t {
  out,  ///< standard output
  err,  ///< standard error
};

/// Longer lines are given in parts of so many bytes.
inline constexpr std::size_t max_output_line = std::size_t{1} << 20U;

/// What follows the text of an output_line.
enum class line_end : std::uint8_t {
  newline,        ///< the line was complete
  part,           ///< more of the same line, which is longer than max_output_line
  end_of_output,  ///< nothing: the process has ended, or has been killed, within the line
};

/// A line as it was written: any bytes but the newline, without a zero byte behind them.
struct output_line {
  std::string_view text;  ///< lasts as long as the call that it is given to
  line_end end = line_end::newline;

  /// The text alone, for handlers that take a std::string_view.
  operator std::string_view() const noexcept { return text; }  // NOLINT: so that handlers may take the text alone
};

/// `node` is the number that on_output was given, also of a process that was started again. A handler may take a
/// std::string_view in place of the line.
using output_handler = std::function<void(node_t node, output_stream stream, output_line line)>;

/// From now on `handler` is called for each line that the target writes to its standard output and standard error, by
/// whatever means, in place of what the target has inherited from the host; what processes that it starts inherit from
/// it goes the same way. An empty one ends that: lines then go to the file of HAM_OUTPUT, if that is set, else to the
/// host's own standard output and error.
///
/// - The handler is called by a thread of the library, which exists from the first on_output on, for one line of all
///   nodes at a time: the host may compute meanwhile. The lines of a stream come in their order; those of two streams,
///   or nodes, as they happen to be read. While it runs, targets that write more than a pipe holds (64 KiB) wait: it
///   must be quick, must not wait for a node, and must not use ham::offload but for on_output. What it throws becomes a
///   line on stderr.
/// - What the target had written before belongs to the handler before, and is given to it before this returns: so
///   on_output once more, after a call, sees to it that all lines of that call have arrived. It does not return while
///   the handler before is running, unless that calls it.
/// - Nothing is lost when the target is killed; only what its own streams had not written yet. A process of its own
///   that lives longer keeps nobody waiting: at the end of the runtime its output ends.
/// - The handler is called until the runtime has ended, which is after main where ham::offload starts it: what it
///   refers to must live as long, or on_output with an empty one comes before.
///
/// The first time, for a target that runs already, this is a call to it, and waits for it as sync does; HAM_OUTPUT
/// captures from the start of the target on (docs/debugging.md). Lines that the target prints by stdio and iostreams
/// are given when they end, unless runtime_options::plain_output is set.
///
/// On the host only, for targets that the host itself has started as processes of this machine: shm, exec, emulated.
/// All others keep their own output, and are ham::config_error: ranks of MPI, programs that wait at tcp:// addresses,
/// Vector Engines, threads of this process, what ranks or waiting programs have started. Also throws ham::node_failure
/// if the node is lost, std::system_error if there can be no thread, std::bad_alloc. Any thread; several that do this
/// for one node come one after the other.
void on_output(node_number node, output_handler handler);

}  // namespace ham::offload

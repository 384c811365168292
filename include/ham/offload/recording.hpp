// What nodes have recorded of themselves: their last events, also of those that have died.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ham/error.hpp"

namespace ham::inline v1 {

/// The flight recorder of one process (docs/tracing.md).
struct node_recording {
  /// What a thread has done.
  enum class action : std::uint8_t {
    called,      ///< a call with a result was sent to `peer`
    pinged,      ///< one without was
    sent_batch,  ///< several were, as one message; `call` is their number
    executing,   ///< a call of `peer` has begun and is not over
    executed,    ///< it has begun, and is over
    queued       ///< it was given to another thread of its node
  };
  /// One thing that a thread has done.
  struct event {
    action what{};           ///< what it is
    std::string function;    ///< name for people; empty: sent_batch
    node_t peer = -1;        ///< to whom, or from whom
    std::uint32_t call = 0;  ///< its number between the two nodes, which is used again; 0xffffffff: of pings
    double age_s = -1;       ///< how long ago it was, or began; negative: not known
  };
  /// What one thread has recorded.
  struct thread {
    std::int64_t id = 0;           ///< the kernel's number of it
    std::vector<event> executing;  ///< one inside of the other, the outermost first
    std::vector<event> past;       ///< the newest first, some 100
  };
  node_t node = -1;       ///< number of the process in its job
  std::int64_t pid = -1;  ///< as the process sees itself
  bool alive = false;
  std::vector<thread> threads;  ///< that have recorded something
};

/// Name of an action: "called", "executing".
[[nodiscard]] const char* to_string(node_recording::action what) noexcept;

/// The recordings of a process and of the others of its job on this machine, by node, as they are at this moment; the
/// job does not notice. `pid` may be of a process that has died, while another process of its job lives that shares
/// memory with it. Needs no runtime. Any thread; searches all processes of this user. Texts may be those of a process
/// that was taken over: they hold printable characters only, and prove nothing.
/// Throws ham::config_error if there is nothing, and says why as far as it can be known.
[[nodiscard]] std::vector<node_recording> read_recordings(std::int64_t pid);

}  // namespace ham

// How threads write the events of a trace: into chunks of a file that is mapped, without locks and system calls but for
// the next chunk. Off, it costs who asks a load of a word that nobody writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/recorder.hpp"
#include "base/ticks.hpp"
#include "base/trace_part.hpp"

namespace ham::inline v1::base {

/// 0: nothing is traced; else which of the traces of this process.
extern constinit std::atomic<std::uint32_t> trace_session;
[[nodiscard]] inline bool tracing() noexcept { return trace_session.load(std::memory_order_relaxed) != 0; }

class traced_execution;
class traced_wait;

/// Up to so many bytes a message is written in less time than the clock takes to be read: its slice has no length.
inline constexpr std::size_t max_untimed_bytes = 256;

/// The events of one thread. To be used while tracing() only, where nothing else is said.
class thread_tracer {
 public:
  void add(std::int32_t node, const trace_event& one) noexcept {
    const bool fits = next_ != end_ && node == node_ && session_ == trace_session.load(std::memory_order_relaxed);
    if (!fits && !claim(node, 1)) [[unlikely]]
      return;
    store_event(*next_++, one);
  }
  /// The same for the node of the thread's last event, else the process's.
  void add(const trace_event& one) noexcept { add(node_, one); }
  /// Of the last event; negative: there was none.
  [[nodiscard]] std::int32_t node() const noexcept { return node_; }

  // ---- a call, from its begin until its answer
  void begin_call(std::uint32_t function, std::size_t bytes) noexcept {
    call_function_ = function;
    call_bytes_ = bytes;
    if (call_begun_ == 0 && bytes > max_untimed_bytes) call_begun_ = read_ticks();
  }
  /// It was waited for room, or the like, from then on.
  void expect_call() noexcept { call_begun_ = read_ticks(); }
  /// Its message is complete, but not seen by its receiver yet. Gives the ticks.
  [[nodiscard]] std::uint64_t end_call() noexcept { return call_sent_ = read_ticks(); }
  void add_call(trace_kind kind, std::int32_t node, std::int32_t peer, std::uint32_t function, std::uint32_t call,
                std::uint64_t sent) noexcept {
    const std::uint64_t begun = std::exchange(call_begun_, 0);
    add(node, trace_event::make(kind, begun == 0 ? sent : begun, sent,
                                trace_event::pair(static_cast<std::uint32_t>(peer), call_bytes_),
                                trace_event::pair(function, call)));
    call_ = call;
  }
  [[nodiscard]] std::uint32_t call_function() const noexcept { return call_function_; }
  [[nodiscard]] std::size_t call_bytes() const noexcept { return call_bytes_; }
  /// Who waits for it on this thread writes it.
  void add_settled(std::int32_t node, std::int32_t peer, std::uint32_t function, std::uint32_t call) noexcept;

  // ---- of the call that the thread executes
  void begin_reply(std::size_t bytes) noexcept;
  void end_reply() noexcept;
  void mark_queued() noexcept;
  /// It is one of this function from here on. Not of pings, which are found by the function that was sent.
  void name_execution(std::uint32_t function) noexcept;
  /// By a name, of which the first 200 bytes count: no handler has it.
  void name_execution(std::string_view name) noexcept;

  // ---- the program's own
  /// What stands for a name in events. Any text; the first 200 bytes count.
  [[nodiscard]] std::uint64_t number_of(std::int32_t node, std::string_view name) noexcept;

 private:
  friend class traced_execution;
  friend class traced_wait;
  friend class trace_of_process;
  friend void detach_tracer_after_fork() noexcept;
  void write_name(std::int32_t node, std::uint64_t number, std::string_view name) noexcept;
  [[gnu::noinline, gnu::cold]] bool claim(std::int32_t node, std::size_t events) noexcept;

  trace_event* next_ = nullptr;
  trace_event* end_ = nullptr;
  std::int32_t node_ = -1;
  std::uint32_t session_ = 0;
  std::uint64_t call_begun_ = 0;
  std::uint64_t call_sent_ = 0;
  std::size_t call_bytes_ = 0;
  std::uint32_t call_function_ = 0;
  std::uint32_t call_ = 0;
  traced_wait* innermost_wait_ = nullptr;
  traced_execution* innermost_ = nullptr;
  static constexpr std::size_t max_known = 16;
  std::uint64_t known_[max_known] = {};  ///< names that are in the file already
  trace_chunk* chunk_ = nullptr;         ///< what is mapped
  bool ended_ = false;
};

extern constinit thread_local thread_tracer this_tracer;

/// While it lives, the calling thread executes a call of `peer` on `node`, or, with another kind, a stage of a graph.
/// At any time.
class traced_execution {
 public:
  /// `begun`: read_ticks() of its begin.
  traced_execution(std::int32_t node, std::int32_t peer, std::uint32_t function, std::uint32_t call,
                   std::uint64_t begun, trace_kind kind = trace_kind::executed) noexcept
      : kind_(kind) {
    if (tracing()) [[unlikely]]
      begin(node, peer, function, call, begun);
  }
  traced_execution(const traced_execution&) = delete;
  traced_execution& operator=(const traced_execution&) = delete;
  ~traced_execution() {
    if (begun_ != 0) [[unlikely]]
      end();
  }
  /// Whether something is to be written when it ends, also if the trace has ended meanwhile.
  [[nodiscard]] bool is_open() const noexcept { return begun_ != 0; }
  /// The call has ended, and the thread executes another one.
  void next(std::int32_t node, std::int32_t peer, std::uint32_t function, std::uint32_t call,
            std::uint64_t begun) noexcept {
    if (begun_ != 0) [[unlikely]] {
      end();
      begun_ = reply_begun_ = reply_ended_ = 0;
      queued_ = false;
    }
    if (tracing()) [[unlikely]]
      begin(node, peer, function, call, begun);
  }

 private:
  friend class thread_tracer;
  void begin(std::int32_t node, std::int32_t peer, std::uint32_t function, std::uint32_t call,
             std::uint64_t begun) noexcept {
    begun_ = begun;
    node_ = node;
    peer_ = peer;
    what_ = trace_event::pair(function, call);
    outer_ = std::exchange(this_tracer.innermost_, this);
  }
  void end() noexcept;

  trace_kind kind_;
  std::uint64_t begun_ = 0;
  std::int32_t node_;
  std::int32_t peer_;
  std::uint64_t what_;
  std::uint64_t reply_begun_ = 0;
  std::uint64_t reply_ended_ = 0;
  traced_execution* outer_;
  bool queued_ = false;
};

inline void thread_tracer::begin_reply(std::size_t bytes) noexcept {
  if (innermost_ != nullptr && bytes > max_untimed_bytes) innermost_->reply_begun_ = read_ticks();
}
inline void thread_tracer::end_reply() noexcept {
  if (innermost_ != nullptr) innermost_->reply_ended_ = read_ticks();
}
inline void thread_tracer::mark_queued() noexcept {
  if (innermost_ != nullptr) innermost_->queued_ = true;
}

/// While it lives, the calling thread waits for a call of `node`. While tracing() only.
class traced_wait {
 public:
  traced_wait(std::int32_t node, std::uint32_t call) noexcept
      : node_(node), call_(call), outer_(std::exchange(this_tracer.innermost_wait_, this)) {
    const std::uint64_t sent = std::exchange(this_tracer.call_sent_, 0);
    begun_ = sent != 0 && call == this_tracer.call_ ? sent : read_ticks();
  }
  traced_wait(const traced_wait&) = delete;
  traced_wait& operator=(const traced_wait&) = delete;
  ~traced_wait() {
    if (this_tracer.innermost_wait_ == this) this_tracer.innermost_wait_ = outer_;
  }
  /// It waits no longer.
  void end(std::int32_t peer, std::uint32_t function) const noexcept {
    const bool answered = settled_ != 0;
    this_tracer.add(node_, trace_event::make(answered ? trace_kind::answered : trace_kind::waited, begun_,
                                             answered ? settled_ : read_ticks(), static_cast<std::uint32_t>(peer),
                                             trace_event::pair(function, call_)));
  }

 private:
  friend class thread_tracer;
  const std::int32_t node_;
  const std::uint32_t call_;
  traced_wait* const outer_;
  std::uint64_t begun_ = 0;
  std::uint64_t settled_ = 0;  ///< when this thread has received the answer
};

inline void thread_tracer::add_settled(std::int32_t node, std::int32_t peer, std::uint32_t function,
                                       std::uint32_t call) noexcept {
  const std::uint64_t now = read_ticks();
  if (traced_wait* const wait = innermost_wait_; wait != nullptr && wait->call_ == call && wait->node_ == node) {
    wait->settled_ = now;
    return;
  }
  add(node, trace_event::make(trace_kind::settled, now, now, static_cast<std::uint32_t>(peer),
                              trace_event::pair(function, call)));
}

/// What the calling thread does until its end, unless it is given up. At any time.
class traced_time {
 public:
  /// `whom`, `what`: as in the event.
  explicit traced_time(trace_kind kind, std::uint64_t whom = 0, std::uint64_t what = 0) noexcept
      : begun_(tracing() ? read_ticks() : 0), whom_(whom), what_(what), kind_(kind) {}
  traced_time(const traced_time&) = delete;
  traced_time& operator=(const traced_time&) = delete;
  ~traced_time() {
    if (begun_ != 0 && tracing()) [[unlikely]]
      this_tracer.add(trace_event::make(kind_, begun_, read_ticks(), whom_, what_));
  }

 private:
  const std::uint64_t begun_;
  const std::uint64_t whom_;
  const std::uint64_t what_;
  const trace_kind kind_;
};

/// What a process traces, and where to.
struct trace_setup {
  std::int32_t node = 0;
  std::uint64_t job = 0;
  std::string path;  ///< of the new file, which is there before; empty: memory that goes with the process
  recorder_names names = nullptr;
  std::uint64_t max_bytes = std::uint64_t{4} << 30;
};

/// Threads of this process trace from now on. False: they do already. Throws ham::config_error. Any thread.
bool begin_trace(const trace_setup& how);
/// They do not any more; what a thread is just writing may come later. Any thread.
void end_trace() noexcept;
/// The file of the last trace, -1: there was none. Stays open until the next begins.
[[nodiscard]] int trace_file() noexcept;

/// In a child after fork: the file is the parent's.
void detach_tracer_after_fork() noexcept;

}  // namespace ham::base

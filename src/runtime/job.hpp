// What an engine asks of whoever put the job together: connections, and more nodes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "ham/offload/node.hpp"
#include "ham/offload/on_output.hpp"
#include "ham/offload/supervise.hpp"

namespace ham::inline v1::detail {

/// The job that a node belongs to. An engine without one has one transport, which finds all nodes.
class job {
 public:
  virtual ~job() = default;

  /// Whether it is known by now how `peer` is reached: who connects to it waits for that.
  [[nodiscard]] virtual bool knows_way(node_t peer) const = 0;
  /// Begins a connection to `peer`; the observer is told how it ends. Gives how long that may take (nanoseconds on the
  /// steady clock, base::never_ns: somebody will tell in any case). Any thread; does not wait.
  virtual std::int64_t connect(node_t peer) = 0;
  /// Asks the host which nodes there are; gives the number of the question, 0 where nobody can be asked. This node has
  /// taken note of all that the host knew then once has_answered(number). Any thread; does not wait.
  [[nodiscard]] virtual std::uint32_t ask_for_nodes() = 0;
  [[nodiscard]] virtual bool has_answered(std::uint32_t number) const = 0;

  /// `peer` has greeted this node. The receiving lock is held.
  virtual void on_welcome(node_t peer) = 0;
  /// Words from another node's job; `text` is not trusted: throws ham::protocol_error. The receiving lock is held.
  virtual void on_notice(node_t from, std::span<const std::byte> text) = 0;

  /// Adds the targets of a HAM_NODES group on the host and waits until they can be called; gives the first one's
  /// number. Throws ham::config_error, and ham::deadline_exceeded, when none was added, at `deadline_ns`
  /// (base::never_ns: no limit).
  virtual node_t add(const std::string& group, std::int64_t deadline_ns = base::never_ns) = 0;
  virtual node_t add(const offload::target_program& program, std::int64_t deadline_ns = base::never_ns) = 0;
  /// The same with another program.
  virtual node_t spawn(const std::string& group, const std::string& program,
                       std::int64_t deadline_ns = base::never_ns) = 0;
  /// Ends one target, or leaves it; it is killed if it is there after `timeout`. Throws ham::config_error.
  virtual void remove(node_t node, std::chrono::milliseconds timeout) = 0;
  /// See offload::supervise. Throws ham::config_error.
  virtual void supervise(node_t node, offload::supervision how) = 0;
  /// Whether the process of that number is ended, at the latest, when this node closes its connection to it. Any
  /// thread.
  [[nodiscard]] virtual bool ends_with_connection(node_t process) = 0;
  /// See offload::on_output. Throws what that throws.
  virtual void on_output(node_t node, offload::output_handler handler) = 0;
  /// A node is lost. The receiving lock is held.
  virtual void on_lost(node_t /*node*/, const std::string& /*why*/) noexcept {}
  /// A sign of life of this node to the host. Any thread; does not wait.
  virtual void send_heartbeat() {}
  /// One of a node has come. The receiving lock is held.
  virtual void on_heartbeat(node_t /*from*/) noexcept {}
};

}  // namespace ham::detail

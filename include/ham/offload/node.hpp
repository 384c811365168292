// The nodes of the job: how many, who am I, what are they.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ham/error.hpp"
#include "ham/msg/customise.hpp"
#include "ham/msg/std_forward.hpp"
#include "ham/offload/destination.hpp"
#include "ham/offload/node_number.hpp"

namespace ham::inline v1::offload {

using ham::node_t;

/// The accelerator that a node has; of one without, everything is empty and 0.
struct device_info {
  std::string name;                ///< "NVIDIA H100 80GB HBM3"
  std::string capability;          ///< of its instruction set: "9.0"
  std::string driver;              ///< its version: "580.65.06, CUDA 13.0"
  std::uint32_t processors = 0;    ///< that execute blocks: streaming multiprocessors
  std::uint64_t memory_bytes = 0;  ///< its own
};

/// What is known of a node (paper 1, Table II). A copyable value.
class node_descriptor {
 public:
  struct info {
    std::string name;                 ///< host name
    std::string device_type = "cpu";  ///< or "ve", a Vector Engine; "cuda", a GPU; "emulated", "cuda-emulated": a
                                      ///< process that stands for an accelerator
    std::string isa;                  ///< "x86-64", "aarch64", ...
    std::string transport;            ///< how this process reaches it: "shm", "loopback", "self"
    std::uint32_t cores = 0;          ///< that it may run on
    std::uint64_t memory_bytes = 0;   ///< of its machine
    std::int64_t pid = -1;
    node_t node = -1;
    device_info device = {};
  };

  node_descriptor() = default;
  /// For the library and bindings: describes a node by `what`.
  explicit node_descriptor(info what) : info_(std::move(what)) {}

  /// Host name of its machine.
  [[nodiscard]] const std::string& name() const noexcept { return info_.name; }
  /// "cpu", "ve", "cuda", "cuda-emulated", or "emulated": a process of this machine behind the emulated link, or behind
  /// a VEO library that runs its code on the host.
  [[nodiscard]] const std::string& device_type() const noexcept { return info_.device_type; }
  [[nodiscard]] const std::string& isa() const noexcept { return info_.isa; }
  [[nodiscard]] const std::string& transport() const noexcept { return info_.transport; }
  [[nodiscard]] std::uint32_t cores() const noexcept { return info_.cores; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return info_.memory_bytes; }
  [[nodiscard]] std::int64_t pid() const noexcept { return info_.pid; }
  [[nodiscard]] node_t node() const noexcept { return info_.node; }
  /// The accelerator that executes the device functions of its calls (ham/device.hpp).
  [[nodiscard]] const device_info& device() const noexcept { return info_.device; }

 private:
  info info_;
};

/// Number of nodes of the job, the host included: all numbers that nodes have had are below. Nodes that have gone
/// count, because numbers are not used again, and after 4096 of them there may be numbers in between that no node ever
/// had. A loop over numbers asks alive(); one over nodes() or targets() need not.
[[nodiscard]] std::size_t num_nodes();
/// The nodes that can be called, in ascending order, this one and the host included: for (node_t n : nodes()). What has
/// been removed, or has died, is not among them, and what is just being added neither. A snapshot: a call to one of
/// them may fail all the same. Of the calling thread's runtime. On the host it does not block; a target asks the host,
/// which must make progress, and throws ham::node_failure if that is gone.
[[nodiscard]] std::vector<node_t> nodes();
/// The same without the host.
[[nodiscard]] std::vector<node_t> targets();
/// Address of the node that executes the caller.
[[nodiscard]] node_t this_node();
/// Whether the caller runs on the host, node 0.
[[nodiscard]] bool is_host();
/// Whether `node` is the host.
[[nodiscard]] bool is_host(node_number node);
/// Describes a node. May connect to it and block, at most until the deadline of `node`: then throws
/// ham::deadline_exceeded. Throws ham::call_error for a number that is no node.
[[nodiscard]] node_descriptor get_node_descriptor(destination node);
/// The same under the name that applications of 2014 to 2019 use.
[[nodiscard]] node_descriptor get_node_description(destination node);
/// Whether `node` can be called, as far as this node knows: false once its process has ended, it was removed, or the
/// connection to it is closed. A process that is stopped, or hangs, is alive. May connect to it and block, at most
/// until the deadline of `node`: then throws ham::deadline_exceeded. Throws ham::call_error for a number that is no
/// node. The answer may be out of date when it arrives: a call still may fail.
[[nodiscard]] bool alive(destination node);

struct target_program;
namespace detail {
node_t add_node(const std::string& group, std::int64_t deadline_ns);
node_t add_node(const target_program& program, std::int64_t deadline_ns);
node_t spawn(const std::string& group, const std::string& program, std::int64_t deadline_ns);
}  // namespace detail

/// Adds targets to the running job, written as in HAM_NODES: "shm:2", "exec:./app.aarch64", "tcp://10.0.0.7:7000".
/// Waits until they can be called, executing nothing; gives the number of the first one, the others follow it. Other
/// nodes learn of them before the next call from the host. On the host only; any thread. Throws ham::config_error.
node_t add_node(const std::string& group);
/// The same until `limit` has passed: then the targets of the group are ended, and it throws ham::deadline_exceeded
/// with the outcome not_run. HAM_START_TIMEOUT and HAM_TCP_TIMEOUT hold besides. MPI_Comm_spawn itself is not bounded:
/// MPI gives no way back.
template <class Rep, class Period>
node_t add_node(const std::string& group, std::chrono::duration<Rep, Period> limit) {
  return detail::add_node(group, detail::time_from_now(limit));
}
/// The same with another program, which is given this one's arguments: spawn("mpi:4", "./app") through MPI_Comm_spawn,
/// where the MPI has it; spawn("shm:2", "./app") on this machine. Targets that MPI has started together call each other
/// and the host; they do not reach the other targets.
node_t spawn(const std::string& group, const std::string& program);
/// The same until `limit` has passed, as add_node.
template <class Rep, class Period>
node_t spawn(const std::string& group, const std::string& program, std::chrono::duration<Rep, Period> limit) {
  return detail::spawn(group, program, detail::time_from_now(limit));
}

/// A target of this machine that is started by its own command: any program with a ham::runtime, not only a build of
/// this one.
struct target_program {
  std::vector<std::string> command;      ///< path and arguments; the application's own arguments are not added
  std::vector<std::string> environment;  ///< NAME=value, in addition to this process's own
  std::vector<int> cores;                ///< it may run on; empty: as this process
};
/// Adds one target to the running job, as above.
node_t add_node(const target_program& program);
template <class Rep, class Period>
node_t add_node(const target_program& program, std::chrono::duration<Rep, Period> limit) {
  return detail::add_node(program, detail::time_from_now(limit));
}

namespace detail {
void remove_node(node_t node, long double timeout_ms);
}

/// Ends a target, or leaves it if it waits for hosts. Its pending calls fail with ham::node_failure, its number is not
/// used again; what it held in other nodes is given back. On the host only; any thread; does not wait for its process
/// to end, which is killed if it is there after `timeout`, by default 500 ms. Throws ham::config_error,
/// ham::call_error.
void remove_node(node_number node);
template <class Rep, class Period>
void remove_node(node_number node, std::chrono::duration<Rep, Period> timeout) {
  detail::remove_node(node, static_cast<long double>(timeout.count()) * Period::num * 1000 / Period::den);
}

/// Counters of this node's runtime since its start. They can be asked for at another node, also of the other byte
/// order: sync(node, fn<&offload::stats>).
struct statistics {
  std::uint64_t calls_sent = 0;      ///< calls, pings and members of batches
  std::uint64_t calls_executed = 0;  ///< that arrived here
  std::uint64_t bytes_sent = 0;      ///< in messages: calls, replies and greetings, 16 bytes of head each
  std::uint64_t bytes_received = 0;  ///< in messages likewise
  std::uint64_t bytes_put = 0;       ///< by put, write and copy from here
  std::uint64_t bytes_got = 0;       ///< by get and read
  std::uint64_t sleeps = 0;          ///< times that this node went to sleep in the kernel
  HAM_FIELDS(calls_sent, calls_executed, bytes_sent, bytes_received, bytes_put, bytes_got, sleeps)
};
/// Those of the calling thread's runtime, right now. Any thread. Throws ham::config_error if no runtime is up.
[[nodiscard]] statistics stats();

/// What this node has exchanged with one other, or with itself, since the two met.
struct peer_statistics {
  std::uint64_t calls_sent = 0;      ///< to it: calls, pings and members of batches
  std::uint64_t calls_executed = 0;  ///< of it, that arrived here
  std::uint64_t bytes_sent = 0;      ///< in messages, 16 bytes of head each
  std::uint64_t bytes_received = 0;
  std::uint64_t waiting = 0;  ///< messages to it that wait for room right now
  HAM_FIELDS(calls_sent, calls_executed, bytes_sent, bytes_received, waiting)
};
/// Of the calling thread's runtime; zeros: the two have not met. Does not connect, and does not block. Throws
/// ham::call_error for a number that is no node.
[[nodiscard]] peer_statistics stats_with(node_number node);

}  // namespace ham::offload

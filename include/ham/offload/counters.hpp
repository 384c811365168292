// What the nodes of jobs do right now, in numbers: read from shared memory by any process of the same user.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ham/error.hpp"

namespace ham::inline v1 {

/// Counts since the start of a node, and its state at the moment of reading (docs/monitoring.md).
struct node_counters {
  /// What a node does at the moment of reading.
  enum class activity : std::uint8_t {
    busy,      ///< a thread of it executes a call
    spinning,  ///< it polls for messages
    asleep,    ///< it waits in the kernel
    away,      ///< none of these: the program computes, and receives nothing meanwhile
    unknown,   ///< it is of another machine
    gone       ///< its process has ended, or it has left the job
  };
  struct traffic {
    std::uint64_t calls_sent = 0;      ///< calls, pings and members of batches
    std::uint64_t calls_received = 0;  ///< the same
    std::uint64_t bytes_sent = 0;      ///< in messages: calls, replies and greetings, 16 bytes of head each
    std::uint64_t bytes_received = 0;  ///< likewise
    std::uint32_t waiting = 0;         ///< messages that wait for room on their way
  };
  /// What its device does (ham/device.hpp).
  struct device_use {
    bool there = false;          ///< it has one
    bool resident = false;       ///< its kernel takes calls; false: the device is idle
    std::uint64_t calls = 0;     ///< calls of device functions that it has answered
    std::uint64_t launches = 0;  ///< of the kernel
  };
  /// What the node exchanged with one other, or with itself.
  struct peer {
    node_t node = -1;  ///< the other one
    traffic with;      ///< to it, and from it
  };
  /// So many calls took up to `max_s`, and longer than the entry before says.
  struct duration {
    double max_s = 0;         ///< in seconds
    std::uint64_t calls = 0;  ///< how many
  };

  node_t node = -1;          ///< number of its process
  node_t number = -1;        ///< that calls name: another one only if its process was replaced (offload::supervise)
  std::int64_t pid = -1;     ///< as the process sees itself; negative: not known
  std::string machine;       ///< host name
  std::string transport;     ///< how the host reaches it; "self": it is the host
  bool seen_by_host = true;  ///< the numbers are the host's, of what it exchanged with the node; false: the node's own
  activity now = activity::unknown;
  double age_s = 0;             ///< since its start; 0: not known
  traffic all;                  ///< with all nodes; if it is seen by the host: with the host alone
  std::uint32_t executing = 0;  ///< threads that execute a call
  std::uint64_t queued = 0;     ///< calls that have arrived and not begun; those of the pool until they are over
  std::uint64_t sleeps = 0;     ///< times that it went to sleep in the kernel
  std::uint64_t rss_bytes = 0;  ///< resident memory of its process; 0: not known
  std::uint32_t restarts = 0;   ///< processes that had its number before
  std::uint64_t executed = 0;   ///< calls that are over
  double executed_s = 0;        ///< that they took, all together; calls within calls count twice. As `took`
  /// Those calls by how long they took: ascending, neighbours differ by a quarter. Of calls that a thread executes in
  /// quick succession, begun within some microseconds, one in 16 is timed, at random, and counts for those since the
  /// last such one as well: up to 31 per thread are not in here yet.
  std::vector<duration> took;
  std::vector<peer> peers;  ///< by number; empty: seen by the host
  device_use device;        ///< not known if it is seen by the host
};

/// "busy", "spinning".
[[nodiscard]] const char* to_string(node_counters::activity what) noexcept;

/// How long calls took at most, in seconds, of the given share of them: 0.99 for the slowest but one in a hundred. Off
/// by up to a quarter. Negative: there were none.
[[nodiscard]] double quantile(const std::vector<node_counters::duration>& took, double share) noexcept;
/// What was added between two readings of one node.
[[nodiscard]] std::vector<node_counters::duration> added(const std::vector<node_counters::duration>& before,
                                                         const std::vector<node_counters::duration>& now);

/// The nodes of one job, as its host knows them.
struct job_counters {
  std::int64_t pid = -1;             ///< of the host
  std::uint64_t serial = 0;          ///< tells the jobs of a process apart
  std::string program;               ///< name of the host's program
  double read_at_s = 0;              ///< on the monotonic clock of the machine
  std::vector<node_counters> nodes;  ///< by number of the process, the host first
};

/// All jobs of this user whose hosts run on this machine, by the host's pid; the jobs do not notice. Nodes of other
/// machines are in them as the host sees them; a node of this machine whose host runs elsewhere makes a job of its own,
/// whose `pid` is negative. Needs no runtime. Any thread; searches all processes of this user. Texts and numbers may be
/// those of a process that was taken over: texts hold printable characters only, and prove nothing.
[[nodiscard]] std::vector<job_counters> read_counters();
/// The jobs that a process belongs to. Throws ham::config_error if there is none, and says why as far as it can be
/// known.
[[nodiscard]] std::vector<job_counters> read_counters(std::int64_t pid);

}  // namespace ham

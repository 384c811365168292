// What a simulated job does, drawn from a seed, and what must hold of it whatever happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ham::inline v1::sim {

/// Kinds of steps, which may be left out one by one. `restart` is taken by no thread: without it there is no second
/// job.
enum class step : std::uint8_t {
  sync,
  async,
  ping,
  batch,
  context,
  nested,
  long_message,
  throwing,
  deadline,
  then,
  abandon,
  try_call,
  join,
  stream,
  ask,
  pooled,
  transfer,
  block,
  object,
  cancel,
  then_call,
  pool,
  event_loop,
  group,
  graph,
  restart,
  add_node,
  remove_node,
  stop,
  cut,
  kill,
  kill_host,
  device,     ///< in jobs with devices
  supervise,  ///< in jobs with supervised nodes
  // In jobs with all verbs, and those of devices where there are any.
  sender,
  spawn,
  device_part,
  device_copy,
  device_print,
  watchdog,
  barrier,
  broadcast,
  kill_call,
  stop_transfer,
  stop_retry,
  work_queue,
  std_future,
  graph_replay,
  graph_data,
  deadline_seen,
  pinned,
  events,  ///< taken by no thread: without it no host wants to be told of events
};
inline constexpr unsigned steps_there_are = static_cast<unsigned>(step::events) + 1;
using step_set = std::uint64_t;  ///< a bit for each kind
static_assert(steps_there_are <= 64);
[[nodiscard]] constexpr step_set set_of(step kind) noexcept { return step_set{1} << static_cast<unsigned>(kind); }
[[nodiscard]] std::string_view name_of(step kind) noexcept;

/// What connects the nodes.
enum class medium : std::uint8_t {
  as_the_seed_says,
  sim,       ///< the simulated network, which delays, fills up, and is cut; nodes die
  islands,   ///< the same, but targets reach each other through the host only
  loopback,  ///< the rings and bells of shared memory
};
inline constexpr unsigned media_there_are = 4;
[[nodiscard]] std::string_view name_of(medium over) noexcept;

/// Whether nodes of the job have emulated devices: never its host, and none where loopback connects them.
enum class devices : std::uint8_t {
  as_the_seed_says,  ///< about one job in seven has some
  none,
  some,
};

/// Whether targets of the job are supervised: none where loopback connects them, or where they have devices.
enum class supervised : std::uint8_t {
  as_the_seed_says,  ///< about one job in ten has some
  none,
  some,
};

/// Whether the job takes the kinds of steps behind `supervise`, too.
enum class verbs : std::uint8_t {
  as_the_seed_says,  ///< about one job in eleven does
  first_ones,
  all,
};

/// Threads of a host are numbered from 0, those of the second job's from here on.
inline constexpr int max_threads = 10;

/// A step of one of the host's threads: the thread, and the how manieth.
using step_place = std::pair<int, int>;

struct plan {
  std::uint64_t seed = 1;      ///< of everything
  std::uint64_t schedule = 0;  ///< another order of events for the same steps
  int nodes = 0;               ///< host included; 0: as the seed says, 2 to 8
  int steps = 200;
  medium over = medium::as_the_seed_says;
  devices of_nodes = devices::as_the_seed_says;
  supervised numbers = supervised::as_the_seed_says;
  verbs of_steps = verbs::as_the_seed_says;
  step_set without = 0;       ///< kinds of steps that do not happen
  std::set<step_place> only;  ///< steps that happen; empty: all
  bool verbose = false;       ///< print every step

  [[nodiscard]] bool has(step kind) const noexcept { return (without & set_of(kind)) == 0; }
};

/// How many nodes a job has whose plan does not say it.
[[nodiscard]] int nodes_of(std::uint64_t seed) noexcept;
/// What connects them.
[[nodiscard]] medium medium_of(const plan& what) noexcept;
/// Whether nodes of the job have devices. Other jobs are what they were before there were any.
[[nodiscard]] bool has_devices(const plan& what) noexcept;

/// Whether targets of the job are supervised. Other jobs are what they were before there was any supervision.
[[nodiscard]] bool is_supervised(const plan& what) noexcept;

/// Whether the job takes all kinds of steps. Other jobs are what they were when there were fewer.
[[nodiscard]] bool has_all_verbs(const plan& what) noexcept;

struct outcome {
  std::uint64_t hash = 0;  ///< of the trace of events
  std::uint64_t hand_overs = 0;
  std::uint64_t calls = 0;
  std::uint64_t executed = 0;
  std::uint64_t failed = 0;
};

/// Simulates one job in this process, which must have but one thread. Ends the process if something is wrong.
[[nodiscard]] outcome simulate(const plan& what);

}  // namespace ham::sim

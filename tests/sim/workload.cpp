// Jobs, drawn from a seed.
#include "sim/workload.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "ham/msg/thread_pool.hpp"
#include "ham/offload.hpp"
#include "runtime/engine.hpp"
#include "sim/actor.hpp"
#include "sim/callees.hpp"
#include "sim/event_watch.hpp"
#include "sim/oracle.hpp"
#include "sim/scheduler.hpp"
#include "sim/supervision.hpp"
#include "sim/world.hpp"

namespace ham::inline v1::sim {
namespace {

constexpr int first_process_of_second = world::processes_of_job;  // of the host of the second job
constexpr std::int64_t watchdog_ns = 2'000'000'000;
bool some_were_lost = false;

struct job_shape {
  int nodes;
  int threads;  ///< of the host
};

// ---- the host

/// Late replies to calls that were given up, and what targets told each other, may still be on the way.
void expect_nothing_left(node_t node) {
  constexpr std::int64_t timeout_ns = 10'000'000'000;  // functions that poll for a stop end before
  const std::int64_t until = base::now_ns() + timeout_ns;
  for (;;) {
    const std::string left = node == offload::this_node() ? left_over() : offload::sync(node, fn<&left_over>);
    if (left.empty()) return;
    if (base::now_ns() > until) running->fail("node " + std::to_string(node) + " has left over: " + left);
    base::sleep_ns(1'000'000);
    detail::current().poll_once();
  }
}

/// What targets have told each other through the host has arrived, and is acknowledged.
void expect_acknowledged(world& in, const std::function<bool(node_t)>& may_be_lost) {
  constexpr std::int64_t timeout_ns = 10'000'000'000;
  const std::int64_t until = base::now_ns() + timeout_ns;
  for (;;) {
    const std::string left = in.unacknowledged(may_be_lost);
    if (left.empty()) return;
    if (base::now_ns() > until) running->fail("the host has left over: " + left);
    base::sleep_ns(1'000'000);
    detail::current().poll_once();
  }
}

/// What was sent to the node from call `first` on, and nobody waits for, has run: a call behind it does not overtake
/// it.
void expect_unanswered_ran(std::uint64_t first, node_t node) {
  const call_number last = the_oracle->issue(node);
  the_oracle->settle(last, offload::sync(node, fn<&work>, last, std::int64_t{15}, std::int64_t{0}),
                     result_of(last, 15));
  the_oracle->expect_unanswered_ran(first, node);
}

/// One job of the host, from its start to its end. `number`: how many were before it.
void host_main(const plan& what, int number, int steps, const job_shape& shape, world& in) {
  const medium over = medium_of(what);
  const bool supervises = is_supervised(what);
  std::string targets = std::string(name_of(over)) + ":" + std::to_string(shape.nodes - 1);
  if (supervises && what.seed % 2 == 0) targets += "+restart";
  faults made;
  const auto may_be_lost = [&made](node_t node) {
    return made.may_be_lost.contains(node) || the_oracle->numbers.may_be_lost(node);
  };
  event_watch events(what.seed + 6007, shape.nodes, in, may_be_lost);
  const bool watches_events = what.has(step::events) && random_source(what.seed + 5003).once_in(2);
  runtime job(runtime_options{.nodes = targets});
  std::vector<node_t> known;
  for (node_t node = 0; node < shape.nodes; ++node) known.push_back(node);
  const std::uint64_t calls_before = the_oracle->issued();
  {
    const auto here = job.use();
    if (watches_events) events.begin();
    if (supervises) begin_supervision(what, shape.nodes, in);
  }
  const auto act = [&](int thread) {
    const auto here = job.use();
    actor(what, max_threads * number + thread, (steps + shape.threads - 1) / shape.threads, over, known, made, in)
        .run();
  };
  std::vector<std::thread> others;
  for (int i = 1; i < shape.threads; ++i) others.emplace_back([&act, i] { act(i); });
  act(0);
  for (std::thread& one : others) one.join();
  const auto here = job.use();
  made.pools.clear();
  for (const node_t node : known) {
    if (the_oracle->numbers.supervises(node))
      expect_number_settled(node, expect_nothing_left);
    else if (!may_be_lost(node))
      expect_nothing_left(node);
    if (!may_be_lost(node) && !the_oracle->numbers.may_fail(node, 0)) expect_unanswered_ran(calls_before, node);
  }
  if (watches_events) events.expect_all_reported(known);
  expect_acknowledged(in, may_be_lost);
  the_oracle->expect_stops_seen(calls_before, made.may_be_lost, made.any);
  the_oracle->numbers.end_job();  // on_respawn may be preparing a process
  if (made.any) some_were_lost = true;
  if (over == medium::loopback && number == 0) msg::thread_pool::process().shutdown();
}

}  // namespace

std::string_view name_of(step kind) noexcept {
  static constexpr std::array<std::string_view, steps_there_are> names{
      "sync",          "async",         "ping",        "batch",        "context",    "nested",       "long-message",
      "throwing",      "deadline",      "then",        "abandon",      "try",        "join",         "stream",
      "ask",           "pooled",        "transfer",    "block",        "object",     "cancel",       "then-call",
      "pool",          "event-loop",    "group",       "graph",        "restart",    "add-node",     "remove-node",
      "stop",          "cut",           "kill",        "kill-host",    "device",     "supervise",    "sender",
      "spawn",         "device-part",   "device-copy", "device-print", "watchdog",   "barrier",      "broadcast",
      "kill-call",     "stop-transfer", "stop-retry",  "work-queue",   "std-future", "graph-replay", "graph-data",
      "deadline-seen", "pinned",        "events"};
  return names[static_cast<unsigned>(kind)];
}

std::string_view name_of(medium over) noexcept {
  static constexpr std::array<std::string_view, media_there_are> names{"any", "sim", "islands", "loopback"};
  return names[static_cast<unsigned>(over)];
}

medium medium_of(const plan& what) noexcept {
  if (what.over != medium::as_the_seed_says) return what.over;
  return std::array{medium::sim, medium::sim, medium::islands,
                    medium::loopback}[random_source(what.seed + 77).below(4)];
}

bool has_devices(const plan& what) noexcept {
  if (what.of_nodes == devices::none || medium_of(what) == medium::loopback) return false;
  if (what.of_nodes != devices::some && what.numbers == supervised::some) return false;
  return what.of_nodes == devices::some || what.seed % 5 == 3;
}

bool is_supervised(const plan& what) noexcept {
  if (what.numbers == supervised::none || !what.has(step::supervise)) return false;
  if (medium_of(what) == medium::loopback || has_devices(what)) return false;
  return what.numbers == supervised::some || what.seed % 7 == 2;
}

bool has_all_verbs(const plan& what) noexcept {
  if (what.of_steps == verbs::first_ones) return false;
  return what.of_steps == verbs::all || what.seed % 11 == 6;
}

int nodes_of(std::uint64_t seed) noexcept { return static_cast<int>(2 + random_source(~seed).below(7)); }

outcome simulate(const plan& what) {
  random_source random(what.seed);
  schedule how;
  how.seed = random.next() ^ what.schedule * 0x9e3779b97f4a7c15U;
  how.mean_run = std::array<std::uint64_t, 4>{12, 60, 250, 1000}[random.below(4)];
  how.mean_tick_ns = std::array<std::int64_t, 3>{4'000, 15'000, 50'000}[random.below(3)];
  how.by_priority = random.once_in(3);
  how.buffers_stores = !random.once_in(4);
  network_conditions conditions;
  conditions.mean_delay_ns = std::array<std::int64_t, 4>{0, 1'000, 20'000, 200'000}[random.below(4)];
  conditions.frames = std::array<std::size_t, 3>{1, 4, 64}[random.below(3)];
  conditions.max_payload = std::array<std::size_t, 4>{512, 512, 2'048, 16'384}[random.below(4)];
  const job_shape shape{what.nodes != 0 ? what.nodes : nodes_of(what.seed), static_cast<int>(1 + random.below(3))};
  const bool restarts = random.once_in(4) && what.has(step::restart);
  if (has_devices(what)) conditions.devices = random_source(what.seed + 4711).next() | 1U;
  if (has_all_verbs(what)) {
    conditions.watchdog_ns = watchdog_ns;
    conditions.has_process_numbers = true;
  }

  oracle judge;
  the_oracle = &judge;
  on_printed = [](std::string_view line) { the_oracle->note_printed(line, world::node_here()); };
  scheduler control(how, [&judge](const std::string&) { judge.print_unanswered(); });
  control.begin();
  some_were_lost = false;
  outcome result;
  {
    world first(conditions, 0);
    const int in_first = restarts ? what.steps * 2 / 3 : what.steps;
    first.run_host([&] { host_main(what, 0, in_first, shape, first); });
    std::unique_ptr<world> second;
    if (restarts) {  // while targets of the first job still end, if they are not through
      second = std::make_unique<world>(conditions, first_process_of_second);
      second->run_host([&] { host_main(what, 1, what.steps - in_first, shape, *second); });
      second->await_targets();
    }
    first.await_targets();
    if (!some_were_lost && !control.any_killed() && objects_alive != 0)
      control.fail(std::to_string(objects_alive) + " remote objects are left over");
    result = {control.hash(), control.hand_overs(), judge.issued(), judge.executed(), judge.failed()};
    control.end();
  }
  return result;
}

}  // namespace ham::sim

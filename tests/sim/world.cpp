// Starts and ends of simulated processes.
#include "sim/world.hpp"

#include <string>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/thread.hpp"
#include "job/run_target.hpp"

namespace ham::inline v0::sim {
namespace {

/// A thread of a process, or of none, that nobody joins.
template <class Work>
void start_in(int process, Work work) {
  const int before = running->start_for(process);
  base::start_thread(std::move(work)).detach();
  running->start_for(before);
}

}  // namespace

world::world(const network_conditions& conditions, int first_process)
    : conditions_(conditions), first_process_(first_process), network_(*this) {
  transport::sim::set_current_network(&network_);
  running->protect(&network_.mutex());
  start_in(no_node, [this, seen = std::size_t{0}]() mutable {
    constexpr int most = 100;  // processes of a job
    for (;;) {
      const int node = running->await_killed(seen) - first_process_;
      if (node >= 0 && node < most) network_.died(node);
    }
  });
}

world::~world() { transport::sim::set_current_network(nullptr); }

std::int64_t world::delay_ns(node_t, node_t) {
  random_source& random = running->random();
  if (random.once_in(20)) return 50 * conditions_.mean_delay_ns;
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * conditions_.mean_delay_ns) + 1));
}

void world::start(std::unique_ptr<transport::target_side> target, transport::company others) {
  const node_t node = target->self();
  targets_.insert(node);
  start_in(process_of(node), [others, side = std::shared_ptr<transport::target_side>(std::move(target))] {
    try {
      static_cast<void>(detail::run_target(detail::boot_of(side, others)));
    } catch (const error& problem) {
      running->note(1);  // its host has gone before it was there
    }
  });
}

void world::end(node_t node, std::chrono::milliseconds timeout) {
  if (!targets_.contains(node)) return;
  const int process = process_of(node);
  start_in(no_node, [process, until = base::now_ns() + std::chrono::nanoseconds(timeout).count()] {
    while (running->living_threads(process) != 0 && base::now_ns() < until) base::sleep_ns(1'000'000);
    if (running->living_threads(process) != 0) running->kill(process);
  });
}

void world::await_end(node_t node) {
  constexpr std::int64_t timeout_ns = 30'000'000'000;
  const std::int64_t until = base::now_ns() + timeout_ns;
  while (running->living_threads(process_of(node)) != 0) {
    if (base::now_ns() > until)
      running->fail("node " + std::to_string(node) + " has not ended " + std::to_string(timeout_ns / 1'000'000'000) +
                    " s after main");
    base::sleep_ns(100'000);
  }
}

void world::run_host(const std::function<void()>& main) {
  start_in(process_of(0), main);
  while (running->living_threads(process_of(0)) != 0) base::sleep_ns(100'000);
}

void world::await_targets() {
  for (const node_t node : targets_) await_end(node);
}

}  // namespace ham::sim

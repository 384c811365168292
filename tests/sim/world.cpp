// Starts and ends of simulated processes.
#include "sim/world.hpp"

#include <string>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/thread.hpp"
#include "job/run_target.hpp"

namespace ham::sim {
namespace {

/// A thread of a process, or of none, that nobody joins.
template <class Work>
void start_in(int node, Work work) {
  const int before = running->start_for(node);
  base::start_thread(std::move(work)).detach();
  running->start_for(before);
}

}  // namespace

world::world(const network_conditions& conditions) : conditions_(conditions), network_(*this) {
  transport::sim::set_current_network(&network_);
  running->protect(&network_.mutex());
  start_in(no_node, [this] {
    for (;;) network_.died(running->await_killed());
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
  start_in(node, [others, side = std::shared_ptr<transport::target_side>(std::move(target))] {
    try {
      static_cast<void>(detail::run_target(detail::boot_of(side, others)));
    } catch (const error& problem) {
      running->note(1);  // its host has gone before it was there
    }
  });
}

void world::end(node_t node, std::chrono::milliseconds timeout) {
  if (!targets_.contains(node)) return;
  start_in(no_node, [node, until = base::now_ns() + std::chrono::nanoseconds(timeout).count()] {
    while (running->living_threads(node) != 0 && base::now_ns() < until) base::sleep_ns(1'000'000);
    if (running->living_threads(node) != 0) running->kill(node);
  });
}

void world::await_end(node_t node) {
  constexpr std::int64_t timeout_ns = 30'000'000'000;
  const std::int64_t until = base::now_ns() + timeout_ns;
  while (running->living_threads(node) != 0) {
    if (base::now_ns() > until)
      running->fail("node " + std::to_string(node) + " has not ended " + std::to_string(timeout_ns / 1'000'000'000) +
                    " s after main");
    base::sleep_ns(100'000);
  }
}

void world::run_host(const std::function<void()>& main) {
  start_in(0, main);
  while (running->living_threads(0) != 0) base::sleep_ns(100'000);
  for (const node_t node : targets_) await_end(node);
}

}  // namespace ham::sim

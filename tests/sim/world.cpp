// Starts and ends of simulated processes.
#include "sim/world.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/thread.hpp"
#include "core/wire.hpp"
#include "job/run_target.hpp"
#include "transport/cuda/emulated_device.hpp"
#include "transport/cuda/emulated_memory.hpp"

namespace ham::inline v1::sim {
namespace {

/// A thread of a process, or of none, that nobody joins.
template <class Work>
void start_in(int process, Work work) {
  const int before = running->start_for(process);
  base::start_thread(std::move(work)).detach();
  running->start_for(before);
}

std::map<int, transport::device_driver*> devices_of_processes;  // each as long as its node is there

/// Of a process that dies behind it.
struct last_answer {
  std::int64_t value;
  bool sent;
};
std::map<int, last_answer> last_answers;  // by process

bool is_answer(const transport::sim::packet& what, std::int64_t value) noexcept {
  return what.head.kind == static_cast<std::uint8_t>(detail::wire_kind::reply) && what.size == sizeof value &&
         std::memcmp(what.payload.data(), &value, sizeof value) == 0;
}

/// A few threads, a link without or with latency, and a kernel that leaves after a while, a short one or at once.
transport::cuda::geometry any_geometry(random_source& random) {
  struct shape {
    std::uint32_t blocks, warps, lanes;
  };
  const shape of =
      std::array<shape, 6>{{{1, 1, 1}, {2, 1, 1}, {1, 1, 2}, {1, 2, 2}, {2, 1, 2}, {2, 2, 1}}}[random.below(6)];
  transport::cuda::geometry result;
  result.blocks = of.blocks;
  result.warps = of.warps;
  result.lanes = of.lanes;
  result.read_ns = std::array<std::int64_t, 3>{0, 1'200, 30'000}[random.below(3)];
  result.write_ns = std::array<std::int64_t, 3>{0, 600, 30'000}[random.below(3)];
  result.linger_ns = std::array<std::int64_t, 3>{0, 300'000, 5'000'000}[random.below(3)];
  result.bandwidth_mb_s = std::array<std::int64_t, 3>{0, 50, 1'000}[random.below(3)];
  result.memory = random.once_in(4) ? transport::cuda::memory_kind::shared : transport::cuda::memory_kind::device;
  result.arena_bytes = std::uint64_t{4} << 20U;
  return result;
}

}  // namespace

world::world(const network_conditions& conditions, int first_process)
    : conditions_(conditions), first_process_(first_process), network_(*this) {
  transport::sim::set_current_network(&network_);
  running->protect(&network_.mutex());
  start_in(no_node, [this, seen = std::size_t{0}]() mutable {
    for (;;) {
      const int node = running->await_killed(seen) - first_process_;
      if (node >= 0 && node < processes_of_job) network_.died(node);
    }
  });
}

world::~world() { transport::sim::set_current_network(nullptr); }

void world::die_behind(std::int64_t answer) { last_answers[running->current().node] = {answer, false}; }

bool world::has_answered(node_t node) const {
  const auto found = last_answers.find(process_of(node));
  return found != last_answers.end() && found->second.sent;
}

void world::on_sent(node_t from, node_t to, transport::sim::packet& what) {
  relays_.note_sent(from, to, what);
  if (to != 0 || last_answers.empty()) return;
  const auto found = last_answers.find(process_of(from));
  if (found == last_answers.end() || found->second.sent || !is_answer(what, found->second.value)) return;
  found->second.sent = true;
  running->kill_when_given_back(process_of(from));
}

void world::on_consumed(node_t from, node_t to, const transport::sim::packet& what) {
  relays_.note_consumed(from, to, what);
}

std::string world::unacknowledged(const std::function<bool(node_t)>& may_be_lost) {
  return relays_.unacknowledged([&](node_t node) { return may_be_lost(node) || !network_.is_there(node); });
}

std::int64_t world::delay_ns(node_t, node_t) {
  random_source& random = running->random();
  if (random.once_in(20)) return 50 * conditions_.mean_delay_ns;
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * conditions_.mean_delay_ns) + 1));
}

bool world::has_device(node_t node) const noexcept {
  const std::uint64_t of_job = conditions_.devices;
  return of_job != 0 && node != 0 && (node == 1 || random_source(of_job + static_cast<std::uint64_t>(node)).once_in(2));
}

transport::device_driver* world::device_here() noexcept {
  const auto found = devices_of_processes.find(running->current().node);
  return found == devices_of_processes.end() ? nullptr : found->second;
}

transport::sim::node_device world::device_of(node_t node) {
  if (!has_device(node)) return {};
  random_source random(conditions_.devices * 31 + static_cast<std::uint64_t>(node));
  const transport::cuda::geometry of = any_geometry(random);
  transport::sim::node_device made;
  made.driver = std::make_unique<transport::cuda::emulated_device>(of);
  devices_of_processes[process_of(node)] = made.driver.get();
  if (of.memory == transport::cuda::memory_kind::device)
    made.memory = std::make_unique<transport::cuda::emulated_memory>(of);
  made.limits = {of.linger_ns, conditions_.watchdog_ns != 0 ? conditions_.watchdog_ns : of.watchdog_ns};
  return made;
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
  if (const auto what = std::exchange(at_next_start_, nullptr)) what(node);
}

void world::end(node_t node, std::chrono::milliseconds timeout) {
  if (!targets_.contains(node)) return;
  const int process = process_of(node);
  start_in(no_node, [process, until = base::now_ns() + std::chrono::nanoseconds(timeout).count()] {
    while (running->living_threads(process) != 0 && base::now_ns() < until) base::sleep_ns(1'000'000);
    if (running->living_threads(process) != 0) running->kill(process);
  });
}

std::int64_t world::pid_of(node_t node) const noexcept {
  return conditions_.has_process_numbers ? first_pid + process_of(node) : -1;
}

bool world::lives(node_t node) noexcept {
  const int process = running->current().node;
  return running->living_threads(process - process % processes_of_job + node) != 0;
}

void world::await_end(node_t node) {
  constexpr std::int64_t timeout_ns = 30'000'000'000;  // without a call that begins: they end first
  const std::int64_t begin = base::now_ns();
  while (running->living_threads(process_of(node)) != 0) {
    if (base::now_ns() > std::max(begin, running->progress_ns()) + timeout_ns)
      running->fail("node " + std::to_string(node) + " has not ended " + std::to_string(timeout_ns / 1'000'000'000) +
                    " s after main");
    base::sleep_ns(100'000);
  }
}

void world::run_host(const std::function<void()>& main) {
  start_in(process_of(0), main);
  base::backoff<base::backoff_schedule{.yields = 0, .sleep_ns = 100'000, .max_sleep_ns = 5'000'000}> pause;
  while (running->living_threads(process_of(0)) != 0) pause.wait();
}

void world::await_targets() {
  for (const node_t node : targets_) await_end(node);
}

}  // namespace ham::sim

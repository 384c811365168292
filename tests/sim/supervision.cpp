// How supervised nodes are started again.
#include "sim/supervision.hpp"

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>

#include "base/clock.hpp"
#include "ham/offload.hpp"
#include "sim/callees.hpp"
#include "sim/oracle.hpp"

namespace ham::inline v1::sim {
namespace {

/// The on_respawn of all numbers. The job may end while it runs: it keeps nothing of it.
class preparation {
 public:
  preparation(std::uint64_t seed, int nodes, world& in) : seed_(seed), nodes_(nodes), world_(&in) {}

  void operator()(const offload::respawned& fresh) const {
    supervised_numbers& numbers = the_oracle->numbers;
    numbers.begin_respawn(fresh.node, fresh.process, fresh.epoch);
    const bool is_known = offload::number_of(fresh.process) == fresh.node;
    if (offload::process_of(fresh.node) != fresh.process || (!is_known && numbers.supervises(fresh.node)))
      running->fail("on_respawn does not find the process of its node");
    random_source random(seed_ * 1'000'003 + static_cast<std::uint64_t>(100 * fresh.node) + fresh.epoch);
    if (random.once_in(4) && may_end_processes(*world_)) {
      numbers.doom(fresh.process);
      running->kill_after(world_->process_of(fresh.process), random.below(300));
    }
    const std::uint64_t calls = random.below(3);
    for (std::uint64_t i = 0; i < calls; ++i) prepare(fresh);
    const auto other = static_cast<node_t>(random.below(static_cast<std::uint64_t>(nodes_)));
    if (other != fresh.node && random.once_in(3)) ask_another(other, random);
    if (random.once_in(3)) base::sleep_ns(static_cast<std::int64_t>(random.below(3'000'000)));
    if (random.once_in(8) && may_end_processes(*world_)) {
      numbers.doom(fresh.process);
      throw std::runtime_error("it is not prepared");
    }
    numbers.end_respawn(fresh.process);
  }

 private:
  /// Its process, which may die: then this preparation fails, too.
  static void prepare(const offload::respawned& fresh) {
    const call_number call = the_oracle->issue_to_prepare(fresh.node, fresh.process);
    try {
      the_oracle->settle(call, offload::sync(fresh.node, fn<&work>, call, std::int64_t{12}, std::int64_t{0}),
                         result_of(call, 12));
    } catch (const node_failure& lost) {
      if (!the_oracle->numbers.may_be_lost(fresh.process))
        running->fail(std::string("a process is lost without a reason while it is prepared: ") + lost.what());
      the_oracle->fail(call, lost.outcome(), lost.what());
      throw;
    }
  }

  /// Which may be waiting for this one: not for long.
  static void ask_another(node_t node, random_source& random) {
    const call_number call = the_oracle->issue(node);
    the_oracle->allow_late(call);
    const std::chrono::nanoseconds limit(random.below(2'000'000));
    try {
      the_oracle->settle(
          call, offload::sync(offload::within(node, limit), fn<&work>, call, std::int64_t{13}, std::int64_t{0}),
          result_of(call, 13));
    } catch (const node_failure& lost) {
      the_oracle->fail(call, lost.outcome(), lost.what());
    } catch (const deadline_exceeded& late) {
      the_oracle->fail(call, late.outcome(), late.what());
    } catch (const call_error& refused) {
      the_oracle->fail(call, call_outcome::not_run, refused.what());
    }
  }

  std::uint64_t seed_;
  int nodes_;
  world* world_;
};

offload::supervision any_settings(const plan& what, node_t number, random_source& random, world& in) {
  using std::chrono::milliseconds;
  offload::supervision how;
  how.max_restarts = 1 + random.below(6);
  how.within = std::array<std::chrono::nanoseconds, 3>{milliseconds(2), milliseconds(500),
                                                       milliseconds(60'000)}[random.below(3)];
  if (number == watched_node)
    how.hang_after = milliseconds(30'000);  // a stream of calls over the slowest connections takes 10 s
  const int nodes = what.nodes != 0 ? what.nodes : nodes_of(what.seed);
  how.on_respawn = preparation(what.seed ^ random.next(), nodes, in);
  return how;
}

}  // namespace

bool may_end_processes(const world& in) {
  constexpr node_t most = 60;
  return in.targets().empty() || *in.targets().rbegin() < most;
}

void begin_supervision(const plan& what, int nodes, world& in) {
  const bool all = what.seed % 2 == 0;  // that is what the host was told of them
  random_source random(what.seed + 913);
  for (node_t node = watched_node; node < nodes; ++node) {
    random_source of_node(random.next());
    if (all || node == watched_node || of_node.once_in(2)) supervise_somehow(what, node, node, of_node, in);
  }
}

void supervise_somehow(const plan& what, node_t number, node_t node, random_source& random, world& in) {
  offload::supervision how = any_settings(what, number, random, in);
  the_oracle->numbers.supervise(number, how.max_restarts);
  offload::supervise(node, std::move(how));
}

void expect_number_settled(node_t number, const std::function<void(node_t)>& expect_nothing_left) {
  constexpr std::int64_t timeout_ns = 60'000'000'000;
  const std::int64_t until = base::now_ns() + timeout_ns;
  for (;;) {
    const call_number call = the_oracle->issue(number);
    bool settled = false;
    try {
      const std::int64_t value = offload::sync(number, fn<&work>, call, std::int64_t{14}, std::int64_t{0});
      the_oracle->settle(call, value, result_of(call, 14));
      settled = true;
      expect_nothing_left(number);
      return;
    } catch (const node_failure& lost) {
      the_oracle->expect_lost(call, lost.what());
      if (!settled) the_oracle->fail(call, lost.outcome(), lost.what());
      if (std::string(lost.what()).find("is given up: ") != std::string::npos) return;
    } catch (const call_error& lost) {
      the_oracle->expect_lost(call, lost.what());
      if (!settled) the_oracle->fail(call, call_outcome::not_run, lost.what());
    }
    if (base::now_ns() > until) running->fail("node " + std::to_string(number) + " is not started again");
    base::sleep_ns(1'000'000);
  }
}

}  // namespace ham::sim

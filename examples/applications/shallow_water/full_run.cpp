// The host steers: it says how far to go, and writes what it has collected.
#include "shallow_water/full_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "common/targets.hpp"
#include "shallow_water/frame.hpp"

namespace shallow_water {
namespace {

using clock = std::chrono::steady_clock;

void write_files(const run_plan& plan, const checkpoint& now) {
  if (!plan.checkpoint.empty()) write_checkpoint(plan.checkpoint, now);
  if (plan.frames.empty()) return;
  char name[64];
  std::snprintf(name, sizeof name, "/frame_%07llu.%s", static_cast<unsigned long long>(now.step), frame_format());
  write_frame(plan.frames + name, now.of, now.state);
}

}  // namespace

run_result run_on(const std::vector<ham::node_t>& targets, const checkpoint& start, const run_plan& plan,
                  planned_death death) {
  const auto begin = clock::now();
  simulation water(start, targets, death);
  run_result result;
  while (water.now().step < plan.steps) {
    water.advance_to(std::min(plan.steps, (water.now().step / plan.every + 1) * plan.every));
    const auto collected = clock::now();
    write_files(plan, water.now());
    result.files += app::seconds_since(collected);
  }
  result.total = app::seconds_since(begin);
  result.end = water.now();
  result.failures = water.failures();
  result.targets = water.targets();
  result.computing = water.computing_seconds();
  result.moving = water.moving_seconds();
  result.lost = water.lost_seconds();
  result.giving_up = water.giving_up_seconds();
  return result;
}

}  // namespace shallow_water

// ham-bench veo-offload: paper 1's Fig. 9 over this project's own libveo, measured and not emulated.
#include "benchmarks.hpp"
#include "process_state.hpp"
#include "spread.hpp"
#include "veo_session.hpp"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

/// HAM over libveo: this program's part for the helper lies beside it.
std::unique_ptr<runtime> start_over_veo(const settings& how) {
  if (!exists(std::filesystem::read_symlink("/proc/self/exe").concat(".ve.so"))) {
    throw std::runtime_error("ham-bench.ve.so is not beside this program; build all of it");
  }
  runtime_options options;
  options.nodes = "veo:1";
  auto job = std::make_unique<runtime>(std::move(options));
  offload::sync(1, fn<&nothing>);
  pin_process(static_cast<pid_t>(offload::get_node_descriptor(1).pid()), how.cores.target);
  return job;
}

struct offload_kind {
  const char* name;
  void (*call)(veo_session&);
  paired_rounds rounds;
};

}  // namespace

report run_veo_offload(const settings& how) {
  report result{"veo-offload", {}, {}, {}};
  floor_partner partner(how.cores);
  veo_session native(how);  // before this thread is pinned: its helper's threads shall not share the core
  const auto job = start_over_veo(how);
  const auto target = static_cast<pid_t>(offload::get_node_descriptor(1).pid());
  pin_this_thread(how.cores.host);

  std::vector<offload_kind> kinds{
      {"native call: veo_call_async, veo_call_wait_result", [](veo_session& with) { with.wait(with.submit()); }, {}},
      {"native call: veo_call_sync", [](veo_session& with) { with.call(); }, {}},
      {"HAM over this libveo, host-initiated", [](veo_session&) { offload::sync(1, fn<&nothing>); }, {}}};
  const auto let_helpers_sleep = [&] {  // they share a core, with each other and with the floor's partner
    for (const pid_t pid : {native.pid(), target}) {
      static_cast<void>(wait_until_asleep(pid, std::chrono::milliseconds(200)));
    }
  };
  for (int round = 0; round < how.repetitions; ++round) {
    for (offload_kind& one : kinds) {
      take_round(
          one.rounds, round,
          [&] {
            let_helpers_sleep();
            return partner.bounce(how.plan());
          },
          [&] {
            let_helpers_sleep();
            return time_block([&] { one.call(native); }, how.plan());
          });
    }
  }

  table found{
      "empty offload over this project's libveo (paper 1, Fig. 9, has that of a Vector Engine); floor: a cache "
      "line bounced between two processes",
      {"offload"},
      {}};
  add_median_columns(found.columns, "", "us");
  add_median_columns(found.columns, "floor", "us");
  found.columns.insert(found.columns.end(), {"ratio", "quartiles"});
  add_spread_columns(found.columns, "of native call");
  const std::vector<double>& native_ns = kinds.front().rounds.measured;
  for (const offload_kind& kind : kinds) {
    const comparison one = kind.rounds.compared();
    auto& row = found.rows.emplace_back(std::vector<cell>{kind.name});
    add_median(row, one, 1e3, 3);
    add_floor(row, one, 1e3, 3);
    add_ratio(row, one, 2);
    add_ratio(row, compare(kind.rounds.measured, native_ns), 2);
  }
  result.tables.push_back(std::move(found));
  result.remarks.emplace_back(
      "the helper is a process of this machine; HAM writes and reads its memory by veo_write_mem and veo_read_mem, "
      "four "
      "times for an offload");
  return result;
}

}  // namespace ham::bench

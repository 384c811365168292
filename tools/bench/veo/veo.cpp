// ham-bench veo: paper 2's tests of libveo's calls, and its memory, beside the floors.
#include "benchmarks.hpp"
#include "copy_floor.hpp"
#include "process_state.hpp"
#include "sizes.hpp"
#include "spread.hpp"
#include "veo_session.hpp"

#include <ve_offload.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::array<std::size_t, 13> call_counts{1,    5,     10,    50,     100,    500,   1000,
                                                  5000, 10000, 50000, 100000, 200000, 300000};
constexpr std::size_t pipelined_from = 1000;  // the bars hold from this many calls on
constexpr int transfers_of_one_byte = 30000;
constexpr std::size_t large_bytes = std::size_t{64} << 20;
constexpr std::chrono::seconds silence{2};

using requests = std::vector<std::uint64_t>;

void submit_then_wait(veo_session& with, std::size_t calls, requests& pending) {
  for (std::size_t i = 0; i < calls; ++i) pending[i] = with.submit();
  for (std::size_t i = 0; i < calls; ++i) with.wait(pending[i]);
}
void wait_for_each(veo_session& with, std::size_t calls, requests&) {
  for (std::size_t i = 0; i < calls; ++i) with.wait(with.submit());
}
void wait_for_last(veo_session& with, std::size_t calls, requests&) {
  for (std::size_t i = 1; i < calls; ++i) static_cast<void>(with.submit());
  with.wait(with.submit());
}
void synchronous(veo_session& with, std::size_t calls, requests&) {
  for (std::size_t i = 0; i < calls; ++i) with.call();
}

struct test_case {
  const char* name;
  void (*run)(veo_session&, std::size_t, requests&);
  bool pipelined;
};
constexpr std::array<test_case, 4> tests{{{"Test 1", submit_then_wait, true},
                                          {"Test 2", wait_for_each, false},
                                          {"Test 3", wait_for_last, true},
                                          {"Test 4", synchronous, false}}};

template <class Work>
double elapsed_ns(Work work) {
  const std::int64_t begin = now_ns();
  work();
  return static_cast<double>(now_ns() - begin);
}

/// Nanoseconds per call of each test, beside the floor of the same moment.
struct count_of_calls {
  std::array<std::vector<double>, tests.size()> test_ns;
  std::vector<double> floor_ns;
};

std::vector<count_of_calls> measure_rounds(const settings& how, veo_session& with, floor_partner& partner) {
  std::vector<count_of_calls> found(call_counts.size());
  requests pending(call_counts.back());
  block_plan bounce = how.plan();
  bounce.length_ns /= 2;
  for (int round = 0; round < how.repetitions; ++round) {
    for (std::size_t at = 0; at < call_counts.size(); ++at) {
      const std::size_t calls = call_counts[at];
      static_cast<void>(wait_until_asleep(with.pid(), std::chrono::seconds(1)));
      found[at].floor_ns.push_back(partner.bounce(bounce).typical_ns);
      for (std::size_t test = 0; test < tests.size(); ++test) {
        for (int i = 0; i < 100; ++i) with.call();  // warm, as paper 2's are
        const double ns = elapsed_ns([&] { tests[test].run(with, calls, pending); });
        found[at].test_ns[test].push_back(ns / static_cast<double>(calls));
      }
    }
  }
  return found;
}

void measure_calls(const settings& how, veo_session& with, floor_partner& partner, report& into) {
  const std::vector<count_of_calls> found = measure_rounds(how, with, partner);
  table calls{"us per call; kernel that returns its argument; floor: a cache line bounced between two processes",
              {"#calls"},
              {}};
  table ratios{"cost of a call / floor of the same moment", {"#calls"}, {}};
  for (const test_case& one : tests) {
    add_median_columns(calls.columns, one.name, "");
    ratios.columns.insert(ratios.columns.end(), {one.name, std::string("quartiles ") + one.name});
  }
  add_median_columns(calls.columns, "floor", "");
  std::array<double, tests.size()> worst_us{};
  std::array<double, tests.size()> worst_ratio{};
  for (std::size_t at = 0; at < call_counts.size(); ++at) {
    auto& row = calls.rows.emplace_back(std::vector<cell>{count(call_counts[at])});
    auto& ratio_row = ratios.rows.emplace_back(std::vector<cell>{count(call_counts[at])});
    for (std::size_t test = 0; test < tests.size(); ++test) {
      const comparison cost = compare(found[at].test_ns[test], found[at].floor_ns);
      add_median(row, cost, 1e3, 3);
      ratio_row.insert(ratio_row.end(), {{cost.median_of_ratios, 3}, quartiles_of_ratio(cost)});
      if (call_counts[at] < pipelined_from) continue;
      worst_us[test] = std::max(worst_us[test], cost.measured / 1e3);
      worst_ratio[test] = std::max(worst_ratio[test], cost.median_of_ratios);
    }
    add_median(row, found[at].floor_ns, 1e3, 3);
  }
  into.tables.insert(into.tables.end(), {std::move(calls), std::move(ratios)});
  for (std::size_t test = 0; test < tests.size(); ++test) {
    const std::string name = std::string(tests[test].name) + ", 1000 calls and more";
    if (tests[test].pipelined)
      into.bars.push_back({name, worst_us[test], bar::direction::at_most, 1.0, "us"});
    else
      into.bars.push_back({name + " / bounce", worst_ratio[test], bar::direction::at_most, 2.0, ""});
  }
}

void measure_memory(const settings& how, veo_session& with, report& into) {
  std::uint64_t there = 0;
  if (veo_alloc_mem(with.proc(), &there, large_bytes) != 0) throw std::runtime_error("no memory in the helper");
  std::vector<char> here(large_bytes, 1);
  std::vector<char> copy(large_bytes, 2);
  std::vector<double> write_us, read_us, write_ratio, read_ratio;
  const auto writing = [&](std::size_t bytes) { veo_write_mem(with.proc(), there, here.data(), bytes); };
  const auto reading = [&](std::size_t bytes) { veo_read_mem(with.proc(), here.data(), there, bytes); };
  writing(large_bytes);
  for (int round = 0; round < how.repetitions; ++round) {
    const auto many = [&](auto transfer) {
      return elapsed_ns([&] {
               for (int i = 0; i < transfers_of_one_byte; ++i) transfer(1);
             }) /
             1e3 / transfers_of_one_byte;
    };
    write_us.push_back(many(writing));
    read_us.push_back(many(reading));
    const double floor = elapsed_ns([&] { std::memcpy(copy.data(), here.data(), large_bytes); });
    write_ratio.push_back(floor / elapsed_ns([&] { writing(large_bytes); }));
    read_ratio.push_back(floor / elapsed_ns([&] { reading(large_bytes); }));
  }
  veo_free_mem(with.proc(), there);
  table memory{"transfers of 1 byte, and of 64 MiB as part of the speed of memcpy", {"measure"}, {}};
  add_median_columns(memory.columns, "veo_write_mem", "");
  add_median_columns(memory.columns, "veo_read_mem", "");
  const auto add_row = [&memory](const char* name, const std::vector<double>& write, const std::vector<double>& read) {
    auto& row = memory.rows.emplace_back(std::vector<cell>{name});
    add_median(row, write, 1, 3);
    add_median(row, read, 1, 3);
  };
  add_row("1 byte, mean of 30000, us", write_us, read_us);
  add_row("64 MiB, bandwidth / memcpy", write_ratio, read_ratio);
  into.tables.push_back(std::move(memory));
  const auto most = bar::direction::at_most;
  const auto least = bar::direction::at_least;
  into.bars.insert(into.bars.end(), {{"1-byte veo_write_mem", median(write_us), most, 1.5, "us"},
                                     {"1-byte veo_read_mem", median(read_us), most, 1.5, "us"},
                                     {"64 MiB veo_write_mem / memcpy", median(write_ratio), least, 0.85, ""},
                                     {"64 MiB veo_read_mem / memcpy", median(read_ratio), least, 0.85, ""}});
}

/// Transfers of all sizes beside memcpy between two shared mappings.
void measure_bandwidth(const settings& how, veo_session& with, report& into) {
  const std::vector<std::size_t> sizes = transfer_sizes(how.largest_bytes);
  std::uint64_t there = 0;
  if (veo_alloc_mem(with.proc(), &there, sizes.back()) != 0) throw std::runtime_error("no memory in the helper");
  std::vector<std::byte> here(sizes.back(), std::byte{1});
  const auto write = [&](std::size_t bytes) { return veo_write_mem(with.proc(), there, here.data(), bytes); };
  const auto read = [&](std::size_t bytes) { return veo_read_mem(with.proc(), here.data(), there, bytes); };
  bool moved = write(here.size()) == 0;
  std::fill(here.begin(), here.end(), std::byte{2});
  moved = moved && read(here.size()) == 0;
  if (!moved || std::count(here.begin(), here.end(), std::byte{1}) != static_cast<std::ptrdiff_t>(here.size())) {
    throw std::runtime_error("veo_write_mem and veo_read_mem have moved wrong bytes");
  }
  copy_floor floor(sizes.back());
  table found{"transfers of all sizes; floor: memcpy between two shared mappings", {"size", "bytes"}, {}};
  for (const char* name : {"veo_write_mem", "veo_read_mem"}) {
    add_median_columns(found.columns, name, "us");
    add_spread_columns(found.columns, std::string(name) + " GiB/s");
    add_spread_columns(found.columns, std::string(name) + " ratio");
  }
  add_median_columns(found.columns, "memcpy", "us");
  for (const std::size_t bytes : sizes) {
    block_plan plan = how.plan();
    plan.warm_up_ns = bytes > (std::size_t{1} << 20) ? 0 : plan.warm_up_ns;
    plan.group = bytes > 4096 ? 1 : 64;
    paired_rounds writes, reads;
    for (int round = 0; round < how.repetitions; ++round) {
      const auto copy = [&] { return floor.copy(bytes, plan); };
      take_round(writes, round, copy, [&] { return time_block([&] { write(bytes); }, plan); });
      take_round(reads, round, copy, [&] { return time_block([&] { read(bytes); }, plan); });
    }
    auto& row = found.rows.emplace_back(std::vector<cell>{size_text(bytes), count(bytes)});
    for (const paired_rounds* rounds : {&writes, &reads}) {
      const comparison one = rounds->compared();
      add_median(row, one, 1e3, 3);
      add_rate(row, static_cast<double>(bytes) * 1e9 / (1 << 30), rounds->measured, 5);
      add_ratio(row, one, 2);
    }
    add_floor(row, writes.compared(), 1e3, 3);
  }
  veo_free_mem(with.proc(), there);
  into.tables.push_back(std::move(found));
}

/// A helper that has nothing to do, then a host that waits for a kernel.
void measure_idleness(veo_session& with, report& into) {
  const auto percent = [](std::int64_t used) {
    return 100.0 * static_cast<double>(used) / 1e9 / static_cast<double>(silence.count());
  };
  with.call();
  const std::int64_t helper_before = cpu_time_ns(with.pid());
  std::this_thread::sleep_for(silence);
  const double helper = percent(cpu_time_ns(with.pid()) - helper_before);

  veo_args* const seconds = veo_args_alloc();
  veo_args_set_i64(seconds, 0, silence.count());
  const std::uint64_t sleeping = veo_get_sym(with.proc(), veo_load_library(with.proc(), "libc.so.6"), "sleep");
  const std::int64_t host_before = cpu_time_ns(getpid());
  veo_call_sync(with.proc(), sleeping, seconds, nullptr);
  const double host = percent(cpu_time_ns(getpid()) - host_before);
  veo_args_free(seconds);
  into.bars.push_back({"an idle helper", helper, bar::direction::at_most, 1, "% of a core"});
  into.bars.push_back({"a host that waits", host, bar::direction::at_most, 1, "% of a core"});
}

}  // namespace

report run_veo(const settings& how) {
  report result{"veo", {}, {}, {}};
  floor_partner partner(how.cores);
  veo_session with(how);  // before this thread is pinned: its helper's threads shall not share the core
  pin_this_thread(how.cores.host);
  measure_calls(how, with, partner, result);
  pin_this_thread(how.all_cores);
  measure_memory(how, with, result);
  measure_bandwidth(how, with, result);
  measure_idleness(with, result);
  result.remarks.push_back(
      "Tests 1 to 4 as in paper 2: N submitted, then N results; one after the other; N submitted, "
      "the last result; N synchronous calls");
  return result;
}

}  // namespace ham::bench

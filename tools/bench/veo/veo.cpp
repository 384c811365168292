// ham-bench veo: paper 2's tests of libveo's calls, and its memory, beside the floors.
#include "benchmarks.hpp"
#include "copy_floor.hpp"
#include "process_state.hpp"

#include <ve_offload.h>

#include <sched.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ham::bench {

namespace {

constexpr std::array<std::size_t, 13> call_counts{1,    5,     10,    50,     100,    500,   1000,
                                                  5000, 10000, 50000, 100000, 200000, 300000};
constexpr std::size_t pipelined_from = 1000;  // the bars hold from this many calls on
constexpr int transfers_of_one_byte = 30000;
constexpr std::size_t large_bytes = std::size_t{64} << 20;
constexpr std::chrono::seconds silence{2};

/// A helper on the target's core with a function that does next to nothing.
class veo_session {
 public:
  explicit veo_session(const settings& how) : proc_(veo_proc_create(-1)) {
    if (proc_ == nullptr) throw std::runtime_error("no VEO helper could be started; what it wrote says why");
    pid_ = veo_get_pid_from_hmem(veo_set_proc_identifier(nullptr, veo_proc_identifier(proc_)));
    context_ = veo_context_open(proc_);
    arguments_ = veo_args_alloc();
    veo_args_set_i64(arguments_, 0, 1);
    kernel_ = veo_get_sym(proc_, veo_load_library(proc_, "libc.so.6"), "labs");
    if (kernel_ == 0) throw std::runtime_error("the VEO helper cannot load libc.so.6");
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(how.cores.target, &core);
    sched_setaffinity(pid_, sizeof core, &core);
    call();
  }
  ~veo_session() {
    veo_args_free(arguments_);
    veo_proc_destroy(proc_);
  }
  veo_session(const veo_session&) = delete;
  veo_session& operator=(const veo_session&) = delete;

  [[nodiscard]] std::uint64_t submit() { return veo_call_async(context_, kernel_, arguments_); }
  void wait(std::uint64_t request) {
    std::uint64_t result = 0;
    if (veo_call_wait_result(context_, request, &result) != VEO_COMMAND_OK) throw std::runtime_error("a call failed");
  }
  void call() {
    std::uint64_t result = 0;
    if (veo_call_sync(proc_, kernel_, arguments_, &result) != 0) throw std::runtime_error("a call failed");
  }
  [[nodiscard]] veo_proc_handle* proc() noexcept { return proc_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  veo_proc_handle* proc_;
  veo_thr_ctxt* context_ = nullptr;
  veo_args* arguments_ = nullptr;
  std::uint64_t kernel_ = 0;
  pid_t pid_ = -1;
};

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

/// Microseconds per call, rounds by tests by counts; and the floor of each round.
void measure_calls(const settings& how, veo_session& with, floor_partner& partner, report& into) {
  std::array<std::vector<std::vector<double>>, tests.size()> times;
  for (auto& one : times) one.resize(call_counts.size());
  std::vector<double> floor_us;
  requests pending(call_counts.back());
  for (int round = 0; round < how.repetitions; ++round) {
    static_cast<void>(wait_until_asleep(with.pid(), std::chrono::seconds(1)));
    floor_us.push_back(partner.bounce(how.plan()).typical_ns / 1e3);
    for (std::size_t count = 0; count < call_counts.size(); ++count) {
      for (std::size_t test = 0; test < tests.size(); ++test) {
        for (int i = 0; i < 100; ++i) with.call();  // warm, as paper 2's are
        const double ns = elapsed_ns([&] { tests[test].run(with, call_counts[count], pending); });
        times[test][count].push_back(ns / 1e3 / static_cast<double>(call_counts[count]));
      }
    }
  }
  const double floor = median(floor_us);
  table calls{"us per call; kernel that returns its argument; floor: cache-line bounce, " +
                  std::to_string(static_cast<int>(floor * 1e3)) + " ns",
              {"#calls", "Test 1", "Test 2", "Test 3", "Test 4"},
              {}};
  std::array<double, tests.size()> worst{};
  for (std::size_t count = 0; count < call_counts.size(); ++count) {
    std::vector<cell> row{cell{static_cast<double>(call_counts[count]), 0}};
    for (std::size_t test = 0; test < tests.size(); ++test) {
      const double us = median(times[test][count]);
      row.emplace_back(us, 3);
      if (call_counts[count] >= pipelined_from) worst[test] = std::max(worst[test], us);
    }
    calls.rows.push_back(std::move(row));
  }
  into.tables.push_back(std::move(calls));
  for (std::size_t test = 0; test < tests.size(); ++test) {
    const std::string name = std::string(tests[test].name) + ", 1000 calls and more";
    if (tests[test].pipelined)
      into.bars.push_back({name, worst[test], bar::direction::at_most, 1.0, "us"});
    else
      into.bars.push_back({name + " / bounce", worst[test] / floor, bar::direction::at_most, 2.0, ""});
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
  into.tables.push_back({"memory",
                         {"", "veo_write_mem", "veo_read_mem"},
                         {{"1 byte, mean of 30000, us", {median(write_us), 3}, {median(read_us), 3}},
                          {"64 MiB, bandwidth / memcpy", {median(write_ratio), 3}, {median(read_ratio), 3}}}});
  const auto most = bar::direction::at_most;
  const auto least = bar::direction::at_least;
  into.bars.insert(into.bars.end(), {{"1-byte veo_write_mem", median(write_us), most, 1.5, "us"},
                                     {"1-byte veo_read_mem", median(read_us), most, 1.5, "us"},
                                     {"64 MiB veo_write_mem / memcpy", median(write_ratio), least, 0.85, ""},
                                     {"64 MiB veo_read_mem / memcpy", median(read_ratio), least, 0.85, ""}});
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
  measure_idleness(with, result);
  result.remarks.push_back(
      "Tests 1 to 4 as in paper 2: N submitted, then N results; one after the other; N submitted, "
      "the last result; N synchronous calls");
  return result;
}

}  // namespace ham::bench

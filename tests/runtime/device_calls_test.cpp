// Calls of a node that run on its device: nodes are threads of this process, and so is the device of one of them.
#include "runtime/device_calls.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ham/device.hpp"
#include "ham/msg/manifest.hpp"
#include "ham/msg/translation.hpp"
#include "ham/offload/graph.hpp"
#include "offload/loopback_job.hpp"
#include "transport/cuda/emulated_device.hpp"

namespace ham::inline v1::device_calls_functions {

/// Where a function runs: on a thread of a device, or on one of its node.
int where_it_runs() { return device::detail::this_lane() != nullptr ? 1 : 0; }
double axpy(double a, offload::buffer_ptr<double> x, offload::buffer_ptr<double> y, std::size_t n) {
  for (std::size_t i = device::rank(); i < n; i += device::size()) y[i] += a * x[i];
  device::sync();
  return y[n - 1];
}
std::uint64_t total(std::span<const std::uint32_t> of) {
  std::uint64_t result = 0;
  for (const std::uint32_t one : of) result += one;
  return result;
}
std::uint32_t threads_of_grid() { return device::size(); }
int of_the_host_only(int value) { return value; }
int next_number(int after) {
  static std::atomic<int> last{0};
  return last.exchange(after);
}
void gives_nothing(bool) {}
std::atomic<int> slow_ones{0};  // that have ended
int takes_a_while(int value) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  slow_ones.fetch_add(1);
  return value;
}
bool sleep_ms(int time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(time));
  return true;
}
int throws(int) { throw 5; }
std::uint64_t stops(offload::buffer_ptr<std::uint64_t> begun) {
  __atomic_store_n(begun.get(), 1, __ATOMIC_RELEASE);
  std::uint64_t rounds = 1;
  while (!device::stop_requested()) ++rounds;
  __atomic_store_n(begun.get(), 2, __ATOMIC_RELEASE);
  return rounds;
}

std::atomic<std::uint64_t> sum_of_reports{0};
std::vector<int> reports;  // of one warp, in the order of their arrival
void report(int value) { reports.push_back(value); }
double doubled(double value) { return 2 * value; }
double refuses(double) { throw std::runtime_error("no"); }

int reports_many(int count) {
  for (int i = 0; i < count; ++i) device::ping<&report>(0, i);
  return count;
}
/// The lanes of a warp in turns.
int warp_reports(int count) {
  for (int i = 0; i < count; ++i) {
    if (static_cast<std::uint32_t>(i) % device::size() == device::rank()) device::ping<&report>(0, i);
    device::sync();
  }
  return static_cast<int>(device::size());
}
double asks_the_host(double value) {
  auto first = device::async<&doubled>(0, value);
  auto second = device::async<&doubled>(0, value + 1);
  double one = 0;
  double other = 0;
  if (!second.get(other) || !first.get(one)) return -1;
  auto third = device::async<&doubled>(0, value);
  auto moved = std::move(third);
  double again = 0;
  if (first.get(one) || third.get(again)) return -2;  // taken, and moved
  return moved.get(again) && again == 2 * value ? one + other : -3;
}
std::atomic<double> told_by_ping{0};
void asks_the_device_and_tells(double value) { told_by_ping.store(offload::sync(1, fn<&asks_the_host>, value)); }
int pings_who_asks(double value) {
  device::ping<&asks_the_device_and_tells>(1, value);
  return 1;
}
/// Device, host, device, host. The first function waits in its block, so the second one is for another block.
double asks_the_device(double value) {
  offload::context other(1);
  return offload::sync(other, fn<&asks_the_host>, value);
}
double asks_who_asks(double value) {
  auto answer = device::async<&asks_the_device>(1, value);
  double result = 0;
  return answer.get(result) ? result : -1;
}
/// More than may be awaited.
double drops_answers(double value) {
  for (int i = 0; i < 200; ++i) static_cast<void>(device::async<&doubled>(0, value + i));
  auto last = device::async<&doubled>(0, value);
  double result = 0;
  return last.get(result) ? result : -1;
}
/// As many as may be awaited, in one container.
double keeps_answers(double value) {
  std::vector<device::answer<double>> all;
  for (std::uint32_t i = 0; i < device::detail::answer_slots; ++i) all.push_back(device::async<&doubled>(0, value));
  double sum = 0;
  for (auto& one : all) {
    double result = 0;
    if (!one.get(result)) return -1;
    sum += result;
  }
  return sum;
}
std::atomic<bool> answers_are_due{false};
double answers_when_due(double value) {
  while (!answers_are_due.load()) std::this_thread::yield();
  return -value;
}
/// Nothing but a stop ends it: the answers do not come. Gives how many could not be had.
int asks_in_vain(offload::buffer_ptr<std::uint64_t> begun) {
  std::vector<device::answer<double>> all;
  for (std::uint32_t i = 0; i < device::detail::answer_slots; ++i)
    all.push_back(device::async<&answers_when_due>(2, 1.0));
  __atomic_store_n(begun.get(), 1, __ATOMIC_RELEASE);
  double value = 5;
  int missing = device::async<&doubled>(0, 1.0).get(value) ? 0 : 1;  // waits for room
  for (auto& one : all) missing += one.get(value) ? 0 : 1;
  return value == 5 ? missing : -1;
}
std::atomic<int> blocks_that_reported{0};
void report_of_block(std::uint32_t) { blocks_that_reported.fetch_add(1); }
int grid_reports(std::uint32_t threads_of_block) {
  if (device::rank() % threads_of_block != 0) return 0;
  double value = 0;
  if (!device::async<&doubled>(0, static_cast<double>(device::rank())).get(value)) return -1;
  if (value != 2.0 * device::rank()) return -2;
  device::ping<&report_of_block>(0, device::rank());
  return 1;
}
bool host_refuses(double value) {
  auto answer = device::async<&refuses>(0, value);
  return answer.get(value);
}

}  // namespace ham::device_calls_functions

HAM_DEVICE_FUNCTION(ham::device_calls_functions::where_it_runs, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::axpy, block)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::total, warp)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::threads_of_grid, grid)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::of_the_host_only, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::next_number, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::gives_nothing, block)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::takes_a_while, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::sleep_ms, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::throws, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::stops, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::reports_many, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::warp_reports, warp)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::asks_the_host, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::pings_who_asks, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::asks_who_asks, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::drops_answers, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::keeps_answers, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::asks_in_vain, thread)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::grid_reports, grid)
HAM_DEVICE_FUNCTION(ham::device_calls_functions::host_refuses, thread)

namespace ham::inline v1::detail {
namespace {

using namespace device_calls_functions;
using transport::cuda::emulated_device;
using transport::cuda::geometry;

/// As one whose program was compiled for it without one of the sources.
class partial_device final : public transport::device_driver {
 public:
  explicit partial_device(const geometry& of) : all(of) {}
  [[nodiscard]] const char* type() const noexcept override { return all.type(); }
  [[nodiscard]] transport::device_description description() const override { return all.description(); }
  [[nodiscard]] std::span<device::detail::call_queue> queues() noexcept override { return all.queues(); }
  [[nodiscard]] std::span<device::detail::outbox> messages() noexcept override { return all.messages(); }
  [[nodiscard]] bool has(const device::detail::function_entry& function) const noexcept override {
    using missing = device::detail::declared_function<decltype(&of_the_host_only), &of_the_host_only>;
    return &function != &missing::entry();
  }
  void upload(std::uint32_t count) override { all.upload(count); }
  void launch() override { all.launch(); }
  [[nodiscard]] transport::residency state() noexcept override { return all.state(); }
  [[nodiscard]] failure_report failure() override { return all.failure(); }
  [[nodiscard]] std::uint64_t stage(std::span<const std::byte> bytes) override {
    if (bytes.size() > max_staged || staged >= max_at_once) throw std::bad_alloc();
    ++staged;
    return all.stage(bytes);
  }
  void unstage(std::uint64_t address) noexcept override {
    --staged;
    all.unstage(address);
  }

  /// As much memory for arguments as one of these needs.
  static constexpr std::size_t max_staged = std::size_t{1} << 20;
  static constexpr std::size_t max_at_once = 2;
  std::size_t staged = 0;  // the lock of the calls is held
  emulated_device all;
};

class emulated_owner final : public transport::device_owner {
 public:
  explicit emulated_owner(const geometry& of) : of_(of) {}
  [[nodiscard]] std::unique_ptr<transport::device_driver> take_device() override {
    auto made = std::make_unique<partial_device>(of_);
    device = &made->all;
    return made;
  }
  [[nodiscard]] limits device_limits() const noexcept override { return {of_.linger_ns, of_.watchdog_ns}; }

  emulated_device* device = nullptr;

 private:
  const geometry of_;
};

engine* engine_of_node() { return &current(); }

/// Node 1 has a device.
class device_calls_job : public testing::Test {
 protected:
  explicit device_calls_job(const geometry& of = {.blocks = 2, .warps = 2, .lanes = 2, .linger_ns = 2'000'000})
      : owner(of) {
    calls = std::make_unique<device_calls>(
        *reinterpret_cast<engine*>(offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(engine_of_node()); })),
        owner);
  }
  [[nodiscard]] transport::residency state() { return owner.device->state(); }

  runtime job{test::loopback(2)};
  emulated_owner owner;
  std::unique_ptr<device_calls> calls;
};

TEST_F(device_calls_job, run_on_the_device_where_there_is_one) {
  EXPECT_EQ(offload::sync(1, fn<&where_it_runs>), 1);
  EXPECT_EQ(offload::sync(2, fn<&where_it_runs>), 0);
  EXPECT_EQ(where_it_runs(), 0);
  EXPECT_EQ(offload::sync(1, [] { return where_it_runs(); }), 0) << "a function that is none of the device";
}

TEST_F(device_calls_job, of_what_the_device_has_no_version_of_are_refused_by_manifest) {
  const auto key_of = [](const msg::manifest& in, const char* name) {
    const auto& all = in.entries();
    const auto found =
        std::ranges::find_if(all, [&](const auto& one) { return one.pretty().find(name) != std::string::npos; });
    return static_cast<std::uint32_t>(found - all.begin());
  };
  const msg::manifest with_device = msg::manifest::local();
  const std::uint32_t missing = key_of(with_device, "of_the_host_only");
  ASSERT_LT(missing, with_device.entries().size());
  EXPECT_TRUE(with_device.entries()[missing].host_only);
  const std::uint32_t there = key_of(with_device, "where_it_runs");
  ASSERT_LT(there, with_device.entries().size());
  EXPECT_FALSE(with_device.entries()[there].host_only);
  EXPECT_EQ(offload::sync(2, fn<&of_the_host_only>, 5), 5) << "a node without a device";

  calls.reset();
  const msg::manifest without = msg::manifest::local();
  EXPECT_FALSE(without.entries()[missing].host_only);
  EXPECT_FALSE(without.id() == with_device.id()) << "so that the nodes exchange manifests";
  EXPECT_EQ(msg::translation(without, with_device)[missing], msg::translation::host_only);
}

/// A graph of the node itself, which no manifest refuses.
TEST_F(device_calls_job, of_what_the_device_has_no_version_of_fail_as_stages_of_that_name) {
  const auto errors = offload::sync(1, [] {
    offload::graph g;
    auto first = g.call(1, fn<&next_number>, g.input<int>()).name("first");
    auto replay = g.compile(g.call(1, fn<&of_the_host_only>, first).name("missing"));
    std::string all;
    for (int i = 0; i < 3; ++i) {
      try {
        all += std::to_string(replay(i).get());
      } catch (const stage_error& failed) {
        all += failed.what();
      }
      all += '\n';
    }
    return all;
  });
  std::istringstream lines(errors);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_NE(line.find("missing"), std::string::npos) << line;
    EXPECT_NE(line.find("of_the_host_only"), std::string::npos) << line;
  }
  EXPECT_EQ(count, 3);
}

TEST_F(device_calls_job, reach_the_memory_of_their_node) {
  constexpr std::size_t n = 1000;
  std::vector<double> host(n);
  std::iota(host.begin(), host.end(), 0.0);
  for (const node_t node : {1, 2}) {
    auto x = offload::allocate<double>(node, n);
    auto y = offload::allocate<double>(node, n);
    offload::put(host.data(), x, n).get();
    offload::put(host.data(), y, n).get();
    EXPECT_EQ(offload::sync(node, fn<&axpy>, 2.0, x, y, n), 3.0 * (n - 1));
    std::vector<double> back(n);
    offload::get(y, back.data(), n).get();
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(back[i], 3.0 * static_cast<double>(i)) << node;
    offload::free(x);
    offload::free(y);
  }
}

TEST_F(device_calls_job, take_spans_of_any_length) {
  for (const std::uint32_t count : {0U, 3U, 200U, 20'000U}) {
    std::vector<std::uint32_t> values(count);
    std::iota(values.begin(), values.end(), 1U);
    EXPECT_EQ(offload::sync(1, fn<&total>, std::span<const std::uint32_t>(values)),
              std::uint64_t{count} * (count + 1) / 2);
  }
}

TEST_F(device_calls_job, wait_for_memory_of_the_device_for_their_arguments) {
  const std::vector<std::uint32_t> values(1'000, 2U);  // each needs memory, and there is some for two
  std::vector<offload::future<std::uint64_t>> all;
  for (int i = 0; i < 50; ++i) all.push_back(offload::async(1, fn<&total>, std::span<const std::uint32_t>(values)));
  for (auto& one : all) EXPECT_EQ(one.get(), 2'000U);
}

TEST_F(device_calls_job, fail_alone_if_there_is_never_memory_for_their_arguments) {
  const std::vector<std::uint32_t> too_many(partial_device::max_staged / 2, 1U);
  EXPECT_THROW(offload::sync(1, fn<&total>, std::span<const std::uint32_t>(too_many)), std::bad_alloc);
  auto before = offload::async(1, fn<&takes_a_while>, 3);
  auto refused = offload::async(1, fn<&total>, std::span<const std::uint32_t>(too_many));
  auto behind = offload::async(1, fn<&where_it_runs>);
  EXPECT_EQ(before.get(), 3);
  EXPECT_THROW(refused.get(), std::bad_alloc) << "when nothing is in the queues that could give some back";
  EXPECT_EQ(behind.get(), 1) << "the node goes on";
}

TEST_F(device_calls_job, are_pipelined_and_keep_their_order) {
  constexpr int calls_made = 500;
  std::vector<offload::future<int>> all;
  for (int i = 1; i <= calls_made; ++i) all.push_back(offload::async(1, fn<&next_number>, i));
  int before = all.front().get();
  for (int i = 1; i < calls_made; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), i) << before;
  static_cast<void>(offload::sync(1, fn<&next_number>, 0));
}

TEST_F(device_calls_job, of_the_grid_are_one_call) {
  std::vector<offload::future<std::uint32_t>> all;
  for (int i = 0; i < 40; ++i) all.push_back(offload::async(1, fn<&threads_of_grid>));
  for (auto& one : all) EXPECT_EQ(one.get(), 8U);
}

TEST_F(device_calls_job, need_no_result_and_no_caller) {
  offload::sync(1, fn<&gives_nothing>, true);
  offload::ping(1, fn<&gives_nothing>, false);
  EXPECT_EQ(offload::sync(1, fn<&where_it_runs>), 1) << "which ran behind the ping";
}

TEST_F(device_calls_job, of_a_batch_run_there_too) {
  offload::batch several(1);
  auto first = several.add(fn<&where_it_runs>);
  auto second = several.add(fn<&threads_of_grid>);
  several.submit();
  EXPECT_EQ(first.get(), 1);
  EXPECT_EQ(second.get(), 8U);
}

TEST_F(device_calls_job, tell_what_went_wrong) {
  EXPECT_NE(test::message_of<call_error>([] { offload::sync(1, fn<&throws>, 1); }).find("has thrown an exception"),
            std::string::npos);
  EXPECT_THROW(offload::sync(2, fn<&throws>, 1), std::exception) << "there it travels as any other";
  EXPECT_EQ(offload::sync(1, fn<&where_it_runs>), 1) << "the device goes on";
}

TEST_F(device_calls_job, have_run_when_their_context_is_drained_or_closed) {
  constexpr int count = 20;  // more than a queue holds
  slow_ones.store(0);
  offload::context queue(1);
  std::vector<offload::future<int>> results;
  for (int i = 0; i < count; ++i) results.push_back(offload::async(queue, fn<&takes_a_while>, i));
  queue.drain();
  EXPECT_EQ(slow_ones.load(), count);
  for (int i = 0; i < count; ++i) results.push_back(offload::async(queue, fn<&takes_a_while>, i));
  queue.close();
  EXPECT_EQ(slow_ones.load(), 2 * count);
  for (int i = 0; i < 2 * count; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), i % count);
}

TEST_F(device_calls_job, leave_the_device_idle_after_a_while) {
  EXPECT_EQ(offload::sync(1, fn<&where_it_runs>), 1);
  EXPECT_TRUE(test::eventually([this] { return state() == transport::residency::absent; }));
  EXPECT_EQ(offload::sync(1, fn<&where_it_runs>), 1) << "the next call starts it again";
  EXPECT_TRUE(test::eventually([this] { return state() == transport::residency::absent; }));
}

/// As while a node leaves: its contexts take calls until it has gone, and then their callers see its end.
TEST_F(device_calls_job, never_run_on_the_processor_of_a_node_whose_device_has_ended) {
  EXPECT_EQ(offload::sync(1, fn<&where_it_runs>), 1);
  calls.reset();
  auto lost = offload::async(1, fn<&where_it_runs>);
  EXPECT_FALSE(lost.wait_for(std::chrono::milliseconds(20)));
  lost.detach();
  EXPECT_EQ(offload::sync(2, fn<&where_it_runs>), 0) << "a node that has had none";
}

TEST_F(device_calls_job, stop_when_their_caller_wants_that) {
  auto begun = offload::allocate<std::uint64_t>(1, 1);
  const std::uint64_t zero = 0;
  offload::put(&zero, begun, 1).get();
  // The device writes it meanwhile: an access of one instruction, not get(). This process has its memory mapped.
  const auto word = [&] { return __atomic_load_n(begun.get(), __ATOMIC_ACQUIRE); };
  auto result = offload::async(offload::stoppable(1), fn<&stops>, begun);
  EXPECT_TRUE(test::eventually([&] { return word() == 1; }));
  EXPECT_TRUE(result.request_stop());
  EXPECT_GE(result.get(), 1U) << "what it returns when it has seen that";
  EXPECT_EQ(word(), 2U);
  offload::free(begun);
}

class watched_device_calls : public device_calls_job {
 protected:
  static constexpr int watchdog_ms = 1'000;
  watched_device_calls()
      : device_calls_job(
            {.blocks = 1, .warps = 1, .lanes = 1, .linger_ns = 2'000'000, .watchdog_ns = watchdog_ms * 1'000'000LL}) {}
};

/// If the time before its begin counted, too, this process would end.
TEST_F(watched_device_calls, have_their_time_to_stop_from_when_they_begin) {
  auto begun = offload::allocate<std::uint64_t>(1, 1);
  auto before = offload::async(1, fn<&sleep_ms>, watchdog_ms * 3 / 2);
  auto result = offload::async(offload::stoppable(1), fn<&stops>, begun);
  EXPECT_TRUE(result.request_stop());
  EXPECT_TRUE(before.get());
  try {
    EXPECT_GE(result.get(), 1U);
  } catch (const operation_cancelled&) {  // it was stopped before it was in the device's queue
  }
  offload::free(begun);
}

TEST_F(device_calls_job, report_to_the_host_in_order) {
  reports.clear();
  constexpr int count = 1000;  // more than there is room for
  EXPECT_EQ(offload::sync(1, fn<&reports_many>, count), count);
  EXPECT_TRUE(test::eventually([] {
    offload::progress();
    return reports.size() == static_cast<std::size_t>(count);
  }));
  for (int i = 0; i < count; ++i) ASSERT_EQ(reports[static_cast<std::size_t>(i)], i);
}

TEST_F(device_calls_job, report_in_the_order_of_their_warp) {
  reports.clear();
  constexpr int count = 400;  // more than there is room for
  EXPECT_EQ(offload::sync(1, fn<&warp_reports>, count), 2) << "the lanes";
  EXPECT_TRUE(test::eventually([] {
    offload::progress();
    return reports.size() == static_cast<std::size_t>(count);
  }));
  for (int i = 0; i < count; ++i) ASSERT_EQ(reports[static_cast<std::size_t>(i)], i);
}

TEST_F(device_calls_job, ask_the_host_and_wait_for_its_answer) {
  EXPECT_EQ(offload::sync(1, fn<&asks_the_host>, 1.5), 3.0 + 5.0);
  EXPECT_EQ(offload::sync(2, fn<&asks_the_host>, 1.5), 3.0 + 5.0) << "without a device, too";
  EXPECT_FALSE(offload::sync(1, fn<&host_refuses>, 1.5));
}

TEST_F(device_calls_job, may_drop_answers) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(offload::sync(1, fn<&drops_answers>, 1.5), 3.0);
    EXPECT_EQ(offload::sync(1, fn<&keeps_answers>, 1.0), 2.0 * device::detail::answer_slots);
  }
  EXPECT_EQ(offload::sync(2, fn<&drops_answers>, 1.5), 3.0) << "without a device, too";
}

/// Else the watchdog would end this process.
TEST_F(device_calls_job, await_no_answer_when_they_are_to_stop) {
  auto begun = offload::allocate<std::uint64_t>(1, 1);
  const std::uint64_t zero = 0;
  offload::put(&zero, begun, 1).get();
  answers_are_due.store(false);
  auto result = offload::async(offload::stoppable(1), fn<&asks_in_vain>, begun);
  EXPECT_TRUE(test::eventually([&] { return __atomic_load_n(begun.get(), __ATOMIC_ACQUIRE) == 1; }));
  EXPECT_TRUE(result.request_stop());
  EXPECT_EQ(result.get(), static_cast<int>(device::detail::answer_slots) + 1);
  EXPECT_FALSE(owner.device->awaits_answers());
  answers_are_due.store(true);
  for (int i = 0; i < 3; ++i)  // while the late ones come
    EXPECT_EQ(offload::sync(1, fn<&keeps_answers>, 1.0), 2.0 * device::detail::answer_slots);
  offload::free(begun);
}

TEST_F(device_calls_job, ask_from_all_blocks_of_a_grid) {
  blocks_that_reported.store(0);
  constexpr std::uint32_t threads_of_block = 4;
  for (int i = 1; i <= 10; ++i) {
    EXPECT_EQ(offload::sync(1, fn<&grid_reports>, threads_of_block), 1);
    EXPECT_TRUE(test::eventually([i] {
      offload::progress();
      return blocks_that_reported.load() == 2 * i;
    }));
  }
}

TEST_F(device_calls_job, ask_again_when_the_kernel_has_left) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(offload::sync(1, fn<&drops_answers>, 1.5), 3.0);
    EXPECT_TRUE(test::eventually([&] { return state() == transport::residency::absent; }));
    EXPECT_FALSE(owner.device->awaits_answers());
  }
}

TEST_F(device_calls_job, ask_functions_of_their_own_node_that_ask_the_device) {
  told_by_ping.store(0);
  EXPECT_EQ(offload::sync(1, fn<&pings_who_asks>, 1.5), 1);
  EXPECT_TRUE(test::eventually([] {
    offload::progress();
    return told_by_ping.load() == 3.0 + 5.0;
  }));
  EXPECT_EQ(offload::sync(1, fn<&asks_who_asks>, 1.5), 3.0 + 5.0);
}

}  // namespace
}  // namespace ham::detail

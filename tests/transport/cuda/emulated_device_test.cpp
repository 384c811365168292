// The resident loop, its queues and its table on a device of threads, without a node around it.
#include "transport/cuda/emulated_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "bulk.hpp"
#include "some_attempt.hpp"

namespace ham::inline v1::emulated_device_functions {

double scaled(double x, int factor) { return x * factor; }
std::uint32_t who_is_here() {
  device::sync();
  return device::size();
}
struct mark_request {
  std::uint64_t at;  // of a std::uint32_t for each thread
};
std::uint32_t mark(mark_request where) {
  auto* const marks = reinterpret_cast<std::uint32_t*>(static_cast<std::uintptr_t>(where.at));
  marks[device::rank()] += device::rank() + 1;
  device::sync();
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < device::size(); ++i) sum += marks[i];
  return sum;
}
std::uint32_t mark_block(mark_request where) { return mark(where); }
std::uint32_t mark_grid(mark_request where) { return mark(where); }
std::atomic<bool> goes_on{false};
void until_it_may_go_on(bool) {
  while (!goes_on.load()) std::this_thread::yield();
}
std::uint32_t next_of(std::uint32_t value) { return value + 1; }
double sum(std::span<const double> of) {
  double result = 0;
  for (const double one : of) result += one;
  return result;
}
void fails() { throw std::string("no"); }
void traps(int) { device::trap("illegal address"); }
std::atomic<std::uint32_t> begun_calls{0};
std::uint32_t until_stopped(bool) {
  std::uint32_t rounds = 0;
  begun_calls.fetch_add(1);
  while (!device::stop_requested()) ++rounds;
  return rounds == 0 ? 1 : 2;
}

}  // namespace ham::emulated_device_functions

HAM_DEVICE_FUNCTION(ham::emulated_device_functions::scaled, thread)
HAM_DEVICE_FUNCTION(ham::emulated_device_functions::until_it_may_go_on, thread)
HAM_DEVICE_FUNCTION(ham::emulated_device_functions::next_of, thread)
HAM_DEVICE_FUNCTION(ham::emulated_device_functions::who_is_here, warp)
HAM_DEVICE_FUNCTION(ham::emulated_device_functions::mark, warp)
HAM_DEVICE_FUNCTION(ham::emulated_device_functions::mark_block, block)
HAM_DEVICE_FUNCTION(ham::emulated_device_functions::mark_grid, grid)
HAM_DEVICE_FUNCTION(ham::emulated_device_functions::sum, block)
HAM_DEVICE_FUNCTION(ham::emulated_device_functions::fails, thread)
HAM_DEVICE_FUNCTION(ham::emulated_device_functions::traps, thread)
HAM_DEVICE_FUNCTION(ham::emulated_device_functions::until_stopped, thread)

namespace ham::inline v1::transport::cuda {
namespace {

using namespace emulated_device_functions;
using device::call_status;
namespace wire = device::detail;

template <auto Function>
std::uint32_t number_of() {
  return wire::declared_function<decltype(Function), Function>::entry().number();
}

/// One device, and calls to it by hand.
class device_here {
 public:
  explicit device_here(const geometry& of) : driver(of), sent_(of.blocks), received_(of.blocks) {
    driver.upload(wire::count_functions());
    driver.launch();
  }
  ~device_here() {
    if (driver.state() == residency::resident) leave();
    for (const std::uint64_t one : staged_) driver.unstage(one);
  }

  template <class... Args>
  void send(std::uint32_t block, std::uint32_t function, const Args&... args) {
    wire::call_queue& queue = driver.queues()[block];
    wire::argument_writer counted(nullptr);
    (counted.put(args), ...);
    std::uint64_t elsewhere = 0;
    if (counted.size() > wire::max_arguments) {
      std::vector<std::byte> bytes(counted.size());
      wire::argument_writer to(bytes.data());
      (to.put(args), ...);
      elsewhere = driver.stage(bytes);
      staged_.push_back(elsewhere);
    } else {
      wire::argument_writer to(wire::call_room(queue, sent_[block]));
      (to.put(args), ...);
    }
    wire::send_call(queue, sent_[block]++, function, static_cast<std::uint32_t>(counted.size()), elsewhere);
  }
  /// The calls of a chain, one behind the other.
  void send_chain(std::uint32_t block, const std::vector<std::uint64_t>& words) {
    wire::call_queue& queue = driver.queues()[block];
    const std::size_t size = words.size() * sizeof(std::uint64_t);
    if (size != 0) std::memcpy(wire::call_room(queue, sent_[block]), words.data(), size);
    wire::send_call(queue, sent_[block]++, wire::chain_function, size, 0);
  }
  /// The next reply of a block; nullptr: the device has failed.
  const wire::reply_slot* receive(std::uint32_t block) {
    base::backoff<base::backoff_schedule{.spins = 100, .yields = 100}> pause;
    for (;;) {
      if (const auto* const found = wire::find_reply(driver.queues()[block], received_[block], base::now_ns())) {
        ++received_[block];
        return found;
      }
      if (driver.state() == residency::failed) return nullptr;
      pause.wait();
    }
  }
  template <class Result, class... Args>
  Result call(std::uint32_t block, std::uint32_t function, const Args&... args) {
    send(block, function, args...);
    const wire::reply_slot* const reply = receive(block);
    EXPECT_EQ(wire::status_of(*reply), call_status::done);
    EXPECT_EQ(wire::size_of(*reply), sizeof(Result));
    Result result{};
    std::memcpy(&result, reply->result, sizeof result);
    return result;
  }
  void stop(std::uint32_t block) { wire::send_stop(driver.queues()[block], sent_[block] - 1); }
  /// The last call of that block.
  void cancel(std::uint32_t block) { wire::cancel_call(driver.queues()[block], sent_[block] - 1); }
  void leave() {
    for (std::uint32_t i = 0; i < driver.queues().size(); ++i) send(i, wire::leave_function);
    for (std::uint32_t i = 0; i < driver.queues().size(); ++i) static_cast<void>(receive(i));
    while (driver.state() == residency::resident) base::yield();
  }

  emulated_device driver;

 private:
  std::vector<std::uint64_t> sent_, received_;
  std::vector<std::uint64_t> staged_;
};

geometry small() { return {.blocks = 2, .warps = 2, .lanes = 2}; }

TEST(emulated_device, describes_itself) {
  const device_description of = emulated_device({.blocks = 3, .arena_bytes = 5'000'000}).description();
  EXPECT_NE(of.name.find("emulated"), std::string::npos) << of.name;
  EXPECT_EQ(of.processors, 3U);
  EXPECT_EQ(of.memory_bytes, 5'000'000U);
  EXPECT_EQ(emulated_device({.memory = memory_kind::shared}).description().memory_bytes, 0U) << "it has none";
}

TEST(emulated_device, executes_calls_without_a_launch_for_each) {
  device_here gpu(small());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(gpu.call<double>(i % 2 == 0 ? 0 : 1, number_of<&scaled>(), 1.5, i), 1.5 * i);
}

TEST(emulated_device, keeps_many_calls_of_a_queue_in_order) {
  device_here gpu(small());
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t i = 0; i < wire::queue_slots; ++i)
      gpu.send(0, number_of<&scaled>(), static_cast<double>(round), static_cast<int>(i));
    for (std::uint64_t i = 0; i < wire::queue_slots; ++i) {
      double result = -1;
      std::memcpy(&result, gpu.receive(0)->result, sizeof result);
      EXPECT_EQ(result, round * static_cast<double>(i));
    }
  }
}

TEST(emulated_device, runs_a_function_by_as_many_threads_as_it_declares) {
  device_here gpu(small());
  EXPECT_EQ(gpu.call<std::uint32_t>(0, number_of<&who_is_here>()), 2U);
  std::vector<std::uint32_t> marks(8);
  const mark_request where{reinterpret_cast<std::uintptr_t>(marks.data())};
  EXPECT_EQ(gpu.call<std::uint32_t>(1, number_of<&mark>(), where), 3U);
  EXPECT_EQ(marks, (std::vector<std::uint32_t>{1, 2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(gpu.call<std::uint32_t>(1, number_of<&mark_block>(), where), 3U + 10U);
  EXPECT_EQ(marks, (std::vector<std::uint32_t>{2, 4, 3, 4, 0, 0, 0, 0}));
}

TEST(emulated_device, runs_a_function_of_the_grid_by_all_blocks) {
  device_here gpu(small());
  std::vector<std::uint32_t> marks(8);
  const mark_request where{reinterpret_cast<std::uintptr_t>(marks.data())};
  gpu.send(0, number_of<&mark_grid>(), where);
  gpu.send(1, number_of<&mark_grid>(), where);
  const wire::reply_slot* const first = gpu.receive(0);
  const wire::reply_slot* const second = gpu.receive(1);
  std::uint32_t result = 0;
  ASSERT_EQ(wire::size_of(*first), sizeof result);
  std::memcpy(&result, first->result, sizeof result);
  EXPECT_EQ(result, 36U);
  EXPECT_EQ(wire::size_of(*second), 0U) << "the result is that of rank 0, which is in the first block";
  EXPECT_EQ(marks, (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(emulated_device, takes_arguments_of_any_length) {
  device_here gpu(small());
  for (const std::size_t count : {0U, 1U, 3U, 4U, 100U, 124U, 125U, 5000U}) {
    const std::vector<double> values(count, 0.5);
    EXPECT_EQ(gpu.call<double>(0, number_of<&sum>(), std::span<const double>(values)),
              0.5 * static_cast<double>(count));
  }
}

TEST(emulated_device, goes_on_where_it_was_after_it_has_left) {
  device_here gpu(small());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(gpu.call<double>(0, number_of<&scaled>(), 2.0, i), 2.0 * i);
    gpu.leave();
    EXPECT_EQ(gpu.driver.state(), residency::absent);
    gpu.send(0, number_of<&scaled>(), 3.0, i);  // while nobody is there
    gpu.driver.launch();
    double result = -1;
    std::memcpy(&result, gpu.receive(0)->result, sizeof result);
    EXPECT_EQ(result, 3.0 * i);
  }
}

TEST(emulated_device, tells_what_a_function_has_thrown) {
  device_here gpu(small());
  gpu.send(0, number_of<&fails>());
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::threw);
  EXPECT_EQ(gpu.call<double>(0, number_of<&scaled>(), 2.0, 2), 4.0) << "the device goes on";
}

TEST(emulated_device, fails_for_good_when_a_function_faults) {
  device_here gpu(small());
  gpu.send(1, number_of<&traps>(), 1);
  EXPECT_EQ(gpu.receive(1), nullptr);
  EXPECT_EQ(gpu.driver.state(), residency::failed);
  EXPECT_EQ(gpu.driver.failure().what, "illegal address");
  EXPECT_EQ(gpu.driver.failure().functions, std::vector<std::uint32_t>{number_of<&traps>()});
}

TEST(emulated_device, tells_a_function_that_it_is_to_stop) {
  device_here gpu(small());
  gpu.send(0, number_of<&until_stopped>(), true);
  EXPECT_EQ(wire::find_reply(gpu.driver.queues()[0], 0, base::never_ns), nullptr);
  gpu.stop(0);
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::done);
  gpu.send(0, number_of<&until_stopped>(), true);
  base::sleep_ns(1'000'000);
  EXPECT_EQ(wire::find_reply(gpu.driver.queues()[0], 1, base::never_ns), nullptr) << "the stop was for another call";
  gpu.stop(0);
  EXPECT_NE(gpu.receive(0), nullptr);
}

TEST(emulated_device, executes_no_call_that_was_cancelled_before_it_began) {
  device_here gpu(small());
  std::vector<std::uint32_t> marks(8);
  const mark_request where{reinterpret_cast<std::uintptr_t>(marks.data())};
  gpu.send(0, number_of<&until_stopped>(), true);
  gpu.send(0, number_of<&mark_block>(), where);
  gpu.cancel(0);
  gpu.send(0, number_of<&scaled>(), 2.0, 3);
  wire::send_stop(gpu.driver.queues()[0], 0);
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::done);
  const wire::reply_slot* const cancelled = gpu.receive(0);
  EXPECT_EQ(wire::status_of(*cancelled), call_status::stopped);
  EXPECT_EQ(wire::size_of(*cancelled), 0U);
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::done) << "the call behind it";
  EXPECT_EQ(marks, std::vector<std::uint32_t>(8));
}

TEST(emulated_device, goes_on_with_a_call_that_is_cancelled_when_it_has_begun) {
  device_here gpu(small());
  const std::uint32_t before = begun_calls.load();
  gpu.send(0, number_of<&until_stopped>(), true);
  while (begun_calls.load() == before) base::yield();
  gpu.cancel(0);
  EXPECT_EQ(wire::executed_function(gpu.driver.queues()[0]), number_of<&until_stopped>()) << "if it fails now";
  gpu.stop(0);
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::done);
}

/// A call of a chain: its function, its arguments, and what it takes from earlier ones.
template <class... Args>
void add_call(std::vector<std::uint64_t>& chain, std::uint32_t function, std::initializer_list<wire::chain_copy> copies,
              const Args&... args) {
  wire::argument_writer counted(nullptr);
  (counted.put(args), ...);
  const wire::chain_step head{function, true, counted.size(), copies.size()};
  chain.push_back(head.word());
  chain.resize(chain.size() + head.argument_words());
  wire::argument_writer to(reinterpret_cast<std::byte*>(chain.data() + chain.size() - head.argument_words()));
  (to.put(args), ...);
  for (const wire::chain_copy& one : copies) chain.push_back(one.word());
}
void add_call_of_copies(std::vector<std::uint64_t>& chain, std::uint32_t function, std::uint64_t size,
                        std::initializer_list<wire::chain_copy> copies) {
  chain.push_back(wire::chain_step{function, false, size, copies.size()}.word());
  for (const wire::chain_copy& one : copies) chain.push_back(one.word());
}
/// That of a chain which has failed.
std::uint64_t step_of(const wire::reply_slot& reply) {
  std::uint64_t step = 0;
  EXPECT_EQ(wire::size_of(reply), sizeof step);
  std::memcpy(&step, reply.result, sizeof step);
  return step;
}

TEST(emulated_device, executes_a_chain_and_replies_once) {
  device_here gpu(small());
  std::vector<std::uint32_t> marks(8);
  const mark_request where{reinterpret_cast<std::uintptr_t>(marks.data())};
  std::vector<std::uint64_t> chain;
  add_call(chain, number_of<&scaled>(), {}, 1.5, 2);                              // 3, at 0
  add_call(chain, number_of<&mark_block>(), {}, where);                           // 10, at 16
  add_call(chain, number_of<&who_is_here>(), {});                                 // 2, at 32
  add_call(chain, number_of<&scaled>(), {{0, 0, 8}, {16, 8, 4}}, 0.0, 0);         // 30, at 48
  add_call_of_copies(chain, number_of<&scaled>(), 12, {{48, 0, 8}, {32, 8, 4}});  // 60
  for (int i = 1; i <= 20; ++i) {
    gpu.send_chain(0, chain);
    gpu.send(0, number_of<&scaled>(), 2.0, i);
    const wire::reply_slot* const reply = gpu.receive(0);
    ASSERT_EQ(wire::status_of(*reply), call_status::done);
    ASSERT_EQ(wire::size_of(*reply), sizeof(double));
    double result = 0;
    std::memcpy(&result, reply->result, sizeof result);
    EXPECT_EQ(result, 60.0 * i) << "mark_block gives 10 more each time";
    std::memcpy(&result, gpu.receive(0)->result, sizeof result);
    EXPECT_EQ(result, 2.0 * i) << "the reply behind it is that of the next call";
  }
  EXPECT_EQ(marks, (std::vector<std::uint32_t>{20, 40, 60, 80, 0, 0, 0, 0}));
}

TEST(emulated_device, says_which_call_of_a_chain_has_failed) {
  device_here gpu(small());
  std::vector<std::uint32_t> marks(8);
  const mark_request where{reinterpret_cast<std::uintptr_t>(marks.data())};
  std::vector<std::uint64_t> chain;
  add_call(chain, number_of<&scaled>(), {}, 1.0, 1);
  add_call(chain, number_of<&fails>(), {});
  add_call(chain, number_of<&mark_block>(), {}, where);
  gpu.send_chain(0, chain);
  const wire::reply_slot* const reply = gpu.receive(0);
  EXPECT_EQ(wire::status_of(*reply), call_status::threw);
  EXPECT_EQ(step_of(*reply), 1U);
  EXPECT_EQ(marks, std::vector<std::uint32_t>(8)) << "what follows does not begin";
  EXPECT_EQ(gpu.call<double>(0, number_of<&scaled>(), 2.0, 2), 4.0) << "the device goes on";
}

TEST(emulated_device, says_which_call_of_a_chain_it_executes) {
  device_here gpu(small());
  std::vector<std::uint64_t> chain;
  add_call(chain, number_of<&scaled>(), {}, 1.0, 1);
  add_call(chain, number_of<&until_stopped>(), {}, true);
  const std::uint32_t before = begun_calls.load();
  gpu.send_chain(0, chain);
  while (begun_calls.load() == before) base::yield();
  EXPECT_EQ(wire::executed_step(gpu.driver.queues()[0], wire::stamp_of(0)), 1U);
  EXPECT_EQ(wire::executed_function(gpu.driver.queues()[0]), number_of<&until_stopped>());
  gpu.stop(0);
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::done);
  EXPECT_EQ(wire::executed_step(gpu.driver.queues()[0], wire::stamp_of(1)), 0U) << "of another chain";
  chain.clear();
  add_call(chain, number_of<&scaled>(), {}, 1.0, 1);
  add_call(chain, number_of<&traps>(), {}, 1);
  gpu.send_chain(0, chain);
  EXPECT_EQ(gpu.receive(0), nullptr);
  EXPECT_EQ(gpu.driver.failure().functions, std::vector<std::uint32_t>{number_of<&traps>()});
}

TEST(emulated_device, begins_no_call_of_a_chain_behind_a_stop) {
  device_here gpu(small());
  std::vector<std::uint32_t> marks(8);
  const mark_request where{reinterpret_cast<std::uintptr_t>(marks.data())};
  std::vector<std::uint64_t> chain;
  add_call(chain, number_of<&until_stopped>(), {}, true);
  add_call(chain, number_of<&mark_block>(), {}, where);
  gpu.send_chain(0, chain);
  gpu.stop(0);
  const wire::reply_slot* const reply = gpu.receive(0);
  EXPECT_EQ(wire::status_of(*reply), call_status::stopped);
  EXPECT_EQ(step_of(*reply), 1U);
  gpu.send(0, number_of<&until_stopped>(), true);
  gpu.send_chain(0, chain);
  gpu.cancel(0);
  wire::send_stop(gpu.driver.queues()[0], 1);
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::done);
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::stopped) << "cancelled before it began";
  EXPECT_EQ(marks, std::vector<std::uint32_t>(8));
}

TEST(emulated_device, asks_for_a_stop_of_a_chain_over_a_slow_link) {
  constexpr std::int64_t read_ns = 1000;
  device_here gpu({.blocks = 1, .warps = 2, .lanes = 2, .read_ns = read_ns});
  std::vector<std::uint32_t> marks(4);
  const mark_request where{reinterpret_cast<std::uintptr_t>(marks.data())};
  std::vector<std::uint64_t> chain;
  add_call(chain, number_of<&until_stopped>(), {}, true);
  add_call(chain, number_of<&mark_block>(), {}, where);
  const std::uint32_t before = begun_calls.load();
  gpu.send_chain(0, chain);
  while (begun_calls.load() == before) base::yield();
  for (const std::int64_t begin = base::now_ns(); base::now_ns() - begin < 20 * read_ns;) base::yield();
  gpu.stop(0);
  const wire::reply_slot* const reply = gpu.receive(0);
  EXPECT_EQ(wire::status_of(*reply), call_status::stopped);
  EXPECT_EQ(step_of(*reply), 1U);
  EXPECT_EQ(marks, std::vector<std::uint32_t>(4));
}

/// What nobody sends.
TEST(emulated_device, executes_no_call_of_a_chain_that_is_none) {
  device_here gpu(small());
  const auto refuses = [&](const std::vector<std::uint64_t>& chain, call_status expected, const char* what) {
    gpu.send_chain(0, chain);
    EXPECT_EQ(wire::status_of(*gpu.receive(0)), expected) << what;
  };
  const std::uint32_t function = number_of<&scaled>();
  std::vector<std::uint64_t> first;
  add_call(first, function, {}, 1.5, 2);
  refuses({}, call_status::wrong_size, "no call");
  const auto with = [&first](wire::chain_step step, std::vector<std::uint64_t> words) {
    std::vector<std::uint64_t> all = first;
    all.push_back(step.word());
    all.insert(all.end(), words.begin(), words.end());
    return all;
  };
  refuses(with({function, true, 12, 0}, {1}), call_status::wrong_size, "arguments behind the end");
  refuses(with({function, false, 12, 1U << 23U}, {1}), call_status::wrong_size, "copies behind the end");
  refuses(with({function, true, 8, 0}, {1}), call_status::wrong_size, "too short for the function");
  refuses(with({function, false, 12, 1}, {wire::chain_copy{9, 0, 8}.word()}), call_status::wrong_size,
          "a later result");
  refuses(with({function, false, 12, 1}, {wire::chain_copy{0, 0, UINT32_MAX}.word()}), call_status::wrong_size, "long");
  refuses(with({function, false, 12, 1}, {wire::chain_copy{0, 5, 8}.word()}), call_status::wrong_size, "not in it");
  refuses(with({function, false, 12, 0}, {}), call_status::wrong_size, "no arguments");
  refuses(with({function, false, 12, 1}, {wire::chain_copy{0, 0, 8}.word()}), call_status::wrong_size, "too few");
  refuses(with({function, false, 12, 1}, {wire::chain_copy{0, 4, 8}.word()}), call_status::wrong_size, "not the first");
  refuses(with({function, false, 12, 2}, {wire::chain_copy{0, 0, 4}.word(), wire::chain_copy{0, 8, 4}.word()}),
          call_status::wrong_size, "a gap");
  refuses(with({wire::count_functions(), false, 0, 0}, {}), call_status::no_function, "no function");
  refuses(with({wire::chain_function, false, 0, 0}, {}), call_status::no_function, "a chain");
  refuses(with({wire::leave_function, false, 0, 0}, {}), call_status::no_function, "a leave");
  refuses(with({number_of<&mark_grid>(), true, 8, 0}, {0}), call_status::wrong_size, "all blocks");
  const std::vector<double> many(200);
  gpu.send(1, wire::chain_function, std::span<const double>(many));
  EXPECT_EQ(wire::status_of(*gpu.receive(1)), call_status::wrong_size) << "elsewhere";
  EXPECT_EQ(gpu.call<double>(0, function, 2.0, 2), 4.0) << "the device goes on";
}

/// What a device does for calls of one function that are in its queue when it comes.
link_counts work_for_waiting_calls(device_here& gpu, std::uint32_t calls) {
  gpu.leave();
  for (std::uint32_t i = 0; i < calls; ++i) gpu.send(0, number_of<&next_of>(), i);
  const link_counts before = gpu.driver.link().counts();
  gpu.driver.launch();
  for (std::uint32_t i = 0; i < calls; ++i) {
    std::uint32_t result = 0;
    std::memcpy(&result, gpu.receive(0)->result, sizeof result);
    EXPECT_EQ(result, i + 1);
  }
  const link_counts after = gpu.driver.link().counts();
  return {after.reads - before.reads, after.writes - before.writes, after.fences - before.fences};
}

TEST(emulated_device, reads_the_headers_of_all_calls_of_its_queue_with_one_access) {
  device_here gpu({.blocks = 1, .warps = 1, .lanes = 1, .read_ns = 2'000'000});
  EXPECT_TRUE(test::in_some_attempt([&] { return work_for_waiting_calls(gpu, wire::queue_slots).reads == 1; }))
      << "unless that was long ago";
}

TEST(emulated_device, writes_replies_to_short_calls_behind_one_fence) {
  device_here gpu({.blocks = 1, .warps = 1, .lanes = 1, .read_ns = 2'000'000});
  EXPECT_TRUE(test::in_some_attempt([&] { return work_for_waiting_calls(gpu, wire::queue_slots).fences <= 3; }))
      << "the first time it is not known to be short; then eight, and seven";
}

/// Whether the next reply of the block comes while the call behind it waits.
bool is_answered_soon(device_here& gpu, std::uint64_t position) {
  constexpr std::int64_t limit_ns = 10'000'000'000;
  for (const std::int64_t begin = base::now_ns(); base::now_ns() - begin < limit_ns; base::yield())
    if (wire::find_reply(gpu.driver.queues()[0], position, base::never_ns) != nullptr) return true;
  return false;
}

/// They might wait for what the host does when it has the reply.
TEST(emulated_device, keeps_no_reply_while_a_function_asks_whether_it_is_to_stop) {
  device_here gpu({.blocks = 1, .warps = 1, .lanes = 1, .read_ns = 50'000'000});
  wire::call_queue& queue = gpu.driver.queues()[0];
  gpu.leave();
  constexpr std::uint64_t first = 1;
  wire::send_stop(queue, first);
  gpu.send(0, number_of<&until_stopped>(), true);  // so that it is known to be short
  gpu.send(0, number_of<&next_of>(), 1U);
  gpu.send(0, number_of<&until_stopped>(), true);
  gpu.driver.launch();
  EXPECT_TRUE(is_answered_soon(gpu, first + 1));
  wire::send_stop(queue, first + 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::done);
}
TEST(emulated_device, keeps_no_reply_while_a_function_runs_that_was_never_short) {
  device_here gpu({.blocks = 1, .warps = 1, .lanes = 1, .read_ns = 50'000'000});
  gpu.leave();
  goes_on.store(false);
  gpu.send(0, number_of<&next_of>(), 1U);
  gpu.send(0, number_of<&until_it_may_go_on>(), true);
  gpu.driver.launch();
  EXPECT_TRUE(is_answered_soon(gpu, 1));
  goes_on.store(true);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::done);
}

TEST(emulated_device, takes_no_call_long_after_it_has_read_its_header) {
  constexpr std::int64_t read_ns = 20'000;
  device_here gpu({.blocks = 1, .warps = 2, .lanes = 2, .read_ns = read_ns});
  std::vector<std::uint32_t> marks(4);
  const mark_request where{reinterpret_cast<std::uintptr_t>(marks.data())};
  gpu.leave();
  const std::uint32_t before = begun_calls.load();
  gpu.send(0, number_of<&until_stopped>(), true);
  gpu.send(0, number_of<&mark_block>(), where);
  gpu.driver.launch();
  while (begun_calls.load() == before) base::yield();
  gpu.cancel(0);
  for (const std::int64_t begin = base::now_ns(); base::now_ns() - begin < 10 * read_ns;) base::yield();
  wire::send_stop(gpu.driver.queues()[0], 1);
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::done);
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::stopped);
  EXPECT_EQ(marks, std::vector<std::uint32_t>(4));
}

TEST(emulated_device, takes_as_long_as_its_link) {
  device_here gpu({.blocks = 1, .warps = 1, .lanes = 1, .read_ns = 300'000, .write_ns = 500'000});
  const std::int64_t begin = base::now_ns();
  EXPECT_EQ(gpu.call<double>(0, number_of<&scaled>(), 2.0, 3), 6.0);
  EXPECT_GE(base::now_ns() - begin, 650'000) << "half a read and a write are on the way of every call";
}

/// What nobody sends: slots that are no call of this position.
TEST(emulated_device, takes_no_slot_without_its_stamp) {
  device_here gpu({.blocks = 1, .warps = 1, .lanes = 1});
  std::mt19937_64 random(23);
  for (int round = 0; round < 200; ++round) {
    wire::call_queue& queue = gpu.driver.queues()[0];
    const auto position = static_cast<std::uint64_t>(round);
    for (std::byte& one : queue.call_at(position).arguments) one = static_cast<std::byte>(random());
    for (wire::call_header& one : queue.headers) {
      one.first_argument = random();
      wire::release(one.what, random() | std::uint64_t{1} << 63);
    }
    base::yield();
    EXPECT_EQ(wire::find_reply(queue, static_cast<std::uint64_t>(round), base::never_ns), nullptr);
    EXPECT_EQ(gpu.call<double>(0, number_of<&scaled>(), 1.5, round), 1.5 * round) << "and what is one is executed";
  }
}

/// What nobody sends: numbers, sizes and arguments by chance.
TEST(emulated_device, executes_nothing_that_is_no_call) {
  device_here gpu({.blocks = 1, .warps = 1, .lanes = 1});
  std::mt19937_64 random(17);
  const std::uint32_t functions = wire::count_functions();
  int refused = 0;
  const char* const set = std::getenv("HAM_TEST_ROUNDS");  // 50: a million
  constexpr int a_round = test::unless_sanitized(20'000, 2'000);
  const int rounds = a_round * std::clamp(set == nullptr ? 1 : std::atoi(set), 1, 1000);
  for (int i = 0; i < rounds; ++i) {
    std::uint32_t function = static_cast<std::uint32_t>(random());
    if (i % 2 == 0) function = functions + function % 1000;
    function %= wire::chain_function;
    if (function < functions) function = functions;
    std::vector<std::byte> bytes(random() % 64);
    for (std::byte& one : bytes) one = static_cast<std::byte>(random());
    gpu.send(0, function, std::span<const std::byte>(bytes));
    refused += wire::status_of(*gpu.receive(0)) == call_status::no_function ? 1 : 0;
  }
  EXPECT_EQ(refused, rounds);
  gpu.send(0, number_of<&scaled>(), 1.0);  // and no factor
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::wrong_size);
  gpu.send(0, number_of<&sum>(), std::uint64_t{1} << 60);  // elements that are not there
  EXPECT_EQ(wire::status_of(*gpu.receive(0)), call_status::wrong_size);
}

}  // namespace
}  // namespace ham::transport::cuda

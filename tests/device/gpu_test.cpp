// Device functions as nvcc compiles them, on a GPU: tests/device/CMakeLists.txt. Everywhere else the same tests run on
// an emulated one, which shows that they test what they should.
// link: ham::ham
// env: HAM_GPU_TEST_NODES=cuda-emulated:1
// timeout: 300
#include "functions.hpp"
#include "kernels.hpp"
#include "multiprocess/support.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>

#include "ham/cuda.hpp"
#include "ham/offload/context.hpp"
#include "ham/offload/counters.hpp"
#include "ham/offload/graph.hpp"

// ---- what devices call

namespace device_functions {
namespace {

struct received {
  std::mutex mutex;
  std::vector<progress> reports;
  std::set<std::uint32_t> threads;
};
received& what_has_come() {
  static received all;
  return all;
}

}  // namespace

void report(progress now) {
  std::lock_guard guard(what_has_come().mutex);
  what_has_come().reports.push_back(now);
}
double damping(std::uint32_t step) { return 1.0 / (1.0 + step); }
void note_thread(std::uint32_t thread, double) noexcept {
  std::lock_guard guard(what_has_come().mutex);
  what_has_come().threads.insert(thread);
}
int refuses(int value) { throw std::runtime_error("no " + std::to_string(value)); }
/// On a GPU with what waits for the resident kernel.
bool has_the_device_alone([[maybe_unused]] bool is_gpu) {
  return ham::cuda::while_absent([&] {
#ifdef GPU_TEST_KERNELS
    if (is_gpu) launched_kernels::allocate(std::size_t{1} << 20);
#endif
    return true;
  });
}

}  // namespace device_functions

namespace {

using namespace ham;
using namespace ham::test;
using namespace device_functions;
constexpr node_t gpu = 1;

std::string nodes_here() {
  const char* const said = std::getenv("HAM_GPU_TEST_NODES");
  return said == nullptr ? "cuda/arena=1024" : said;
}

/// Why the tests cannot run; empty: they can. Target processes are asked nothing: their host was.
std::string missing() {
  if (std::getenv("HAM_TARGET") != nullptr || nodes_here().starts_with("cuda-emulated")) return {};
  return std::system("nvidia-smi -L > /dev/null 2>&1") == 0 ? "" : "nvidia-smi shows no GPU on this machine";
}

class on_a_gpu : public testing::Test {
 protected:
  void SetUp() override {
    static const std::string why = missing();
    if (!why.empty()) GTEST_SKIP() << why;
    up.emplace(nodes(nodes_here()));
  }
  [[nodiscard]] static node_counters::device_use use() {
    for (const job_counters& job : read_counters(::getpid()))
      for (const node_counters& node : job.nodes)
        if (node.number == gpu && node.device.there) return node.device;
    return {};
  }
  std::optional<runtime> up;
};

/// By the node that executes this.
std::uint64_t bytes_sent_to(node_t node) { return offload::stats_with(node).bytes_sent; }

std::vector<double> counted(std::size_t n) {
  std::vector<double> result(n);
  std::iota(result.begin(), result.end(), 1.0);
  return result;
}

TEST_F(on_a_gpu, functions_of_every_scope_run) {
  const std::uint32_t all = offload::sync(gpu, fn<&grid_threads>);
  EXPECT_GT(all, 1U);
  offload::sync(gpu, fn<&nothing>);
  const device_functions::pair got = offload::sync(gpu, fn<&swapped>, device_functions::pair{4.5, 3}, 10);
  EXPECT_EQ(got.first, 13.0);
  EXPECT_EQ(got.second, 4);
  const std::vector<float> none;
  const std::vector<float> some(1000, 1.0F);
  const std::uint32_t of_block = offload::sync(gpu, fn<&threads_and>, std::span<const float>(none));
  EXPECT_GE(of_block, 2U);
  EXPECT_LE(of_block, all);
  EXPECT_EQ(offload::sync(gpu, fn<&threads_and>, std::span<const float>(some)), of_block + 1000);
  const offload::buffer<double> parts{gpu, 1024};
  const auto values = counted(700);  // longer than a slot
  EXPECT_EQ(offload::sync(gpu, fn<&sum_of>, std::span<const double>(values), parts.ptr()), 700.0 * 701 / 2);
}

TEST_F(on_a_gpu, memory_is_put_got_copied_and_worked_on) {
  constexpr std::size_t n = 1'000'003;
  const auto sent = counted(n);
  const offload::buffer<double> x{gpu, n};
  const offload::buffer<double> y{gpu, n};
  offload::put(sent.data(), x.ptr(), n).get();
  offload::copy(x.ptr(), y.ptr(), n).get();
  EXPECT_EQ(offload::sync(gpu, fn<&axpy>, 2.0, x.ptr(), y.ptr(), n), 3.0 * n);
  std::vector<double> got(n);
  offload::get(y.ptr(), got.data(), n).get();
  for (std::size_t i = 0; i < n; i += 1009) ASSERT_EQ(got[i], 3.0 * sent[i]) << i;
  offload::copy(y.ptr(), y.ptr() + 500'000, 400'000).get();  // they do not overlap
  offload::copy(y.ptr(), y.ptr() + 5, 400'000).get();        // they do
  offload::get(y.ptr(), got.data(), n).get();
  EXPECT_EQ(got[5], 3.0);
  EXPECT_EQ(got[400'004], 3.0 * 400'000);
  EXPECT_EQ(got[899'999], 3.0 * 400'000);
  const offload::block rows{100, 700, 700, 1000};
  offload::put(sent.data(), x.ptr(), rows).get();
  std::vector<double> packed(70'000);
  offload::get(x.ptr(), packed.data(), offload::block{100, 700, 1000, 700}).get();
  EXPECT_TRUE(std::equal(packed.begin(), packed.end(), sent.begin()));
}

TEST_F(on_a_gpu, pinned_memory_is_copied_before_and_after_its_pages_are_locked) {
  constexpr std::size_t n = 3'000'000;
  offload::pinned<double> here(n);
  const offload::buffer<double> there{gpu, n};
  for (int round = 0; round < 4; ++round) {
    std::iota(here.begin(), here.end(), static_cast<double>(round));
    offload::put(here, there).get();
    std::fill(here.begin(), here.end(), -1.0);
    if (round % 2 != 0) offload::sync(gpu, fn<&nothing>);  // the kernel is there
    offload::get(there, here).get();
    bool same = true;
    for (std::size_t i = 0; i < n; ++i) same = same && here[i] == static_cast<double>(i) + round;
    EXPECT_TRUE(same) << round;
    std::this_thread::sleep_for(50ms);
  }
}

/// GPU_TEST_KERNELS: nvcc has compiled kernels.cu.
TEST_F(on_a_gpu, ordinary_functions_launch_kernels_of_their_own) {
#ifdef GPU_TEST_KERNELS
  if (nodes_here().starts_with("cuda-emulated")) GTEST_SKIP() << "an emulated GPU has no stream of CUDA's";
  constexpr std::size_t n = 100'003;
  const std::vector<float> sent(n, 3.0F);
  const offload::buffer<float> x{gpu, n};
  offload::put(sent.data(), x.ptr(), n).get();
  const std::uint64_t without_context = offload::sync(gpu, fn<&launched_kernels::scale>, x.ptr(), n, 2.0F);
  offload::sync(gpu, fn<&nothing>);  // the resident kernel is there from now on
  const offload::context first(gpu);
  const offload::context second(gpu);
  const std::uint64_t of_first = offload::sync(first, fn<&launched_kernels::scale>, x.ptr(), n, 5.0F);
  const std::uint64_t of_second = offload::sync(second, fn<&launched_kernels::scale>, x.ptr(), n, 0.5F);
  EXPECT_EQ(std::set({without_context, of_first, of_second}).size(), 3U) << "a stream for each";
  EXPECT_EQ(offload::sync(first, fn<&launched_kernels::scale>, x.ptr(), n, 1.0F), of_first);
  std::vector<float> got(n);
  offload::get(x.ptr(), got.data(), n).get();
  EXPECT_TRUE(std::ranges::all_of(got, [](float one) { return one == 15.0F; }));
#else
  GTEST_SKIP() << "nvcc has compiled no kernels for this program";
#endif
}

TEST_F(on_a_gpu, what_waits_for_the_kernel_is_done_while_it_is_absent) {
  const offload::context context(gpu);
  offload::sync(gpu, fn<&nothing>);
  EXPECT_TRUE(offload::sync(context, fn<&has_the_device_alone>, !nodes_here().starts_with("cuda-emulated")));
  offload::sync(gpu, fn<&nothing>);  // and it comes again
}

TEST_F(on_a_gpu, functions_ask_the_host_and_tell_it) {
  constexpr std::uint32_t steps = 4;
  const std::vector<double> ones(1000, 24.0);
  const offload::buffer<double> x{gpu, ones.size()};
  const offload::buffer<double> shared{gpu, 1};
  offload::put(ones.data(), x.ptr(), ones.size()).get();
  {
    std::lock_guard guard(what_has_come().mutex);
    what_has_come().reports.clear();
    what_has_come().threads.clear();
  }
  EXPECT_DOUBLE_EQ(offload::sync(gpu, fn<&relax>, x.ptr(), ones.size(), steps, shared.ptr()), 1.0);
  const std::vector<float> none;
  const std::uint32_t threads = offload::sync(gpu, fn<&threads_and>, std::span<const float>(none));
  EXPECT_TRUE(eventually([&] {
    offload::progress();
    std::lock_guard guard(what_has_come().mutex);
    return what_has_come().threads.size() == threads;
  }));
  std::lock_guard guard(what_has_come().mutex);
  ASSERT_EQ(what_has_come().reports.size(), steps);
  for (std::uint32_t step = 0; step < steps; ++step) EXPECT_EQ(what_has_come().reports[step].step, step) << "in order";
  EXPECT_TRUE(offload::sync(gpu, fn<&is_refused>, 5)) << "what the host throws is no answer";
}

TEST_F(on_a_gpu, functions_print_lines) {
  std::mutex mutex;
  std::string lines;
  offload::on_output(gpu, [&](node_t, offload::output_stream, offload::output_line line) {
    std::lock_guard guard(mutex);
    lines += std::string(line.text) + "\n";
  });
  EXPECT_EQ(offload::sync(gpu, fn<&prints>, 42), 42);
  EXPECT_TRUE(eventually([&] {
    offload::progress();
    std::lock_guard guard(mutex);
    return lines.find("the device says 42 ") != std::string::npos;
  })) << lines;
  offload::on_output(gpu, {});  // the handler names what ends here
}

TEST_F(on_a_gpu, functions_are_stopped) {
  auto call = offload::async(offload::stoppable(gpu), fn<&until_stopped>, std::uint64_t{1});
  EXPECT_TRUE(eventually([] {
    offload::progress();
    return use().resident;
  }));
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(call.test());
  EXPECT_TRUE(call.request_stop());
  EXPECT_GT(call.get(), 1U);
  try {
    EXPECT_GT(offload::async(offload::within(gpu, 50ms), fn<&until_stopped>, std::uint64_t{1}).get(), 1U)
        << "it has seen the deadline, and ended before the host saw it";
  } catch (const deadline_exceeded&) {
  }
  offload::sync(gpu, fn<&nothing>);
}

TEST_F(on_a_gpu, the_kernel_leaves_when_it_is_idle_and_comes_again) {
  offload::sync(gpu, fn<&nothing>);
  const std::uint64_t launches = use().launches;
  EXPECT_GE(launches, 1U);
  EXPECT_TRUE(eventually([] { return !use().resident; }));
  offload::sync(gpu, fn<&nothing>);
  EXPECT_EQ(use().launches, launches + 1);
}

TEST_F(on_a_gpu, many_calls_are_under_way_at_once) {
  std::vector<offload::future<device_functions::pair>> all;
  for (int i = 0; i < 2000; ++i)
    all.push_back(offload::async(gpu, fn<&swapped>, device_functions::pair{static_cast<double>(i), i}, 1));
  for (int i = 0; i < 2000; ++i) {
    const device_functions::pair got = all[static_cast<std::size_t>(i)].get();
    ASSERT_EQ(got.first, i + 1);
    ASSERT_EQ(got.second, i);
  }
}

/// The resident kernels of two processes share the GPU.
TEST_F(on_a_gpu, memory_is_copied_between_two_nodes_without_sending_it) {
  up.reset();
  const runtime both(nodes(nodes_here().starts_with("cuda-emulated") ? "cuda-emulated:2" : "cuda:2/arena=256@0"));
  constexpr std::size_t n = 4'000'000;
  const std::vector<double> sent = counted(n);
  const offload::buffer<double> first(1, n);
  const offload::buffer<double> second(2, n);
  offload::put(sent.data(), first.ptr(), n).get();
  const auto sent_between = [] { return offload::sync(1, fn<&bytes_sent_to>, 2); };
  EXPECT_TRUE(eventually([&] {
    const std::uint64_t before = sent_between();
    offload::copy(first.ptr(), second.ptr(), n).get();
    return sent_between() - before < 20'000;
  }));
  std::vector<double> got(n);
  offload::get(second.ptr(), got.data(), n).get();
  EXPECT_TRUE(got == sent);
}

/// Those that only follow each other are one call for the device, from the second replay on.
TEST_F(on_a_gpu, stages_of_a_graph_follow_each_other_without_the_host) {
  constexpr std::size_t n = 1000;
  const offload::buffer<double> x{gpu, n};
  const offload::buffer<double> y{gpu, n};
  const std::vector<double> ones(n, 1.0);
  offload::put(ones.data(), x.ptr(), n).get();
  offload::graph g;
  auto first = g.input<device_functions::pair>();
  auto factor = g.input<double>();
  auto swapped_twice = g.call(gpu, fn<&swapped>, g.call(gpu, fn<&swapped>, first, 1), 2);
  auto sum = g.call(gpu, fn<&axpy>, factor, x.ptr(), y.ptr(), n).after(swapped_twice);
  for (int i = 0; i < 3; ++i) sum = g.call(gpu, fn<&axpy>, sum, x.ptr(), y.ptr(), n);
  auto last = g.call(gpu, fn<&nothing>).after(sum);
  auto both = [](device_functions::pair a, double b) { return a.first + a.second + b; };
  auto replay = g.compile(g.call(0, both, swapped_twice, g.call(gpu, fn<&axpy>, sum, x.ptr(), y.ptr(), n).after(last)));
  for (int i = 0; i < 20; ++i) {
    offload::put(ones.data(), y.ptr(), n).get();
    const double a = 1 + i % 3;
    const double expected = 7 + 1 + 5 + 2 + 16 * (1 + a);  // y becomes 1 + a, and twice as much in each stage then
    EXPECT_EQ(replay(device_functions::pair{7, 5}, a).get(), expected) << i;
    std::vector<double> got(n);
    offload::get(y.ptr(), got.data(), n).get();
    EXPECT_TRUE(std::ranges::all_of(got, [a](double one) { return one == 16 * (1 + a); })) << i;
  }
}

TEST_F(on_a_gpu, a_fault_in_a_graph_names_its_function) {
  offload::graph g;
  auto value = g.input<int>();
  auto before = g.call(gpu, fn<&traps>, 1).after(g.call(gpu, fn<&prints>, value));
  auto replay = g.compile(g.call(gpu, fn<&nothing>).after(g.call(gpu, fn<&traps>, value).after(before)));
  for (int i = 0; i < 2; ++i) replay(2).get();
  try {
    replay(3).get();
    ADD_FAILURE() << "it goes on";
  } catch (const error& why) {
    EXPECT_NE(std::string(why.what()).find("traps"), std::string::npos) << why.what();
  }
}

/// The last one: the device is gone then.
TEST_F(on_a_gpu, a_fault_names_its_function) {
  offload::sync(gpu, fn<&traps>, 2);
  try {
    offload::sync(gpu, fn<&traps>, 3);
    ADD_FAILURE() << "it goes on";
  } catch (const node_failure& why) {
    EXPECT_NE(why.function().find("traps"), std::string::npos) << why.what();
  }
}

}  // namespace

// No memory is allocated on the path of a small sync, on neither side: malloc and operator new are counted.
// link: ham::ham
#include "support.hpp"

#include "ham/offload/senders.hpp"

#include <malloc.h>

#include <ham/offload/graph.hpp>

#include <array>
#include <atomic>
#include <new>

namespace {
std::atomic<unsigned long> allocations{0};
}

#ifndef HAM_TEST_SANITIZED
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): glibc's names for its own
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier)
void* malloc(std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
}
#endif

using namespace ham;
using namespace ham::test;

namespace {

unsigned long count() { return allocations.load(); }
void nothing() {}

/// Whether all other threads of this process sleep: a control thread of a transport has dealt with what it was told
/// late.
bool others_sleep() {
  const std::string self = std::to_string(::gettid());
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == self) continue;
    std::ifstream file(task.path() / "stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t state = text.rfind(") ");
    if (state != std::string::npos && text[state + 2] != 'S') return false;
  }
  return true;
}
int add(int a, int b) { return a + b; }
double half(double value) { return value / 2; }
struct parcel {
  double values[5];
};
parcel turn(parcel what) {
  std::swap(what.values[0], what.values[4]);
  return what;
}

class allocation : public testing::Test {
 protected:
  void SetUp() override {
    if (sanitized()) GTEST_SKIP() << "the sanitizer brings its own malloc";
  }
};

/// Nothing of the start is under way any more, neither here nor on the target, which tells its host when it has joined.
void settle() {
  ASSERT_TRUE(eventually([] { return offload::sync(1, fn<&others_sleep>); }));
  ASSERT_TRUE(eventually([] { return others_sleep(); }));
}

/// Allocations here and on the target during `calls` calls of `one`, after some to warm up.
template <class Call>
void expect_no_allocation(int calls, Call one) {
  settle();
  for (int i = 0; i < 1000; ++i) one();
  const unsigned long there_before = offload::sync(1, fn<&count>);
  const unsigned long here_before = count();
  for (int i = 0; i < calls; ++i) one();
  const unsigned long here = count() - here_before;
  const unsigned long there = offload::sync(1, fn<&count>) - there_before;
  EXPECT_EQ(here, 0U) << "on the caller's side";
  EXPECT_EQ(there, 0U) << "on the target's side";
}

TEST_F(allocation, the_counter_counts) {
  runtime rt(nodes("shm:1"));
  const unsigned long before = count();
  delete new int(5);
  std::free(std::malloc(10));
  std::string(100, 'x');
  EXPECT_GE(count() - before, 2U);
  const unsigned long there = offload::sync(1, fn<&count>);
  EXPECT_EQ(offload::sync(1, [] { return std::vector<int>(100).size(); }), 100U);
  EXPECT_GT(offload::sync(1, fn<&count>), there);
}

TEST_F(allocation, empty_sync) {
  runtime rt(nodes("shm:1"));
  expect_no_allocation(20000, [] { offload::sync(1, fn<&nothing>); });
}

TEST_F(allocation, small_arguments_and_results) {
  runtime rt(nodes("shm:1"));
  expect_no_allocation(20000, [] { offload::sync(1, fn<&add>, 1, 2); });
  expect_no_allocation(20000, [] { (void)offload::sync(1, fn<&turn>, parcel{}); });
  expect_no_allocation(20000, [] { (void)offload::sync(1, f2f(&add, 3, 4)); });
  int base = 5;
  expect_no_allocation(20000, [base] {
    (void)offload::sync(
        1, [base](int more) { return base + more; }, 2);
  });
}

TEST_F(allocation, async_and_ping) {
  runtime rt(nodes("shm:1"));
  expect_no_allocation(2000, [] {
    offload::future<int> results[16];
    for (auto& one : results) one = offload::async(1, fn<&add>, 1, 2);
    for (auto& one : results) (void)one.get();
  });
  expect_no_allocation(2000, [] {
    offload::ping(1, fn<&nothing>);
    offload::sync(1, fn<&nothing>);
  });
}

TEST_F(allocation, senders) {
  runtime rt(nodes("shm:1"));
  expect_no_allocation(2000, [] { (void)offload::sync_wait(offload::call(1, fn<&add>, 1, 2)); });
  expect_no_allocation(2000, [] { (void)offload::sync_wait(offload::as_sender(offload::async(1, fn<&add>, 1, 2))); });
  expect_no_allocation(2000, [] { (void)offload::sync_wait(offload::schedule(1) | offload::then(fn<&nothing>)); });
}

TEST_F(allocation, arguments_larger_than_a_line_reuse_their_memory) {
  runtime rt(nodes("shm:1"));
  struct page {
    char bytes[1000];
  };
  expect_no_allocation(5000, [] {
    (void)offload::sync(
        1, [](const page& what) { return what.bytes[0]; }, page{});
  });
}

TEST_F(allocation, put_and_get) {
  runtime rt(nodes("shm:1"));
  offload::buffer<double> there(1, 64);
  const offload::buffer_ptr<double> at = there.ptr();
  double here[64] = {};
  expect_no_allocation(2000, [&] {
    offload::put_sync(here, at, 64);
    offload::get_sync(at, here, 64);
  });
}

TEST_F(allocation, replays_of_a_graph) {
  runtime rt(nodes("shm:2"));
  offload::graph g;
  auto in = g.input<double>();
  auto at = g.call(
      1, [](double value, int more) { return value + more; }, in, 1);
  for (int i = 0; i < 3; ++i) at = g.call(i % 2 + 1, fn<&half>, at);
  auto last = g.repeat(
      at, [&](offload::graph_value<double> value) { return g.call(2, fn<&half>, g.call(1, fn<&half>, value)); },
      [](double value) { return value < 1; });
  auto step = g.compile(last);
  const auto replay = [&step] { EXPECT_LT(step(50.0).get(), 1); };
  settle();
  for (int i = 0; i < 1000; ++i) replay();
  // What a node meets for the first time, such as a message between targets while it executes another, may allocate:
  // on a busy machine now and then, but not always.
  const auto counted = [] { return std::array{count(), offload::sync(1, fn<&count>), offload::sync(2, fn<&count>)}; };
  std::array<unsigned long, 3> by_nodes{1, 1, 1};
  constexpr std::array<unsigned long, 3> none{};
  for (int tries = 0; tries < 8 && by_nodes != none; ++tries) {
    const auto before = counted();
    for (int i = 0; i < 500; ++i) replay();
    const auto after = counted();
    for (std::size_t node = 0; node < by_nodes.size(); ++node) by_nodes[node] = after[node] - before[node];
  }
  EXPECT_EQ(by_nodes, none);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}

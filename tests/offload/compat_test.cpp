// Names of the published HAM-Offload beside the verbs: functors, namespaces, constants, headers.
#include <string>
#include <vector>

#include "ham/functor/buffer.hpp"
#include "ham/functor/function.hpp"
#include "ham/misc/constants.hpp"
#include "ham/misc/migratable.hpp"
#include "ham/misc/types.hpp"
#include "ham/util/time.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace compat_test {

double scale(double value, const int& by) noexcept { return value * by; }
std::string join(std::string left, const std::string& right) { return left + right; }
int answer() { return 42; }
template <class Number>
Number twice(Number value) {
  return value + value;
}

class compat : public either_way {};
INSTANTIATE_TEST_SUITE_P(both, compat, testing::Bool(), name_of_way);

static_assert(HAM_MESSAGE_SIZE >= 4096);
static_assert(std::is_same_v<node_t, net::node_t> && std::is_same_v<node_t, offload::node_t>);
static_assert(std::is_same_v<net::buffer_ptr<int>, offload::buffer_ptr<int>>);
static_assert(std::is_same_v<net::node_descriptor, offload::node_descriptor>);

TEST_P(compat, function_is_the_functor_of_f2f) {
  using scaling = ham::function<decltype(&scale), &scale>;
  static_assert(std::is_same_v<scaling::result_type, double>);
  static_assert(std::is_same_v<scaling, decltype(f2f(&scale, 1.5, 2))>);
  EXPECT_EQ(scaling(1.5, 2)(), 3.0) << "called where it stands";
  EXPECT_EQ(offload::sync(1, scaling(1.5F, 2L)), 3.0) << "arguments that convert";
  EXPECT_EQ(offload::async(2, ham::function<decltype(&answer), &answer>()).get(), 42);
  EXPECT_EQ(offload::sync(1, ham::function<decltype(&twice<int>), &twice<int>>(21)), 42);

  const ham::function<decltype(&join), &join> joining("remote ", "call");
  const auto copy = joining;
  EXPECT_EQ(offload::sync(1, copy), "remote call");
  EXPECT_EQ(offload::sync(1, joining), "remote call");
}

TEST_P(compat, buffers_are_made_and_freed_where_the_functor_runs) {
  const offload::buffer_ptr<long> there = offload::sync(1, new_buffer<long>(100));
  EXPECT_EQ(there.node(), 1);
  const std::vector<long> sent(100, 7);
  offload::put_sync(sent.data(), there, sent.size());
  offload::sync(1, delete_buffer<long>(there));
  EXPECT_THROW(offload::put_sync(sent.data(), there, sent.size()), buffer_error) << "it is freed";
  EXPECT_THROW(offload::sync(1, delete_buffer<long>(there)), buffer_error) << "twice";
}

TEST_P(compat, buffers_are_freed_by_their_bare_address) {
  const auto there = offload::async(2, new_buffer<char>(1)).get();
  offload::sync(2, delete_buffer<char>(there.get()));
  char byte = 0;
  EXPECT_THROW(offload::get_sync(there, &byte, 1), buffer_error) << "it is freed";
  EXPECT_THROW(offload::sync(2, delete_buffer<char>(there.get())), buffer_error);
}

TEST_P(compat, buffers_on_the_own_node) {
  const auto here = offload::sync(0, new_buffer<int>(3));
  here[2] = 5;
  EXPECT_EQ(here[2], 5);
  offload::sync(0, delete_buffer<int>(here));
  EXPECT_THROW(offload::free(here), buffer_error);
}

TEST_P(compat, too_much_memory_is_bad_alloc) {
  EXPECT_THROW(static_cast<void>(offload::sync(1, new_buffer<double>(std::size_t{1} << 50U))), std::bad_alloc);
}

TEST(time_statistics, of_known_times) {
  using std::chrono::nanoseconds;
  util::time::statistics times(4, 2);
  EXPECT_EQ(times.average(), 0);
  EXPECT_EQ(times.median(), 0);
  for (const int ns : {1000, 1000, 1, 2, 3, 6}) times.add(nanoseconds(ns));
  EXPECT_EQ(times.count(), 4U) << "without the first two";
  EXPECT_EQ(times.sum(), 12);
  EXPECT_EQ(times.average(), 3);
  EXPECT_EQ(times.median(), 2.5);
  EXPECT_EQ(times.smallest(), 1);
  EXPECT_EQ(times.largest(), 6);
  EXPECT_NEAR(times.variance(), 14.0 / 3, 1e-12);
}

TEST(time_statistics, a_timer_runs_from_its_construction) {
  util::time::timer since;
  while (since.elapsed() == util::time::duration::zero()) {
  }
  util::time::statistics times;
  times.add(since);
  EXPECT_GT(times.smallest(), 0);
}

}  // namespace compat_test

// Names of the published HAM-Offload beside the verbs: functors, namespaces, constants, headers.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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
std::size_t length(std::string_view text) { return text.size(); }
template <class Functor>
typename Functor::result_type call_twice(Functor functor) {
  return functor() + functor();
}
template <class Number>
Number twice(Number value) {
  return value + value;
}

/// A functor as programs write them, which is not trivially copyable: a pair is assigned element by element.
class product {
 public:
  using result_type = int;
  product(int left, int right) : factors_(left, right) {}
  int operator()() const { return factors_.first * factors_.second; }

 private:
  std::pair<int, int> factors_;
};

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

TEST_P(compat, functors_are_arguments) {
  const auto functor = f2f(&scale, 1.5, 2);
  EXPECT_EQ(offload::sync(1, f2f(&call_twice<std::decay_t<decltype(functor)>>, functor)), 6.0);
  EXPECT_EQ(offload::sync(
                1, [](auto inner) { return inner(); }, functor),
            3.0);
  static_assert(!msg::crosses<decltype(f2f(&join, "a", "b"))>, "a string is not its bytes");
  static_assert(!msg::crosses<decltype(f2f(&length, "a"))>, "nor is a view");
}

TEST_P(compat, functors_and_elements_of_buffers_hold_pairs) {
  EXPECT_EQ(offload::sync(1, product(6, 7)), 42);
  const std::vector<std::pair<int, double>> sent{{1, 2.5}, {3, 4.5}};
  const auto there = offload::allocate<std::pair<int, double>>(1, 2);
  offload::put_sync(sent.data(), there, 2);
  std::vector<std::pair<int, double>> back(2);
  offload::get_sync(there, back.data(), 2);
  EXPECT_EQ(back, sent);
  offload::free(there);
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
  using util::time::duration;
  util::time::statistics times(4, 2);
  EXPECT_EQ(times.average(), duration::zero());
  EXPECT_EQ(times.median().count(), 0);
  EXPECT_EQ(times.min(), times.max());
  EXPECT_EQ(times.variance(), 0);
  EXPECT_EQ(times.relative_std_error(), 0);
  for (const int ns : {1000, 1000, 1, 2, 3, 6}) times.add(nanoseconds(ns));
  EXPECT_EQ(times.count(), 4U) << "without the first two";
  EXPECT_EQ(times.sum(), nanoseconds(12));
  EXPECT_EQ(times.average(), nanoseconds(3));
  EXPECT_EQ(times.median().count(), 2.5);
  EXPECT_EQ(times.min(), nanoseconds(1));
  EXPECT_EQ(times.max(), nanoseconds(6));
  EXPECT_NEAR(times.variance(), 14.0 / 3, 1e-12);
  EXPECT_NEAR(times.std_error(), std::sqrt(14.0 / 12), 1e-12);
  EXPECT_NEAR(times.relative_std_error(), std::sqrt(14.0 / 12) / 3, 1e-12);
  EXPECT_NEAR(times.conf95_error().count(), 1.96 * std::sqrt(14.0 / 12), 1e-12);
  const duration as_duration = times.std_error();
  EXPECT_EQ(as_duration.count(), times.std_error().count());
}

TEST(time_statistics, a_line_has_as_many_columns_as_the_header) {
  util::time::statistics times;
  times.add(std::chrono::microseconds(2));
  const std::string line = times.string();
  EXPECT_TRUE(line.starts_with("2000\t2000\t2000\t2000\t0\t")) << line;
  const std::string header = util::time::statistics::header_string();
  EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), std::count(header.begin(), header.end(), '\t'));
}

TEST(time_statistics, times_are_written_to_a_file) {
  util::time::statistics times(2, 1);
  for (const int ns : {7, 30, 20}) times.add(std::chrono::nanoseconds(ns));
  const std::string name = testing::TempDir() + "ham_time_statistics_" + std::to_string(getpid());
  times.to_file(name);
  std::ifstream file(name);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::remove(name.c_str());
  EXPECT_EQ(text, "30\n20\n");
  EXPECT_THROW(times.to_file(testing::TempDir() + "no_such_folder/times"), ham::error);
}

TEST(time_statistics, a_timer_runs_from_its_construction) {
  using util::time::timer;
  static_assert(std::is_same_v<timer::duration, std::chrono::duration<timer::rep, timer::period>>);
  static_assert(std::is_same_v<timer::time_point, std::chrono::time_point<timer::clock, timer::duration>>);
  static_assert(std::is_same_v<util::time::statistics::duration, timer::duration>);
  const util::time::time_point begin = timer::clock::now();
  timer since;
  while (since.elapsed() == util::time::duration::zero()) {
  }
  util::time::statistics times;
  times.add(since);
  EXPECT_GT(times.min().count(), 0);
  EXPECT_GE(timer::clock::now() - begin, times.min());
}

}  // namespace compat_test

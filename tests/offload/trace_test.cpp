// The program's own spans and counters, as programs write them.
#include "ham/offload/trace.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace {

using namespace ham;

static_assert(!std::is_copy_constructible_v<trace::span>);
static_assert(std::is_nothrow_constructible_v<trace::span, std::string_view>);
static_assert(noexcept(trace::counter("bytes", 1.0)));

TEST(trace, spans_and_counters_need_neither_a_runtime_nor_a_trace) {
  ASSERT_FALSE(trace::detail::on());
  const trace::span outer("outer");
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "inner";
    const trace::span inner(name);
    trace::counter("i", i);
  }
}

TEST(trace, of_a_job_that_left_no_parts_cannot_be_joined) {
  try {
    trace::join("/nowhere/run.pftrace");
    FAIL();
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("/nowhere/run.pftrace.parts"), std::string::npos) << problem.what();
  }
}

}  // namespace

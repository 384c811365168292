// What nodes do when their host has them trace.
#include "runtime/tracing.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <set>
#include <string>

#include "base/settings.hpp"
#include "base/tracer.hpp"
#include "ham/offload.hpp"
#include "ham/offload/trace.hpp"
#include "offload/loopback_job.hpp"

namespace tracing_test {

using namespace ham;
using namespace ham::detail;
using base::trace_kind;

/// While it lives, this process is traced in memory.
struct traced_process {
  traced_process() { EXPECT_TRUE(start_tracing(0, 12, "")); }
  ~traced_process() { stop_tracing(); }
  [[nodiscard]] static base::trace_part part() {
    return base::parse_trace_part(bytes_of_file(base::trace_file())).value_or(base::trace_part());
  }
  /// Of any thread.
  [[nodiscard]] static std::vector<base::trace_event> events(trace_kind kind, const char* function = nullptr) {
    std::vector<base::trace_event> found;
    const base::trace_part all = part();
    for (const auto& thread : all.threads) {
      for (const base::trace_event& one : thread.events) {
        const bool named = function == nullptr || (one.function() < all.functions.size() &&
                                                   all.functions[one.function()].find(function) != std::string::npos);
        if (one.kind() == kind && named) found.push_back(one);
      }
    }
    return found;
  }
  /// Executions and calls given to other threads are written behind the reply, which the caller may have by then.
  static void expect_events(trace_kind kind, const char* function, std::size_t count) {
    EXPECT_TRUE(test::eventually([&] { return events(kind, function).size() >= count; }));
    EXPECT_EQ(events(kind, function).size(), count);
  }
};

int traced_function_of_the_test(int value) { return value + 1; }
int traced_pooled_function(int value) { return 2 * value; }

runtime_options loopback() {
  runtime_options options;
  options.nodes = "loopback:1";
  return options;
}

TEST(tracing, parts_have_names) {
  EXPECT_EQ(folder_of_parts("run.pftrace"), "run.pftrace.parts");
  EXPECT_EQ(file_of_part("run.pftrace.parts", 3), "run.pftrace.parts/node-3");
}

TEST(tracing, of_calls_has_both_ends) {
  runtime rt(loopback());
  const traced_process on;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(offload::sync(1, fn<&traced_function_of_the_test>, i), i + 1);
  const auto sent = traced_process::events(trace_kind::sent, "traced_function_of_the_test");
  ASSERT_EQ(sent.size(), 10U);
  EXPECT_EQ(sent[0].peer(), 1);
  EXPECT_GT(sent[0].bytes(), 0U);
  EXPECT_EQ(traced_process::events(trace_kind::settled, "traced_function_of_the_test").size(), 10U);
  traced_process::expect_events(trace_kind::executed, "traced_function_of_the_test", 10);
}

TEST(tracing, of_pings_batches_and_pooled_calls_has_each_execution) {
  runtime rt(loopback());
  const traced_process on;
  offload::ping(1, fn<&traced_function_of_the_test>, 1);
  offload::batch batch(1);
  auto one = batch.add(fn<&traced_function_of_the_test>, 1);
  auto other = batch.add(fn<&traced_function_of_the_test>, 2);
  batch.submit();
  EXPECT_EQ(one.get() + other.get(), 5);
  EXPECT_EQ(offload::sync(1, pooled(fn<&traced_pooled_function>), 4), 8);
  EXPECT_EQ(traced_process::events(trace_kind::pinged, "traced_function_of_the_test").size(), 1U);
  EXPECT_EQ(traced_process::events(trace_kind::sent, "traced_function_of_the_test").size(), 2U);
  EXPECT_EQ(traced_process::events(trace_kind::sent_batch).size(), 1U);
  traced_process::expect_events(trace_kind::queued, "traced_pooled_function", 1);
}

TEST(tracing, of_a_call_with_a_deadline_has_its_execution) {
  runtime rt(loopback());
  const traced_process on;
  EXPECT_EQ(offload::sync(offload::within(1, std::chrono::minutes(1)), fn<&traced_function_of_the_test>, 1), 2);
  traced_process::expect_events(trace_kind::executed, "traced_function_of_the_test", 1);
}

TEST(tracing, has_spans_and_counters_of_the_program) {
  const traced_process on;
  {
    const trace::span outer("assemble");
    const std::string part = "part 1";
    const trace::span inner(part);
    trace::counter("residual", 0.5);
  }
  EXPECT_EQ(traced_process::events(trace_kind::span).size(), 2U);
  EXPECT_EQ(traced_process::events(trace_kind::counter).size(), 1U);
  std::set<std::string> texts;
  for (const auto& [number, text] : traced_process::part().texts) texts.insert(text);
  EXPECT_TRUE(texts.contains("assemble"));
  EXPECT_TRUE(texts.contains("residual"));
}

TEST(tracing, that_is_off_writes_nothing) {
  { const traced_process before; }
  const trace::span one("off");
  trace::counter("off", 1);
  EXPECT_TRUE(traced_process::events(trace_kind::counter).empty());
  EXPECT_FALSE(trace::detail::on());
}

TEST(tracing, a_node_that_does_not_find_the_folder_traces_in_memory) {
  runtime rt(loopback());
  trace_control::begin("/nowhere", 5);
  ASSERT_TRUE(base::tracing());
  const std::uint64_t bytes = trace_control::end();
  EXPECT_FALSE(base::tracing());
  EXPECT_GT(bytes, 0U);
  std::vector<std::byte> all;
  while (all.size() < bytes) {
    const std::vector<std::byte> piece = trace_control::read(all.size(), bytes - all.size());
    ASSERT_FALSE(piece.empty());
    all.insert(all.end(), piece.begin(), piece.end());
  }
  const auto part = base::parse_trace_part(all);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->job, 5U);
  EXPECT_TRUE(trace_control::read(bytes, 10).empty());
}

TEST(tracing, bytes_of_a_file_that_is_not_there_are_none) {
  EXPECT_TRUE(bytes_of_file("/nowhere/at/all").empty());
  EXPECT_TRUE(bytes_of_file(-1).empty());
}

}  // namespace tracing_test

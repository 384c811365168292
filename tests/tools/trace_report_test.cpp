// What ham-trace report makes of a trace.
#include "../../tools/trace/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "../../tools/trace/timeline.hpp"
#include "trace/protobuf.hpp"

namespace ham::inline v1::trace {
namespace {

/// Writes packets of Perfetto, by the numbers of its fields.
class packets {
 public:
  void track(std::uint64_t uuid, const std::string& name) {
    protobuf process;
    process.number(1, 4711);
    process.text(6, name);
    protobuf about;
    about.number(1, uuid);
    about.message(3, process);
    protobuf packet;
    packet.message(60, about);
    all_.message(1, packet);
  }
  void begin(std::int64_t at, const std::string& category, const std::string& name, std::uint64_t out = 0,
             std::uint64_t in = 0, std::uint64_t type = 1, std::uint64_t track = 1) {
    protobuf event;
    event.number(3, learn(1, category));
    event.number(9, type);
    event.number(10, learn(2, name));
    event.number(11, track);
    if (out != 0) event.fixed(47, out);
    if (in != 0) event.fixed(48, in);
    add(at, event);
  }
  void moment(std::int64_t at, const std::string& category, const std::string& name, std::uint64_t in = 0) {
    begin(at, category, name, 0, in, 3);
  }
  void end(std::int64_t at, std::uint64_t track = 1) {
    protobuf event;
    event.number(9, 2);
    event.number(11, track);
    add(at, event);
  }
  void count(std::int64_t at, double value) {
    protobuf event;
    event.number(9, 4);
    event.number(11, 1);
    event.real(44, value);
    add(at, event);
  }
  [[nodiscard]] const std::string& bytes() const { return all_.bytes(); }

 private:
  std::uint64_t learn(std::uint32_t kind, const std::string& text) {
    protobuf one;
    one.number(1, ++names_);
    one.text(2, text);
    interned_.message(kind, one);
    return names_;
  }
  void add(std::int64_t at, const protobuf& event) {
    protobuf packet;
    packet.signed_number(8, at);
    if (!interned_.empty()) packet.message(12, interned_);
    interned_.clear();
    packet.message(11, event);
    all_.message(1, packet);
  }
  protobuf all_;
  protobuf interned_;
  std::uint64_t names_ = 0;
};

/// A call that takes 100 to encode, 200 to arrive, 1000 to run, of which 300 are waited and 50 are its reply, and 150
/// until its answer has come.
packets one_call() {
  packets of;
  of.track(1, "node 0");
  of.track(2, "node 1");
  of.begin(1000, "encode", "call f()", 1);
  of.end(1100);
  of.moment(2450, "reply", "answer of f()", 2);
  of.begin(1300, "execute", "f()", 0, 1, 1, 2);
  of.begin(1400, "span", "part", 0, 0, 1, 2);
  of.begin(1500, "wait", "wait for g()", 0, 0, 1, 2);
  of.end(1800, 2);
  of.end(1900, 2);
  of.begin(2250, "reply", "reply to f()", 2, 0, 1, 2);
  of.end(2300, 2);
  of.end(2300, 2);
  return of;
}

TEST(trace_report, says_where_the_time_of_a_call_went) {
  trace_report report = report_of(read_pftrace(one_call().bytes()));
  ASSERT_TRUE(report.functions.contains("f()"));
  function_report& row = report.functions["f()"];
  EXPECT_EQ(row.calls, 1U);
  EXPECT_EQ(row.mean(), 1450);
  EXPECT_EQ(row.percentile(0.99), 1450);
  EXPECT_EQ(row.waiting, 200 + 300);
  EXPECT_EQ(row.computing, 1000 - 300 - 50);
  EXPECT_EQ(row.moving, 100 + 50 + 150);
  EXPECT_EQ(report.spans["part"].mean(), 500);
}

TEST(trace_report, does_not_depend_on_the_order_of_tracks) {
  packets of;
  of.begin(1300, "execute", "f()", 0, 1, 1, 2);
  of.begin(2250, "reply", "reply to f()", 2, 0, 1, 2);
  of.end(2300, 2);
  of.end(2300, 2);
  of.begin(1000, "encode", "call f()", 1);
  of.end(1100);
  of.moment(2450, "reply", "answer of f()", 2);
  trace_report report = report_of(read_pftrace(of.bytes()));
  EXPECT_EQ(report.functions["f()"].mean(), 1450);
}

TEST(trace_report, of_pings_ends_with_their_execution) {
  packets of;
  of.begin(1000, "encode", "ping f()", 1);
  of.end(1100);
  of.begin(1300, "execute", "f()", 0, 1, 1, 2);
  of.end(1700, 2);
  trace_report report = report_of(read_pftrace(of.bytes()));
  EXPECT_EQ(report.functions["f()"].mean(), 700);
  EXPECT_EQ(report.functions["f()"].computing, 400);
}

TEST(trace_report, has_percentiles) {
  function_report row;
  for (std::int64_t i = 100; i >= 0; --i) row.times.push_back(i);
  EXPECT_EQ(row.percentile(0.5), 50);
  EXPECT_EQ(row.percentile(0.99), 99);
  EXPECT_EQ(function_report().percentile(0.5), 0);
}

TEST(trace_report, is_printed) {
  const shown_trace trace = read_pftrace(one_call().bytes());
  std::ostringstream out;
  print_report(out, report_of(trace), trace);
  EXPECT_NE(out.str().find("waiting"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("f()\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("1.45 us"), std::string::npos) << out.str();
}

TEST(pftrace_reader, reads_tracks_counters_and_remarks) {
  packets of;
  of.track(1, "node 0");
  of.count(5, 2.5);
  of.moment(1, "trace", "events dropped");
  const shown_trace trace = read_pftrace(of.bytes());
  EXPECT_EQ(trace.tracks.at(1).name, "node 0");
  EXPECT_TRUE(trace.tracks.at(1).is_process);
  ASSERT_EQ(trace.counters.at(1).size(), 1U);
  EXPECT_EQ(trace.counters.at(1)[0].second, 2.5);
  ASSERT_EQ(trace.remarks.size(), 1U);
  EXPECT_EQ(trace.remarks[0], "node 0: events dropped");
}

TEST(pftrace_reader, refuses_what_is_no_trace) {
  EXPECT_THROW(static_cast<void>(read_pftrace("\x0a\xff")), std::runtime_error);
  EXPECT_THROW(static_cast<void>(read_pftrace("\x0a\x7f\x01")), std::runtime_error);
  EXPECT_TRUE(read_pftrace("").slices.empty());
  const std::string bytes = one_call().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    try {
      static_cast<void>(read_pftrace(std::string_view(bytes).substr(0, size)));
    } catch (const std::runtime_error&) {
      continue;
    }
  }
}

TEST(timeline, is_a_page_with_all_slices) {
  std::ostringstream out;
  write_timeline(out, read_pftrace(one_call().bytes()), "a </script> title");
  const std::string page = out.str();
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("\"call f()\""), std::string::npos);
  EXPECT_EQ(page.find("</script> title"), std::string::npos) << "texts end no tag";
  EXPECT_EQ(page.find("http"), std::string::npos) << "nothing is loaded";
  EXPECT_NE(page.find("hidden=0;"), std::string::npos);
}

TEST(timeline, leaves_out_values_that_are_no_numbers) {
  shown_trace trace;
  trace.counters[3] = {{10, 0.5}, {20, std::numeric_limits<double>::quiet_NaN()}, {30, HUGE_VAL}, {40, 2.5}};
  std::ostringstream out;
  write_timeline(out, trace, "t");
  EXPECT_NE(out.str().find("counters=[[3,[[0,0.5],[30,2.5],]],"), std::string::npos);
}

TEST(timeline, shows_the_long_ones_and_says_that_there_are_more) {
  std::ostringstream out;
  write_timeline(out, read_pftrace(one_call().bytes()), "t", 2);
  EXPECT_NE(out.str().find("hidden=4;"), std::string::npos);
}

}  // namespace
}  // namespace ham::trace

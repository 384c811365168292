#include "trace/pftrace_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "trace/proto_fields.hpp"

namespace {

using ham::test::proto_fields;
using ham::trace::pftrace_writer;
using category = pftrace_writer::category;

/// The packets of what `write` writes.
template <class Write>
std::vector<proto_fields> packets_of(Write write) {
  std::ostringstream out;
  {
    pftrace_writer to(out);
    write(to);
  }
  return proto_fields(out.str()).messages(1);
}

TEST(pftrace_writer, describes_tracks) {
  const auto packets = packets_of([](pftrace_writer& to) {
    const auto process = to.add_process(4711, "node 1", 1);
    to.add_thread(4711, 4712, "worker");
    to.add_track(process, "queue");
    to.add_counter(process, "bytes", "B/s");
  });
  ASSERT_EQ(packets.size(), 4U);
  const proto_fields process = packets[0].message(60);
  EXPECT_EQ(process.number(1), 1U);
  EXPECT_EQ(process.message(3).number(1), 4711U);
  EXPECT_EQ(process.message(3).text(6), "node 1");
  const proto_fields thread = packets[1].message(60);
  EXPECT_EQ(thread.message(4).number(1), 4711U);
  EXPECT_EQ(thread.message(4).number(2), 4712U);
  EXPECT_EQ(thread.message(4).text(5), "worker");
  EXPECT_EQ(packets[2].message(60).number(5), 1U) << "its parent";
  EXPECT_EQ(packets[2].message(60).text(2), "queue");
  EXPECT_EQ(packets[3].message(60).message(8).text(6), "B/s");
}

TEST(pftrace_writer, teaches_names_once) {
  const auto packets = packets_of([](pftrace_writer& to) {
    const auto name = to.intern("solve()");
    EXPECT_EQ(to.intern("solve()"), name);
    for (const std::int64_t at : {1000, 2000}) {
      to.begin(7, at, category::execute, name, {});
      to.end(7, at + 500);
    }
  });
  ASSERT_EQ(packets.size(), 4U);
  const proto_fields names = packets[0].message(12);
  EXPECT_EQ(names.message(2).text(2), "solve()");
  EXPECT_EQ(names.message(1).text(2), "execute");
  EXPECT_EQ(packets[0].number(13), 3U) << "the first clears the state of readers";
  EXPECT_FALSE(packets[2].has(12));
  EXPECT_EQ(packets[2].number(13), 2U);
  const proto_fields event = packets[2].message(11);
  EXPECT_EQ(packets[2].number(8), 2000U);
  EXPECT_EQ(event.number(9), 1U);
  EXPECT_EQ(event.number(10), names.message(2).number(1));
  EXPECT_EQ(event.number(3), names.message(1).number(1));
  EXPECT_EQ(event.number(11), 7U);
  EXPECT_EQ(packets[3].message(11).number(9), 2U);
}

TEST(pftrace_writer, writes_arrows_and_notes) {
  const auto packets = packets_of([](pftrace_writer& to) {
    const std::array notes{pftrace_writer::note{to.intern("bytes"), -5}};
    to.begin(1, 10, category::encode, to.intern("call"), {.flow_out = 21, .notes = notes});
    to.moment(1, 11, category::reply, to.intern("answer"), {.flow_in = 22});
  });
  const proto_fields begin = packets[0].message(11);
  EXPECT_EQ(begin.number(47), 21U);
  EXPECT_FALSE(begin.has(48));
  EXPECT_EQ(static_cast<std::int64_t>(begin.message(4).number(4)), -5);
  EXPECT_EQ(packets[0].message(12).message(3).text(2), "bytes");
  EXPECT_EQ(begin.message(4).number(1), packets[0].message(12).message(3).number(1));
  const proto_fields moment = packets[1].message(11);
  EXPECT_EQ(moment.number(9), 3U);
  EXPECT_EQ(moment.number(48), 22U);
}

TEST(pftrace_writer, writes_values_of_counters) {
  const auto packets = packets_of([](pftrace_writer& to) { to.count(3, 99, 1.25); });
  const proto_fields event = packets[0].message(11);
  EXPECT_EQ(event.number(9), 4U);
  EXPECT_EQ(event.number(11), 3U);
  EXPECT_EQ(event.real(44), 1.25);
}

TEST(pftrace_writer, of_many_events_writes_all) {
  constexpr std::size_t count = 60'000;  // more than are kept back
  const auto packets = packets_of([](pftrace_writer& to) {
    for (std::size_t i = 0; i < count; ++i) to.count(1, static_cast<std::int64_t>(i), 0);
  });
  ASSERT_EQ(packets.size(), count);
  EXPECT_EQ(packets.back().number(8), count - 1);
}

}  // namespace

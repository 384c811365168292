// Who is reached by which transport, and what nodes tell each other.
#include "job/node_directory.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "faults/hostile_world.hpp"
#include "job/node_job.hpp"
#include "job/played.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;
using place = std::pair<node_t, std::string>;

TEST(node_directory, leaves_a_node_that_reaches_only_the_host_to_its_transport) {
  lone_node node(2, 4);
  node_directory directory(*node, {});
  silent_transport only;
  directory.use_only(only);
  directory.set_address(3, "host:1");
  EXPECT_EQ(directory.connect(0), base::never_ns);
  EXPECT_EQ(only.connected, (std::vector<node_t>{0}));
  directory.connect(3);
  EXPECT_EQ(only.connected, (std::vector<node_t>{0})) << "that goes through the host";
}

TEST(node_directory, knows_the_transport_of_ranks) {
  lone_node node(2, 8);
  node_directory directory(*node, {});
  silent_transport ranks;
  silent_transport local;
  directory.use_local(local, true);
  EXPECT_FALSE(directory.has_ranks());
  directory.use_ranks(ranks, 2, 5);
  EXPECT_TRUE(directory.has_ranks());
  for (const node_t peer : {0, 3, 4, 5, 6}) directory.connect(peer);
  EXPECT_EQ(ranks.connected, (std::vector<node_t>{0, 3, 4}));
  EXPECT_TRUE(local.connected.empty()) << "others go through the host";
}

/// Of rank 5, as are 9 and, on a link, 10; 11 is rank 6's.
TEST(node_directory, a_target_of_a_rank_reaches_those_of_its_own_rank) {
  lone_node node(8, 12);
  node->ways.set_starter(5);
  node_directory directory(*node, {});
  silent_transport local;
  directory.use_local(local, true);
  directory.set_company(9, transport::company::targets, 5);
  directory.set_company(10, transport::company::networks, 5);
  directory.set_company(11, transport::company::targets, 6);
  for (const node_t peer : {5, 9, 10, 11, 0, 1}) directory.connect(peer);
  EXPECT_EQ(local.connected, (std::vector<node_t>{5, 9})) << "others go through rank 5";
}

/// What the host at node 0 tells all others, as one of them hears it.
bytes announcement_of(node_directory& teller, world& job) {
  world::peer& hearer = job.friendly();
  teller.announce(hearer.number);
  job.step();
  bytes heard;
  while (auto next = hearer.receive()) {
    if (next->first.kind == to_byte(wire_kind::notice)) heard = std::move(next->second);
  }
  return heard;
}

TEST(node_directory, a_rank_ends_its_targets_for_the_host) {
  lone_node node(1, 4);
  node->ways.set_neighbours(1, 2);
  node->ways.add(2, 1);
  node_directory directory(*node, {});
  std::vector<std::pair<node_t, std::int64_t>> ended;
  directory.end_targets_by(
      [&](node_t target, std::chrono::milliseconds timeout) { ended.emplace_back(target, timeout.count()); });
  bytes ending(13);  // kind, node, milliseconds
  ending[0] = std::byte{3};
  ending[1] = std::byte{2};
  ending[5] = std::byte{200};
  node->locked([&] {
    static_cast<void>(node->peers.expect(2));
    directory.on_notice(0, ending);
  });
  EXPECT_EQ(ended, (std::vector<std::pair<node_t, std::int64_t>>{{2, 200}}));
  EXPECT_EQ(node->peers.hold(2)->state.load(), peer_state::lost) << "before its process is ended";
}

TEST(node_directory, a_question_is_answered_behind_an_announcement) {
  world job(500, 0, 2);
  node_directory host(job.node(), {});
  world::peer& asker = job.friendly();
  const bytes question = pack(question_number{kind_of(notice::question), 7});
  job.node().locked([&] { host.on_notice(asker.number, question); });
  job.step();
  std::vector<bytes> heard;
  while (auto next = asker.receive()) {
    if (next->first.kind == to_byte(wire_kind::notice)) heard.push_back(std::move(next->second));
  }
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(notice_in(heard[0]), notice::announcement);
  EXPECT_EQ(heard[1], pack(question_number{kind_of(notice::answer), 7}));
}

TEST(node_directory, questions_of_who_reads_no_answers_come_to_an_end) {
  quiet hushed;
  world job(500, 0, 2);
  node_directory host(job.node(), {});
  world::peer& asker = job.friendly();
  const bytes question = pack(question_number{kind_of(notice::question), 7});
  const auto ask = [&] { job.node().locked([&] { host.on_notice(asker.number, question); }); };
  std::uint32_t waiting = 0;
  const auto ask_on = [&] {
    for (int i = 0; i < 1'000'000; ++i) {
      ask();
      waiting = job.node().peers.hold(asker.number)->row->traffic.waiting.load();
    }
  };
  EXPECT_THROW(ask_on(), protocol_error);
  EXPECT_LE(waiting, 1200U) << "beside the answers there are few announcements";
}

TEST(node_directory, who_reads_answers_may_ask_for_ever) {
  world job(500, 0, 2);
  node_directory host(job.node(), {});
  world::peer& asker = job.friendly();
  const bytes question = pack(question_number{kind_of(notice::question), 7});
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_NO_THROW(job.node().locked([&] { host.on_notice(asker.number, question); }));
    job.step();
    std::size_t answers = 0;
    while (auto next = asker.receive()) {
      if (next->first.kind == to_byte(wire_kind::notice) && notice_in(next->second) == notice::answer) ++answers;
    }
    ASSERT_EQ(answers, 1U);
  }
}

TEST(node_directory, a_node_asks_once_to_meet_another) {
  world job(500, 0, 2);
  node_directory host(job.node(), {});
  world::peer& one = job.friendly();
  world::peer& other = job.friendly();
  const auto meetings_of = [&](world::peer& who) {
    job.step();
    std::size_t count = 0;
    while (auto next = who.receive()) {
      if (next->first.kind == to_byte(wire_kind::notice) && notice_in(next->second) == notice::meet) ++count;
    }
    return count;
  };
  job.node().locked([&] {
    for (int i = 0; i < 3; ++i) host.on_notice(one.number, pack(meeting{kind_of(notice::meet), other.number}));
  });
  EXPECT_EQ(meetings_of(other), 1U);
  job.node().locked([&] { host.on_notice(other.number, pack(meeting{kind_of(notice::meet), one.number})); });
  EXPECT_EQ(meetings_of(one), 1U) << "the other one asks for itself";
}

TEST(node_directory, only_the_host_is_asked_and_answers) {
  lone_node node(1, 4);
  node_directory directory(*node, {});
  EXPECT_EQ(directory.ask_for_nodes(), 0U) << "the host is not connected";
  EXPECT_THROW(directory.on_notice(2, pack(question_number{kind_of(notice::question), 1})), protocol_error);
  EXPECT_THROW(directory.on_notice(2, pack(question_number{kind_of(notice::answer), 1})), protocol_error);
  EXPECT_FALSE(directory.has_answered(1));
  directory.on_notice(0, pack(question_number{kind_of(notice::answer), 1}));
  EXPECT_TRUE(directory.has_answered(1));
  EXPECT_FALSE(directory.has_answered(2));
}

TEST(node_directory, a_rank_refuses_a_host_that_has_read_another_list) {
  world told;
  node_directory teller(told.node(), {});
  teller.set_company(2, transport::company::targets, 1);
  const bytes text = announcement_of(teller, told);
  for (const int planned : {0, 1, 2}) {
    lone_node node(1, 4);
    for (node_t target = 2; target < 2 + planned; ++target) node->ways.add(target, 1);
    node_directory own(*node, {});
    silent_transport ranks;
    own.use_ranks(ranks, 1, 2);
    const auto read = [&] { node->locked([&] { own.on_notice(0, text); }); };
    if (planned == 1)
      EXPECT_NO_THROW(read());
    else
      EXPECT_THROW(read(), protocol_error) << planned;
  }
}

TEST(node_directory, a_target_that_reaches_its_rank_only_leaves_that_to_its_transport) {
  lone_node node(8, 12);
  node->ways.set_starter(5);
  node_directory directory(*node, {});
  silent_transport only;
  directory.use_only(only);
  for (const node_t peer : {5, 0, 9}) directory.connect(peer);
  EXPECT_EQ(only.connected, std::vector<node_t>{5});
}

TEST(node_directory, reaches_nodes_with_addresses_over_the_network) {
  lone_node node(1, 4);
  node_directory directory(*node, {});
  silent_transport local;
  silent_network network;
  directory.use_local(local, true);
  directory.use_network(network);
  directory.set_address(2, "host:7000");
  directory.connect(2);
  directory.connect(3);
  EXPECT_EQ(network.reached, (std::vector<place>{{2, "host:7000"}}));
  EXPECT_EQ(local.connected, (std::vector<node_t>{3}));
  directory.forget(2);
  directory.connect(2);
  EXPECT_EQ(local.connected, (std::vector<node_t>{3, 2}));
}

std::string loss_of(engine& node, node_t peer) {
  try {
    node.await_ready(peer);
  } catch (const node_failure& lost) {
    return lost.what();
  }
  return "none";
}

std::vector<std::byte> start_targets(std::uint32_t nodes,
                                     std::vector<std::tuple<node_t, std::uint32_t, std::string>> groups) {
  return pack(start_request{kind_of(notice::start_targets), nodes, std::move(groups)});
}

TEST(node_directory, takes_one_request_for_targets_of_its_own) {
  lone_node node(2, 3);
  node_directory directory(*node, {});
  const auto text = start_targets(7, {{3, 2, "shm:2"}, {6, 1, "emulated"}});
  EXPECT_THROW(directory.on_notice(0, text), protocol_error) << "nobody here starts any";
  directory.take_start_requests();
  EXPECT_EQ(directory.take_start_request(), std::nullopt);
  EXPECT_THROW(directory.on_notice(1, text), protocol_error) << "not the host";
  directory.on_notice(0, text);
  EXPECT_EQ(node->peers.size(), 7U);
  EXPECT_TRUE(node->ways.starts(3) && node->ways.starts(4) && !node->ways.starts(5) && node->ways.starts(6));
  const auto request = directory.take_start_request();
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<2>(std::get<2>(*request).at(0)), "shm:2");
  EXPECT_EQ(directory.take_start_request(), std::nullopt) << "once";
  EXPECT_THROW(directory.on_notice(0, text), protocol_error) << "once in a job";
}

TEST(node_directory, refuses_requests_for_targets_that_cannot_be) {
  const auto refuses = [](const std::vector<std::byte>& text) {
    lone_node node(2, 3);
    node_directory directory(*node, {});
    directory.take_start_requests();
    EXPECT_THROW(directory.on_notice(0, text), protocol_error);
    EXPECT_EQ(directory.take_start_request(), std::nullopt);
  };
  refuses(start_targets(7, {{2, 1, "shm"}}));
  refuses(start_targets(7, {{0, 1, "shm"}}));
  refuses(start_targets(7, {{-1, 1, "shm"}}));
  refuses(start_targets(7, {{6, 2, "shm:2"}}));
  refuses(start_targets(7, {{3, 4'000'000'000U, "shm"}}));
  refuses(start_targets(7, {{3, 2, "shm:2"}, {4, 1, "shm"}}));
  refuses(start_targets(4'000'000'000U, {{3, 1, "shm"}}));
  auto longer = start_targets(7, {{3, 1, "shm"}});
  longer.push_back(std::byte{0});
  refuses(longer);
}

TEST(node_directory, says_of_whom_nothing_is_known) {
  lone_node host(0, 3);
  node_directory of_host(*host, {});
  node_job job_of_host(of_host);
  host->owner = &job_of_host;
  EXPECT_NE(loss_of(*host, 1).find("it has left the job"), std::string::npos);

  lone_node target(1, 3);
  node_directory of_target(*target, {});
  node_job job_of_target(of_target);
  target->owner = &job_of_target;
  EXPECT_NE(loss_of(*target, 2).find("nothing is known of where it is"), std::string::npos);
}

TEST(node_directory, tells_other_nodes_who_listens_where) {
  quiet hushed;
  world at_node_one;
  network_settings how;
  how.job_key[0] = std::byte{7};
  node_directory teller(at_node_one.node(), how);
  teller.set_address(2, "host:7002");
  teller.set_address(3, "host:7003");
  at_node_one.node().locked([&] {
    for (const node_t node : {2, 3}) static_cast<void>(at_node_one.node().peers.expect(node));
  });
  world::peer& two = at_node_one.friendly();
  teller.announce(two.number);
  at_node_one.step();
  std::optional<std::pair<transport::frame_head, bytes>> heard;
  while (auto next = two.receive()) {
    if (next->first.kind == to_byte(wire_kind::notice)) heard = std::move(next);
  }
  ASSERT_TRUE(heard);

  lone_node listener(2, 3);
  node_directory directory(*listener, {});
  silent_network network;
  directory.use_network(network);
  EXPECT_THROW(directory.on_notice(1, heard->second), protocol_error) << "only the host tells that";
  directory.on_notice(0, heard->second);
  EXPECT_EQ(listener->peers.size(), at_node_one.node().peers.size());
  directory.connect(3);
  EXPECT_EQ(network.reached, (std::vector<place>{{3, "host:7003"}}));
  directory.connect(2);
  EXPECT_EQ(network.reached.size(), 1U) << "a node needs no address of itself";
}

TEST(node_directory, tells_of_some_nodes_that_are_lost) {
  quiet hushed;
  world at_host(500, 0, 200);
  engine& host = at_host.node();
  node_directory teller(host, {});
  for (node_t node = 100; node < 200; ++node) {
    teller.set_address(node, "host:" + std::to_string(7000 + node));
    teller.set_company(node, transport::company::networks);
    host.locked([&] { static_cast<void>(host.peers.expect(node)); });
  }
  for (node_t node = 101; node < 199; ++node) host.part_with(node, "it died");
  const bytes heard = announcement_of(teller, at_host);
  const auto told = unpack<announcement>(heard);
  EXPECT_EQ(std::get<6>(told).size(), 2U + 64U);
  EXPECT_EQ(std::get<7>(told).size(), 2U + 64U);
  EXPECT_EQ(teller.address_of(100), "host:7100");
  EXPECT_EQ(teller.address_of(101), std::nullopt);
  EXPECT_EQ(teller.address_of(198), "host:7198") << "calls to it are refused there at once";
  EXPECT_EQ(teller.address_of(199), "host:7199");
}

TEST(node_directory, knows_some_addresses_of_nodes_that_have_gone) {
  lone_node node(1, 4);
  node_directory directory(*node, {});
  for (node_t other = 2; other < 300; ++other)
    directory.on_notice(0, pack(announcement{kind_of(notice::announcement),
                                             300,
                                             300,
                                             false,
                                             false,
                                             {},
                                             {{1, "host:1"}, {other, "host:" + std::to_string(other)}},
                                             {},
                                             {},
                                             {}}));
  EXPECT_EQ(directory.address_of(1), std::nullopt) << "its own";
  EXPECT_EQ(directory.address_of(299), "host:299");
  EXPECT_EQ(directory.address_of(298), "host:298") << "it may still be asked for";
  std::size_t known = 0;
  for (node_t other = 0; other < 300; ++other) known += directory.address_of(other) ? 1 : 0;
  EXPECT_EQ(known, 1U + 64U);
}

TEST(node_directory, who_calls_another_target_waits_until_the_host_has_told_of_all) {
  quiet hushed;
  world told;
  node_directory teller(told.node(), {});
  const bytes text = announcement_of(teller, told);

  world target(2, 4, 0);
  static_cast<void>(target.friendly());  // its host
  node_directory directory(target.node(), {});
  silent_transport local;
  directory.use_local(local, true);
  EXPECT_TRUE(directory.knows_way(0));
  EXPECT_FALSE(directory.knows_way(5));
  target.node().locked([&] { directory.on_notice(0, text); });
  EXPECT_TRUE(directory.knows_way(5));

  // Of nodes that are being added not all is known yet.
  teller.begin_additions(5);
  const bytes early = announcement_of(teller, told);
  target.node().locked([&] { directory.on_notice(0, early); });
  EXPECT_FALSE(directory.knows_way(5));
  EXPECT_TRUE(directory.knows_way(3));

  lone_node of_no_host(1, 3);
  EXPECT_TRUE(node_directory(*of_no_host, {}).knows_way(2)) << "nobody would tell";
}

TEST(node_directory, nodes_without_a_common_medium_are_left_to_the_host) {
  lone_node node(1, 8);
  node_directory directory(*node, {});
  silent_transport local;
  directory.use_local(local, false);
  directory.connect(2);
  EXPECT_TRUE(local.connected.empty()) << "its own transport reaches the host only";

  lone_node other(1, 8);
  node_directory beside(*other, {});
  beside.use_local(local, true);
  beside.connect(2);
  EXPECT_EQ(local.connected, std::vector<node_t>{2});
  beside.set_company(3, transport::company::networks);
  beside.set_company(4, transport::company::targets);
  beside.connect(3);
  EXPECT_EQ(local.connected, std::vector<node_t>{2}) << "the other one's transport reaches the host only";
  beside.connect(4);
  EXPECT_EQ(local.connected, (std::vector<node_t>{2, 4}));
}

/// Both sides come to the same, or each would close the other's connection.
TEST(node_directory, who_listens_is_connected_by_others_unless_they_have_no_network) {
  world job(2, 4, 0);
  world::peer& host = job.friendly();
  node_directory directory(job.node(), {});
  silent_network network;
  directory.use_network(network);
  directory.set_company(5, transport::company::networks);
  directory.set_company(6, transport::company::nobody);
  EXPECT_NE(directory.connect(5), base::never_ns) << "it is asked to connect, which may take so long";
  job.step();
  std::size_t notices = 0;
  while (auto next = host.receive()) notices += next->first.kind == to_byte(wire_kind::notice) ? 1 : 0;
  EXPECT_EQ(notices, 1U);
  EXPECT_EQ(directory.connect(6), base::never_ns) << "through the host";
}

TEST(node_directory, learns_from_the_host_which_numbers_are_supervised) {
  lone_node node(2, 8);
  node_directory directory(*node, {});
  using list = std::vector<std::tuple<node_t, node_t, std::uint8_t>>;
  const auto take = [&](node_t from, const list& all) {
    directory.on_notice(from, pack(supervised_numbers{kind_of(notice::numbers), all}));
  };
  take(0, {{1, 5, 0}, {3, 3, 1}});
  EXPECT_EQ(node->numbers.of(1).process, 5);
  EXPECT_EQ(node->numbers.of(3).now, replacements::phase::restarting);
  EXPECT_THROW(take(3, {{1, 6, 0}}), protocol_error) << "only the host says so";
  for (const auto& wrong : list{{0, 1, 0}, {1, 0, 0}, {8, 1, 0}, {1, 8, 0}, {-1, 1, 0}, {1, -5, 0}, {1, 1, 3}})
    EXPECT_THROW(take(0, {wrong}), protocol_error);
  EXPECT_EQ(node->numbers.of(1).process, 5) << "nothing of all that counts";
  take(0, {});
  EXPECT_FALSE(node->numbers.any());
}

TEST(node_directory, only_the_host_takes_heartbeats) {
  lone_node host(0, 4), other(2, 4);
  node_directory of_host(*host, {}), of_other(*other, {});
  const auto beat = pack(std::tuple{kind_of(notice::heartbeat)});
  EXPECT_NO_THROW(of_host.on_notice(1, beat));
  EXPECT_THROW(of_other.on_notice(1, beat), protocol_error);
}

TEST(node_directory, refuses_damaged_notices) {
  lone_node node(1, 4);
  node_directory directory(*node, {});
  silent_network network;
  directory.use_network(network);
  const auto on_notice = [&](node_t from, const bytes& text) {
    node->locked([&] { directory.on_notice(from, text); });
  };
  EXPECT_THROW(on_notice(0, {}), protocol_error);
  EXPECT_THROW(on_notice(0, bytes{std::byte{99}}), protocol_error);
  EXPECT_THROW(on_notice(0, bytes{std::byte{1}}), std::exception) << "an announcement of nothing";
  EXPECT_THROW(on_notice(0, bytes{std::byte{2}, std::byte{3}}), std::exception) << "half a number";
  bytes ending(13);
  ending[0] = std::byte{3};
  ending[1] = std::byte{2};
  EXPECT_THROW(on_notice(0, ending), protocol_error) << "of a target that it has not started";
  node->ways.add(2, 1);
  EXPECT_THROW(on_notice(3, ending), protocol_error) << "of another one than the host";
  EXPECT_THROW(on_notice(0, bytes(ending.begin(), ending.end() - 1)), std::exception) << "half a number";
  EXPECT_EQ(node->peers.size(), 4U);
  EXPECT_TRUE(network.reached.empty());
}

}  // namespace
}  // namespace ham::detail

// Frames that break the rules, thrown at a node: nothing executes, the endpoint closes with an error, the node lives
// on.
#include <atomic>
#include <map>
#include <random>
#include <string>

#include "bulk.hpp"
#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"
#include "runtime/engine_info.hpp"

namespace hostile_frames {

using namespace ham;
using namespace ham::test;
using detail::to_byte;
using detail::wire_kind;

std::atomic<int> sprung{0};
void tripwire_nothing() { ++sprung; }
int tripwire_number(int value) { return ++sprung + value; }
void tripwire_text(const std::string&) { ++sprung; }
std::vector<std::string> tripwire_lists(const std::vector<std::vector<int>>&, const std::map<std::string, int>&) {
  ++sprung;
  return {};
}
int still_there(int value) { return value + 1; }

/// Makes the functions above handlers of this program.
[[maybe_unused]] void never_called() {
  offload::sync(0, fn<&tripwire_nothing>);
  offload::sync(0, fn<&tripwire_number>, 1);
  offload::sync(0, fn<&tripwire_text>, std::string());
  offload::sync(0, fn<&tripwire_lists>, std::vector<std::vector<int>>(), std::map<std::string, int>());
  offload::sync(0, pooled(fn<&tripwire_text>), std::string());
  offload::sync(0, fn<&still_there>, 1);
}
void (*const keep)() = &never_called;

template <class... T>
bytes pack(const T&... values) {
  bytes result((sizeof values + ... + 0));
  std::size_t at = 0;
  ((std::memcpy(result.data() + at, &values, sizeof values), at += sizeof values), ...);
  return result;
}

class hostile_frames : public testing::Test {
 protected:
  hostile_frames() { sprung = 0; }

  /// A world with room for one more peer. Before a full one goes, it must still work.
  world& here() {
    if (world_ != nullptr && world_->full()) {
      expect_alive();
      world_.reset();
    }
    if (world_ == nullptr) {
      world_ = std::make_unique<world>();
      friend_ = &world_->friendly();
    }
    return *world_;
  }

  [[nodiscard]] world& now() { return *world_; }

  /// A peer that keeps the rules is served.
  void expect_alive() {
    friend_->send({key_of("still_there"), 77, to_byte(wire_kind::call)}, pack(41));
    world_->step();
    const auto answer = friend_->receive();
    ASSERT_TRUE(answer) << "the node does not serve others any more";
    EXPECT_EQ(answer->first.kind, to_byte(wire_kind::reply));
    EXPECT_EQ(answer->first.call, 77U);
    EXPECT_EQ(answer->second, pack(42));
  }

  /// The endpoint must close and say why; nothing must have run.
  void expect_closed(world::peer& by, const std::string& what) {
    for (int i = 0; i < 5000 && by.open(); ++i) {  // a pooled function finds it out on another thread
      ::usleep(1000);
      now().step();
    }
    ASSERT_FALSE(by.open()) << what << " was taken";
    ASSERT_FALSE(by.reason().empty()) << what;
    ASSERT_EQ(sprung.load(), 0) << what << " executed something";
  }

  void TearDown() override {
    if (world_ != nullptr) expect_alive();
  }

  quiet quiet_;
  std::unique_ptr<world> world_;
  world::peer* friend_ = nullptr;
};

/// More than there are functions. Where a connection takes long to make, some of the keys above stand for all.
constexpr std::uint32_t every_key_below = unless_sanitized(0x10000U, 0x1000U);

TEST_F(hostile_frames, the_test_itself_can_call) {
  ASSERT_NE(keep, nullptr);
  world::peer& one = here().friendly();
  one.send({key_of("tripwire_number"), 1, to_byte(wire_kind::call)}, pack(1));
  now().step();
  EXPECT_EQ(sprung.load(), 1);
  one.send({key_of("tripwire_nothing"), 2, to_byte(wire_kind::call)}, {});
  now().step();
  EXPECT_EQ(sprung.load(), 2);
  EXPECT_TRUE(one.open());
}

TEST_F(hostile_frames, all_low_keys_before_the_greeting) {
  for (std::uint32_t key = 0; key < 0x10000; key += key < every_key_below ? 1 : 17) {
    world::peer& one = here().connect();
    one.send({key, key, to_byte(wire_kind::call)}, pack(1));
    now().step();
    ASSERT_NO_FATAL_FAILURE(expect_closed(one, "key " + std::to_string(key)));
  }
  EXPECT_EQ(detail::statistics_of(now().node()).calls_executed, 0U);
}

TEST_F(hostile_frames, all_low_keys_after_the_greeting) {
  // Seven bytes are the arguments of no function in this program.
  const bytes payload(7, std::byte{1});
  for (std::uint32_t key = 0; key < 0x10000; key += key < every_key_below ? 1 : 17) {
    world::peer& one = here().friendly();
    one.send({key, key, to_byte(wire_kind::call)}, payload);
    now().step();
    ASSERT_NO_FATAL_FAILURE(expect_closed(one, "key " + std::to_string(key)));
  }
}

TEST_F(hostile_frames, low_keys_in_a_batch) {
  for (std::uint32_t key = 0; key < 0x1000; ++key) {
    world::peer& one = here().friendly();
    bytes records = pack(key, std::uint32_t{5}, std::uint32_t{7});
    records.resize(records.size() + 7, std::byte{1});
    one.send({1, 0, to_byte(wire_kind::batch)}, records);
    now().step();
    ASSERT_NO_FATAL_FAILURE(expect_closed(one, "key " + std::to_string(key) + " in a batch"));
  }
}

TEST_F(hostile_frames, a_million_random_frames) {
  constexpr int count = unless_sanitized(1'000'000, 15'000);
  std::mt19937_64 random(20260101);
  const std::size_t handlers = msg::handler_table::local().size();
  world::peer* at = nullptr;
  bool greeted = false;
  bytes payload;
  int connections = 0;
  for (int i = 0; i < count; ++i) {
    if (at == nullptr || !at->open()) {
      greeted = random() % 4 == 0;
      at = greeted ? &here().friendly() : &here().connect();
      ++connections;
    }
    std::size_t size = random() % 300;
    if (random() % 1000 == 0) size = random() % at->writer.max_payload();
    std::uint32_t key =
        random() % 2 == 0 ? static_cast<std::uint32_t>(random()) : static_cast<std::uint32_t>(random() % 0x10000);
    if (random() % 8 == 0) key = static_cast<std::uint32_t>(random() % handlers);
    // Never the right arguments by chance: neither of fixed sizes, nor with a length that fits what follows.
    const bool is_known = key < handlers;
    if (is_known) size = size / 8 * 8 + 7;
    payload.resize(size);
    for (std::size_t k = 0; k < size; k += 8) {
      std::uint64_t word = random() % 4 == 0 ? random() % 16 : random();
      if (is_known) word |= 0x8080'0000'8080'0000;
      std::memcpy(payload.data() + k, &word, std::min<std::size_t>(8, size - k));
    }
    const auto kind = static_cast<std::uint8_t>(random() % 2 == 0 ? 1 + random() % 9 : random() % 255 + 1);
    at->send({key, static_cast<std::uint32_t>(random()), kind}, payload);
    now().step(2);
    ASSERT_EQ(sprung.load(), 0) << "frame " << i;
    while (at->receive()) {
    }
    // A first fragment may be the beginning of something, and a context may just have been closed: the call is answered
    // with an error. So it is with the stop of a call that is not there. Everything else closes the endpoint.
    const auto plain = static_cast<wire_kind>(kind & ~detail::in_context);
    const bool of_closed_context = greeted && key < handlers && (kind & detail::in_context) != 0;
    const bool of_no_call = greeted && plain == wire_kind::cancel && size == 0;
    const bool of_no_replay = greeted && kind == detail::to_byte(wire_kind::replayed) && size >= 8;
    if (plain != wire_kind::fragment && !of_no_call && !of_no_replay && plain != wire_kind::manifest &&
        plain != wire_kind::flow && !of_closed_context) {
      ASSERT_NO_FATAL_FAILURE(expect_closed(
          *at, "frame " + std::to_string(i) + " of kind " + std::to_string(kind) + " and key " + std::to_string(key)));
    }
  }
  std::printf("%d frames over %d connections\n", count, connections);
}

TEST_F(hostile_frames, random_bytes_in_the_rings_themselves) {
  std::mt19937_64 random(20260102);
  for (int i = 0; i < test::unless_sanitized(20'000, 4'000); ++i) {
    world::peer& one = random() % 2 == 0 ? here().friendly() : here().connect();
    auto* const words = reinterpret_cast<std::uint32_t*>(one.rings.lines(0));
    for (int k = 0; k < 256; ++k) words[k] = static_cast<std::uint32_t>(random());
    // The next line's stamp is right, so that the rest of it is looked at.
    words[(one.writer.sent() % 4096) * 16] = transport::stamp_of(one.writer.sent(), transport::ring_pair::lines_log2);
    if (random() % 2 == 0) {
      one.rings.control(1).released.store(random());
      one.rings.control(1).taken.store(random());
      one.rings.control(1).armed.store(static_cast<std::uint32_t>(random()));
    }
    now().step();
    ASSERT_EQ(sprung.load(), 0);
    ASSERT_FALSE(one.open()) << i;
  }
}

TEST_F(hostile_frames, what_follows_a_bad_frame_is_not_looked_at) {
  world::peer& one = here().friendly();
  one.send({0xfffffff0, 1, to_byte(wire_kind::call)}, {});
  for (int i = 0; i < 5; ++i) one.send({key_of("tripwire_nothing"), 2, to_byte(wire_kind::call)}, {});
  now().step(20);
  expect_closed(one, "a bad frame before good ones");
}

TEST_F(hostile_frames, words_of_farewell_are_cut_off_and_written_to_no_terminal) {
  world::peer& one = here().friendly();
  one.send({0, detail::no_reply, to_byte(wire_kind::goodbye)}, bytes(60'000, std::byte{0x1b}));
  now().step();
  ASSERT_FALSE(one.open());
  EXPECT_NE(one.reason().find("it was sent ???"), std::string::npos) << one.reason().substr(0, 100);
  EXPECT_EQ(one.reason().find('\x1b'), std::string::npos);
  EXPECT_LT(one.reason().size(), 1200U);
}

TEST_F(hostile_frames, damaged_greetings) {
  bytes good;
  (void)here().connect(&good);
  const auto greet = [&](const bytes& text) -> world::peer& {
    world::peer& one = here().connect();
    one.send({0, detail::no_reply, to_byte(wire_kind::hello)}, text);
    now().step();
    return one;
  };
  for (std::size_t length = 0; length < good.size(); ++length) {
    ASSERT_NO_FATAL_FAILURE(
        expect_closed(greet({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)}), "a short greeting"));
  }
  bytes longer = good;
  longer.push_back(std::byte{});
  expect_closed(greet(longer), "a long greeting");
  for (std::size_t i = 0; i < 8; ++i) {  // magic and version
    bytes damaged = good;
    damaged[i] ^= std::byte{1};
    ASSERT_NO_FATAL_FAILURE(expect_closed(greet(damaged), "another magic or version"));
  }
  world::peer& twice = greet(good);
  EXPECT_TRUE(twice.open());
  twice.send({0, detail::no_reply, to_byte(wire_kind::hello)}, good);
  now().step();
  expect_closed(twice, "a second greeting");
  for (std::size_t i = 8; i < good.size(); ++i) {  // whatever comes of it, no crash and no call
    bytes damaged = good;
    damaged[i] ^= std::byte{0x80};
    world::peer& one = greet(damaged);
    one.send({key_of("tripwire_nothing"), 1, to_byte(wire_kind::manifest)}, good);
    now().step();
    ASSERT_EQ(sprung.load(), 0);
  }
}

TEST_F(hostile_frames, damaged_manifests) {
  bytes other_digest;
  (void)here().connect(&other_digest);
  other_digest[8] ^= std::byte{1};
  const bytes good = msg::manifest::local().serialise();
  const auto introduce = [&](const bytes& text) -> world::peer& {
    world::peer& one = here().connect();
    one.send({0, detail::no_reply, to_byte(wire_kind::hello)}, other_digest);
    one.send({0, detail::no_reply, to_byte(wire_kind::manifest)}, text);
    now().step();
    return one;
  };
  EXPECT_TRUE(introduce(good).open());
  for (std::size_t length = 0; length < good.size(); length += 1 + length / 20) {
    ASSERT_NO_FATAL_FAILURE(expect_closed(introduce({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)}),
                                          "a short manifest"));
  }
  std::mt19937_64 random(20260103);
  for (int i = 0; i < test::unless_sanitized(3000, 1000); ++i) {
    bytes damaged = good;
    for (int k = 0; k < 1 + i % 4; ++k) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    (void)introduce(damaged);
    ASSERT_EQ(sprung.load(), 0);
  }
  world::peer& out_of_turn = here().friendly();
  out_of_turn.send({0, detail::no_reply, to_byte(wire_kind::manifest)}, good);
  now().step();
  expect_closed(out_of_turn, "a manifest that nobody asked for");
}

TEST_F(hostile_frames, replies_to_no_call) {
  for (const wire_kind kind : {wire_kind::reply, wire_kind::reply_error}) {
    for (std::uint32_t call : {0U, 1U, 1023U, 1024U, 0xfffffU, 0x100000U, 0xffffffffU}) {
      world::peer& one = here().friendly();
      one.send({0, call, to_byte(kind)}, pack(1));
      now().step();
      ASSERT_NO_FATAL_FAILURE(expect_closed(one, "a reply to no call"));
    }
  }
  for (const bytes& text : {pack(std::uint32_t{0}), pack(std::uint32_t{0}, std::uint32_t{0}), pack(0U, 0x7fffffffU),
                            pack(5U, 1U, 1U, 1U)}) {
    world::peer& one = here().friendly();
    one.send({0, 0, to_byte(wire_kind::batch_reply)}, text);
    now().step();
    ASSERT_NO_FATAL_FAILURE(expect_closed(one, "a reply to no batch"));
  }
}

TEST_F(hostile_frames, a_reply_by_another_node_than_the_one_that_was_called) {
  world::peer& called = here().friendly();
  world::peer& liar = here().friendly();
  auto& function = detail::call_of<fn_t<decltype(&still_there), &still_there>, int>::message::entry();
  detail::call_room out;
  ASSERT_TRUE(now().node().calls_out.begin({called.number}, function, 4, &detail::slot_value<int>::decode,
                                           detail::when_full::refuse, out));
  std::memset(out.data, 0, 4);
  now().node().calls_out.finish(out);
  auto pending = offload::detail::future_access::make<int>(out.slot);
  const std::uint32_t id = out.slot->id;
  liar.send({0, id, to_byte(wire_kind::reply)}, pack(666));
  now().step();
  expect_closed(liar, "a reply in another's name");
  EXPECT_FALSE(pending.test());
  called.send({0, id, to_byte(wire_kind::reply)}, pack(5));
  EXPECT_EQ(pending.get(), 5);
  called.send({0, id, to_byte(wire_kind::reply)}, pack(5));
  now().step();
  expect_closed(called, "a second reply");
}

TEST_F(hostile_frames, results_that_cannot_be_read) {
  for (const std::size_t size : {0U, 3U, 5U, 100U}) {
    world::peer& called = here().friendly();
    auto& function = detail::call_of<fn_t<decltype(&still_there), &still_there>, int>::message::entry();
    detail::call_room out;
    ASSERT_TRUE(now().node().calls_out.begin({called.number}, function, 4, &detail::slot_value<int>::decode,
                                             detail::when_full::refuse, out));
    std::memset(out.data, 0, 4);
    now().node().calls_out.finish(out);
    auto pending = offload::detail::future_access::make<int>(out.slot);
    called.send({0, out.slot->id, to_byte(wire_kind::reply)}, bytes(size));
    now().step();
    if (size < 4) {
      EXPECT_THROW((void)pending.get(), node_failure);
      expect_closed(called, "a result that cannot be read");
    } else {
      EXPECT_TRUE(pending.test());
      try {
        (void)pending.get();
      } catch (const node_failure&) {
        EXPECT_FALSE(called.open());
      }
    }
  }
}

TEST_F(hostile_frames, fragments) {
  const auto piece = [](std::uint64_t total, std::uint64_t offset, std::uint32_t key, std::uint32_t kind,
                        std::size_t size) {
    bytes result = pack(total, offset, key, kind);
    result.resize(result.size() + size);
    return result;
  };
  const std::uint32_t key = key_of("tripwire_nothing");
  const auto call = std::uint32_t{to_byte(wire_kind::call)};
  const std::vector<bytes> bad{{},
                               bytes(23),
                               piece(100, 0, key, call, 0),
                               piece(100, 1, key, call, 10),
                               piece(10, 0, key, call, 11),
                               piece(0, 0, key, call, 1),
                               piece(~0ULL, ~0ULL, key, call, 8),
                               piece(10, 0, key, 0x180, 5),
                               piece(wire::usual_message_limit + 1, 0, key, call, 8),
                               piece(1ULL << 62, 0, key, call, 8),
                               piece(8, 0, key, to_byte(wire_kind::fragment), 8),
                               piece(8, 0, 0xffffff, call, 8)};
  for (std::size_t i = 0; i < bad.size(); ++i) {
    world::peer& one = here().friendly();
    one.send({1, 1, to_byte(wire_kind::fragment)}, bad[i]);
    now().step();
    ASSERT_NO_FATAL_FAILURE(expect_closed(one, "fragment " + std::to_string(i)));
  }
  // What is announced is not allocated.
  world::peer& announces = here().friendly();
  announces.send({1, 1, to_byte(wire_kind::fragment)}, piece(wire::usual_message_limit, 0, key, call, 8));
  now().step();
  EXPECT_TRUE(announces.open());
  announces.send({1, 1, to_byte(wire_kind::fragment)}, piece(wire::usual_message_limit - 1, 8, key, call, 8));
  now().step();
  expect_closed(announces, "a message that changes its size");
  // Streams are limited.
  world::peer& many = here().friendly();
  for (std::uint32_t stream = 0; stream < 1000 && many.open(); ++stream) {
    many.send({stream, 1, to_byte(wire_kind::fragment)}, piece(100, 0, key, call, 8));
    now().step(1);
  }
  now().step();
  expect_closed(many, "a thousand messages at once");
}

TEST_F(hostile_frames, batches) {
  const std::uint32_t key = key_of("tripwire_nothing");
  struct bad {
    std::uint32_t count;
    bytes records;
  };
  const std::vector<bad> all{{0, {}},
                             {1, {}},
                             {0, pack(key, 1U, 0U)},
                             {2, pack(key, 1U, 0U)},
                             {0xffffffff, pack(key, 1U, 0U)},
                             {1, pack(key, 1U, 1U)},
                             {1, pack(key, 1U, 0xffffffffU)},
                             {1, pack(key, 1U, 0U, 0U)},
                             {2, pack(key, 1U, 0U, 0xfffffff0U, 2U, 0U)}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const bool in_context : {false, true}) {
      world::peer& one = here().friendly();
      bytes records = in_context ? pack(99U) : bytes();
      records.insert(records.end(), all[i].records.begin(), all[i].records.end());
      one.send({all[i].count, 0,
                static_cast<std::uint8_t>(to_byte(wire_kind::batch) | (in_context ? detail::in_context : 0))},
               records);
      now().step();
      ASSERT_NO_FATAL_FAILURE(expect_closed(one, "batch " + std::to_string(i)))
          << "nothing of it runs unless all is well-formed";
    }
  }
}

TEST_F(hostile_frames, arguments_with_lengths_that_lie) {
  const std::vector<std::pair<const char*, bytes>> all{{"tripwire_text", pack(~0ULL)},
                                                       {"tripwire_text", pack(1ULL)},
                                                       {"tripwire_text", pack(1ULL << 40, 1)},
                                                       {"tripwire_lists", pack(1ULL << 60, 0ULL)},
                                                       {"tripwire_lists", pack(1ULL, ~0ULL)},
                                                       {"tripwire_lists", pack(0ULL, 1ULL << 33)},
                                                       {"tripwire_lists", pack(0ULL, 1ULL, 1ULL)},
                                                       {"tripwire_number", pack(std::int16_t{1})},
                                                       {"tripwire_number", pack(1, 1)},
                                                       {"tripwire_nothing", pack(std::int8_t{0})}};
  for (const auto& [name, payload] : all) {
    world::peer& one = here().friendly();
    one.send({key_of(name), 1, to_byte(wire_kind::call)}, payload);
    now().step();
    ASSERT_NO_FATAL_FAILURE(expect_closed(one, name));
  }
}

}  // namespace hostile_frames

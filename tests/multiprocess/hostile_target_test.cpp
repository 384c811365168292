// A hostile peer of a real target process, over shared memory: nothing executes, the connection is closed with an
// error, the process lives on and serves others.
// link: ham::ham
// timeout: 600
// serial: no
#include <memory>
#include <random>

#include "ham/msg/handler_table.hpp"
#include "multiprocess/hostile_victim.hpp"

using namespace ham;
using namespace ham::test;
using detail::to_byte;
using detail::wire_kind;

namespace hostile_target {

std::atomic<int> sprung{0};  // in the target
void tripwire_nothing() { ++sprung; }
int tripwire_number(int value) { return ++sprung + value; }
void tripwire_text(const std::string&) { ++sprung; }
int read_sprung() { return sprung.load(); }
int still_there(int value) { return value + 1; }
/// Uses the node's own memory, whose table the attacker can write.
int use_memory(int value) {
  offload::buffer<int> memory(offload::this_node(), 1000);
  const std::vector<int> in(1000, value);
  std::vector<int> out(1000);
  offload::put_sync(in.data(), memory.ptr(), in.size());
  offload::get_sync(memory.ptr(), out.data(), out.size());
  return out == in ? value : -1;
}

/// Makes the functions above handlers of this program.
[[maybe_unused]] void never_called() {
  offload::sync(0, fn<&tripwire_nothing>);
  offload::sync(0, fn<&tripwire_number>, 1);
  offload::sync(0, fn<&tripwire_text>, std::string());
  offload::sync(0, pooled(fn<&tripwire_text>), std::string());
  offload::sync(0, fn<&read_sprung>);
  offload::sync(0, fn<&still_there>, 1);
  offload::sync(0, fn<&use_memory>, 1);
}
void (*const keep)() = &never_called;

/// Of a thousand, with which a count of rounds is multiplied.
int thousandths() { return rounds(sanitized() ? 200 : 1000); }

bytes pack(int value) {
  bytes result(sizeof value);
  std::memcpy(result.data(), &value, sizeof value);
  return result;
}

class hostile_target_process : public testing::Test {
 protected:
  victim& target() {
    if (target_ == nullptr) target_ = std::make_unique<victim>();
    return *target_;
  }

  void expect_number(const char* function, const bytes& arguments, int expected) {
    const auto answer = target_->call(key_of(function), arguments);
    ASSERT_TRUE(answer) << "the target does not answer " << function;
    EXPECT_EQ(answer->first.kind, to_byte(wire_kind::reply)) << function;
    EXPECT_EQ(answer->second, pack(expected)) << function;
  }
  /// The honest host is served, and learns that nothing ran.
  void expect_alive() {
    ASSERT_TRUE(target_->lives());
    expect_number("still_there", pack(41), 42);
    expect_number("read_sprung", {}, 0);
  }
  void finish() {
    expect_alive();
    EXPECT_EQ(target_->end(), "exited with status 0");
    target_.reset();
  }
  void TearDown() override {
    if (target_ != nullptr) finish();
  }

  quiet quiet_;
  std::unique_ptr<victim> target_;
  std::mt19937_64 random_{20260201};
};

TEST_F(hostile_target_process, the_test_itself_can_call) {
  ASSERT_NE(keep, nullptr);
  {
    victim one;
    const auto answer = one.call(key_of("tripwire_number"), pack(5));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->second, pack(6));
    const auto friendly = one.connect();
    friendly->greet();
    ASSERT_TRUE(friendly->send({key_of("tripwire_number"), 1, to_byte(wire_kind::call)}, pack(5)));
    const auto other = friendly->receive();
    ASSERT_TRUE(other);
    EXPECT_EQ(other->second, pack(7));
  }
}

TEST_F(hostile_target_process, all_low_keys) {
  const auto count = static_cast<std::uint32_t>(std::min(thousandths() * 66, 0x10000));
  const bytes payload(7, std::byte{1});  // the arguments of no function in this program
  constexpr std::uint32_t together = 32;
  for (std::uint32_t key = 0; key < count && !HasFailure();) {
    if (target().full()) finish();
    std::vector<std::pair<std::uint32_t, std::unique_ptr<victim::link>>> open;
    for (; open.size() < together && key < count && !target().full(); ++key) {
      open.emplace_back(key, target_->connect());
    }
    for (auto& [one, link] : open) {
      if (one % 2 == 0) {
        ASSERT_NO_FATAL_FAILURE(link->greet());
      }
      ASSERT_TRUE(link->send({one, one, to_byte(wire_kind::call)}, payload));
    }
    for (auto& [one, link] : open) {
      const std::string why = link->farewell();
      ASSERT_FALSE(why.empty()) << "key " << one << " did not close the connection";
    }
  }
}

TEST_F(hostile_target_process, long_messages_that_are_nowhere) {
  using wire::area_layout;
  using wire::message_place;
  constexpr auto long_call = static_cast<std::uint8_t>(to_byte(wire_kind::call) | wire::long_flag);
  const std::uint32_t key = key_of("still_there");
  const auto pack_place = [](const message_place& place) {
    bytes result(sizeof place);
    std::memcpy(result.data(), &place, sizeof place);
    return result;
  };
  {
    const auto friendly = target().connect(true);
    friendly->greet();
    ASSERT_TRUE(friendly->rings.has_areas);
    wire::message_area_writer area(friendly->rings.area(0));
    std::byte* const at = area.reserve(sizeof(int));
    std::memcpy(at, pack(41).data(), sizeof(int));
    ASSERT_TRUE(friendly->send({key, 1, long_call}, pack_place(area.send(at))));
    const auto answer = friendly->receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->second, pack(42));
    EXPECT_TRUE(area.trim()) << "it was given back";
  }
  const auto refused = [&](const bytes& payload) {
    if (target().full()) finish();
    const auto link = target().connect(true);
    link->greet();
    const std::uint64_t before = link->writer.sent();
    ASSERT_TRUE(link->send({key, 1, long_call}, payload));
    ASSERT_NO_FATAL_FAILURE(expect_alive());
    EXPECT_LE(link->writer.consumed(), before) << "it was taken";
  };
  constexpr std::uint64_t first = area_layout::first_message;
  ASSERT_NO_FATAL_FAILURE(refused({}));
  ASSERT_NO_FATAL_FAILURE(refused(bytes(100)));
  ASSERT_NO_FATAL_FAILURE(refused(pack_place({0, 4, 0, 1})));
  ASSERT_NO_FATAL_FAILURE(refused(pack_place({first, area_layout::bytes, 0, 1})));
  ASSERT_NO_FATAL_FAILURE(refused(pack_place({UINT64_MAX - 3, 8, 0, 1})));
  ASSERT_NO_FATAL_FAILURE(refused(pack_place({first, 4, area_layout::blocks, 1})));
  ASSERT_NO_FATAL_FAILURE(refused(pack_place({area_layout::bytes - 4, 4, 0, 1})));
  for (int i = 0; i < rounds(sanitized() ? 20 : 100); ++i) {
    ASSERT_NO_FATAL_FAILURE(refused(pack_place({random_(), random_(), static_cast<std::uint32_t>(random_()), 1})));
  }
  if (target().full()) finish();
  const auto link = target().connect(true);
  link->greet();
  ASSERT_TRUE(link->send({key, 1, long_call}, pack_place({first, area_layout::bytes - first, 0, 1})));
  EXPECT_NE(link->farewell().find("HAM_MAX_MESSAGE"), std::string::npos) << "longer than the target takes";
}

TEST_F(hostile_target_process, a_million_random_frames) {
  const int count = thousandths() * 1000;
  constexpr int a_connection = 32;
  const std::size_t handlers = msg::handler_table::local().size();
  bytes payload;
  int connections = 0;
  for (int sent = 0; sent < count && !HasFailure(); ++connections) {
    if (target().full()) finish();
    const auto link = target().connect();
    const bool greets = random_() % 2 == 0;
    if (greets) {
      ASSERT_NO_FATAL_FAILURE(link->greet());
    }
    for (int i = 0; i < a_connection; ++i, ++sent) {
      std::size_t size = random_() % 300;
      if (random_() % 1000 == 0) size = random_() % 60'000;
      auto key = static_cast<std::uint32_t>(random_() % 2 == 0 ? random_() : random_() % 0x10000);
      if (random_() % 8 == 0) key = static_cast<std::uint32_t>(random_() % handlers);
      if (key < handlers) size = size / 8 * 8 + 7;  // never the right arguments by chance
      payload.resize(size);
      for (std::size_t k = 0; k < size; k += 8) {
        const std::uint64_t word = random_() % 4 == 0 ? random_() % 16 : random_();
        std::memcpy(payload.data() + k, &word, std::min<std::size_t>(8, size - k));
      }
      auto kind = static_cast<std::uint8_t>(random_() % 2 == 0 ? 1 + random_() % 9 : random_() % 127 + 1);
      if ((kind & ~detail::in_context) == to_byte(wire_kind::goodbye)) kind = to_byte(wire_kind::batch);  // no answer
      // Many frames begin a long message: that is no error yet, so that what follows is looked at as well.
      if (i % 4 != 3 && random_() % 2 == 0) {
        kind = to_byte(wire_kind::fragment);
        payload.resize(std::max<std::size_t>(payload.size(), 32));
        const std::uint64_t begin[3] = {1 + (random_() >> 1), 0, random_() & 0x7fffffffff};
        std::memcpy(payload.data(), begin, sizeof begin);
      }
      if (!link->send({key, static_cast<std::uint32_t>(random_()), kind}, payload))
        ADD_FAILURE() << "the ring is stuck";
    }
    // The last one is known to be wrong, whatever came before.
    ASSERT_TRUE(link->send({0, 0, 0x7f}, {}));
    ASSERT_FALSE(link->farewell().empty()) << "connection " << connections << " was not closed";
    if (connections % 500 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_alive());
    }
  }
  std::printf("%d frames over %d connections\n", count, connections);
}

TEST_F(hostile_target_process, random_words_in_the_rings_of_a_connection) {
  const int count = thousandths() * 3;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const auto link = target().connect();
    if (random_() % 2 == 0) {
      ASSERT_NO_FATAL_FAILURE(link->greet());
    }
    auto* const words = reinterpret_cast<std::uint32_t*>(link->rings.memory);
    for (int flips = 0; flips < 400; ++flips) {
      std::size_t at = random_() % (wire::ring_pair::bytes / 4);
      if (random_() % 2 == 0) at = random_() % 2048;  // control words and the lines in use
      words[at] = random_() % 2 == 0 ? static_cast<std::uint32_t>(random_()) : words[at] ^ 1U << random_() % 32;
      if (flips % 100 == 0) {  // and the victim is made to look at it
        auto* const line =
            reinterpret_cast<std::uint32_t*>(link->rings.lines(0)) + (link->writer.sent() + random_() % 4) % 4096 * 16;
        *line = wire::stamp_of(link->writer.sent(), wire::ring_pair::lines_log2);
        link->knock();
      }
    }
    if (i % 100 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_alive());
    }
  }
}

TEST_F(hostile_target_process, random_words_in_the_heaps) {
  const int count = thousandths() * 2;
  base::mapping own(target().heap.get(), base::heap_data_offset);
  base::mapping peers(target().host_heap.get(), base::heap_data_offset);
  for (int i = 0; i < count && !HasFailure(); ++i) {
    for (base::mapping* one : {&own, &peers}) {
      auto* const words = reinterpret_cast<std::uint64_t*>(one->data());
      for (int flips = 0; flips < 50; ++flips) {
        words[random_() % 2 == 0 ? random_() % 16 : 512 + random_() % 64] = random_();
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_number("use_memory", pack(i), i)) << "its owner trusts its own books only";
  }
}

TEST_F(hostile_target_process, random_words_in_the_job_segment) {
  const int count = thousandths() * 20;
  victim& at = target();
  auto* const words = reinterpret_cast<std::uint32_t*>(at.job);
  const auto outside_life_words = [&](std::size_t word) {
    // A life word says that a process has died: who writes there ends the job, which the others then do in order.
    const auto* const place = reinterpret_cast<std::byte*>(words + word);
    for (const int node : {0, 1}) {
      const auto* const life = reinterpret_cast<std::byte*>(&at.job->nodes[node].alive);
      if (place >= life && place < life + sizeof(base::life_word)) return false;
    }
    return true;
  };
  for (int i = 0; i < count && !HasFailure(); ++i) {
    std::size_t word = random_() % (sizeof(wire::shm::job_segment) / 4);
    if (random_() % 2 == 0) word = random_() % (3 * sizeof(wire::shm::job_node) / 4);  // those in use
    if (outside_life_words(word)) words[word] = static_cast<std::uint32_t>(random_());
    if (i % 20 != 0) continue;
    at.host->send({key_of("still_there"), 5, to_byte(wire_kind::call)}, pack(i));
    std::optional<std::pair<wire::frame_head, bytes>> answer;
    for (int tries = 0; tries < 2000 && !answer; ++tries) {
      at.knock(0);  // the bits that say so may have been among the damaged words
      answer = at.host->receive(10ms);
    }
    ASSERT_TRUE(answer) << i;
    EXPECT_EQ(answer->second, pack(i + 1));
  }
}

}  // namespace hostile_target

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}

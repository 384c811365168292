// A ring in an engine's memory over VEO: each access is a transfer, and after a failure there are none.
#include "transport/veo/access.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace ham::inline v1::transport::veo {
namespace {

/// Plays an engine whose memory begins at `base`.
struct played_engine {
  static constexpr std::uint64_t base = 0x600000000000;
  std::array<std::byte, 1024> memory{};
  int transfers = 0;
  int failure = 0;
};
played_engine* engine_of(veo_proc_handle* process) { return reinterpret_cast<played_engine*>(process); }

libveo played_library() {
  libveo made{};
  made.read_mem = [](veo_proc_handle* process, void* to, std::uint64_t from, std::size_t size) {
    played_engine& at = *engine_of(process);
    ++at.transfers;
    if (at.failure == 0) std::memcpy(to, at.memory.data() + (from - played_engine::base), size);
    return at.failure;
  };
  made.write_mem = [](veo_proc_handle* process, std::uint64_t to, const void* from, std::size_t size) {
    played_engine& at = *engine_of(process);
    ++at.transfers;
    if (at.failure == 0) std::memcpy(at.memory.data() + (to - played_engine::base), from, size);
    return at.failure;
  };
  return made;
}

class engine_memory : public testing::Test {
 protected:
  played_engine engine;
  const libveo library = played_library();
  std::shared_ptr<reachability> reach = std::make_shared<reachability>();
  veo_access there{library, reinterpret_cast<veo_proc_handle*>(&engine), played_engine::base + 64, reach};
};

TEST_F(engine_memory, is_addressed_from_the_begin_of_the_ring) {
  there.write_word(8, 0x1122334455667788);
  std::uint64_t word = 0;
  std::memcpy(&word, engine.memory.data() + 64 + 8, sizeof word);
  EXPECT_EQ(word, 0x1122334455667788U);
  EXPECT_EQ(there.read_word(8), 0x1122334455667788U);
  const std::array<std::byte, 3> sent{std::byte{1}, std::byte{2}, std::byte{3}};
  there.write_block(101, sent.data(), sent.size());
  std::array<std::byte, 3> found{};
  there.read_block(101, found.data(), found.size());
  EXPECT_EQ(found, sent);
  EXPECT_EQ(engine.memory[64 + 101], std::byte{1});
  EXPECT_EQ(engine.transfers, 4) << "each access is one transfer";
}

TEST_F(engine_memory, a_failed_transfer_is_the_last_one) {
  there.write_word(0, 7);
  engine.failure = -1;
  EXPECT_EQ(there.read_word(0), 0U) << "not what stood there before";
  EXPECT_TRUE(there.failed());
  const int before = engine.transfers;
  engine.failure = 0;
  there.write_word(0, 9);
  EXPECT_EQ(there.read_word(0), 0U);
  std::byte any{5};
  there.read_block(0, &any, 1);
  EXPECT_EQ(any, std::byte{5});
  EXPECT_EQ(engine.transfers, before);
  EXPECT_EQ(engine.memory[64], std::byte{7});
}

TEST_F(engine_memory, is_left_alone_once_the_process_was_ended) {
  reach->end();
  there.write_word(0, 9);
  EXPECT_EQ(there.read_word(0), 0U);
  EXPECT_EQ(engine.transfers, 0);
}

}  // namespace
}  // namespace ham::transport::veo

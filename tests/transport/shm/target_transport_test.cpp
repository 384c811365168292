// What a target makes of a welcome, and what it answers to one that it cannot accept.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "base/event_fds.hpp"
#include "base/heap.hpp"
#include "base/memory_file.hpp"
#include "conformance/subject.hpp"
#include "ham/error.hpp"
#include "transport/common/joining.hpp"
#include "transport/shm/messages.hpp"
#include "transport/shm/started_target.hpp"
#include "transport/shm/target_transport.hpp"

namespace ham::inline v1::transport::shm {
namespace {

class welcome : public testing::Test {
 protected:
  /// What the target says of `text`, checked to have been told to the host as well.
  std::string refusal_of(const control_text& text) {
    auto [host, target] = base::make_control_pair();
    base::send_control(host.get(), std::as_bytes(std::span(&text, 1)), {});
    try {
      (void)invitation::accept(target.release());
    } catch (const config_error& problem) {
      bool closed = false;
      const auto answer = base::receive_control(host.get(), false, closed);
      const std::string said =
          answer ? std::string(reinterpret_cast<const char*>(answer->bytes.data()), answer->bytes.size()) : "nothing";
      EXPECT_EQ(said, std::string(declined) + problem.what());
      return problem.what();
    }
    ADD_FAILURE() << "accepted";
    return {};
  }

  static control_text good() {
    control_text text;
    text.kind = control_kind::welcome;
    text.node = 1;
    text.nodes = 2;
    return text;
  }
};

TEST_F(welcome, of_a_host_of_the_other_byte_order) {
  control_text text = good();
  static_assert(sizeof text % sizeof(std::uint32_t) == 0);
  std::array<std::uint32_t, sizeof text / sizeof(std::uint32_t)> words{};
  std::memcpy(words.data(), &text, sizeof text);
  for (std::uint32_t& word : words) word = __builtin_bswap32(word);
  std::memcpy(static_cast<void*>(&text), words.data(), sizeof text);
  const std::string what = refusal_of(text);
  EXPECT_NE(what.find("-endian"), std::string::npos) << what;
  EXPECT_NE(what.find("tcp://"), std::string::npos) << what;
}

TEST_F(welcome, of_another_release) {
  control_text text = good();
  text.version += 1;
  EXPECT_NE(refusal_of(text).find("same release"), std::string::npos);
}

TEST_F(welcome, of_a_host_that_cannot_have_started_this_node) {
  control_text text = good();
  for (const node_t host : {-1, 1, 1 + static_cast<node_t>(max_nodes)}) {
    text.peer = host;
    EXPECT_NE(refusal_of(text).find("same release"), std::string::npos) << host;
  }
}

TEST_F(welcome, without_descriptors) { EXPECT_NE(refusal_of(good()).find("ulimit -n"), std::string::npos); }

TEST(shm_target, knows_its_starter_by_the_number_in_the_welcome) {
  const base::unique_fd job_file = base::make_memory_file("ham-job", sizeof(job_segment));
  const base::mapping job_memory(job_file.get(), sizeof(job_segment));
  reinterpret_cast<job_segment*>(job_memory.data())->magic = job_segment::magic_value;
  const base::unique_fd pair_file = base::make_memory_file("ham-pair", ring_pair::file_bytes());
  const base::unique_fd host_heap = base::heap::make_file();
  const base::unique_fd host_event = base::make_event();
  started_target started(5, "app");
  control_text text;
  text.peer = 3;
  text.nodes = 6;
  started.welcome(text, job_file.get(), pair_file.get(), host_heap.get(), host_event.get());

  invitation from = invitation::accept(started.take_its_end().release());
  EXPECT_EQ(from.node, 5);
  EXPECT_EQ(from.host, 3);
  conformance::recorder news;
  const std::unique_ptr<target_transport> at = target_transport::make(std::move(from), news);
  at->join();
  ASSERT_NE(news.connected(3), nullptr);
  EXPECT_EQ(news.connected(3)->peer(), 3);
  EXPECT_EQ(news.connected(0), nullptr);
  EXPECT_EQ(started.read().what, started_target::said::joined);
  at->shutdown();
}

}  // namespace
}  // namespace ham::transport::shm

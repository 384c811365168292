// What a target answers to a welcome that it cannot accept.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "ham/error.hpp"
#include "transport/common/joining.hpp"
#include "transport/shm/messages.hpp"
#include "transport/shm/target_transport.hpp"

namespace ham::transport::shm {
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

TEST_F(welcome, without_descriptors) { EXPECT_NE(refusal_of(good()).find("ulimit -n"), std::string::npos); }

}  // namespace
}  // namespace ham::transport::shm

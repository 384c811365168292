// Exceptions as bytes: what a peer may send instead of one.
#include "core/remote_exception.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <sstream>
#include <tuple>

#include "ham/offload/exceptions.hpp"

namespace ham::detail {
namespace {

constexpr std::uint8_t system_code = 250;
constexpr std::uint8_t user_code = 251;

struct out_of_paper : std::runtime_error {
  using std::runtime_error::runtime_error;
};
const bool registered = register_exception<out_of_paper>();

std::vector<std::byte> bytes_of(std::uint8_t code, const std::string& type, const std::string& what,
                                const std::string& extra) {
  const std::tuple all{code, type, what, extra};
  std::vector<std::byte> bytes(msg::encoded_size(all));
  msg::writer to(bytes.data(), bytes.size());
  msg::encode(to, all);
  return bytes;
}

TEST(remote_exception, registered_types_are_known_by_a_name_for_people) {
  ASSERT_TRUE(registered);
  std::vector<std::byte> bytes;
  try {
    throw out_of_paper("tray 2");
  } catch (...) {
    bytes = encode_current_exception();
  }
  EXPECT_NE(describe_exception(bytes).find("out_of_paper: tray 2"), std::string::npos) << describe_exception(bytes);
  EXPECT_THROW(std::rethrow_exception(decode_exception(bytes, "f()", {})), out_of_paper);
}

/// Each level of this mangled name doubles what a demangler makes of it: 40 levels would fill any memory.
TEST(remote_exception, no_name_of_a_peer_is_demangled) {
  constexpr const char* digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "S_IiiE";
  for (int level = 1; level < 40; ++level) {
    const int back = level - 1;
    const std::string number = back < 36 ? std::string(1, digits[back]) : std::string{'1', digits[back - 36]};
    name = "S_I" + name + "S" + number + "_E";
  }
  name = "St4pairI" + name + "iE";
  try {
    std::rethrow_exception(decode_exception(bytes_of(user_code, name, "", ""), "f()", {}));
    FAIL();
  } catch (const remote_error& error) {
    EXPECT_EQ(error.type(), name);
  }
}

template <class E, class Throw>
E through_bytes(Throw thrower) {
  std::vector<std::byte> bytes;
  try {
    thrower();
  } catch (...) {
    bytes = encode_current_exception();
  }
  try {
    std::rethrow_exception(decode_exception(bytes, "f()", {}));
  } catch (const E& arrived) {
    EXPECT_EQ(typeid(arrived), typeid(E));
    return arrived;
  }
  throw std::logic_error("nothing was thrown");
}

TEST(remote_exception, failures_of_nested_calls_keep_their_details) {
  const auto lost = through_bytes<node_failure>([] {
    throw node_failure("node 2 failed", {2, "there", 77, "g(int)", 5, call_outcome::not_run});
  });
  EXPECT_STREQ(lost.what(), "node 2 failed");
  EXPECT_EQ(lost.node(), 2);
  EXPECT_EQ(lost.host(), "there");
  EXPECT_EQ(lost.pid(), 77);
  EXPECT_EQ(lost.function(), "g(int)");
  EXPECT_EQ(lost.call(), 5U);
  EXPECT_EQ(lost.outcome(), call_outcome::not_run);
  for (const call_outcome outcome : {call_outcome::not_run, call_outcome::may_have_run}) {
    const auto late = through_bytes<deadline_exceeded>([&] { throw deadline_exceeded("too late", outcome); });
    EXPECT_STREQ(late.what(), "too late");
    EXPECT_EQ(late.outcome(), outcome);
  }
}

TEST(remote_exception, details_from_a_peer_are_checked) {
  constexpr std::uint8_t failure_code = 244;
  constexpr std::uint8_t deadline_code = 245;
  EXPECT_THROW(decode_exception(bytes_of(failure_code, "", "", ""), "f()", {}), protocol_error);
  EXPECT_THROW(decode_exception(bytes_of(failure_code, "", "", std::string(60, '\xff')), "f()", {}), protocol_error);
  EXPECT_THROW(decode_exception(bytes_of(deadline_code, "", "", ""), "f()", {}), protocol_error);
  EXPECT_THROW(decode_exception(bytes_of(deadline_code, "", "", "\x03"), "f()", {}), protocol_error);
}

struct silent : std::runtime_error {
  using std::runtime_error::runtime_error;
  [[nodiscard]] const char* what() const noexcept override { return nullptr; }
};

TEST(remote_exception, one_without_a_text_keeps_its_type) {
  const auto arrived = through_bytes<remote_error>([] { throw silent("unused"); });
  EXPECT_NE(arrived.type().find("silent"), std::string::npos) << arrived.type();
  EXPECT_EQ(arrived.message(), "");
  const auto of_nothing = through_bytes<remote_error>([] { throw static_cast<const char*>(nullptr); });
  EXPECT_EQ(of_nothing.message(), "");
}

TEST(remote_exception, those_with_an_error_code_keep_it) {
  using std::filesystem::filesystem_error;
  const filesystem_error file("cannot read", "a/b", "c d", std::make_error_code(std::errc::io_error));
  const auto same_file = through_bytes<filesystem_error>([&] { throw file; });
  EXPECT_STREQ(same_file.what(), file.what());
  EXPECT_EQ(same_file.code(), file.code());
  EXPECT_EQ(same_file.path1(), file.path1());
  EXPECT_EQ(same_file.path2(), file.path2());

  const auto stream = through_bytes<std::ios_base::failure>([] {
    std::istringstream empty;
    empty.exceptions(std::ios::eofbit);
    empty.get();
  });
  EXPECT_EQ(stream.code(), std::io_errc::stream);

  const auto broken = through_bytes<std::future_error>([] { throw std::future_error(std::future_errc::no_state); });
  EXPECT_EQ(broken.code(), std::future_errc::no_state);

  for (const char* extra : {"5:generic", "", "x"}) {
    EXPECT_THROW((void)decode_exception(bytes_of(248, "", "", extra), "f()", {}), protocol_error) << extra;
  }
}

TEST(remote_exception, a_system_error_needs_its_code) {
  for (const char* extra : {"", "generic", ":generic", "x:generic", "1x:generic", " 1:generic", "99999999999:system"}) {
    EXPECT_THROW((void)decode_exception(bytes_of(system_code, "", "", extra), "f()", {}), protocol_error) << extra;
  }
  try {
    std::rethrow_exception(decode_exception(bytes_of(system_code, "", "", "2:generic"), "f()", {}));
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), 2);
  }
}

}  // namespace
}  // namespace ham::detail

// Exceptions as bytes: what a peer may send instead of one.
#include "core/remote_exception.hpp"

#include <gtest/gtest.h>

#include "core/exceptions_as_bytes.hpp"
#include "ham/offload/exceptions.hpp"

namespace ham::inline v1::detail {
namespace {

using test::bytes_of;
using test::through_bytes;

constexpr std::uint8_t user_code = 251;

struct out_of_paper : std::runtime_error {
  using std::runtime_error::runtime_error;
};
const bool registered = register_exception<out_of_paper>();

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

template <class Of>
struct jammed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
const bool registered_jammed = register_exception<jammed<msg::writer>>();

/// Nodes of two releases know each other's.
TEST(remote_exception, the_name_of_a_registered_type_has_no_version_of_the_library) {
  ASSERT_TRUE(registered_jammed);
  std::vector<std::byte> bytes;
  try {
    throw jammed<msg::writer>("tray 3");
  } catch (...) {
    bytes = encode_current_exception();
  }
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_NE(text.find("jammed<ham::msg::writer>"), std::string::npos) << text;
  EXPECT_EQ(text.find("v1"), std::string::npos) << text;
  EXPECT_THROW(std::rethrow_exception(decode_exception(bytes, "f()", {})), jammed<msg::writer>);
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

struct with_bytes : std::exception {
  explicit with_bytes(std::size_t size = 0) : bytes(size, 'b') {}
  [[nodiscard]] const char* what() const noexcept override { return "has bytes"; }
  std::string bytes;
  HAM_FIELDS(bytes)
};
const bool registered_with_bytes = register_exception<with_bytes>();

/// As the caller gets what `thrower` throws, of which no more than `max_bytes` can be sent.
template <class Throw>
std::exception_ptr through_at_most(std::uint64_t max_bytes, Throw thrower) {
  try {
    thrower();
  } catch (...) {
    const std::vector<std::byte> bytes = encode_current_exception(max_bytes);
    EXPECT_LE(bytes.size(), std::max<std::uint64_t>(max_bytes, 64 << 10));
    return decode_exception(bytes, "f()", {});
  }
  return nullptr;
}
template <class E>
E caught(const std::exception_ptr& what) {
  try {
    std::rethrow_exception(what);
  } catch (const E& error) {
    EXPECT_EQ(typeid(error), typeid(E));
    return error;
  }
}

TEST(remote_exception, what_is_too_long_is_shortened) {
  ASSERT_TRUE(registered_with_bytes);
  const std::string text = "begins" + std::string(1'000'000, '.');
  const auto plain = through_at_most(500'000, [&] { throw std::range_error(text); });
  const std::string what = caught<std::range_error>(plain).what();
  EXPECT_EQ(what.find("begins..."), 0U);
  EXPECT_NE(what.find("... [cut off, it has 1000006 bytes]"), std::string::npos) << what.substr(what.size() - 100);
  EXPECT_LT(what.size(), 64U << 10);

  const auto fields = through_at_most(500'000, [] { throw with_bytes(1'000'000); });
  EXPECT_NE(caught<remote_error>(fields).type().find("with_bytes"), std::string::npos);
  EXPECT_EQ(caught<remote_error>(fields).message(), "has bytes");
  const auto all = through_at_most(2'000'000, [] { throw with_bytes(1'000'000); });
  EXPECT_EQ(caught<with_bytes>(all).bytes.size(), 1'000'000U);

  const auto coded = through_at_most(500'000, [&] { throw std::system_error(EACCES, std::system_category(), text); });
  EXPECT_EQ(caught<remote_error>(coded).type(), "std::system_error");
  EXPECT_EQ(caught<remote_error>(coded).message().find("begins..."), 0U);

  const remote_error::origin first{4, "there", 79, "f(int)", "app::trouble", text};
  const auto far = through_at_most(500'000, [&] { throw remote_error(text, first); });
  EXPECT_EQ(caught<remote_error>(far).node(), 4);
  EXPECT_EQ(caught<remote_error>(far).type(), "app::trouble");
  EXPECT_EQ(caught<remote_error>(far).message().find("begins..."), 0U);
}

}  // namespace
}  // namespace ham::detail

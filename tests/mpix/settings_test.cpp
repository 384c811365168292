// What the environment says to MPI kernels; what is no number says nothing.
#include "mpix/settings.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace ham::inline v1::mpix {
namespace {

/// A variable that is as before afterwards.
class set_variable {
 public:
  set_variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~set_variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }
  set_variable(const set_variable&) = delete;
  set_variable& operator=(const set_variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

auto grace_of(const char* text) {
  const set_variable said("HAM_MPIX_GRACE", text);
  return settings::read().grace.count();
}
auto pause_of(const char* text) {
  const set_variable said("HAM_MPIX_POLL", text);
  return settings::read().max_pause.count();
}
auto part_of(const char* text) {
  const set_variable said("HAM_MPIX_PART", text);
  return settings::read().part;
}

TEST(mpix_settings, are_what_the_environment_says) {
  EXPECT_EQ(grace_of("3"), 3);
  EXPECT_EQ(grace_of("0"), 0);
  EXPECT_EQ(grace_of("-1"), -1) << "for ever";
  EXPECT_EQ(pause_of("50"), 50);
  EXPECT_EQ(pause_of("0"), 0);
  EXPECT_EQ(part_of("4096"), 4096U);
  EXPECT_EQ(part_of("100000"), 100'000U);
}

TEST(mpix_settings, what_is_no_number_says_nothing) {
  const settings usual;
  for (const char* const text : {"", "ten", "1s", " 5", "5 ", "1e3", "99999999999999999999"}) {
    EXPECT_EQ(grace_of(text), usual.grace.count()) << "\"" << text << "\" would end jobs at once, or never";
    EXPECT_EQ(pause_of(text), usual.max_pause.count()) << text;
    EXPECT_EQ(part_of(text), usual.part) << text;
  }
}

TEST(mpix_settings, parts_that_mpi_cannot_send_or_that_are_too_small_are_not_taken) {
  const std::uint64_t usual = settings().part;
  EXPECT_LE(usual, static_cast<std::uint64_t>(std::numeric_limits<int>::max())) << "MPI counts with int";
  for (const char* const text : {"4095", "0", "-1", "2147483647", "4294967296"})
    EXPECT_EQ(part_of(text), usual) << text;
  EXPECT_EQ(part_of("1073741824"), usual);
  EXPECT_EQ(part_of("1073741823"), usual - 1);
}

TEST(mpix_settings, are_read_once) {
  const settings before = settings::get();
  const set_variable said("HAM_MPIX_GRACE", "12345");
  EXPECT_EQ(settings::get().grace, before.grace);
}

}  // namespace
}  // namespace ham::mpix

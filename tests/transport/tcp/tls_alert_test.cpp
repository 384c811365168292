// Alerts have the numbers and names of RFC 8446, and strangers' ones have a name, too.
#include "transport/tcp/tls_alert.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace ham::inline v1::transport::tcp {
namespace {

TEST(tls_alert, has_the_standards_numbers_and_names) {
  const std::pair<unsigned, std::string> all[] = {
      {0, "close_notify"},       {10, "unexpected_message"}, {20, "bad_record_mac"}, {22, "record_overflow"},
      {40, "handshake_failure"}, {47, "illegal_parameter"},  {50, "decode_error"}};
  for (const auto& [number, name] : all) EXPECT_EQ(name_of(static_cast<tls_alert>(number)), name);
}

TEST(tls_alert, of_any_number_has_a_name) {
  for (unsigned number = 0; number < 256; ++number)
    EXPECT_NE(std::string(name_of(static_cast<tls_alert>(number))), "") << number;
  EXPECT_STREQ(name_of(static_cast<tls_alert>(120)), "another alert");
}

}  // namespace
}  // namespace ham::transport::tcp

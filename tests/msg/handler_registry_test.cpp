// The list of handlers, printed.
#include "ham/msg/handler_registry.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "ham/msg/active_msg.hpp"

namespace {

using namespace ham::msg;

struct listed_message : active_msg<listed_message> {
  void operator()() const {}
};

TEST(handler_registry, prints_what_it_has) {
  msg_handler_registry::init();
  EXPECT_EQ(listed_message::handler().key(), listed_message().key());
  std::ostringstream map;
  std::ostringstream vector;
  msg_handler_registry::print_handler_map(map);
  msg_handler_registry::print_handler_vector(vector);
  EXPECT_NE(map.str().find("listed_message -> 0x"), std::string::npos) << map.str();
  const std::string line = std::to_string(listed_message::handler().key()) + ": ";
  const std::size_t at = vector.str().find("\n" + line);
  const bool first = vector.str().starts_with(line);
  ASSERT_TRUE(first || at != std::string::npos) << vector.str();
  const std::string rest = vector.str().substr(first ? 0 : at + 1);
  EXPECT_NE(rest.substr(0, rest.find('\n')).find("listed_message"), std::string::npos);
}

}  // namespace

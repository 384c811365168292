// What nodes tell each other, packed and unpacked.
#include "job/notices.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::detail {
namespace {

TEST(notices, begin_with_their_kind) {
  const auto text = pack(meeting{kind_of(notice::meet), 7});
  EXPECT_EQ(text.size(), 5U);
  EXPECT_EQ(notice_in(text), notice::meet);
  EXPECT_EQ(std::get<1>(unpack<meeting>(text)), 7);
  EXPECT_THROW(static_cast<void>(notice_in({})), protocol_error);
}

TEST(notices, keep_the_numbers_of_the_protocol) {
  EXPECT_EQ(kind_of(notice::announcement), 1);
  EXPECT_EQ(kind_of(notice::meet), 2);
  EXPECT_EQ(kind_of(notice::end_target), 3);
  EXPECT_EQ(kind_of(notice::run_main), 4);
  EXPECT_EQ(kind_of(notice::main_ended), 5);
}

TEST(notices, are_as_long_as_what_they_say) {
  auto text = pack(main_end{kind_of(notice::main_ended), -3, false, "no main"});
  const auto [kind, status, exits, why] = unpack<main_end>(text);
  EXPECT_EQ(status, -3);
  EXPECT_FALSE(exits);
  EXPECT_EQ(why, "no main");
  text.push_back(std::byte{0});
  EXPECT_THROW(static_cast<void>(unpack<main_end>(text)), protocol_error);
  text.resize(text.size() - 2);
  EXPECT_THROW(static_cast<void>(unpack<main_end>(text)), protocol_error);
}

}  // namespace
}  // namespace ham::detail

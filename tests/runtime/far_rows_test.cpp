// Rows in this node's memory, as a message names them.
#include "runtime/far_rows.hpp"

#include <limits>
#include <vector>

#include "offload/loopback_job.hpp"

namespace ham::inline v1::offload::detail {
namespace {

class far_rows_here : public test::two_targets {
 protected:
  static constexpr std::size_t all = 100;
  buffer<std::byte> own_{0, all};
  const std::uint64_t at_ = own_.ptr().address();
  const std::uint64_t tag_ = own_.ptr().tag();
};

TEST_F(far_rows_here, are_written_and_read_in_parts) {
  for (std::size_t i = 0; i < all; ++i) own_.ptr()[i] = std::byte{200};
  std::vector<std::byte> sent(12);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i);
  store_rows_here({at_, tag_, 10, 4, 6}, sent);  // from the third byte of the second row on
  EXPECT_EQ(own_.ptr()[11], std::byte{200});
  EXPECT_EQ(own_.ptr()[12], std::byte{0});
  EXPECT_EQ(own_.ptr()[13], std::byte{1});
  EXPECT_EQ(own_.ptr()[14], std::byte{200});
  EXPECT_EQ(own_.ptr()[20], std::byte{2});
  EXPECT_EQ(own_.ptr()[41], std::byte{11});
  EXPECT_EQ(load_rows_here({at_, tag_, 10, 4, 6}, sent.size()), sent);
}

TEST_F(far_rows_here, are_checked_as_a_whole) {
  engine& node = current();
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_NO_THROW(check_part_here(node, {at_, tag_, 10, 4, 0}, 40));
  EXPECT_THROW(check_part_here(node, {at_, tag_, 10, 4, 0}, 41), buffer_error);
  EXPECT_THROW(check_part_here(node, {at_, tag_, 10, 4, 39}, 2), buffer_error);
  EXPECT_THROW(check_part_here(node, {at_, tag_, 3, 4, 0}, 4), buffer_error) << "rows that overlap";
  EXPECT_THROW(check_part_here(node, {at_, tag_, 0, 0, 0}, 4), buffer_error);
  EXPECT_THROW(check_part_here(node, {at_, tag_ + 1, 10, 4, 0}, 4), buffer_error);
  EXPECT_THROW(check_part_here(node, {at_, tag_, most, 4, 4}, 8), buffer_error);
  EXPECT_THROW(check_part_here(node, {at_, tag_, 10, 4, most}, 8), buffer_error);
  EXPECT_THROW(static_cast<void>(load_rows_here({at_, tag_, 10, 4, 0}, std::uint64_t{2} << 20)), buffer_error);
}

}  // namespace
}  // namespace ham::offload::detail

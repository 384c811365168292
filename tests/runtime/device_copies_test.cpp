// Copies between memory of a device and other memory, in pieces.
#include "runtime/device_copies.hpp"

#include <cstring>
#include <vector>

#include "runtime/device_node.hpp"

namespace ham::inline v1::detail {
namespace {

class device_copies : public test::device_node {
 protected:
  device_copies() { memory->allow_all(); }
};

constexpr std::size_t large = 800'000;  // numbers, of which a piece has a quarter of a million

TEST_F(device_copies, go_to_any_node_and_back) {
  const auto sent = test::counted(large);
  const offload::buffer<std::uint32_t> source(1, large);
  offload::put(sent.data(), source.ptr(), large).get();
  for (const node_t other : {0, 2, 1}) {
    const offload::buffer<std::uint32_t> there(other, large);
    offload::copy(source.ptr(), there.ptr(), large).get();
    offload::copy(there.ptr(), source.ptr(), large).get();
    std::vector<std::uint32_t> got(large);
    offload::get(source.ptr(), got.data(), large).get();
    EXPECT_EQ(got, sent) << other;
  }
}

TEST_F(device_copies, of_rows_that_are_shorter_or_longer_than_a_piece) {
  struct shape {
    std::size_t rows, columns, from_pitch, to_pitch;
  };
  for (const auto& [rows, columns, from_pitch, to_pitch] :
       {shape{100, 30, 40, 50}, {3, 300'000, 300'010, 300'000}, {1, 5, 5, 5}, {900, 400, 400, 401}}) {
    const auto all = test::counted(rows * from_pitch);
    const offload::buffer<std::uint32_t> source(1, all.size());
    const offload::buffer<std::uint32_t> target(2, rows * to_pitch);
    offload::put(all.data(), source.ptr(), all.size()).get();
    offload::copy(source.ptr(), target.ptr(), offload::block{rows, columns, from_pitch, to_pitch}).get();
    std::vector<std::uint32_t> got(rows * columns);
    offload::get(target.ptr(), got.data(), offload::block{rows, columns, to_pitch, columns}).get();
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], all[i / columns * from_pitch + i % columns]) << rows << " rows";
  }
}

TEST_F(device_copies, to_memory_that_is_too_short_fail_and_leave_the_node_usable) {
  const offload::buffer<std::uint32_t> source(1, large);
  const offload::buffer<std::uint32_t> target(2, large / 2);
  EXPECT_THROW(offload::copy(source.ptr(), target.ptr(), large).get(), buffer_error);
  EXPECT_THROW(offload::copy(target.ptr(), source.ptr(), large).get(), buffer_error);
  EXPECT_THROW(offload::copy(source.ptr() + 1, target.ptr(), large).get(), buffer_error);
  EXPECT_THROW(offload::copy(source.ptr(), source.ptr() + 1, large).get(), buffer_error);
  EXPECT_NO_THROW(offload::copy(source.ptr(), target.ptr(), large / 2).get());
}

TEST_F(device_copies, fail_with_the_device) {
  const offload::buffer<std::uint32_t> source(1, large);
  const offload::buffer<std::uint32_t> target(2, large);
  memory->fail();
  EXPECT_THROW(offload::copy(source.ptr(), target.ptr(), large).get(), call_error);
  EXPECT_THROW(offload::copy(target.ptr(), source.ptr(), large).get(), call_error);
}

}  // namespace
}  // namespace ham::detail

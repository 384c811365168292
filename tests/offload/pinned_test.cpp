// Pinned arrays of a node: what they are, and that they are memory like any other for nodes without a device.
#include "ham/offload/pinned.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "offload/loopback_job.hpp"

namespace ham::inline v1::offload {
namespace {

class pinned_arrays_of_a_node : public test::either_way {};

TEST_P(pinned_arrays_of_a_node, are_put_and_got) {
  pinned<int> here(1000);
  std::iota(here.begin(), here.end(), 1);
  const buffer<int> there(1, 1000);
  put(here, there).get();
  pinned<int> back(1000);
  get(there, back).get();
  EXPECT_TRUE(std::equal(here.begin(), here.end(), back.begin(), back.end()));
  std::vector<int> ordinary(10);
  get_sync(there.ptr() + 5, ordinary.data(), 10);
  EXPECT_EQ(ordinary[9], here[14]);
  put_sync(ordinary.data(), there.ptr(), 10);
  get(there.ptr(), here.data() + 500, 3).get();
  EXPECT_EQ(here[502], ordinary[2]);
}

INSTANTIATE_TEST_SUITE_P(ways, pinned_arrays_of_a_node, testing::Bool(), test::name_of_way);

class pinned_arrays_alone : public test::two_targets {};

TEST_F(pinned_arrays_alone, have_elements) {
  pinned<double> here(10);
  const pinned<double>& same = here;
  here[3] = 2.5;
  EXPECT_EQ(same[3], 2.5);
  EXPECT_EQ(here.size(), 10U);
  EXPECT_EQ(here.span().data(), here.data());
  EXPECT_EQ(same.span().size(), 10U);
  EXPECT_EQ(same.end() - same.begin(), 10);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(here.data()) % 64, 0U);
  EXPECT_FALSE(here.empty());
}

TEST_F(pinned_arrays_alone, may_be_empty) {
  const pinned<int> none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(pinned<int>(0).data(), nullptr);
  EXPECT_TRUE(none.span().empty());
}

TEST_F(pinned_arrays_alone, are_moved) {
  pinned<int> one(100);
  one[99] = 7;
  const int* const where = one.data();
  pinned<int> other(std::move(one));
  EXPECT_EQ(other.data(), where);
  EXPECT_TRUE(one.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(one.data(), nullptr);
  pinned<int> third(5);
  third = std::move(other);
  EXPECT_EQ(third.data(), where);
  EXPECT_EQ(third[99], 7);
  static_assert(!std::is_copy_constructible_v<pinned<int>> && !std::is_copy_assignable_v<pinned<int>>);
}

TEST_F(pinned_arrays_alone, that_are_too_large_are_refused) {
  EXPECT_THROW(pinned<double>(SIZE_MAX), buffer_error);
  EXPECT_THROW(pinned<char>(SIZE_MAX / 4), std::bad_alloc);
}

TEST(pinned, outlives_its_runtime) {
  std::optional<pinned<int>> one;
  {
    const runtime job(test::loopback(1));
    one.emplace(100'000);
    (*one)[99'999] = 1;
  }
  (*one)[0] = 2;
  EXPECT_EQ((*one)[99'999], 1);
}

TEST(pinned, needs_a_runtime) { EXPECT_THROW(pinned<int>(10), config_error); }

}  // namespace
}  // namespace ham::offload

// The error of a group that a function throws: as itself, from any depth that is sensible, and from no hostile bytes.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/remote_exception.hpp"
#include "ham/offload/group.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::detail;

namespace group_error_test {

const char* const function_name = "f";

std::vector<std::byte> bytes_of(const std::exception_ptr& what) {
  try {
    std::rethrow_exception(what);
  } catch (...) {
    return encode_current_exception();
  }
}
std::exception_ptr back(const std::vector<std::byte>& bytes) {
  try {
    return decode_exception(bytes, function_name, {});
  } catch (...) {
    return std::current_exception();
  }
}
std::exception_ptr error_of(std::vector<offload::group_failure> failures, std::size_t nodes) {
  return std::make_exception_ptr(offload::group_error(std::move(failures), nodes));
}
template <class Error>
std::exception_ptr plain(const std::string& text) {
  return std::make_exception_ptr(Error(text));
}

TEST(GroupError, CrossesWithTheErrorsOfItsNodes) {
  const std::exception_ptr shared = plain<std::domain_error>("three");
  const std::exception_ptr arrived =
      back(bytes_of(error_of({{3, shared}, {4, shared}, {9, plain<buffer_error>("stale")}}, 12)));
  try {
    std::rethrow_exception(arrived);
  } catch (const offload::group_error& why) {
    EXPECT_EQ(why.nodes(), 12U);
    ASSERT_EQ(why.failures().size(), 3U);
    EXPECT_EQ(why.failures()[0].node, 3);
    EXPECT_EQ(why.failures()[1].node, 4);
    EXPECT_EQ(why.failures()[2].node, 9);
    EXPECT_THROW(std::rethrow_exception(why.failures()[1].error), std::domain_error);
    EXPECT_THROW(std::rethrow_exception(why.failures()[2].error), buffer_error);
    const std::string text = why.what();
    EXPECT_NE(text.find("3 of 12 nodes"), std::string::npos) << text;
    EXPECT_NE(text.find("3, 4 (three)"), std::string::npos) << text;
  }
}

TEST(GroupError, HasAFailureAtLeastAndOneForEachNodeAtMost) {
  const std::exception_ptr why = plain<std::domain_error>("no");
  EXPECT_THROW(error_of({}, 3), std::invalid_argument);
  EXPECT_THROW(error_of({{1, why}, {2, why}}, 1), std::invalid_argument);
  EXPECT_THROW(error_of({{1, why}, {2, nullptr}}, 3), std::invalid_argument);
  EXPECT_NE(error_of({{1, why}}, 1), nullptr);
}

TEST(GroupError, KeepsWhereTheErrorsOfItsNodesHaveComeFrom) {
  const std::exception_ptr far =
      std::make_exception_ptr(remote_error("far", {7, "there", 70, "g", "app::trouble", "m"}));
  const std::exception_ptr twice = back(bytes_of(back(bytes_of(error_of({{3, far}}, 4)))));
  try {
    std::rethrow_exception(twice);
  } catch (const offload::group_error& why) {
    try {
      std::rethrow_exception(why.failures().at(0).error);
    } catch (const remote_error& same) {
      EXPECT_EQ(same.node(), 7);
      EXPECT_EQ(same.type(), "app::trouble");
    }
  }
}

/// Of one node that has failed by the error of a group, and so on.
std::exception_ptr nested(unsigned depth) {
  std::exception_ptr inner = plain<std::domain_error>("innermost");
  for (unsigned i = 0; i < depth; ++i) inner = error_of({{1, inner}}, 2);
  return inner;
}

TEST(GroupError, OfGroupsWithinGroupsIsReadDownToSomeDepth) {
  const auto innermost = [](std::exception_ptr what) {
    for (;;) {
      try {
        std::rethrow_exception(what);
      } catch (const offload::group_error& why) {
        what = why.failures().at(0).error;
      } catch (...) {
        return what;
      }
    }
  };
  EXPECT_THROW(std::rethrow_exception(innermost(back(bytes_of(nested(8))))), std::domain_error);
  EXPECT_THROW(std::rethrow_exception(innermost(back(bytes_of(nested(9))))), protocol_error);
  EXPECT_THROW(std::rethrow_exception(innermost(back(bytes_of(nested(30))))), protocol_error);
  EXPECT_THROW(std::rethrow_exception(innermost(back(bytes_of(nested(500))))), remote_error) << "it is shortened";
  EXPECT_THROW(std::rethrow_exception(innermost(back(bytes_of(nested(8))))), std::domain_error)
      << "depth is given back";
}

/// All bytes that are cut off or changed somewhere give an error, and nothing else.
TEST(GroupError, OfHostileBytesIsSomeError) {
  const std::vector<std::byte> good = bytes_of(error_of({{3, plain<std::domain_error>("no")}, {4, nested(1)}}, 5));
  for (std::size_t at = 0; at < good.size(); ++at) {
    const std::vector<std::byte> cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at));
    EXPECT_NE(back(cut), nullptr) << at;
    for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0xffU}) {
      std::vector<std::byte> changed = good;
      changed[at] = static_cast<std::byte>(value);
      EXPECT_NE(back(changed), nullptr) << at;
    }
  }
}

// ---- between nodes

int fail_on(node_t node) {
  if (offload::this_node() == node) throw std::domain_error("not here");
  return 1;
}
int sum_of_others(node_t bad) {
  std::vector<node_t> others = offload::nodes();
  std::erase(others, offload::this_node());
  return offload::reduce_all(offload::group(others), fn<&fail_on>, std::plus<>(), bad).get();
}

TEST(GroupError, OfAFunctionArrivesAtItsCaller) {
  const runtime job(test::loopback(4));
  EXPECT_EQ(offload::sync(1, fn<&sum_of_others>, node_t{9}), 4);
  try {
    offload::sync(1, fn<&sum_of_others>, node_t{3});
    FAIL();
  } catch (const offload::group_error& why) {
    EXPECT_EQ(why.nodes(), 4U);
    ASSERT_EQ(why.failures().size(), 1U);
    EXPECT_EQ(why.failures()[0].node, 3);
    EXPECT_THROW(std::rethrow_exception(why.failures()[0].error), std::domain_error);
  }
}

TEST(GroupError, TellsWhereABroadcastFromANodeHasFailed) {
  const runtime job(test::loopback(3));
  const offload::group all;
  const auto buffers = offload::allocate_all<int>(all, 10);
  offload::free(buffers[1]);
  try {
    offload::broadcast(buffers, 10);
    FAIL();
  } catch (const offload::group_error& why) {
    ASSERT_EQ(why.failures().size(), 1U);
    EXPECT_EQ(why.failures()[0].node, buffers[1].node());
    EXPECT_THROW(std::rethrow_exception(why.failures()[0].error), buffer_error);
  }
  offload::free(buffers[0]);
  EXPECT_THROW(offload::broadcast(buffers, 10), buffer_error) << "of the first node itself";
  offload::free(buffers[2]);
}

}  // namespace group_error_test

// The object space: who keeps an object alive, and until when.
#include "runtime/objects.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ham/offload.hpp"
#include "ham/offload/detail/object_space.hpp"

namespace ham::inline v1::detail {
namespace {

class object_spaces : public testing::Test {
 protected:
  static runtime_options one_target() {
    runtime_options options;
    options.nodes = "loopback:1";
    return options;
  }
  runtime job_{one_target()};
};

TEST_F(object_spaces, keep_an_object_until_it_is_destroyed) {
  auto made = std::make_shared<int>(42);
  const std::weak_ptr<int> seen = made;
  const object_id id = keep_object(std::move(made), object_type_of<int>);
  EXPECT_EQ(object_as<int>(find_object(0, id)), 42);
  destroy_object(0, id);
  EXPECT_TRUE(seen.expired());
  EXPECT_THROW(static_cast<void>(find_object(0, id)), object_error);
  EXPECT_THROW(destroy_object(0, id), object_error);
}

TEST_F(object_spaces, who_uses_an_object_keeps_it_alive) {
  const object_id id = keep_object(std::make_shared<int>(7), object_type_of<int>);
  const object_hold held = find_object(0, id);
  destroy_object(0, id);
  EXPECT_EQ(object_as<int>(held), 7);
  EXPECT_THROW(static_cast<void>(find_object(0, id)), object_error);
}

TEST_F(object_spaces, do_not_use_numbers_again) {
  const object_id first = keep_object(std::make_shared<int>(1), object_type_of<int>);
  destroy_object(0, first);
  const object_id second = keep_object(std::make_shared<int>(2), object_type_of<int>);
  EXPECT_NE(first.number, second.number);
  EXPECT_NE(first.tag, second.tag);
  destroy_object(0, second);
}

TEST_F(object_spaces, belong_to_one_runtime) {
  const object_id id = keep_object(std::make_shared<int>(1), object_type_of<int>);
  {
    const runtime another(one_target());
    const auto in_it = const_cast<runtime&>(another).use();
    EXPECT_THROW(static_cast<void>(find_object(0, id)), object_error) << "an object of another job";
  }
  EXPECT_EQ(object_as<int>(find_object(0, id)), 1);
}

TEST_F(object_spaces, know_the_type) {
  const object_id id = keep_object(std::make_shared<int>(1), object_type_of<int>);
  const object_hold held = find_object(0, id);
  try {
    static_cast<void>(object_as<double>(held));
    ADD_FAILURE() << "an int as double";
  } catch (const object_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("is a int, and no double"), std::string::npos) << problem.what();
  }
}

int two() { return 2; }

struct leaver {
  explicit leaver(bool& ended) : ended_(ended) {}
  ~leaver() { ended_ = offload::sync(1, fn<&two>) == 2; }
  bool& ended_;
};

TEST(object_space_end, keeps_nothing_more) {
  runtime_options options;
  options.nodes = "loopback:1";
  const runtime job(options);
  destroy_objects_of(current());
  EXPECT_THROW(static_cast<void>(keep_object(std::make_shared<int>(1), object_type_of<int>)), object_error);
}

TEST(object_space_end, destructors_may_use_the_runtime) {
  bool ended = false;
  {
    runtime_options options;
    options.nodes = "loopback:1";
    const runtime job(options);
    static_cast<void>(keep_object(std::make_shared<leaver>(ended), object_type_of<leaver>));
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
}

struct counted {
  int next() { return ++calls; }
  int calls = 0;
};

std::string failure_of_next(offload::remote_ref<counted> of) {
  try {
    static_cast<void>(offload::sync(of.node(), fn<&counted::next>, of));
    return "";
  } catch (const node_failure& failure) {
    return failure.what();
  } catch (const object_error& problem) {
    return problem.what();
  }
}

struct asker {
  asker(offload::remote_ref<counted> last, std::string& seen) : last_(last), seen_(seen) {}
  ~asker() { seen_ = offload::sync(1, fn<&failure_of_next>, last_); }
  offload::remote_ref<counted> last_;
  std::string& seen_;
};

TEST(object_space_end, a_call_that_comes_meanwhile_is_told_that_the_node_ends) {
  std::string seen;
  {
    runtime_options options;
    options.nodes = "loopback:1";
    const runtime job(options);
    const auto last = std::make_shared<std::unique_ptr<asker>>();
    static_cast<void>(keep_object(last, object_type_of<std::unique_ptr<asker>>));
    auto object = offload::make<counted>(0);
    *last = std::make_unique<asker>(object.ref(), seen);
    static_cast<void>(object.release());
  }
  EXPECT_NE(seen.find("node 0 failed: its runtime ends, and has destroyed object"), std::string::npos) << seen;
}

}  // namespace
}  // namespace ham::detail

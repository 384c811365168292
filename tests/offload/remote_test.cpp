// Objects on other nodes: made, called, shared and destroyed; handles that cannot be used.
#include "ham/offload/remote.hpp"

#include <atomic>
#include <string>
#include <vector>

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;
using offload::remote;
using offload::remote_ref;

namespace remote_test {

std::atomic<int> living = 0;
std::vector<int> ends;  // in their order; one thread at a time

struct shape {
  virtual ~shape() = default;
  [[nodiscard]] virtual std::string name() const { return "shape"; }
  int sides() const noexcept { return sides_; }
  int sides_ = 0;
};
struct named_thing {
  std::string label = "a thing";
  void relabel(const std::string& text) { label = text; }
  [[nodiscard]] const std::string& text() const { return label; }
};
class counter : public named_thing, public virtual shape {
 public:
  explicit counter(int start, std::string label = "counter") : value_(start) {
    if (start < 0) throw std::invalid_argument("a counter begins at 0 or above");
    this->label = std::move(label);
    sides_ = 7;
    ++living;
  }
  ~counter() override {
    --living;
    ends.push_back(value_);
  }
  int add(int more) { return value_ += more; }
  [[nodiscard]] int value() const noexcept { return value_; }
  [[nodiscard]] node_t where() const { return offload::this_node(); }
  [[nodiscard]] std::string name() const override { return "counter"; }
  std::size_t sum(const std::vector<int>& of, int times = 2) {
    for (const int one : of) value_ += times * one;
    return of.size();
  }
  void fail() { throw std::out_of_range("too far"); }

 private:
  int value_;
};
struct pair {  // an aggregate
  int left, right;
  [[nodiscard]] int both() const { return left + right; }
};

class objects : public two_targets {
 protected:
  void SetUp() override { ends.clear(); }
  static void TearDownTestSuite() {
    EXPECT_EQ(living.load(), 0) << "the ends of the jobs have destroyed what was left";
  }
};

TEST_F(objects, live_on_their_node_until_the_handle_goes) {
  {
    remote<counter> there = offload::make<counter>(1, 40);
    EXPECT_EQ(living, 1);
    EXPECT_EQ(there.node(), 1);
    EXPECT_EQ(there.call<&counter::where>(), 1);
    EXPECT_EQ(there.call<&counter::add>(2), 42);
    EXPECT_EQ(there.call<&counter::value>(), 42) << "const and noexcept";
    EXPECT_EQ(there.call<&counter::sum>(std::vector<int>{1, 2, 3}, 10), 3U);
    EXPECT_EQ(there.async<&counter::value>().get(), 102);
  }
  EXPECT_EQ(living, 0);
}

TEST_F(objects, are_made_from_what_their_constructors_take) {
  const auto labelled = offload::make<counter>(2, 1, "from a literal");
  EXPECT_EQ(labelled.call<&counter::text>(), "from a literal") << "a result by reference is copied";
  const std::string text = "from a string";
  EXPECT_EQ((offload::make<counter>(2, 1L, text).call<&counter::text>()), text);
  EXPECT_EQ((offload::make<pair>(1, 20, 22).call<&pair::both>()), 42);
  EXPECT_EQ((offload::make<std::vector<double>>(1).call<&std::vector<double>::size>()), 0U);
}

TEST_F(objects, of_constructors_that_throw_are_not_made) {
  EXPECT_THROW(static_cast<void>(offload::make<counter>(1, -1)), std::invalid_argument);
  EXPECT_EQ(living, 0);
}

TEST_F(objects, are_made_on_several_nodes_at_once) {
  {
    auto there = offload::make_async<counter>(1, 40, "there");
    auto here = offload::make_async<counter>(offload::within(2, std::chrono::minutes(1)), 7);
    const remote<counter> first = there.get();
    const remote<counter> second = here.get();
    EXPECT_EQ(first.node(), 1);
    EXPECT_EQ(first.call<&counter::text>(), "there");
    EXPECT_EQ(second.call<&counter::value>(), 7);
    EXPECT_EQ(living, 2);
    EXPECT_THROW(offload::make_async<counter>(1, -1).get(), std::invalid_argument);
    static_cast<void>(offload::make_async<counter>(1, 3));
    EXPECT_EQ(living, 2) << "the discarded one";
  }
  EXPECT_EQ(living, 0);
  offload::make_async<counter>(1, 4).detach();
  do {
    static_cast<void>(offload::sync(1, fn<&offload::this_node>));  // behind the constructor
  } while (living != 0);
}

TEST_F(objects, throw_what_their_functions_throw) {
  const auto there = offload::make<counter>(1, 0);
  EXPECT_THROW(there.call<&counter::fail>(), std::out_of_range);
  EXPECT_EQ(there.call<&counter::value>(), 0) << "it goes on";
}

TEST_F(objects, are_used_as_first_arguments) {
  const auto there = offload::make<counter>(1, 1);
  EXPECT_EQ(offload::sync(1, fn<&counter::add>, there, 1), 2);
  EXPECT_EQ(offload::async(1, fn<&counter::add>, there.ref(), 1).get(), 3);
  EXPECT_EQ(offload::sync(offload::within(1, 10s), fn<&counter::value>, there), 3);
  offload::ping(1, fn<&counter::relabel>, there, "pinged");
  EXPECT_EQ(there.call<&counter::text>(), "pinged");
  offload::batch many(1);
  auto first = many.add(fn<&counter::add>, there, 10);
  auto second = many.add(fn<&counter::add>, there, 10);
  many.submit();
  EXPECT_EQ(first.get() + second.get(), 13 + 23);
  EXPECT_EQ(offload::sync(1, fn<&pair::both>, pair{2, 3}), 5) << "an object itself still is sent by value";
}

TEST_F(objects, are_their_bases) {
  remote<counter> there = offload::make<counter>(1, 3);
  const remote_ref<shape> as_shape = there.ref();
  const remote_ref<named_thing> as_named = there.ref();
  for (int i = 0; i < 2; ++i) {  // found, then remembered
    EXPECT_EQ(as_shape.call<&shape::name>(), "counter") << "virtual";
    EXPECT_EQ(as_shape.call<&shape::sides>(), 7) << "through a virtual base";
    EXPECT_EQ(as_named.call<&named_thing::text>(), "counter") << "second base";
    EXPECT_EQ(there.call<&shape::sides>(), 7) << "inherited function";
  }
  remote<shape> owner = std::move(there);
  EXPECT_FALSE(there);
  EXPECT_EQ(owner.call<&shape::name>(), "counter");
  owner.reset();
  EXPECT_EQ(living, 0) << "destroyed as what it was made as";
}

int value_of(remote_ref<counter> of) { return of.call<&counter::value>(); }
int local_value_of(remote_ref<counter> of) { return of.local().value(); }
remote_ref<counter> passed_on(remote_ref<counter> of) { return of; }

TEST_F(objects, are_called_by_other_nodes) {
  const auto there = offload::make<counter>(1, 11);
  EXPECT_EQ(offload::sync(2, fn<&value_of>, there), 11) << "node 2 calls node 1";
  EXPECT_EQ(offload::sync(1, fn<&local_value_of>, there), 11);
  EXPECT_EQ(offload::sync(2, fn<&passed_on>, there), there.ref());
  const auto here = offload::make<counter>(0, 12);
  EXPECT_EQ(offload::sync(2, fn<&value_of>, here), 12) << "node 2 calls the host";
  EXPECT_EQ(here.call<&counter::value>(), 12);
}

template <class Call>
void expect_refused(Call call, const std::string& reason) {
  const std::string text = message_of<object_error>(call);
  EXPECT_NE(text.find(reason), std::string::npos) << text;
}

TEST_F(objects, that_are_gone_are_errors) {
  auto there = offload::make<counter>(1, 1);
  const remote_ref<counter> stale = there.ref();
  there.reset();
  expect_refused([&] { static_cast<void>(stale.call<&counter::value>()); }, "was destroyed");
  expect_refused([&] { offload::destroy(stale); }, "was destroyed");
  const auto next = offload::make<counter>(1, 2);
  expect_refused([&] { static_cast<void>(stale.call<&counter::value>()); }, "was destroyed");
}

TEST_F(objects, of_other_nodes_are_errors) {
  const auto there = offload::make<counter>(1, 1);
  expect_refused([&] { offload::sync(2, fn<&counter::value>, there); }, "lives on node 1, this is node 2");
  expect_refused([&] { static_cast<void>(there.ref().local()); }, "lives on node 1, this is node 0");
  const remote_ref<counter> moved(2, there.ref().id());
  expect_refused([&] { static_cast<void>(moved.call<&counter::value>()); }, "never made");
}

TEST_F(objects, of_forged_handles_are_errors) {
  const auto there = offload::make<counter>(1, 1);
  ham::detail::object_id id = there.ref().id();
  ++id.tag;
  expect_refused([&] { static_cast<void>(remote_ref<counter>(1, id).call<&counter::value>()); }, "never made");
  id = {there.ref().id().number + 1000, 1};
  expect_refused([&] { static_cast<void>(remote_ref<counter>(1, id).call<&counter::value>()); }, "never made");
  expect_refused([&] { static_cast<void>(remote_ref<pair>(1, there.ref().id()).call<&pair::both>()); },
                 "counter, and no ");
  expect_refused([&] { static_cast<void>(remote_ref<counter>().call<&counter::value>()); }, "names no object");
  expect_refused([&] { offload::sync(1, fn<&counter::value>, remote_ref<counter>()); }, "names no object");
  expect_refused([&] { offload::destroy(remote_ref<counter>()); }, "names no object");
  EXPECT_EQ(there.call<&counter::value>(), 1);
}

TEST_F(objects, that_are_released_live_until_they_are_destroyed) {
  remote_ref<counter> alone;
  {
    auto there = offload::make<counter>(1, 5);
    alone = there.release();
    EXPECT_FALSE(there);
  }
  EXPECT_EQ(alone.call<&counter::value>(), 5);
  const remote<counter> owned(alone);
  EXPECT_EQ(owned.call<&counter::value>(), 5);
  const remote_ref<counter> other = offload::make<counter>(1, 6).release();
  offload::destroy(other);
  EXPECT_EQ(living, 1);
}

class reader_of_a_counter {
 public:
  explicit reader_of_a_counter(remote_ref<counter> of) : of_(of) {}
  [[nodiscard]] int read() const { return of_.call<&counter::value>(); }

 private:
  remote_ref<counter> of_;
};

TEST_F(objects, are_given_to_constructors_of_others) {
  const auto there = offload::make<counter>(1, 8);
  const auto reader = offload::make<reader_of_a_counter>(2, there);
  EXPECT_EQ(reader.call<&reader_of_a_counter::read>(), 8);
}

// Its end is the first that its node says to node 2.
struct talks_at_its_end {
  ~talks_at_its_end() {
    try {
      offload::sync(2, [] { return 1; });
    } catch (const node_failure&) {
      ended = true;
    }
  }
  static inline std::atomic<bool> ended = false;
};

TEST(object_space, destructors_that_call_a_new_peer_get_an_error) {
  talks_at_its_end::ended = false;
  {
    const runtime job(loopback(2));
    static_cast<void>(offload::make<talks_at_its_end>(1).release());
  }
  EXPECT_TRUE(talks_at_its_end::ended) << "nodes make no new connections at the end of a job";
}

TEST_F(objects, move_with_their_handle) {
  auto first = offload::make<counter>(1, 1);
  auto second = offload::make<counter>(2, 2);
  first = std::move(second);
  EXPECT_EQ(living, 1) << "what the target of the assignment owned is destroyed";
  EXPECT_EQ(first.call<&counter::value>(), 2);
}

TEST(object_space, ends_with_the_job_in_order) {
  ends.clear();
  {
    const runtime job(loopback(1));
    for (const int value : {1, 2, 3}) static_cast<void>(offload::make<counter>(1, value).release());
    EXPECT_EQ(living, 3);
  }
  EXPECT_EQ(living, 0);
  EXPECT_EQ(ends, (std::vector<int>{3, 2, 1}));
  ends.clear();
  {
    const runtime job(loopback(1));
    for (const int value : {1, 2, 3}) static_cast<void>(offload::make<counter>(0, value).release());
  }
  EXPECT_EQ(ends, (std::vector<int>{3, 2, 1})) << "on the host";
}

}  // namespace remote_test

// What the host and the node that runs main tell each other, and what others may not.
#include "job/main_role.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "faults/hostile_world.hpp"
#include "job/played.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;

std::vector<std::byte> request(const std::vector<std::string>& arguments) {
  return pack(main_request{kind_of(notice::run_main), arguments, false});
}
std::vector<std::byte> end_with(int status, const std::string& why = {}) {
  return pack(main_end{kind_of(notice::main_ended), status, true, why});
}

TEST(main_role, takes_the_notices_about_main) {
  EXPECT_TRUE(main_role::is_about_main(notice::run_main));
  EXPECT_TRUE(main_role::is_about_main(notice::main_ended));
  EXPECT_FALSE(main_role::is_about_main(notice::announcement));
  EXPECT_FALSE(main_role::is_about_main(static_cast<notice>(99)));
}

TEST(main_role, a_target_hears_of_it_from_its_host_once) {
  lone_node target(1, 3);
  main_role role(*target);
  EXPECT_FALSE(role.requested());
  role.on_notice(0, request({"app", "-n", ""}));
  EXPECT_TRUE(role.requested());
  EXPECT_EQ(role.arguments(), (std::vector<std::string>{"app", "-n", ""}));
  target->serve();  // comes back
  EXPECT_THROW(role.on_notice(0, request({"again"})), protocol_error);
  EXPECT_EQ(role.arguments().front(), "app");
}

TEST(main_role, refuses_requests_that_cannot_be) {
  lone_node target(1, 3);
  main_role role(*target);
  EXPECT_THROW(role.on_notice(2, request({"app"})), protocol_error) << "not the host";
  EXPECT_THROW(role.on_notice(0, request({})), protocol_error);
  EXPECT_THROW(role.on_notice(0, request({"app", std::string("a\0b", 3)})), protocol_error);
  auto longer = request({"app"});
  longer.push_back(std::byte{0});
  EXPECT_THROW(role.on_notice(0, longer), std::exception);
  EXPECT_THROW(role.on_notice(0, std::span(longer).first(4)), std::exception);
  EXPECT_FALSE(role.requested());
}

TEST(main_role, nobody_ends_a_main_that_does_not_run_there) {
  lone_node host(0, 3);
  main_role role(*host);
  EXPECT_THROW(role.on_notice(1, end_with(0)), protocol_error);
  EXPECT_THROW(role.on_notice(0, end_with(0)), protocol_error);
  lone_node target(1, 3);
  main_role of_target(*target);
  EXPECT_THROW(of_target.on_notice(0, end_with(0)), protocol_error);
}

/// A host whose node 1 is played.
class main_elsewhere : public testing::Test {
 protected:
  quiet hushed_;
  world world_{4, 0, 1};
  world::peer& one_ = world_.friendly();
  main_role role_{world_.node()};

  [[nodiscard]] bool was_asked() {
    while (auto heard = one_.receive()) {
      if (heard->first.kind == to_byte(wire_kind::notice) && notice_in(heard->second) == notice::run_main) return true;
    }
    return false;
  }
};

TEST_F(main_elsewhere, the_host_comes_back_with_the_status) {
  std::thread played([&] {
    while (!was_asked()) std::this_thread::yield();
    world_.node().locked([&] { role_.on_notice(one_.number, end_with(42)); });
  });
  EXPECT_EQ(role_.run_on(one_.number, {"app"}), 42);
  played.join();
}

TEST_F(main_elsewhere, the_host_says_why_it_cannot_run_there) {
  std::thread played([&] {
    while (!was_asked()) std::this_thread::yield();
    world_.node().locked([&] { role_.on_notice(one_.number, end_with(0, "there is none")); });
  });
  const std::string why = problem_with([&] { static_cast<void>(role_.run_on(one_.number, {"app"})); });
  EXPECT_EQ(why, "node " + std::to_string(one_.number) + " cannot run main: there is none");
  played.join();
}

TEST_F(main_elsewhere, the_host_ends_with_the_node) {
  std::thread played([&] {
    while (!was_asked()) std::this_thread::yield();
    world_.node().events.on_lost(one_.number, "it fell over");
  });
  try {
    static_cast<void>(role_.run_on(one_.number, {"app"}));
    FAIL() << "it is lost";
  } catch (const node_failure& lost) {
    EXPECT_NE(std::string(lost.what()).find("it fell over"), std::string::npos);
  }
  played.join();
}

}  // namespace
}  // namespace ham::detail

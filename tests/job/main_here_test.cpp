// main on a target of this process: the arguments that it gets, and that there is at most one.
#include "job/main_here.hpp"

#include <gtest/gtest.h>

#include "job/played.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;

/// A target that the host has asked for main.
target_of_main asked_for_main(std::vector<std::string> arguments) {
  auto target = std::make_shared<engine*>(nullptr);
  target_boot boot;
  boot.open = [target](engine& made, node_directory&) {
    *target = &made;
    return std::make_unique<silent_transport>();
  };
  boot.join = [target, arguments = std::move(arguments)] {
    const auto request = pack(main_request{kind_of(notice::run_main), arguments, false});
    (*target)->locked([&] { (*target)->owner->on_notice(0, request); });
  };
  return run_target(std::move(boot));
}

TEST(main_here, is_nowhere_in_other_processes) {
  int argc = 1;
  char** argv = nullptr;
  EXPECT_EQ(main_here::get(), nullptr);
  EXPECT_FALSE(main_here::enter(argc, argv));
  EXPECT_EQ(argc, 1);
  main_here::withdraw();
  main_here::end(0);
}

TEST(main_here, gets_the_arguments_of_the_host_and_is_entered_once) {
  bool left = false;
  main_here& here = main_here::begin(asked_for_main({"app", "a b", ""}), [&left] { left = true; });
  EXPECT_EQ(main_here::get(), &here);
  EXPECT_EQ(process_engine(), &here.node());
  int argc = 1;
  char** argv = nullptr;
  EXPECT_TRUE(main_here::enter(argc, argv));
  ASSERT_EQ(argc, 3);
  EXPECT_STREQ(argv[1], "a b");
  EXPECT_STREQ(argv[2], "");
  EXPECT_EQ(argv[3], nullptr);
  EXPECT_FALSE(main_here::enter(argc, argv)) << "later runtimes are others";
  EXPECT_EQ(here.run([](int count, char** words, char**) { return count + static_cast<int>(words[0][0]); }), 3 + 'a');
  main_here::withdraw();
  EXPECT_EQ(process_engine(), nullptr);
  EXPECT_FALSE(left);
  here.node().end();  // as the host's goodbye
  main_here::end(5);
  EXPECT_TRUE(left);
  EXPECT_EQ(main_here::get(), nullptr);
}

}  // namespace
}  // namespace ham::detail

// What the environment says to libveo: empty is not set, and numbers of cores are checked.
#include "veo/settings.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <string>

#include "ham/error.hpp"

namespace ham::inline v1::veo {
namespace {

/// A variable that is gone afterwards.
class set_variable {
 public:
  set_variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~set_variable() { ::unsetenv(name_); }
  set_variable(const set_variable&) = delete;
  set_variable& operator=(const set_variable&) = delete;

 private:
  const char* name_;
};

TEST(veo_settings, empty_is_not_set) {
  const char* const name = "HAM_TEST_VEO_VARIABLE";
  EXPECT_EQ(variable(name), nullptr);
  EXPECT_FALSE(has_variable(name));
  {
    const set_variable empty(name, "");
    EXPECT_EQ(variable(name), nullptr);
    EXPECT_EQ(trusted_variable(name), nullptr);
    EXPECT_TRUE(has_variable(name)) << "be it empty";
  }
  const set_variable full(name, "some text");
  EXPECT_STREQ(variable(name), "some text");
  EXPECT_STREQ(trusted_variable(name), "some text") << "this program has no privileges of its own";
}

TEST(veo_settings, cores_are_those_of_this_process_in_order) {
  const std::vector<int> cores = usable_cores();
  ASSERT_FALSE(cores.empty());
  cpu_set_t all;
  CPU_ZERO(&all);
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(cores.size(), static_cast<std::size_t>(CPU_COUNT(&all)));
  for (std::size_t i = 0; i < cores.size(); ++i) {
    EXPECT_TRUE(CPU_ISSET(cores[i], &all));
    EXPECT_TRUE(i == 0 || cores[i - 1] < cores[i]);
  }
}

TEST(veo_settings, a_core_is_chosen_among_those) {
  EXPECT_EQ(core_number(), std::nullopt);
  const std::size_t count = usable_cores().size();
  for (const std::size_t number : {std::size_t{0}, count - 1}) {
    const set_variable chosen("VE_CORE_NUMBER", std::to_string(number));
    EXPECT_EQ(core_number(), number);
  }
}

std::string refusal_of(const std::string& number) {
  const set_variable chosen("VE_CORE_NUMBER", number);
  try {
    static_cast<void>(core_number());
  } catch (const config_error& problem) {
    return problem.what();
  }
  return "it was taken";
}

TEST(veo_settings, a_core_that_is_none_is_refused) {
  for (const char* const text : {"x", "-1", "1.5", " 0", "0 ", "0x0", "99999999999999999999999"})
    EXPECT_EQ(refusal_of(text), "VE_CORE_NUMBER=" + std::string(text) + " is no number; it counts cores from 0");
  const std::size_t count = usable_cores().size();
  EXPECT_EQ(refusal_of(std::to_string(count)), "VE_CORE_NUMBER=" + std::to_string(count) +
                                                   ", but this process may use " + std::to_string(count) +
                                                   (count == 1 ? " core" : " cores") + ", which are counted from 0");
}

}  // namespace
}  // namespace ham::veo

// Requests go to the helper of the process, with all they say; a process that is none refuses them.
#include "veo/requests.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ham::inline v1::veo {
namespace {

/// Says what it was asked.
class asked_helper final : public helper_side {
 public:
  answer call(unseen_count unseen, std::uint64_t kernel, std::span<const std::byte> arguments) override {
    return note("call", unseen, kernel, arguments.size());
  }
  answer allocate(unseen_count unseen, std::uint64_t bytes) override { return note("allocate", unseen, bytes); }
  answer release(unseen_count unseen, std::uint64_t address) override { return note("release", unseen, address); }
  answer store(unseen_count unseen, std::uint64_t address, std::span<const std::byte> bytes) override {
    return note("store", unseen, address, bytes.size());
  }
  answer load(unseen_count unseen, std::uint64_t address, std::uint64_t bytes) override {
    return note("load", unseen, address, bytes);
  }
  answer copy(unseen_count unseen, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) override {
    return note("copy", unseen, to, from, bytes);
  }
  answer load_library(unseen_count unseen, std::string_view path) override {
    return note("load_library " + std::string(path), unseen);
  }
  answer unload_library(unseen_count unseen, std::uint64_t library) override {
    return note("unload_library", unseen, library);
  }
  answer symbol(unseen_count unseen, std::uint64_t library, std::string_view name) override {
    return note("symbol " + std::string(name), unseen, library);
  }
  answer area(unseen_count unseen, std::uint64_t old, std::uint64_t bytes) override {
    return note("area", unseen, old, bytes);
  }
  answer probe() override { return note("probe"); }
  answer begin_context(std::uint32_t number) override { return note("begin_context", number); }
  answer end_context() override { return note("end_context"); }

  std::string asked;

 private:
  template <class... Numbers>
  answer note(std::string what, Numbers... numbers) {
    ((what += " " + std::to_string(numbers)), ...);
    asked = std::move(what);
    return {outcome::refused, 77, {}};
  }
};

TEST(veo_requests, reach_the_helper_with_all_they_say) {
  asked_helper helper;
  this_helper() = &helper;
  const std::byte bytes[3] = {};
  const auto expect = [&helper](const answer& given, const std::string& asked) {
    EXPECT_EQ(helper.asked, asked);
    EXPECT_EQ(std::get<0>(given), outcome::refused) << asked;
    EXPECT_EQ(std::get<1>(given), 77U) << asked;
  };
  expect(request::call(1, 2, bytes), "call 1 2 3");
  expect(request::allocate(1, 2), "allocate 1 2");
  expect(request::release(1, 2), "release 1 2");
  expect(request::store(1, 2, bytes), "store 1 2 3");
  expect(request::load(1, 2, 3), "load 1 2 3");
  expect(request::copy(1, 2, 3, 4), "copy 1 2 3 4");
  expect(request::load_library(1, "a.so"), "load_library a.so 1");
  expect(request::unload_library(1, 2), "unload_library 1 2");
  expect(request::symbol(1, 2, "f"), "symbol f 1 2");
  expect(request::area(1, 2, 3), "area 1 2 3");
  expect(request::probe(), "probe");
  expect(request::begin_context(5), "begin_context 5");
  expect(request::end_context(), "end_context");
  helper.asked.clear();
  EXPECT_EQ(request::nothing(), answer{}) << "answered by itself";
  EXPECT_EQ(helper.asked, "");
  this_helper() = nullptr;
}

TEST(veo_requests, are_refused_by_a_process_that_is_no_helper) {
  ASSERT_EQ(this_helper(), nullptr);
  try {
    static_cast<void>(request::allocate(0, 8));
    ADD_FAILURE() << "somebody has answered";
  } catch (const call_error& problem) {
    EXPECT_STREQ(problem.what(), "this process is no VEO helper; requests go to aveorun");
  }
  EXPECT_EQ(std::get<0>(request::nothing()), outcome::done);
}

}  // namespace
}  // namespace ham::veo

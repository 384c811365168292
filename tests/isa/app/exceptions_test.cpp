// Exceptions thrown on a target arrive at the host.
#include <new>
#include <stdexcept>
#include <system_error>

#include "support.hpp"

namespace isa_types {

struct too_hot : std::exception {
  too_hot() = default;
  too_hot(std::int64_t d, std::string w) : degrees(d), where(std::move(w)) {}
  [[nodiscard]] const char* what() const noexcept override { return where.c_str(); }
  std::int64_t degrees = 0;
  std::string where;
  HAM_FIELDS(degrees, where)
};

struct stranger : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const bool registered = ham::register_exception<too_hot>();

}  // namespace isa_types

namespace ham::inline v1::isa {

template <class E>
void throw_with(const std::string& text) {
  throw E(text);
}
void heat(std::int64_t degrees) { throw isa_types::too_hot(degrees, "tank 7"); }
void fail_as_the_system(int number) { throw std::system_error(number, std::generic_category(), "while testing"); }
int let_the_host_throw() { return offload::sync(0, fn<&throw_with<std::out_of_range>>, std::string("on node 0")), 1; }

namespace {

template <class E>
void expect_arrives(node_t node) {
  try {
    offload::sync(node, fn<&throw_with<E>>, std::string("text of the exception"));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& problem) {
    expect_in(problem.what(), "text of the exception");
  }
}

TEST(exceptions, of_the_standard_library) {
  with_each_target([](node_t node) {
    expect_arrives<std::runtime_error>(node);
    expect_arrives<std::out_of_range>(node);
    expect_arrives<std::invalid_argument>(node);
    expect_arrives<std::overflow_error>(node);
    try {
      offload::sync(node, fn<&fail_as_the_system>, 2);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::system_error& problem) {
      EXPECT_EQ(problem.code(), std::errc::no_such_file_or_directory);
    }
  });
}

TEST(exceptions, registered_ones) {
  with_each_target([](node_t node) {
    try {
      offload::sync(node, fn<&heat>, 1LL << 40);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const isa_types::too_hot& problem) {
      EXPECT_EQ(problem.degrees, 1LL << 40);
      EXPECT_STREQ(problem.what(), "tank 7");
    }
  });
}

TEST(exceptions, unknown_ones) {
  with_each_target([](node_t node) {
    try {
      offload::sync(node, fn<&throw_with<isa_types::stranger>>, std::string("unheard of"));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const remote_error& problem) {
      expect_in(problem.what(), "unheard of");
      expect_in(problem.what(), "stranger");
    }
  });
}

TEST(exceptions, through_a_target) {
  with_each_target(
      [](node_t node) { EXPECT_THROW((void)offload::sync(node, fn<&let_the_host_throw>), std::out_of_range); });
}

}  // namespace
}  // namespace ham::isa

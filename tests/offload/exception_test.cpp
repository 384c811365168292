// What leaves a function on its target arrives at the caller.
#include <any>
#include <functional>
#include <future>
#include <stdexcept>
#include <system_error>
#include <variant>

#include "ham/offload/graph.hpp"
#include "ham/offload/stage_error.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace exception_test {

template <class E>
void throw_with_text(const std::string& text) {
  throw E(text);
}
template <class E>
void throw_without_text() {
  throw E();
}

struct unknown : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct no_exception_at_all {
  int value = 3;
};
struct with_fields : std::exception {
  with_fields() = default;
  with_fields(int c, std::string d) : code(c), detail(std::move(d)) {}
  [[nodiscard]] const char* what() const noexcept override { return detail.c_str(); }
  int code = 0;
  std::string detail;
  HAM_FIELDS(code, detail)
};
struct with_text_only : std::logic_error {
  using std::logic_error::logic_error;
  std::shared_ptr<int> cannot_cross;
};
const bool registered = register_exception<with_fields>() && register_exception<with_text_only>();

void refuse_at_length(std::size_t size) { throw std::range_error("begins" + std::string(size, '.')); }

class exceptions : public two_targets {};

template <class E>
void expect_same(const std::string& text) {
  try {
    offload::sync(1, fn<&throw_with_text<E>>, text);
    ADD_FAILURE() << typeid(E).name();
  } catch (const std::exception& caught) {
    EXPECT_EQ(typeid(caught), typeid(E)) << typeid(caught).name();
    EXPECT_EQ(caught.what(), text);
  }
}
template <class E>
void expect_same() {
  try {
    offload::sync(1, fn<&throw_without_text<E>>);
    ADD_FAILURE() << typeid(E).name();
  } catch (const std::exception& caught) {
    EXPECT_EQ(typeid(caught), typeid(E)) << typeid(caught).name() << ": " << caught.what();
  }
}

TEST_F(exceptions, standard_ones_are_rethrown_as_themselves) {
  expect_same<std::logic_error>("a");
  expect_same<std::invalid_argument>("b");
  expect_same<std::domain_error>("");
  expect_same<std::length_error>(std::string(10000, 'l'));
  expect_same<std::out_of_range>(std::string(1000000, 'l'));
  expect_same<std::runtime_error>("f");
  expect_same<std::range_error>("g");
  expect_same<std::overflow_error>("h");
  expect_same<std::underflow_error>("i");
  expect_same<std::exception>();
  expect_same<std::bad_alloc>();
  expect_same<std::bad_array_new_length>();
  expect_same<std::bad_cast>();
  expect_same<std::bad_typeid>();
  expect_same<std::bad_exception>();
  expect_same<std::bad_function_call>();
  expect_same<std::bad_optional_access>();
  expect_same<std::bad_variant_access>();
  expect_same<std::bad_any_cast>();
  expect_same<std::bad_weak_ptr>();
}

TEST_F(exceptions, system_errors_keep_their_code) {
  try {
    offload::sync(1, [] { throw std::system_error(ENOENT, std::generic_category(), "no such thing"); });
    ADD_FAILURE();
  } catch (const std::system_error& caught) {
    EXPECT_EQ(caught.code(), std::errc::no_such_file_or_directory);
    EXPECT_NE(std::string(caught.what()).find("no such thing"), std::string::npos);
  }
  try {
    offload::sync(1, [] { throw std::system_error(EACCES, std::system_category()); });
    ADD_FAILURE();
  } catch (const std::system_error& caught) {
    EXPECT_EQ(caught.code(), std::error_code(EACCES, std::system_category()));
  }
}

TEST_F(exceptions, registered_ones_are_rethrown_as_themselves) {
  ASSERT_TRUE(registered);
  try {
    offload::sync(1, [] { throw with_fields(42, "the detail"); });
    ADD_FAILURE();
  } catch (const with_fields& caught) {
    EXPECT_EQ(caught.code, 42);
    EXPECT_EQ(caught.detail, "the detail");
  }
  EXPECT_EQ(message_of<with_text_only>([] { offload::sync(1, [] { throw with_text_only("words"); }); }), "words");
}

TEST_F(exceptions, others_tell_all_about_themselves) {
  for (const node_t node : {2, 0}) {
    try {
      offload::sync(node, fn<&throw_with_text<unknown>>, std::string("the message"));
      ADD_FAILURE();
    } catch (const remote_error& caught) {
      EXPECT_EQ(caught.node(), node);
      EXPECT_EQ(caught.pid(), ::getpid());
      EXPECT_FALSE(caught.host().empty());
      EXPECT_NE(caught.type().find("unknown"), std::string::npos) << caught.type();
      EXPECT_EQ(caught.message(), "the message");
      EXPECT_NE(caught.function().find("throw_with_text"), std::string::npos) << caught.function();
      for (const char* part : {"the message", "unknown", "throw_with_text"}) {
        EXPECT_NE(std::string(caught.what()).find(part), std::string::npos) << part << " in " << caught.what();
      }
      EXPECT_NE(std::string(caught.what()).find("node " + std::to_string(node)), std::string::npos) << caught.what();
    }
  }
}

TEST_F(exceptions, of_no_class) {
  EXPECT_THROW(offload::sync(1, [] { throw 42; }), remote_error);
  EXPECT_THROW(offload::sync(1, [] { throw no_exception_at_all(); }), remote_error);
  EXPECT_THROW(offload::sync(1, [] { throw "a literal"; }), remote_error);
  try {
    offload::sync(1, [] { throw std::string("a string"); });
    ADD_FAILURE();
  } catch (const remote_error& caught) {
    EXPECT_NE(std::string(caught.what()).find("a string"), std::string::npos) << caught.what();
  }
}

TEST_F(exceptions, through_several_nodes) {
  EXPECT_EQ(message_of<std::out_of_range>([] {
              offload::sync(
                  1, [] { offload::sync(2, [] { offload::sync(0, [] { throw std::out_of_range("deep"); }); }); });
            }),
            "deep");
  try {
    offload::sync(1, [] { offload::sync(2, [] { throw unknown("deep"); }); });
    ADD_FAILURE();
  } catch (const remote_error& caught) {
    EXPECT_EQ(caught.node(), 2) << "where it was thrown";
    EXPECT_NE(caught.type().find("unknown"), std::string::npos) << caught.type();
    EXPECT_EQ(caught.message(), "deep");
  }
  // What a node says of its own calls travels as well.
  EXPECT_NE(message_of<call_error>([] { offload::sync(1, [] { offload::sync(77, [] {}); }); }).find("no node 77"),
            std::string::npos);
}

TEST_F(exceptions, caught_on_the_target_stay_there) {
  EXPECT_EQ(offload::sync(1,
                          [] {
                            try {
                              offload::sync(2, [] { throw std::range_error("inner"); });
                            } catch (const std::range_error& caught) {
                              return std::string(caught.what());
                            }
                            return std::string();
                          }),
            "inner");
}

TEST_F(exceptions, from_pooled_calls_and_with_values_between) {
  for (int i = 0; i < 200; ++i) {
    auto good = offload::async(1, pooled([](int value) { return value; }), i);
    auto bad = offload::async(1, pooled([](int value) -> int { throw std::range_error(std::to_string(value)); }), i);
    EXPECT_EQ(good.get(), i);
    EXPECT_EQ(message_of<std::range_error>([&] { (void)bad.get(); }), std::to_string(i));
  }
}

TEST_F(exceptions, that_are_too_long_are_cut) {
  const std::size_t size = std::size_t{65} << 20;
  EXPECT_EQ(message_of<std::range_error>([&] { offload::sync(1, fn<&refuse_at_length>, size); }).find("begins..."), 0U);
  offload::batch calls(1);
  auto result = calls.add(fn<&refuse_at_length>, size);
  calls.submit();
  EXPECT_EQ(message_of<std::range_error>([&] { result.get(); }).find("begins..."), 0U);
  offload::graph g;
  const auto bytes = g.input<std::size_t>();
  auto step = g.compile(g.call(1, fn<&refuse_at_length>, bytes));
  EXPECT_NE(message_of<stage_error>([&] { step(size).get(); }).find("begins..."), std::string::npos);
}

TEST_F(exceptions, of_a_lack_of_memory) {
  const auto fill = [](std::size_t size) { return std::string(size, 'x').size(); };
  EXPECT_THROW((void)offload::sync(1, fill, std::string().max_size()), std::bad_alloc);
  EXPECT_THROW((void)offload::sync(1, fill, std::string().max_size() + 1), std::length_error);
  EXPECT_EQ(offload::sync(1, fill, std::size_t{5}), 5U);
}

}  // namespace exception_test

// Calls by name: functions that were registered, functions in C++ with a key, and what cannot be called so.
#include "c_api/functions.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "c_api_job.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/offload/group.hpp"

namespace c_api_test {

using namespace ham;

std::string greet(std::string_view who) { return "hello " + std::string(who); }
std::vector<std::byte> backwards(std::span<const std::byte> bytes) { return {bytes.rbegin(), bytes.rend()}; }
std::vector<char> nothing_in() { return {'o', 'k'}; }
int seen = 0;
void nothing_out(const std::vector<unsigned char>& bytes) { seen = static_cast<int>(bytes.size()); }
double two_numbers(double a, double b) { return a + b; }
std::string throws(std::string_view) { throw std::out_of_range("thrown there"); }
std::string in_groups(const std::string& text) { return "called with " + text; }
std::string of_library() { return "of a library"; }
std::string one_of_two(std::string_view text) { return std::string(text); }

const bool offered = offload::offer(named<"c_api_test.greet">(fn<&greet>)) &&
                     offload::offer(named<"c_api_test.backwards">(pooled(fn<&backwards>))) &&
                     offload::offer(named<"c_api_test.in">(fn<&nothing_in>)) &&
                     offload::offer(named<"c_api_test.out">(fn<&nothing_out>)) &&
                     offload::offer(named<"c_api_test.numbers">(fn<&two_numbers>)) &&
                     offload::offer(named<"c_api_test.throws">(fn<&throws>)) &&
                     offload::offer(named<"c_api_test.groups">(fn<&in_groups>)) &&
                     offload::offer(named<"c_api_test.library">(fn<&of_library>)) &&
                     offload::offer(named<"c_api_test.two">(fn<&one_of_two>)) &&
                     offload::offer(named<"c_api_test.two">(pooled(fn<&one_of_two>)));

int twice(const void* argument, size_t bytes, ham_reply* reply, void* user) {
  const std::string text(static_cast<const char*>(argument), bytes);
  const std::string result = text + *static_cast<const std::string*>(user) + text;
  ham_set_result(reply, "overwritten", 11);
  return ham_set_result(reply, result.data(), result.size());
}
int fails(const void*, size_t bytes, ham_reply* reply, void*) {
  ham_fail(reply, bytes == 0 ? nullptr : "the reason");
  return 42;
}
int throws_too(const void*, size_t, ham_reply*, void*) { throw std::runtime_error("out of a function in C"); }

using calls_by_name = two_targets;

std::string layout_of(const char* name) {
  char text[200] = "";
  size_t length = 0;
  EXPECT_EQ(ham_layout(1, name, -1, text, sizeof text, &length), HAM_OK) << ham_error_message();
  EXPECT_EQ(std::strlen(text), length);
  return text;
}

int encoded(const char* name, const char* layout, const void* arguments, size_t size, void* result, size_t space) {
  ham_future* future = nullptr;
  EXPECT_EQ(ham_call_encoded(1, name, layout, arguments, size, -1, &future), HAM_OK) << ham_error_message();
  const int status = ham_result(&future, result, space, nullptr);
  ham_release(&future);
  return status;
}

TEST_F(calls_by_name, layouts_of_functions_in_cpp) {
  EXPECT_EQ(layout_of("c_api_test.numbers"), "f8,f8->f8");
  EXPECT_EQ(layout_of("c_api_test.greet"), "str->str");
  EXPECT_EQ(layout_of("c_api_test.in"), "->vec<char>");
  char text[4];
  size_t length = 0;
  EXPECT_EQ(ham_layout(1, "c_api_test.numbers", -1, text, sizeof text, &length), HAM_ERROR_TRUNCATED);
  EXPECT_EQ(length, 9U);
  EXPECT_EQ(ham_layout(1, "c_api_test.none", -1, text, sizeof text, &length), HAM_ERROR_CALL);
  EXPECT_EQ(ham_layout(1, nullptr, -1, text, sizeof text, &length), HAM_ERROR_ARGUMENT);
}

TEST_F(calls_by_name, with_arguments_encoded_as_the_functions_own) {
  const double numbers[2] = {1.5, 2.25};
  double sum = 0;
  EXPECT_EQ(encoded("c_api_test.numbers", "f8,f8->f8", numbers, sizeof numbers, &sum, sizeof sum), HAM_OK)
      << ham_error_message();
  EXPECT_EQ(sum, 3.75);
  EXPECT_EQ(encoded("c_api_test.numbers", "f8->f8", numbers, sizeof numbers, &sum, sizeof sum), HAM_ERROR_CALL);
  EXPECT_NE(std::string(ham_error_message()).find("is f8,f8->f8 here"), std::string::npos) << ham_error_message();
  EXPECT_EQ(encoded("c_api_test.none", "f8->f8", numbers, sizeof numbers, &sum, sizeof sum), HAM_ERROR_CALL);
}

TEST_F(calls_by_name, with_bytes_that_are_no_arguments_fail_alone) {
  const double numbers[3] = {1, 2, 3};
  double sum = 0;
  for (const size_t size : {size_t{0}, size_t{15}, sizeof numbers})
    EXPECT_NE(encoded("c_api_test.numbers", "f8,f8->f8", numbers, size, &sum, sizeof sum), HAM_OK) << size;
  EXPECT_EQ(call(1, "c_api_test.greet", "you"), "hello you") << "the connection is as it was";
}

TEST_F(calls_by_name, run_what_was_registered) {
  const function_name name("twice");
  std::string comma = ", ";
  ASSERT_EQ(ham_register(name.text(), &twice, &comma), HAM_OK);
  for (ham_node node = 0; node <= 2; ++node) EXPECT_EQ(call(node, name.text(), "ham"), "ham, ham");
  EXPECT_EQ(call(1, name.text(), ""), ", ");
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(call(1, name.text(), large), large + ", " + large);
}

TEST_F(calls_by_name, run_functions_in_cpp_with_a_key) {
  EXPECT_EQ(call(1, "c_api_test.greet", "world"), "hello world");
  EXPECT_EQ(call(2, "c_api_test.backwards", "abc"), "cba");
  EXPECT_EQ(call(1, "c_api_test.in", ""), "ok");
  EXPECT_EQ(call(1, "c_api_test.out", "12345"), "");
  EXPECT_EQ(seen, 5);
}

TEST_F(calls_by_name, of_a_function_that_groups_call_too) {
  const auto answers =
      offload::sync_all(offload::group{{1, 2}}, named<"c_api_test.groups">(fn<&in_groups>), std::string("a group"));
  EXPECT_EQ(answers.at(1), "called with a group");
  EXPECT_EQ(call(1, "c_api_test.groups", "a name"), "called with a name");
  EXPECT_EQ(layout_of("c_api_test.groups"), "str->str");
}

TEST_F(calls_by_name, of_a_library_that_goes_and_returns) {
  const auto entry_called = [](std::string_view name) -> msg::handler_entry* {
    const msg::handler_table& table = msg::handler_table::local();
    for (std::uint32_t key = 0; key < table.size(); ++key) {
      if (table.pretty_name(key) == name) return const_cast<msg::handler_entry*>(table.find(key));
    }
    return nullptr;
  };
  EXPECT_EQ(call(1, "c_api_test.library", ""), "of a library");
  msg::handler_entry* const entry = entry_called("\"c_api_test.library\"");
  ASSERT_NE(entry, nullptr);
  msg::handler_table::remove_library({&entry, 1});
  EXPECT_EQ(status_of(1, "c_api_test.library", ""), HAM_ERROR_CALL);
  EXPECT_NE(std::string(ham_error_message()).find("no function is called"), std::string::npos) << ham_error_message();
  msg::handler_table::link_again({&entry, 1});
  msg::handler_table::refresh();
  EXPECT_EQ(call(1, "c_api_test.library", ""), "of a library");
}

TEST_F(calls_by_name, of_functions_of_bytes_with_values) {
  const function_name name("bytes");
  ASSERT_EQ(ham_register(name.text(), &fails, nullptr), HAM_OK);
  char text[20];
  EXPECT_EQ(ham_layout(1, name.text(), -1, text, sizeof text, nullptr), HAM_ERROR_CALL);
  EXPECT_NE(std::string(ham_error_message()).find("use ham_call"), std::string::npos) << ham_error_message();
  EXPECT_EQ(encoded(name.text(), "f8->f8", nullptr, 0, nullptr, 0), HAM_ERROR_CALL);
  EXPECT_NE(std::string(ham_error_message()).find("takes bytes"), std::string::npos) << ham_error_message();
}

TEST_F(calls_by_name, errors_of_functions) {
  const function_name failing("fails");
  const function_name throwing("throws");
  ASSERT_EQ(ham_register(failing.text(), &fails, nullptr), HAM_OK);
  ASSERT_EQ(ham_register(throwing.text(), &throws_too, nullptr), HAM_OK);
  EXPECT_EQ(status_of(1, failing.text(), "x"), HAM_ERROR_FUNCTION);
  EXPECT_EQ(ham_error_function_code(), 42);
  EXPECT_NE(std::string(ham_error_message()).find("ended with code 42: the reason"), std::string::npos);
  EXPECT_EQ(status_of(1, failing.text(), ""), HAM_ERROR_FUNCTION);
  EXPECT_TRUE(std::string(ham_error_message()).ends_with("code 42")) << ham_error_message();
  EXPECT_EQ(status_of(1, throwing.text(), ""), HAM_ERROR_EXCEPTION);
  EXPECT_NE(std::string(ham_error_message()).find("out of a function in C"), std::string::npos);
  EXPECT_EQ(ham_error_function_code(), 0) << "of the last error";
  EXPECT_EQ(status_of(1, "c_api_test.throws", ""), HAM_ERROR_EXCEPTION);
}

TEST_F(calls_by_name, what_cannot_be_called) {
  EXPECT_EQ(status_of(1, "c_api_test.unknown", ""), HAM_ERROR_CALL);
  EXPECT_NE(std::string(ham_error_message()).find("no function is called \"c_api_test.unknown\""), std::string::npos);
  EXPECT_EQ(status_of(1, "c_api_test.numbers", ""), HAM_ERROR_CALL);
  EXPECT_NE(std::string(ham_error_message()).find("empty,f8,f8->f8"), std::string::npos) << ham_error_message();
  EXPECT_EQ(status_of(1, "c_api_test.in", "too much"), HAM_ERROR_CALL);
  EXPECT_EQ(status_of(1, "c_api_test.two", ""), HAM_ERROR_CALL) << "which of the two is not said";
  EXPECT_NE(std::string(ham_error_message()).find("several functions"), std::string::npos) << ham_error_message();
  EXPECT_EQ(status_of(7, "c_api_test.greet", ""), HAM_ERROR_CALL);
  EXPECT_EQ(status_of(1, nullptr, ""), HAM_ERROR_ARGUMENT);
}

TEST(function_names, are_checked) {
  EXPECT_EQ(ham_register(nullptr, &fails, nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_register("c_api_test.null", nullptr, nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_register("", &fails, nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_register(std::string(256, 'n').c_str(), &fails, nullptr), HAM_ERROR_ARGUMENT);
  const function_name name("taken");
  EXPECT_EQ(ham_register(name.text(), &fails, nullptr), HAM_OK);
  EXPECT_EQ(ham_register(name.text(), &fails, nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_NE(std::string(ham_error_message()).find("registered already"), std::string::npos);
}

TEST(function_layouts, of_bytes) {
  std::size_t parameters = 7;
  EXPECT_TRUE(c_api::takes_bytes("empty,str->vec<enum<u1>>", parameters));
  EXPECT_EQ(parameters, 1U);
  EXPECT_TRUE(c_api::takes_bytes("empty->void", parameters));
  EXPECT_EQ(parameters, 0U);
  for (const char* other : {"empty,str,str->str", "empty,i4->str", "empty,str->i4", "opaque<,8,8>,str->str",
                            "empty,vec<u2>->str", "", "empty", "emptystr->str", "empty,str->str,str"}) {
    EXPECT_FALSE(c_api::takes_bytes(other, parameters)) << other;
  }
}

}  // namespace c_api_test

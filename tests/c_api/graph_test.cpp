// Graphs that are recorded from C: what recording refuses, and what the graph is that is compiled of it.
#include "c_api/graph.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "c_api/status.hpp"
#include "c_api_job.hpp"

namespace c_api_test {

using ham::c_api::call_types;

/// A recording, and the values that C programs write down for it.
class recorded_in_c : public testing::Test {
 protected:
  recorded_in_c() { EXPECT_EQ(ham_graph_create(&graph), HAM_OK) << ham_error_message(); }
  ~recorded_in_c() override { ham_graph_release(&graph); }

  ham_stage input(const char* type) {
    ham_stage made = HAM_NO_STAGE;
    EXPECT_EQ(ham_graph_input(graph, type, &made), HAM_OK) << ham_error_message();
    return made;
  }
  int call(const char* layout, const std::vector<ham_argument>& arguments, ham_stage& made) {
    return ham_graph_call(graph, 1, "c_graph.any", layout, arguments.data(), arguments.size(), &made);
  }

  ham_graph* graph = nullptr;
};

TEST(types_of_calls, are_the_parts_of_a_layout) {
  const call_types three("map<str,f8>,tuple<i4,vec<u1>>,f8->vec<f8>");
  EXPECT_EQ(three.parameters, (std::vector<std::string_view>{"map<str,f8>", "tuple<i4,vec<u1>>", "f8"}));
  EXPECT_EQ(three.result, "vec<f8>");
  const call_types none("->void");
  EXPECT_TRUE(none.parameters.empty());
  EXPECT_EQ(none.result, "void");
  const call_types one("str->");
  EXPECT_EQ(one.parameters.size(), 1U);
  EXPECT_THROW(call_types("f8,f8"), ham::c_api::bad_argument);
}

TEST_F(recorded_in_c, numbers_are_in_the_order_of_recording) {
  EXPECT_EQ(input("f8"), 0U);
  ham_stage first = 7;
  EXPECT_EQ(call("f8->vec<f8>", {{0, nullptr, 0}}, first), HAM_OK) << ham_error_message();
  EXPECT_EQ(first, 1U);
  EXPECT_EQ(input("vec<u1>"), 2U);
  EXPECT_EQ(ham_graph_name(graph, first, "mine"), HAM_OK);
  EXPECT_EQ(graph->describe(first), "stage 1 (mine)");
  ASSERT_EQ(graph->calls().size(), 1U);
  EXPECT_EQ(graph->calls()[0].layout, "f8->vec<f8>");
}

TEST_F(recorded_in_c, arguments_have_the_type_of_the_parameter) {
  const ham_stage number = input("f8");
  ham_stage vector = 0;
  ASSERT_EQ(call("f8->vec<f8>", {{number, nullptr, 0}}, vector), HAM_OK);
  ham_stage made = 0;
  EXPECT_EQ(call("f8,f8->f8", {{number, nullptr, 0}, {vector, nullptr, 0}}, made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(made, HAM_NO_STAGE);
  EXPECT_STREQ(
      ham_error_message(),
      "stage 2 (c_graph.any): argument 2 is stage 1 (c_graph.any), which gives vec<f8>, and must be f8 (between "
      "stages nothing is converted)");
  EXPECT_EQ(call("f8,f8->f8", {{number, nullptr, 0}}, made), HAM_ERROR_ARGUMENT);
  EXPECT_NE(std::string(ham_error_message()).find("has 1 arguments, and the function takes 2: f8,f8->f8"),
            std::string::npos);
  EXPECT_EQ(call("f8->f8", {{99, nullptr, 0}}, made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(call("f8->f8", {{HAM_NO_STAGE, nullptr, 8}}, made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(call("f8", {{number, nullptr, 0}}, made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(call("f8->f8", {{number, nullptr, 0}}, made), HAM_OK) << ham_error_message();
  EXPECT_EQ(made, 2U);  // what was refused was not recorded
}

TEST_F(recorded_in_c, repeats_carry_values_of_one_type) {
  const double start = 1;
  ham_stage value = 0, text = 0, end = 0, condition = 0;
  EXPECT_EQ(ham_graph_end_repeat(graph, 0, 0, &end), HAM_ERROR_ARGUMENT);
  const ham_argument initial{HAM_NO_STAGE, &start, sizeof start};
  ASSERT_EQ(ham_graph_begin_repeat(graph, "f8", &initial, &value), HAM_OK) << ham_error_message();
  ham_stage inner = 0;
  EXPECT_EQ(ham_graph_begin_repeat(graph, nullptr, nullptr, &inner), HAM_ERROR_CONFIG);
  ASSERT_EQ(call("f8->str", {{value, nullptr, 0}}, text), HAM_OK);
  ASSERT_EQ(call("f8->bool", {{value, nullptr, 0}}, condition), HAM_OK);
  EXPECT_EQ(ham_graph_end_repeat(graph, text, condition, &end), HAM_ERROR_ARGUMENT);
  EXPECT_NE(std::string(ham_error_message()).find("which gives str, and must be f8"), std::string::npos);
  ham_stage next = 0;
  ASSERT_EQ(call("f8->f8", {{value, nullptr, 0}}, next), HAM_OK);
  EXPECT_EQ(ham_graph_end_repeat(graph, next, text, &end), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_end_repeat(graph, next, condition, &end), HAM_OK) << ham_error_message();
  ham_stage behind = 0;
  EXPECT_EQ(call("f8->f8", {{end, nullptr, 0}}, behind), HAM_OK) << ham_error_message();
}

TEST_F(recorded_in_c, null_pointers_and_foreign_stages_are_errors) {
  ham_stage made = 0;
  EXPECT_EQ(ham_graph_create(nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_input(nullptr, "f8", &made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_input(graph, nullptr, &made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_input(graph, "f8", nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_call(graph, 1, "f", "f8->f8", nullptr, 1, &made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_call(graph, 1, nullptr, "f8->f8", nullptr, 0, &made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_put(graph, nullptr, nullptr, 0, 0, &made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_after(graph, 0, 0), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_name(graph, 0, "x"), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_call(graph, -1, "f", "->f8", nullptr, 0, &made), HAM_ERROR_CONFIG);
  const ham_buffer eight{0, 0, 8, 1};
  EXPECT_EQ(ham_graph_put(graph, "12345678", &eight, 4, 8, &made), HAM_ERROR_BUFFER);
  const ham_stage in = input("f8");
  EXPECT_EQ(ham_graph_after(graph, in, in), HAM_ERROR_CONFIG);
  ham_graph* none = nullptr;
  ham_graph_release(&none);
  ham_graph_release(nullptr);
}

}  // namespace c_api_test

// Functions by a name that is known at run time: offered in C++, registered in C with values, and what does not fit.
#include "ham/offload/function_by_name.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "ham/ham.h"
#include "ham/offload.hpp"
#include "offload/loopback_job.hpp"

namespace function_by_name_test {

using namespace ham;

double offered_total(const std::vector<double>& values, double factor) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum * factor;
}
int offered_count = 0;
void offered_nothing() { ++offered_count; }
const bool by_name_offered = offload::offer(named<"by_name_test.total">(fn<&offered_total>)) &&
                             offload::offer(named<"by_name_test.nothing">(fn<&offered_nothing>));

/// Two doubles, one double.
int product(const void* argument, size_t size, ham_reply* reply, void*) {
  double values[2];
  if (size != sizeof values) return ham_fail(reply, "two numbers are expected");
  std::memcpy(values, argument, size);
  if (values[0] < 0) return ham_fail(reply, "no negative numbers");
  const double result = values[0] * values[1];
  return ham_set_result(reply, &result, sizeof result);
}
const bool product_registered = ham_register_encoded("by_name_test.product", "f8,f8->f8", &product, nullptr) == HAM_OK;

using functions_by_name = test::two_targets;

TEST_F(functions_by_name, call_what_is_offered) {
  const offload::function_by_name<double(std::vector<double>, double)> total("by_name_test.total");
  EXPECT_EQ(total(1, {1, 2, 3.5}, 2), 13.0);
  EXPECT_EQ(total.async(2, {}, 2).get(), 0.0);
  const offload::function_by_name<void()> nothing("by_name_test.nothing");
  nothing(1);
  EXPECT_EQ(offered_count, 1);
}

TEST_F(functions_by_name, call_what_is_registered_with_values) {
  const offload::function_by_name<double(double, double)> two("by_name_test.product");
  EXPECT_EQ(two(1, 6, 7), 42.0);
  try {
    two(1, -1, 7);
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_NE(std::strstr(error.what(), "no negative numbers"), nullptr) << error.what();
  }
  char text[64] = "";
  EXPECT_EQ(ham_layout(1, "by_name_test.product", -1, text, sizeof text, nullptr), HAM_OK);
  EXPECT_STREQ(text, "f8,f8->f8");
  EXPECT_EQ(ham_call(1, "by_name_test.product", nullptr, 0, -1, nullptr, 0, nullptr), HAM_ERROR_CALL);
  EXPECT_EQ(ham_register_encoded("by_name_test.none", "f8", &product, nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_register_encoded("by_name_test.none", nullptr, &product, nullptr), HAM_ERROR_ARGUMENT);
}

TEST_F(functions_by_name, refuse_other_types_and_names) {
  const offload::function_by_name<float(double, double)> other("by_name_test.product");
  EXPECT_THROW(other(1, 6, 7), call_error);
  const offload::function_by_name<double(int)> wrong("by_name_test.total");
  EXPECT_THROW(wrong(1, 6), call_error);
  const offload::function_by_name<void()> none("by_name_test.no_such_function");
  EXPECT_THROW(none(1), call_error);
}

}  // namespace function_by_name_test

// The other one of two files that each have a function of the same name; see duplicates_test.cpp.
#include "ham/offload.hpp"

namespace {
int same_name(int value) { return value + 2; }
}  // namespace

namespace duplicates_test {
ham::offload::future<int> call_the_second(ham::node_t node) {
  return ham::offload::async(node, ham::fn<&same_name>, 0);
}
int call_the_second_by_name(ham::node_t node) {
  return ham::offload::sync(node, ham::named<"duplicates.second">(ham::fn<&same_name>), 0);
}
}  // namespace duplicates_test

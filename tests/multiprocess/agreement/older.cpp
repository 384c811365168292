// The older revision as a program. As host it calls everything that it knows, and prints what came of it.
#include <cstdio>

#include "application.hpp"

using namespace ham;

template <class Call>
void report(const char* name, Call call) {
  try {
    std::printf("%s: %s\n", name, std::to_string(call()).c_str());
  } catch (const call_error& problem) {
    std::printf("%s: %s\n", name, problem.what());
  }
}

int main() {
  report("both", [] { return offload::sync(1, fn<&app::both>, 4, 2); });
  report("twice", [] { return offload::sync(1, app::twice, 21); });
  report("removed", [] { return offload::sync(1, fn<&app::removed>, 1); });
  report("scaled", [] { return offload::sync(1, fn<&app::scaled>, 1L, 2); });
  report("mass", [] { return offload::sync(1, fn<&app::mass>, app::particle{}); });
  report("area", [] { return offload::sync(1, app::area, 2.0, 3.0F); });
  report("state", [] { return offload::sync(1, fn<&app::state_of>, app::flags{}); });
  report("second", [] { return offload::sync(1, fn<&app::second_of>, app::padded{}); });
  report("greeting", [] { return offload::sync(1, fn<&app::greet>, std::string("you")).size(); });
  report("first", [] { return offload::sync(1, fn<&app::aaa_first_by_name>); });
}

// Host and target of different revisions: what both have works, the rest is an error at the sender that says what and
// why.
// link: ham::ham
#include "agreement/application.hpp"
#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }
std::string older_path() { return std::filesystem::path(own_path()).parent_path() / "ham_agreement_older"; }

void expect_in(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

class older_target : public testing::Test {
 protected:
  template <class Callable, class... Args>
  static std::string refusal(const Callable& callable, const Args&... args) {
    try {
      (void)offload::sync(1, callable, args...);
    } catch (const call_error& problem) {
      return problem.what();
    }
    ADD_FAILURE() << "it was called";
    return {};
  }
  runtime rt_{nodes("exec:" + older_path())};
};

TEST_F(older_target, what_both_have_works) {
  EXPECT_EQ(offload::sync(1, fn<&app::both>, 4, 2), 42);
  EXPECT_EQ(offload::sync(1, fn<&app::greet>, std::string("you")), "hello you");
  EXPECT_EQ(offload::sync(1, app::twice, 21), 42);
  const offload::buffer<double> remote(1, 3);
  const double local[3] = {1, 2, 3};
  offload::put_sync(local, remote.ptr(), 3);
  double back[3] = {};
  offload::get_sync(remote.ptr(), back, 3);
  EXPECT_EQ(back[2], 3);
}

TEST_F(older_target, what_it_lacks_is_told) {
  expect_in(refusal(fn<&app::added>, 1), {"app::added", "node 0", "node 1", "does not have it"});
  expect_in(refusal(fn<&app::zzz_last_by_name>), {"app::zzz_last_by_name", "does not have it"});
}

TEST_F(older_target, a_parameter_of_another_type_is_told) {
  expect_in(refusal(fn<&app::scaled>, 1L, 0.5),
            {"app::scaled(long, double)", "argument 2 is double on node 0 and int on node 1"});
  expect_in(refusal(app::area, 1.0, 2.0), {"app.area", "argument 2 is f8 on node 0 and f4 on node 1"});
}

TEST_F(older_target, members_that_lie_elsewhere_are_told) {
  expect_in(refusal(fn<&app::mass>, app::particle{}), {"app::mass", "argument 1", "f8@0,f4@8,i4@12", "f8@0,i4@8"});
  expect_in(refusal(fn<&app::state_of>, app::flags{1, 2, 3}), {"app::state_of", "argument 1", "bits07@0", "bits0f@0"});
  expect_in(refusal(fn<&app::second_of>, app::padded{1, 2}), {"app::second_of", "argument 1", "i4@0,i4@8"});
}

TEST(newer_target, of_an_older_host) {
  const std::string command = "HAM_NODES='exec:" + own_path() + "' " + older_path() + " 2>&1";
  FILE* const pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::map<std::string, std::string> said;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string text(line);
    const std::size_t colon = text.find(": ");
    if (colon != std::string::npos) said[text.substr(0, colon)] = text.substr(colon + 2, text.size() - colon - 3);
  }
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(said["both"], "42");
  EXPECT_EQ(said["twice"], "42");
  expect_in(said["removed"], {"app::removed", "does not have it"});
  expect_in(said["scaled"], {"argument 2 is int on node 0 and double on node 1"});
  expect_in(said["mass"], {"app::mass", "argument 1"});
  expect_in(said["area"], {"argument 2 is f4 on node 0 and f8 on node 1"});
  EXPECT_EQ(said["greeting"], "9");
  expect_in(said["state"], {"app::state_of", "argument 1", "bits0f@0", "bits07@0"});
  expect_in(said["second"], {"app::second_of", "argument 1"});
  expect_in(said["first"], {"does not have it"});
}

}  // namespace

int main(int argc, char** argv) {
  const bool asked_for_manifest = argc == 2 && std::string_view(argv[1]) == "--ham-manifest";
  if (std::getenv("HAM_TARGET") != nullptr || asked_for_manifest) runtime rt(argc, argv);
  return run(argc, argv);
}

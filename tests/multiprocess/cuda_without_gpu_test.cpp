// Nodes on NVIDIA's GPUs where there is none: an error that says what is missing and what to do, and nothing is left.
// link: ham::ham
// timeout: 120
#include <dlfcn.h>

#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

int echo(int value) { return value; }

/// The driver, or the module where the library was built without the toolkit; and the way out.
void expect_clear(const std::string& why) {
  const bool no_driver =
      why.find("there is no driver for GPUs") != std::string::npos && why.find("install one") != std::string::npos;
  const bool no_module = why.find("libham_cuda.so") != std::string::npos;
  EXPECT_TRUE(no_driver || no_module) << why;
}

template <class Start>
void expect_refused(Start start) {
  try {
    start();
    ADD_FAILURE() << "there is no GPU, and it starts";
  } catch (const config_error& why) {
    expect_clear(why.what());
  }
}

class cuda_without_gpu : public testing::Test {
 protected:
  void SetUp() override {
    void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY);
    if (driver != nullptr) GTEST_SKIP() << "this machine has a driver for GPUs (ctest -L gpu uses it)";
  }
};

}  // namespace

TEST_F(cuda_without_gpu, a_job_does_not_start) {
  for (const char* const list : {"cuda", "cuda:2", "shm:1,cuda@0"})
    expect_refused([&] { const runtime job(nodes(list)); });
}

TEST_F(cuda_without_gpu, a_job_goes_on_that_has_asked_for_one) {
  const runtime job(nodes("shm:1"));
  expect_refused([] { offload::add_node("cuda"); });
  EXPECT_EQ(offload::sync(1, fn<&echo>, 3), 3);
  EXPECT_EQ(offload::sync(offload::add_node("shm:1"), fn<&echo>, 4), 4);
}

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}

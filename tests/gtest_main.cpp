// main of the multi-process tests. GoogleTest's own is in an archive, which the linker would read before the wrapped
// main of ham::offload asks for it.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

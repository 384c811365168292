// The suite's program: the host runs the tests, a target of any instruction set runs what they call.
#include <gtest/gtest.h>

#include <string_view>

#include "wire.hpp"

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--write-wire") return ham::isa::write_wire(argv[2]) ? 0 : 1;
  if (argc == 3 && std::string_view(argv[1]) == "--read-wire") return ham::isa::read_wire(argv[2]) ? 0 : 1;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

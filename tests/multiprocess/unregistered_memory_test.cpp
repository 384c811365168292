// Large transfers from memory that was not allocated through HAM: right, slow, and said so once.
// link: ham::ham
#include <algorithm>

#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

constexpr std::size_t large = std::size_t{4} << 20;

/// In a target: reads the host's memory, says whether all of it is `value`.
bool pull(offload::buffer_ptr<unsigned char> from, std::size_t size, unsigned char value) {
  std::vector<unsigned char> here(size);
  offload::get_sync(from, here.data(), size);
  return std::all_of(here.begin(), here.end(), [value](unsigned char one) { return one == value; });
}

/// How often a target of its own complains when it reads memory of the host, `allocated` or not.
int reads(std::size_t size, bool allocated) {
  std::vector<unsigned char> plain(size, 7);
  runtime rt(runtime_options{});
  offload::buffer_ptr<unsigned char> from(plain.data(), 0);
  if (allocated) {
    from = offload::allocate<unsigned char>(0, size);
    offload::put_sync(plain.data(), from, size);
  }
  for (int i = 0; i < 3; ++i) {
    if (!offload::sync(1, fn<&pull>, from, size, static_cast<unsigned char>(7))) return 1;
  }
  if (allocated) offload::free(from);
  return 0;
}

int reads_a_vector() { return reads(large, false); }
int reads_a_small_vector() { return reads(large / 2, false); }
int reads_what_was_allocated() { return reads(large, true); }

const scenario scenarios[] = {{"reads_a_vector", reads_a_vector},
                              {"reads_a_small_vector", reads_a_small_vector},
                              {"reads_what_was_allocated", reads_what_was_allocated}};

TEST(unregistered_memory, is_complained_of_once) {
  const std::string text = output_of("reads_a_vector");
  const std::size_t first = text.find("ham: 4 MiB of node 0's memory travel in messages");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find("offload::allocate<T>(0, n)"), std::string::npos) << text;
  EXPECT_EQ(text.find("travel in messages", first + 60), std::string::npos) << text;
}

TEST(unregistered_memory, in_small_amounts_is_not) { EXPECT_EQ(output_of("reads_a_small_vector"), ""); }

TEST(unregistered_memory, is_not_what_was_allocated) { EXPECT_EQ(output_of("reads_what_was_allocated"), ""); }

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}

// The words that are shared with AMD's GPUs: compiled by clang, without a header or library of ROCm. See
// CMakeLists.txt.
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#include "ham/device/words.hpp"

__device__ std::uint64_t use_all(std::uint64_t* words) {
  using namespace ham::device::detail;
  release(words[0], 1);
  note(words[1], 2);
  write_pair(words, {1, 2});
  release_in_block(words[3], 4);
  keep_bits_in_block(words[2], 3);
  return acquire(words[0]) + acquire_pair(words).second + acquire_in_block(words[1]) + fetch_add_in_block(words[2], 1) +
         exchange_in_block(words[3], 1, 2);
}

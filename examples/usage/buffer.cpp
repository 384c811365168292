// buffer<T>: memory on a target that frees itself, and pointers into it.
// expect: the middle of 8 numbers: 3 4
#include <ham/offload.hpp>

#include <array>
#include <iostream>

using namespace ham;

void number(offload::buffer_ptr<int> data, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<int>(i);
}

int main() {
  const offload::buffer<int> data{1, 8};  // 8 ints on node 1, freed at the end of this block
  offload::sync(data.node(), fn<&number>, data.ptr(), data.size());

  // Pointer arithmetic as usual; put and get check that what they are given lies within the allocation.
  std::array<int, 2> middle{};
  offload::get_sync(data.ptr() + 3, middle.data(), middle.size());
  std::cout << "the middle of " << data.size() << " numbers: " << middle[0] << ' ' << middle[1] << '\n';

  try {
    offload::get_sync(data.ptr() + 7, middle.data(), middle.size());  // the second element would be the ninth
    return 1;
  } catch (const buffer_error& error) {
    std::cout << "refused: " << error.what() << '\n';
  }
}

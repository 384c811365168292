// block: moves a column and a tile of a matrix; in memory their elements do not follow each other.
// expect: the target sees column 2 as 2 12 22 32 42; the tile comes back with the sum 82
#include <ham/offload.hpp>

#include <iostream>
#include <numeric>
#include <vector>

using namespace ham;

std::vector<int> as_vector(offload::buffer_ptr<const int> data, std::size_t size) {
  return {data.get(), data.get() + size};
}

int main() {
  constexpr std::size_t rows = 5, columns = 10;
  std::vector<int> matrix(rows * columns);  // row by row
  std::iota(matrix.begin(), matrix.end(), 0);

  // A column: rows of one element, which lie next to each other on the target.
  offload::buffer<int> column(1, rows);
  offload::put(&matrix[2], column.ptr(), {.rows = rows, .columns = 1, .source_pitch = columns}).get();
  std::cout << "the target sees column 2 as";
  for (const int value : offload::sync(1, fn<&as_vector>, column.ptr(), rows)) std::cout << ' ' << value;

  // A tile of 2 x 2 out of a matrix on the target.
  offload::buffer<int> there(1, rows * columns);
  offload::put(matrix.data(), there.ptr(), matrix.size()).get();
  std::vector<int> tile(4);
  offload::get(there.ptr() + 1 * columns + 5, tile.data(), {.rows = 2, .columns = 2, .source_pitch = columns}).get();
  std::cout << "; the tile comes back with the sum " << std::accumulate(tile.begin(), tile.end(), 0) << '\n';
}

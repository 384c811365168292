// What the resident kernel makes of bytes that nobody sends.
#pragma once

#include <cstdint>

namespace gpu_benchmark {

struct random_outcome {
  std::uint64_t answered = 0;  ///< frames that were refused or executed
  std::uint64_t executed = 0;
};
/// Starts a resident kernel of its own in this process, and puts `count` frames with its stamp and random contents into
/// its queue; half of them with a number that this program has, and arguments of another size than the function's.
/// Between them, bytes with a stamp of another position. Throws std::runtime_error, also if it takes more than a
/// minute.
[[nodiscard]] random_outcome execute_random_frames(std::uint64_t count);

}  // namespace gpu_benchmark

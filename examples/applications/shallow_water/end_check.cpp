// Compared bit by bit: the same operations in the same order give the same numbers.
#include "shallow_water/end_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

namespace shallow_water {

end_check::end_check(const domain& of, std::uint64_t steps, std::optional<std::vector<double>> right)
    : of_(of), steps_(steps), right_(std::move(right)), volume_before_(volume(of, initial_state(of))) {}

void end_check::add(std::span<const double> state) {
  if (right_) {
    differences_ += state.size() == right_->size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(state.size(), right_->size()); ++i) {
      differences_ += std::memcmp(&state[i], &(*right_)[i], sizeof state[i]) != 0;
    }
  }
  const auto change = static_cast<double>(std::abs((volume(of_, state) - volume_before_) / volume_before_));
  if (!(change <= volume_change_) && !std::isnan(volume_change_)) volume_change_ = change;  // what is no number stays
  unsound_ += is_sound(of_, state) ? 0 : 1;
}

}  // namespace shallow_water

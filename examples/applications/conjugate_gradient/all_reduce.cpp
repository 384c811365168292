// Recursive doubling among the largest power of two of participants; the rest hand in their part and get the total.
#include "all_reduce.hpp"

#include <bit>
#include <utility>

namespace cg {

all_reduce::all_reduce(std::size_t index, std::size_t count, sender send) : send_(std::move(send)) {
  const std::size_t core = std::bit_floor(count);
  const auto rounds = static_cast<std::uint32_t>(std::countr_zero(core));
  const std::uint32_t hand_in = rounds;
  const std::uint32_t total = rounds + 1;
  slots_ = rounds + 2;
  if (index >= core) {
    steps_.push_back({index - core, hand_in, true, true, total});
  } else {
    const std::size_t rest = index + core < count ? index + core : nobody;
    if (rest != nobody) steps_.push_back({nobody, 0, true, false, hand_in});
    for (std::uint32_t round = 0; round < rounds; ++round) {
      steps_.push_back({index ^ (std::size_t{1} << round), round, true, false, round});
    }
    if (rest != nobody) steps_.push_back({rest, total, false, false, 0});
  }
  for (auto& one : boxes_) one.resize(slots_);
  at_ = steps_.size();
}

void all_reduce::begin(const values& part) {
  parity_ ^= 1U;
  sum_ = part;
  sent_ = false;
  at_ = 0;
  go_on();
}

void all_reduce::take(std::uint32_t slot, const values& part) {
  box& into = boxes_.at(slot / slots_).at(slot % slots_);
  into.part = part;
  into.full = true;
  if (!done()) go_on();
}

/// Sending may wait, for a connection or for room, and a message that arrives meanwhile comes in here again: it may
/// take this sum to its end, and change what is in members.
void all_reduce::go_on() {
  while (!done()) {
    const step& now = steps_[at_];
    if (!std::exchange(sent_, true) && now.send_to != nobody) {
      const values part = sum_;
      send_(now.send_to, parity_ * slots_ + now.send_slot, part);
      continue;
    }
    if (now.receives) {
      box& from = boxes_[parity_][now.slot];
      if (!from.full) return;
      from.full = false;
      for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] = now.is_total ? from.part[i] : sum_[i] + from.part[i];
    }
    ++at_;
    sent_ = false;
  }
}

}  // namespace cg

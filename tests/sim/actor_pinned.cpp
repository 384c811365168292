// Steps that put from, and get into, pinned memory of the host.
#include <algorithm>

#include "sim/actor.hpp"

namespace ham::inline v1::sim {

/// Arrays of which several are there at a time: none holds what is another's.
void actor::pinned(random_source& random) {
  constexpr std::size_t max_arrays = 4;
  constexpr std::size_t max_elements = 3'000;
  if (!pinned_.empty() && random.once_in(3))
    pinned_.erase(pinned_.begin() + static_cast<std::ptrdiff_t>(random.below(pinned_.size())));
  if (pinned_.empty() || (pinned_.size() < max_arrays && random.once_in(2))) {
    const std::size_t count = 1 + random.below(random.once_in(4) ? max_elements : 200);
    pinned_array fresh{offload::pinned<std::int32_t>(count), any_values(count, random)};
    std::ranges::copy(fresh.model, fresh.here.data());
    pinned_.push_back(std::move(fresh));
  }
  pinned_array& one = pinned_[random.below(pinned_.size())];
  const node_t node = any_node(random);
  const std::size_t count = one.model.size();
  const std::size_t begin = random.below(count);
  const std::size_t part_size = 1 + random.below(count - begin);
  std::vector<std::int32_t> there = any_values(count, random);
  buffer_ptr<std::int32_t> at{};
  const bool there_still = use(node, [&] {
    at = offload::allocate<std::int32_t>(node, count);
    offload::put_sync(there.data(), at, count);
    for (std::uint64_t rounds = 1 + random.below(4); rounds != 0; --rounds) {
      const auto part = static_cast<std::ptrdiff_t>(begin);
      if (random.once_in(2)) {
        std::ranges::copy(any_values(count, random), one.here.data());
        std::copy_n(one.here.data(), count, one.model.begin());
        offload::put(one.here.data() + begin, at + begin, part_size).get();
        std::copy_n(one.model.begin() + part, part_size, there.begin() + part);
      } else {
        offload::get(at + begin, one.here.data() + begin, part_size).get();
        std::copy_n(there.begin() + part, part_size, one.model.begin() + part);
      }
    }
    std::vector<std::int32_t> now(count);
    offload::get_sync(at, now.data(), count);
    if (now != there)
      running->fail("memory of node " + std::to_string(node) + " holds other bytes than were put from pinned memory");
  });
  if (at) use(node, [&] { offload::free(at); });
  if (!there_still) std::copy_n(one.here.data(), count, one.model.begin());  // a get of a lost node may have begun
  for (const pinned_array& each : pinned_) {
    if (!std::equal(each.model.begin(), each.model.end(), each.here.data()))
      running->fail("pinned memory holds other bytes than were written, or got");
  }
}

}  // namespace ham::sim

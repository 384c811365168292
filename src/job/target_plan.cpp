#include "job/target_plan.hpp"

#include <algorithm>
#include <iterator>

namespace ham::inline v1::detail {

fresh_targets plan_targets(const std::vector<transport::target_group>& groups, node_t first, std::size_t ranks) {
  fresh_targets plan;
  for (const transport::target_group& group : groups) {
    if (group.by->as_launched() != nullptr) continue;
    const std::size_t starters = group.each_rank ? ranks : 1;
    const node_t begin = first;
    for (std::size_t i = 0; i < starters * group.count; ++i)
      plan.push_back({first++, &group, static_cast<node_t>(i / group.count)});
    for (const transport::target_group& own : group.behind) {
      for (std::size_t i = 0; i < group.count * own.count; ++i)
        plan.push_back({first++, &own, begin + static_cast<node_t>(i / own.count)});
    }
  }
  return plan;
}

fresh_targets targets_of(const fresh_targets& all, node_t starter) {
  fresh_targets own;
  std::ranges::copy_if(all, std::back_inserter(own), [=](const fresh_target& one) { return one.starter == starter; });
  return own;
}

}  // namespace ham::detail

#include "trace/thread_slices.hpp"

#include <algorithm>

namespace ham::inline v1::trace {

void nest(std::vector<slice>& slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const slice& one, const slice& other) {
    if (one.begin != other.begin) return one.begin < other.begin;
    const bool is_moment = one.end == one.begin;  // of what came before
    if (is_moment != (other.end == other.begin)) return is_moment;
    if (one.end != other.end) return one.end > other.end;
    return one.index > other.index;  // the outer one is recorded last
  });
  std::vector<std::int64_t> open;
  for (slice& one : slices) {
    while (!open.empty() && open.back() <= one.begin && !(one.end == one.begin && open.back() == one.begin))
      open.pop_back();
    if (!open.empty()) one.end = std::min(one.end, open.back());
    one.end = std::max(one.end, one.begin);
    open.push_back(one.end);
  }
}

}  // namespace ham::trace

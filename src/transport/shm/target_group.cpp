// Who is connected with whom, and who has to be told of an end.
#include "transport/shm/target_group.hpp"

#include <sys/random.h>

#include <algorithm>
#include <exception>

#include "base/clock.hpp"
#include "transport/common/ring_endpoint.hpp"

namespace ham::inline v1::transport::shm {
namespace {

std::uint32_t random_word() noexcept {
  std::uint32_t word = 0;
  if (::getrandom(&word, sizeof word, 0) != sizeof word) word = static_cast<std::uint32_t>(base::now_ns());
  return word;
}

}  // namespace

target_group::target_group() : next_epoch_(random_word()) {}

base::mapping target_group::make_pair(base::unique_fd& file, std::uint32_t& epoch) {
  file = base::make_memory_file("ham-pair", ring_pair::file_bytes());
  epoch = next_epoch_ = next_epoch_ * 1664525U + 1013904223U;
  return ring_pair::map(file.get());
}

started_target* target_group::find(node_t node) noexcept {
  for (auto& one : targets_) {
    if (one->node == node) return one.get();
  }
  return nullptr;
}

void target_group::introduce(started_target& first, node_t second) {
  started_target* const other = find(second);
  if (first.node == second) return;
  if (other == nullptr || other->has_ended() || other->has_hung_up()) {
    first.refuse(second);
    return;
  }
  const std::pair<node_t, node_t> both = std::minmax(first.node, second);
  try {
    if (!introduced_.insert(both).second || connect(first, *other)) return;
  } catch (const std::exception&) {  // no descriptors or memory left for the connection
  }
  introduced_.erase(both);
  first.refuse(second);
  other->refuse(first.node);  // it may have asked, too
}

/// False: one of them does not know of it.
bool target_group::connect(started_target& first, started_target& second) {
  base::unique_fd pair_file;
  control_text text;
  static_cast<void>(make_pair(pair_file, text.epoch));  // the host itself does not look into it
  text.side = 0;
  if (!first.introduce(second, text, pair_file.get())) return false;
  text.side = 1;
  return second.introduce(first, text, pair_file.get());
}

void target_group::release(started_target& one, bool ended) {
  one.release();
  for (const auto& [low, high] : introduced_) {
    if (low != one.node && high != one.node) continue;
    started_target* const other = find(low == one.node ? high : low);
    if (other == nullptr || !other->listens()) continue;
    if (ended)
      other->send_ended(one.node);
    else
      other->refuse(one.node);
  }
}

std::vector<node_t> target_group::drop_ended() {
  std::vector<node_t> dropped;
  std::erase_if(targets_, [&](const auto& one) {
    if (!one->has_ended() || !one->forgotten) return false;
    dropped.push_back(one->node);
    return true;
  });
  for (const node_t node : dropped)
    std::erase_if(introduced_, [&](const auto& two) { return two.first == node || two.second == node; });
  return dropped;
}

void target_group::hang_up() noexcept {
  for (auto& one : targets_) one->hang_up();
}

}  // namespace ham::transport::shm

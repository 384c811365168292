#include "core/transport_set.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr unsigned polls_skipped = 16;  // of the others for each one that is made, when nothing has come for long

}  // namespace

void transport_set::add(std::unique_ptr<transport::transport> one) {
  const std::size_t at = count_.load(std::memory_order_relaxed);
  if (at == max_transports) throw config_error("a node uses at most " + std::to_string(max_transports) + " transports");
  all_[at] = std::move(one);
  count_.store(at + 1, std::memory_order_release);
}

transport::endpoint* transport_set::poll_others(transport::frame& out) {
  if (hot_polls_left_ == 0 && ++skipped_ < polls_skipped) return nullptr;
  skipped_ = 0;
  for (const auto& one : all().subspan(1)) {
    if (transport::endpoint* const from = one->poll(out, 1)) {
      hot_polls_left_ = max_hot_polls;
      return from;
    }
  }
  if (hot_polls_left_ != 0) --hot_polls_left_;
  return nullptr;
}

bool transport_set::arm() {
  const auto each = all();
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (each[i]->arm()) continue;
    while (i-- > 0) each[i]->disarm();
    return false;
  }
  return true;
}

void transport_set::disarm() noexcept {
  for (const auto& one : all()) one->disarm();
  hot_polls_left_ = max_hot_polls;
}

void transport_set::forget(transport::endpoint& closed) noexcept {
  for (const auto& one : all()) one->forget(closed);
}

bool transport_set::oversubscribed() const noexcept {
  const auto each = all();
  return std::any_of(each.begin(), each.end(), [](const auto& one) { return one->oversubscribed(); });
}

int transport_set::home_core() const noexcept {
  for (const auto& one : all()) {
    if (const int core = one->home_core(); core >= 0) return core;
  }
  return -1;
}

std::int64_t transport_set::max_sleep_ns() const noexcept {
  std::int64_t shortest = base::never_ns;
  for (const auto& one : all()) shortest = std::min(shortest, one->max_sleep_ns());
  return shortest;
}

std::int64_t transport_set::peer_pid(node_t node) const noexcept {
  for (const auto& one : all()) {
    if (const std::int64_t pid = one->peer_pid(node); pid >= 0) return pid;
  }
  return -1;
}

std::vector<std::byte> transport_set::recorded_by(node_t node) const {
  for (const auto& one : all()) {
    if (std::vector<std::byte> bytes = one->recorded_by(node); !bytes.empty()) return bytes;
  }
  return {};
}

void transport_set::shutdown() noexcept {
  for (const auto& one : all()) one->shutdown();
}

void transport_set::detach_after_fork() noexcept {
  count_.store(0);
  for (auto& one : all_) static_cast<void>(one.release());
}

}  // namespace ham::detail

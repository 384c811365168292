// A set of hashes of states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace model {

class visited_set {
 public:
  /// False: it is there already.
  bool insert(std::uint64_t hash) {
    if (hash == 0) hash = 1;
    if (2 * (size_ + 1) > slots_.size()) grow();
    std::uint64_t& slot = slots_[find(hash)];
    if (slot == hash) return false;
    slot = hash;
    ++size_;
    return true;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] std::size_t find(std::uint64_t hash) const noexcept {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != 0 && slots_[at] != hash) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<std::uint64_t> old(slots_.empty() ? 4096 : 2 * slots_.size());
    old.swap(slots_);
    for (const std::uint64_t hash : old) {
      if (hash != 0) slots_[find(hash)] = hash;
    }
  }

  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
};

}  // namespace model

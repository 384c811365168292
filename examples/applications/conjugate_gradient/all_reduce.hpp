// A sum over all targets, of which each one has a part: recursive doubling, driven by the messages that arrive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace cg {

/// The part of one of `count` participants. In each of about log2(count) steps it swaps what it has with another one,
/// so that all come to the same sum, bit for bit: additions of two numbers commute. Knows no transport. One thread.
class all_reduce {
 public:
  using values = std::array<double, 2>;
  /// Delivers a message: on participant `to` it ends in take(slot, part).
  using sender = std::function<void(std::size_t to, std::uint32_t slot, const values& part)>;

  all_reduce(std::size_t index, std::size_t count, sender send);

  /// Begins a sum with the own part. All participants begin their sums in the same order; a sum must be done before the
  /// next one begins here.
  void begin(const values& part);
  /// A message arrived, perhaps before its sum has begun here.
  void take(std::uint32_t slot, const values& part);
  /// Whether the sum is complete.
  [[nodiscard]] bool done() const { return at_ == steps_.size(); }
  [[nodiscard]] const values& sum() const { return sum_; }

 private:
  static constexpr std::size_t nobody = SIZE_MAX;
  /// First something is sent, then something is awaited; either may be missing.
  struct step {
    std::size_t send_to = nobody;
    std::uint32_t send_slot = 0;
    bool receives = false;
    bool is_total = false;  ///< what arrives replaces the sum
    std::uint32_t slot = 0;
  };
  struct box {
    bool full = false;
    values part{};
  };

  void go_on();

  sender send_;
  std::vector<step> steps_;
  std::uint32_t slots_ = 0;
  std::array<std::vector<box>, 2> boxes_;  ///< of this sum and of the next one: nobody can be further ahead
  std::uint32_t parity_ = 1;
  std::size_t at_ = 0;
  bool sent_ = false;
  values sum_{};
};

}  // namespace cg

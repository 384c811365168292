// The requests of a context by their numbers, until their results are fetched.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "../requests.hpp"
#include "arguments.hpp"

namespace ham::inline v1::veo {

enum class stage : std::uint8_t {
  gone,    ///< was fetched
  queued,  ///< waits here
  flying,  ///< was sent
  done
};

struct request_state {
  stage at = stage::gone;
  std::uint8_t state = 0;  ///< enum veo_command_state, once done
  bool waited = false;     ///< somebody waits for it, and will take it
  offload::future<answer> reply;
  std::uint64_t value = 0;
  std::unique_ptr<std::vector<delivery>> deliveries;
};

/// Not thread-safe.
class request_table {
 public:
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }

  /// A request with the next number.
  request_state& add() {
    if (next_ / chunk_size - first_chunk_ == chunks_.size()) chunks_.push_back(std::make_unique<chunk>());
    ++next_;
    return *find(next_ - 1);
  }

  /// nullptr: unknown, or fetched long ago.
  [[nodiscard]] request_state* find(std::uint64_t id) noexcept {
    if (id >= next_ || id / chunk_size < first_chunk_) return nullptr;
    chunk* const part = chunks_[id / chunk_size - first_chunk_].get();
    return part == nullptr ? nullptr : &part->all[id % chunk_size];
  }

  /// The result was fetched.
  void remove(std::uint64_t id) noexcept {
    std::unique_ptr<chunk>& part = chunks_[id / chunk_size - first_chunk_];
    part->all[id % chunk_size].at = stage::gone;
    if (++part->gone != chunk_size) return;
    part.reset();
    while (!chunks_.empty() && chunks_.front() == nullptr) {
      chunks_.pop_front();
      ++first_chunk_;
    }
  }

 private:
  static constexpr std::uint64_t chunk_size = 1024;
  struct chunk {
    std::array<request_state, chunk_size> all;
    std::uint64_t gone = 0;
  };
  std::uint64_t next_ = 0;
  std::uint64_t first_chunk_ = 0;
  std::deque<std::unique_ptr<chunk>> chunks_;
};

}  // namespace ham::veo

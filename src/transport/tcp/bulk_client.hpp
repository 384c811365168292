// Access to a peer's memory over lanes of its own: opened when first needed, used by one transfer at a time each.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/tcp/bulk_format.hpp"
#include "transport/tcp/lane.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport::tcp {

class bulk_client final : public remote_memory {
 public:
  static constexpr std::size_t max_lanes = 4;
  /// From this size on a transfer is spread over several lanes, if that is wanted.
  static constexpr std::size_t spread_bytes = std::size_t{16} << 20;

  /// Opens a lane, at once or by adopt() later (nullptr then). Any thread, blocking.
  using opener = std::function<std::unique_ptr<lane>()>;

  /// `streams`: lanes that a large transfer may use at once.
  bulk_client(opener open, std::size_t streams) : open_(std::move(open)), streams_(streams) {}

  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override;
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override;
  [[nodiscard]] bool waits_for_peer() const noexcept override { return true; }

  /// Takes a lane that the peer has opened.
  void adopt(std::unique_ptr<lane> fresh);
  /// The peer is gone: all transfers end.
  void close() noexcept;

 private:
  access_result access(const bulk_request& what, std::byte* here);
  access_result access_on_many(const bulk_request& what, std::byte* here);
  access_result access_on_one(const bulk_request& what, std::byte* here);
  std::unique_ptr<lane> take();
  void give(std::unique_ptr<lane> used, bool sound);

  opener open_;
  const std::size_t streams_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<lane>> idle_;
  std::vector<lane*> busy_;
  std::size_t opened_ = 0;  // idle, busy or on the way
  bool closed_ = false;
};

}  // namespace ham::transport::tcp

// The floor of a one-sided protocol: the same exchange over the same link with nothing around it.
#pragma once

#include "affinity.hpp"
#include "copy_floor.hpp"
#include "phases.hpp"
#include "timing.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace ham::inline v1::bench {

/// A PCIe link and who initiates the accesses over it; as the emulated transport understands it.
struct link_model {
  bool host_initiated = false;
  bool posted = true;  ///< false: a write returns when it has arrived
  std::int64_t read_ns = 1200;
  std::int64_t write_ns = 600;
  std::int64_t setup_ns = 0;  ///< before each block
  double to_target_gib_s = 10.6;
  double to_host_gib_s = 11.1;
  std::int64_t store_ns = 1'000'000'000;  ///< of the target, to store a word in the host's memory; so long: by DMA

  /// For HAM_NODES: "emulated:1/" and this.
  [[nodiscard]] std::string settings() const;
};

/// Two threads on the two cores exchange a message of 32 bytes each way: message and flag there, message and flag back.
/// Written apart from HAM's emulated transport, from the same rules. Bandwidth plays no part at this size.
class link_floor {
 public:
  link_floor(const link_model& link, const core_pair& cores);
  ~link_floor();
  link_floor(const link_floor&) = delete;
  link_floor& operator=(const link_floor&) = delete;

  /// One operation is a message there and one back, begun at moments that `when` chooses.
  [[nodiscard]] block_times exchange(const block_plan& plan, phases& when);
  /// One operation is a read of one word, which is what a round trip over the link takes.
  [[nodiscard]] block_times round_trip(const block_plan& plan) const;

 private:
  struct page;
  void answer();
  void exchange_once();

  const link_model link_;
  std::unique_ptr<page> page_;
  std::uint64_t count_ = 0;
  std::thread partner_;
};

/// Bare accesses over the link, of any size, between two mappings of this process: what put and get over it cannot
/// beat. Written from the same rules as link_floor.
class link_transfers {
 public:
  link_transfers(const link_model& link, std::size_t largest_bytes)
      : link_(link), near_(largest_bytes), far_(largest_bytes) {}

  /// One operation is a write by the host, or a read by the target, that is complete.
  [[nodiscard]] block_times to_target(std::size_t size_bytes, const block_plan& plan);
  /// One operation is a read by the host, or a write by the target, that is complete.
  [[nodiscard]] block_times to_host(std::size_t size_bytes, const block_plan& plan);
  /// One operation is a block that the target stores in the host's memory word by word (SHM), when all has arrived.
  [[nodiscard]] block_times words_to_host(std::size_t size_bytes, const block_plan& plan);
  /// One operation is a block that the target loads from the host's memory word by word (LHM), each a round trip.
  [[nodiscard]] block_times words_to_target(std::size_t size_bytes, const block_plan& plan);

 private:
  [[nodiscard]] block_times write(std::size_t size_bytes, double gib_s, const block_plan& plan);
  [[nodiscard]] block_times read(std::size_t size_bytes, double gib_s, const block_plan& plan);

  const link_model link_;
  shared_mapping near_;  // of the side that initiates
  shared_mapping far_;
};

}  // namespace ham::bench

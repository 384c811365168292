// What an emulated PCIe link costs, and which side initiates the accesses over it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ham::inline v1::transport::emulated {

/// Who reads and writes over the link. The ring is in the memory of the other.
enum class initiator : std::uint32_t {
  target = 0,  ///< paper 1, Fig. 8: user DMA, LHM and SHM of a Vector Engine
  host = 1,    ///< paper 1, Fig. 5: veo_write_mem and veo_read_mem
};

/// Costs of a link. The defaults are those of paper 1's system: a round trip of 1.2 us (section V-A), and the
/// bandwidths of VE user DMA in Table IV.
struct medium {
  initiator by = initiator::target;
  std::uint32_t posted = 1;     ///< 0: a write returns when it has arrived, as veo_write_mem does
  std::int64_t read_ns = 1200;  ///< from the begin of a read to its end; it samples the memory half-way
  std::int64_t write_ns = 600;  ///< from the begin of a write until the other side sees it
  std::int64_t setup_ns = 0;    ///< before each block: a DMA engine is told what to do
  std::int64_t store_ns = 120;  ///< of the target, to store a word in the host's memory; Table IV: 0.06 GiB/s
  double to_target_gib_s = 10.6;
  double to_host_gib_s = 11.1;

  [[nodiscard]] bool sane() const noexcept;
};

/// Reads "KEY=VALUE/KEY=VALUE": initiator=target|host, posted=yes|no, read=NS, write=NS, setup=NS, store=NS,
/// to=GIB_S, from=GIB_S. What is not named keeps its default. Throws ham::config_error.
[[nodiscard]] medium parse_medium(std::string_view text);

}  // namespace ham::transport::emulated

// The link of paper 1's system with each of its two ways over it, as the emulated transport understands them.
#pragma once

#include "link_floor.hpp"

#include <cstdint>

namespace ham::inline v1::bench {

// Section V-A: an empty offload over user DMA, and how much longer the other two take.
inline constexpr double paper_dma_us = 6.1;
inline constexpr double paper_native = 13.1;
inline constexpr double paper_veo = 70.8;
inline constexpr double native_us = paper_native * paper_dma_us;

// Fitted, not in the paper: veo_write_mem and veo_read_mem return when all is done; an offload takes two of each, one
// after the other, a quarter of its time each.
inline constexpr std::int64_t veo_operation_ns = static_cast<std::int64_t>(paper_veo * paper_dma_us * 1000 / 4);
// Fitted, not in the paper: what telling the DMA engine takes is what is missing to its 6.1 us, at two transfers an
// offload and three remote accesses of 1.2 us (the look that comes just too early for the next call is one of them).
inline constexpr std::int64_t dma_setup_ns = 1250;

// Table IV, GiB/s.
inline constexpr double veo_to_target_gib_s = 9.9;
inline constexpr double veo_to_host_gib_s = 10.4;
inline constexpr double dma_to_target_gib_s = 10.6;
inline constexpr double dma_to_host_gib_s = 11.1;

inline constexpr link_model paper_veo_link{
    true, false, veo_operation_ns, veo_operation_ns, 0, veo_to_target_gib_s, veo_to_host_gib_s};
inline constexpr link_model paper_dma_link{
    false, true, 1200, 600, dma_setup_ns, dma_to_target_gib_s, dma_to_host_gib_s};

// SHM and LHM, words that the target stores in the host's memory and loads from it. Table IV, GiB/s: 0.06 is a word in
// 120 ns; 0.01 is a round trip of the link for each word.
inline constexpr double shm_to_host_gib_s = 0.06;
inline constexpr double lhm_to_target_gib_s = 0.01;
inline constexpr link_model paper_word_link{
    false, true, 1200, 600, dma_setup_ns, dma_to_target_gib_s, dma_to_host_gib_s, 120};

}  // namespace ham::bench

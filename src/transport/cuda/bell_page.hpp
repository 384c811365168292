// Bells of a host and of the target processes of its devices, in one file that all of them map.
#pragma once

#include <cstddef>
#include <utility>

#include "base/event_fds.hpp"
#include "base/memory_file.hpp"
#include "transport/common/bell.hpp"

namespace ham::inline v1::transport::cuda {

/// The file, and the event of the process's own bell.
struct bell_page {
  static constexpr std::size_t bytes = sizeof(bell) * max_nodes;

  /// A new one.
  bell_page() : bell_page(base::make_memory_file("ham-bells", bytes), base::make_event()) {}
  /// One of another process. Throws ham::config_error.
  bell_page(base::unique_fd bells, base::unique_fd own_event)
      : file(std::move(bells)), memory(file.get(), bytes), event(std::move(own_event)) {}

  [[nodiscard]] bell& of(node_t node) const noexcept { return reinterpret_cast<bell*>(memory.data())[place_of(node)]; }

  base::unique_fd file;
  base::mapping memory;
  base::unique_fd event;
};

}  // namespace ham::transport::cuda

// The memory of a helper on this machine, through the kernel: one copy, and a bad address is an error.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace ham::inline v1::veo {

enum class direction : std::uint8_t { to_helper, from_helper };

/// Copies between `local` here and `remote` in process `pid`. False: the kernel did not copy all of it.
[[nodiscard]] bool copy_near(pid_t pid, direction where, std::uint64_t remote, void* local, std::size_t bytes) noexcept;

}  // namespace ham::veo

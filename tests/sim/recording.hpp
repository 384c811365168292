// Runs of the library that the models of its protocols are compared with (tests/models/protocols).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace ham::inline v1::sim {

/// An observer, by its number in the model, and what it saw.
using event = std::pair<int, int>;

/// Simulates the scenario of a protocol, as the seed decides. `name`: of the model.
[[nodiscard]] std::vector<event> record(std::string_view name, std::uint64_t seed);
[[nodiscard]] bool can_record(std::string_view name) noexcept;

/// Called, if it is there, with all memory that is about to be given back.
extern void (*on_delete)(void* at) noexcept;

}  // namespace ham::sim

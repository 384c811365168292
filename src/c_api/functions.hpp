// Functions that are called by a name known at run time, with bytes: those of ham_register, and those in C++ with a
// key.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ham/ham.h"
#include "ham/msg/handler.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::c_api {

/// Throws bad_argument for a name that cannot be, or is taken. `layout`: of what crosses, if that are no bytes.
void add_function(std::string_view name, ham_function address, void* user, std::string_view layout = {});

/// The handler of all calls by name, which every program with this library has. Its message is the name, then the
/// argument: each a count and so many bytes.
[[nodiscard]] msg::handler_entry& by_name_entry() noexcept;

/// Runs a call of the function of this name with arguments that are encoded as its own; so is its result. Throws
/// ham::call_error if there is none, or it is not of this layout.
void run_encoded(detail::incoming_call& call, std::string_view name, std::string_view layout,
                 std::span<const std::byte> arguments);

/// Whether "parameter->result" of a handler's layout are such that a caller by name can send and receive them; with the
/// number of parameters, 0 or 1, in `parameters`.
[[nodiscard]] bool takes_bytes(std::string_view layout, std::size_t& parameters) noexcept;

}  // namespace ham::c_api

// Which setting of base/settings is which member of runtime_options.
#pragma once

#include <string>
#include <string_view>

#include "base/settings.hpp"
#include "ham/offload/runtime.hpp"

namespace ham::inline v1::detail {

/// Sets a member from a text. `source` is where it is from, for the error: "--ham-tcp-timeout". Throws
/// ham::config_error.
void take_setting(runtime_options& options, base::setting which, std::string_view text, const std::string& source);

/// Makes what `options` say about the whole process hold from now on, in place of the environment. Throws
/// ham::config_error for what cannot be used, also in the environment.
void use_settings(const runtime_options& options);

}  // namespace ham::detail

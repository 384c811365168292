// What starts a helper: the node that is meant, its command and its environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ham/offload.hpp"

namespace ham::inline v1::veo {

/// The node that clients mean by a number, from VE_NODE_NUMBER and _VENODELIST; nothing: there is none.
[[nodiscard]] std::optional<int> resolve_node(int node);

/// The command of helpers that clients say nothing of: the words of VEORUN_BIN, or the path of the installed one.
[[nodiscard]] std::vector<std::string> usual_helper();

/// The words of a command, which blanks separate.
[[nodiscard]] std::vector<std::string> words_of(const std::string& command);
/// A helper of this machine, from the words of its command. Throws ham::config_error.
[[nodiscard]] offload::target_program helper_program(int node, const std::vector<std::string>& words);

/// Whether HAM_VEO_NODES names a helper of another machine.
[[nodiscard]] bool uses_other_machines();

/// Where HAM_VEO_NODES ("0=tcp://10.0.0.7:7000;1=exec:...") says that helpers of a node are; empty: on this machine.
[[nodiscard]] std::string elsewhere(int node);
/// Whether such a place is an address at which a program waits, which may be of another machine.
[[nodiscard]] bool is_address(std::string_view place) noexcept;

}  // namespace ham::veo

// What a node did last, in words: from its flight recorder.
#pragma once

#include <string>
#include <vector>

#include "base/recording.hpp"
#include "ham/misc/types.hpp"

namespace ham::inline v1::detail {

/// Name for people of the function of an event.
[[nodiscard]] std::string recorded_function(const base::recording& of, const base::recording::event& one);

struct last_events {
  /// "it was executing solve(int) for 1.2 s; before that it executed f() 1.3 s ago, called g() on node 0 1.4 s ago";
  /// empty: it has recorded nothing.
  std::string text;
  bool busy = false;  ///< it was executing something
};

[[nodiscard]] last_events describe_last_events(const base::recording& of);
/// Of the bytes of a recorder. Nothing, if they are not those of a recorder of that node.
[[nodiscard]] last_events last_events_of(node_t node, const std::vector<std::byte>& recorded);

}  // namespace ham::detail

// The names under which programs of active messages start and show the handler table.
#pragma once

#include <iosfwd>

#include "ham/misc/types.hpp"
#include "ham/msg/handler_table.hpp"

namespace ham::inline v1::msg {

/// The registry of message handlers (paper 3, Fig. 2). Active messages used on their own call init() at the beginning
/// of main(); a runtime does so by itself.
class msg_handler_registry {
 public:
  msg_handler_registry() = delete;

  /// Builds the handler table: every message type gets its key. Further calls pick up libraries loaded meanwhile.
  static void init();

  /// Prints "name -> address of the handler", sorted by name.
  static void print_handler_map(std::ostream& out);

  /// Prints "key: name", sorted by key.
  static void print_handler_vector(std::ostream& out);
};

}  // namespace ham::msg

// What stands in the handler table for a function of a library that was loaded later, and can be unloaded.
#pragma once

#include "ham/msg/handler.hpp"

namespace ham::inline v1::msg {

/// Calls of peers reach this entry, whose handler is told by whoever has loaded the library: it counts the calls that
/// run, and goes on to the function.
class library_entry final : public handler_entry {
 public:
  library_entry(const handler_entry& of, handler_function through, void* library) noexcept
      : handler_entry(of.type, of.kind, through, of.layout, of.message_size), function(of), owner(library) {}

  const handler_entry& function;  ///< in the library
  void* const owner;              ///< as given to handler_table::add_library
};

}  // namespace ham::msg

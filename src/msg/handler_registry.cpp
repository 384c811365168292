// Start and printing of the handler table.
#include "ham/msg/handler_registry.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <vector>

namespace ham::inline v1::msg {

void msg_handler_registry::init() {
  static_cast<void>(handler_table::local());
  handler_table::refresh();
}

void msg_handler_registry::print_handler_map(std::ostream& out) {
  const handler_table& table = handler_table::local();
  std::vector<std::uint32_t> keys(table.size());
  for (std::uint32_t key = 0; key < keys.size(); ++key) keys[key] = key;
  std::sort(keys.begin(), keys.end(), [&table](auto a, auto b) { return table.name(a) < table.name(b); });
  for (const std::uint32_t key : keys) {
    out << table.name(key) << " -> ";
    const handler_entry* entry = table.find(key);
    if (entry == nullptr)
      out << "duplicate, unusable\n";
    else
      out << reinterpret_cast<const void*>(entry->handler) << '\n';
  }
}

void msg_handler_registry::print_handler_vector(std::ostream& out) {
  const handler_table& table = handler_table::local();
  for (std::uint32_t key = 0; key < table.size(); ++key) {
    out << key << ": " << table.name(key) << (table.duplicate(key) ? " (duplicate, unusable)\n" : "\n");
  }
}

}  // namespace ham::msg

// An ELF file in memory: its sections by name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ham::inline v1::debug_info {

class elf_file {
 public:
  /// Maps the file. Throws malformed if it cannot be read or is no 64-bit ELF file of this machine's byte order.
  explicit elf_file(const std::string& path);
  ~elf_file();
  elf_file(const elf_file&) = delete;
  elf_file& operator=(const elf_file&) = delete;

  /// Bytes of the section, none if the file has none. Throws malformed for a compressed section.
  [[nodiscard]] std::span<const std::byte> section(std::string_view name) const;

  /// Whether the loader's table of symbols has this name, defined or not. Throws malformed.
  [[nodiscard]] bool has_symbol(std::string_view name) const;

  /// Where distributions put the debug information of this file; "" if the file has no build id.
  [[nodiscard]] std::string separate_debug_path() const;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace ham::debug_info

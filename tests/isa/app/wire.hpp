// Values of many types as bytes in a file: what one instruction set writes another one reads.
#pragma once

namespace ham::inline v1::isa {

/// Writes the file; false if it cannot be written.
[[nodiscard]] bool write_wire(const char* path);

/// Whether the file holds the same values, and the same bytes as this program would write.
[[nodiscard]] bool read_wire(const char* path);

}  // namespace ham::isa

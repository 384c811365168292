// Manifest: from the table, to bytes, and back from bytes that nobody vouches for.
#include "ham/msg/manifest.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "ham/error.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/msg/names.hpp"

// Bytes: "HAMM", u8 version, data layout (14 times u8), u32 number of entries; per entry u8 kind, u8 flags (bit 0:
// duplicate, bit 1: host only), u32 length and name, u32 length and layout. Little-endian. Version 2 is that with bit 1
// in any entry: releases that do not know the bit read all others.
namespace ham::inline v1::msg {

namespace {

constexpr std::string_view magic = "HAMM";
constexpr std::uint8_t format_version = 1;
constexpr std::uint8_t format_version_with_devices = 2;
constexpr std::size_t min_entry_bytes = 1 + 1 + 4 + 4;
constexpr std::uint8_t duplicate_flag = 1;
constexpr std::uint8_t host_only_flag = 2;

std::uint8_t flags_of(const manifest::entry& of) {
  return static_cast<std::uint8_t>((of.duplicate ? duplicate_flag : 0) | (of.host_only ? host_only_flag : 0));
}
std::uint8_t version_of(const std::vector<manifest::entry>& entries) {
  const bool any =
      std::any_of(entries.begin(), entries.end(), [](const manifest::entry& one) { return one.host_only; });
  return any ? format_version_with_devices : format_version;
}

static_assert(sizeof(data_layout) == 14, "a new member needs a new format version");

class byte_sink {
 public:
  explicit byte_sink(std::vector<std::byte>& out) : out_(out) {}
  void u8(std::uint8_t value) { out_.push_back(static_cast<std::byte>(value)); }
  void u32(std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) u8(static_cast<std::uint8_t>(value >> shift));
  }
  void raw(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), begin, begin + size);
  }
  void text(std::string_view value) {
    u32(static_cast<std::uint32_t>(value.size()));
    raw(value.data(), value.size());
  }

 private:
  std::vector<std::byte>& out_;
};

class byte_source {
 public:
  explicit byte_source(std::span<const std::byte> bytes) : rest_(bytes) {}

  [[nodiscard]] std::size_t remaining() const { return rest_.size(); }
  std::span<const std::byte> raw(std::size_t size) {
    if (size > rest_.size()) throw protocol_error("malformed manifest: it ends in the middle of an entry");
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  std::uint8_t u8() { return static_cast<std::uint8_t>(raw(1)[0]); }
  std::uint32_t u32() {
    std::uint32_t value = 0;
    for (int shift = 0; shift < 32; shift += 8) value |= std::uint32_t{u8()} << shift;
    return value;
  }
  std::string text(std::size_t limit) {
    const std::uint32_t size = u32();
    if (size > limit) throw protocol_error("malformed manifest: a name is too long");
    const auto bytes = raw(size);
    std::string value(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (const char c : value) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        throw protocol_error("malformed manifest: a name holds control characters");
      }
    }
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

manifest::entry parse_entry(byte_source& source, std::uint8_t known_flags) {
  manifest::entry entry;
  const std::uint8_t kind = source.u8();
  if (kind > static_cast<std::uint8_t>(handler_kind::call)) {
    throw protocol_error("malformed manifest: unknown kind of handler " + std::to_string(kind));
  }
  entry.kind = static_cast<handler_kind>(kind);
  const std::uint8_t flags = source.u8();
  if ((flags & ~known_flags) != 0) throw protocol_error("malformed manifest: unknown flags");
  entry.duplicate = (flags & duplicate_flag) != 0;
  entry.host_only = (flags & host_only_flag) != 0;
  entry.name = source.text(max_name_bytes);
  if (entry.name.empty()) throw protocol_error("malformed manifest: a handler has no name");
  entry.layout = source.text(manifest::max_layout_bytes);
  return entry;
}

digest digest_of(const data_layout& layout, const std::vector<manifest::entry>& entries) {
  digest_builder builder;
  builder.bytes(std::as_bytes(std::span(&layout, 1)));
  for (const auto& each : entries) {
    builder.byte(static_cast<std::uint8_t>(each.kind));
    builder.byte(flags_of(each));
    builder.text(each.name);
    builder.text(each.layout);
  }
  return builder.value();
}

}  // namespace

std::string manifest::entry::pretty() const { return pretty_name(name); }

manifest::manifest(const data_layout& layout, std::vector<entry> entries)
    : layout_(layout), entries_(std::move(entries)), digest_(digest_of(layout_, entries_)) {}

manifest manifest::local() { return of(handler_table::local()); }

manifest manifest::of(const handler_table& table) {
  std::vector<entry> entries;
  entries.reserve(table.size());
  for (std::uint32_t key = 0; key < table.size(); ++key) {
    entries.push_back(
        {table.name(key), table.layout(key), table.kind(key), table.duplicate(key), !table.runs_here(key)});
  }
  return {data_layout::local(), std::move(entries)};
}

std::vector<std::byte> manifest::serialise() const {
  std::vector<std::byte> out;
  byte_sink sink(out);
  sink.raw(magic.data(), magic.size());
  sink.u8(version_of(entries_));
  sink.raw(&layout_, sizeof layout_);
  sink.u32(static_cast<std::uint32_t>(entries_.size()));
  for (const entry& each : entries_) {
    sink.u8(static_cast<std::uint8_t>(each.kind));
    sink.u8(flags_of(each));
    sink.text(each.name);
    sink.text(each.layout);
  }
  return out;
}

manifest manifest::parse(std::span<const std::byte> bytes) {
  if (bytes.size() > max_bytes) throw protocol_error("malformed manifest: it is too big");
  byte_source source(bytes);
  if (std::memcmp(source.raw(magic.size()).data(), magic.data(), magic.size()) != 0) {
    throw protocol_error("malformed manifest: it does not begin like one");
  }
  const std::uint8_t version = source.u8();
  if (version < format_version || version > format_version_with_devices) {
    throw protocol_error("manifest of format version " + std::to_string(version) +
                         " (this program reads versions up to " + std::to_string(format_version_with_devices) + ")");
  }
  const std::uint8_t flags = version == format_version ? duplicate_flag : duplicate_flag | host_only_flag;
  data_layout layout;
  std::memcpy(&layout, source.raw(sizeof layout).data(), sizeof layout);

  const std::uint32_t count = source.u32();
  if (count > source.remaining() / min_entry_bytes) {
    throw protocol_error("malformed manifest: it announces more entries than it has bytes for");
  }
  std::vector<entry> entries;
  entries.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) entries.push_back(parse_entry(source, flags));
  if (source.remaining() != 0) throw protocol_error("malformed manifest: bytes follow its last entry");
  if (version != version_of(entries))
    throw protocol_error("malformed manifest: format version 2 without a function that runs on hosts only");

  // Sorted, not hashed: a peer could choose names that all have one hash.
  std::vector<std::string_view> names(entries.size());
  std::transform(entries.begin(), entries.end(), names.begin(),
                 [](const entry& each) -> std::string_view { return each.name; });
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
    throw protocol_error("malformed manifest: it lists a name twice");
  }
  return {layout, std::move(entries)};
}

}  // namespace ham::msg

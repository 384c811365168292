// How a greeting lies in its frame.
#include "core/greeting.hpp"

#include <tuple>
#include <utility>

#include "core/wire.hpp"
#include "ham/msg/codec.hpp"

namespace ham::inline v1::detail {
namespace {

/// magic, protocol version, digest, host name, device type, instruction set, cores, memory, pid, address for peers,
/// longest message that is taken; of the device: name, capability, driver, processors, memory
using device_text = std::tuple<std::string, std::string, std::string, std::uint32_t, std::uint64_t>;
using hello =
    std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t, std::string, std::string, std::string,
               std::uint32_t, std::uint64_t, std::int64_t, std::string, std::uint64_t, device_text>;

}  // namespace

std::vector<std::byte> greeting::encode() const {
  const offload::device_info& own = node.device;
  const hello text{hello_magic,
                   protocol_version,
                   manifest.lo,
                   manifest.hi,
                   node.name,
                   node.device_type,
                   node.isa,
                   node.cores,
                   node.memory_bytes,
                   node.pid,
                   address,
                   max_message,
                   device_text{own.name, own.capability, own.driver, own.processors, own.memory_bytes}};
  std::vector<std::byte> bytes(msg::encoded_size(text));
  msg::writer writer(bytes.data(), bytes.size());
  msg::encode(writer, text);
  return bytes;
}

greeting greeting::decode(std::span<const std::byte> payload) {
  msg::reader reader(payload);
  auto [magic, version, lo, hi, name, device_type, isa, cores, memory_bytes, pid, address, max_message, device] =
      msg::decode<hello>(reader);
  reader.expect_end();
  if (magic != hello_magic) throw protocol_error("a greeting that is not HAM's");
  if (version != protocol_version) {
    throw protocol_error("version " + std::to_string(version) + " of the protocol; this node speaks version " +
                         std::to_string(protocol_version) + ". Build both from the same release");
  }
  auto& [device_name, capability, driver, processors, device_bytes] = device;
  return {{lo, hi},
          {std::move(name),
           std::move(device_type),
           std::move(isa),
           {},
           cores,
           memory_bytes,
           pid,
           -1,
           {std::move(device_name), std::move(capability), std::move(driver), processors, device_bytes}},
          std::move(address),
          max_message};
}

}  // namespace ham::detail

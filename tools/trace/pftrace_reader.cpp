// Bytes of a file that somebody may have damaged: every length is checked before it is used.
#include "pftrace_reader.hpp"

#include <bit>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ham::inline v1::trace {
namespace {

/// The fields of one message, one by one.
class fields {
 public:
  explicit fields(std::string_view bytes) noexcept : rest_(bytes) {}
  std::uint32_t number = 0;
  std::uint64_t value = 0;  ///< of numbers, and bits of fixed ones
  std::string_view bytes;

  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t tag = varint();
    number = static_cast<std::uint32_t>(tag >> 3U);
    switch (tag & 7U) {
      case 0: value = varint(); break;
      case 1: value = fixed(8); break;
      case 2: {
        const std::uint64_t size = varint();
        if (size > rest_.size()) damaged();
        bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        break;
      }
      case 5: value = fixed(4); break;
      default: damaged();
    }
    return true;
  }

 private:
  [[noreturn]] static void damaged() { throw std::runtime_error("this is no trace of Perfetto, or it is damaged"); }
  std::uint64_t varint() {
    std::uint64_t result = 0;
    for (unsigned bit = 0; bit < 64; bit += 7) {
      if (rest_.empty()) damaged();
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      result |= std::uint64_t{byte & 0x7fU} << bit;
      if (byte < 0x80) return result;
    }
    damaged();
  }
  std::uint64_t fixed(std::size_t size) {
    if (rest_.size() < size) damaged();
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < size; ++i) result |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    rest_.remove_prefix(size);
    return result;
  }

  std::string_view rest_;
};

class reader {
 public:
  shown_trace read(std::string_view bytes) {
    unknown_ = text_number("");
    for (fields trace(bytes); trace.next();)
      if (trace.number == 1) read_packet(trace.bytes);
    return std::move(result_);
  }

 private:
  struct event {
    std::uint64_t type = 0, track = 0, flow_out = 0, flow_in = 0;
    std::uint32_t name = 0, category = 0;
    double value = 0;
    std::string notes;
  };

  std::uint32_t text_number(std::string_view text) {
    const auto [place, fresh] = numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(numbers_.size()));
    if (fresh) result_.texts.emplace_back(text);
    return place->second;
  }

  void read_packet(std::string_view bytes) {
    std::uint64_t time = 0;
    std::optional<std::string_view> told;
    for (fields packet(bytes); packet.next();) {
      if (packet.number == 8) time = packet.value;
      if (packet.number == 11) told = packet.bytes;
      if (packet.number == 12) learn(packet.bytes);
      if (packet.number == 60) read_track(packet.bytes);
    }
    if (told) take(read_event(*told), static_cast<std::int64_t>(time));
  }

  void learn(std::string_view bytes) {
    for (fields kinds(bytes); kinds.next();) {
      if (kinds.number < 1 || kinds.number > 3) continue;
      std::uint64_t number = 0;
      std::string_view name;
      for (fields one(kinds.bytes); one.next();) {
        if (one.number == 1) number = one.value;
        if (one.number == 2) name = one.bytes;
      }
      known_[kinds.number - 1][number] = text_number(name);
    }
  }
  std::uint32_t known(std::size_t kind, std::uint64_t number) const {
    const auto found = known_[kind].find(number);
    return found == known_[kind].end() ? unknown_ : found->second;
  }

  void read_track(std::string_view bytes) {
    std::uint64_t uuid = 0;
    shown_track track;
    for (fields one(bytes); one.next();) {
      if (one.number == 1) uuid = one.value;
      if (one.number == 2) track.name = one.bytes;
      if (one.number == 5) track.parent = one.value;
      track.is_process = track.is_process || one.number == 3;
      track.is_counter = track.is_counter || one.number == 8;
      const bool has_names = one.number == 3 || one.number == 4 || one.number == 8;
      for (fields inner(has_names ? one.bytes : std::string_view()); inner.next();) {
        if (one.number != 8 && inner.number == 1) track.pid = static_cast<std::int64_t>(inner.value);
        if (inner.number == (one.number == 4 ? 5U : 6U)) (one.number == 8 ? track.unit : track.name) = inner.bytes;
      }
    }
    result_.tracks[uuid] = std::move(track);
  }

  event read_event(std::string_view bytes) const {
    event made;
    made.name = made.category = unknown_;
    for (fields one(bytes); one.next();) {
      switch (one.number) {
        case 3: made.category = known(0, one.value); break;
        case 4: made.notes += (made.notes.empty() ? "" : ", ") + note(one.bytes); break;
        case 9: made.type = one.value; break;
        case 10: made.name = known(1, one.value); break;
        case 11: made.track = one.value; break;
        case 44: made.value = std::bit_cast<double>(one.value); break;
        case 47: made.flow_out = one.value; break;
        case 48: made.flow_in = one.value; break;
        default: break;
      }
    }
    return made;
  }
  std::string note(std::string_view bytes) const {
    std::string name;
    std::string value;
    for (fields one(bytes); one.next();) {
      if (one.number == 1) name = result_.texts[known(2, one.value)];
      if (one.number == 4) value = std::to_string(static_cast<std::int64_t>(one.value));
    }
    return name + " " + value;
  }

  void take(const event& one, std::int64_t time) {
    if (one.type == 4) {
      result_.counters[one.track].emplace_back(time, one.value);
      return;
    }
    std::vector<std::uint32_t>& open = open_[one.track];
    if (one.type == 2) {
      if (open.empty()) return;
      result_.slices[open.back()].end = time;
      open.pop_back();
      return;
    }
    if (one.type != 1 && one.type != 3) return;
    if (result_.texts[one.category] == "trace") {
      remark(one);
      return;
    }
    const auto depth = static_cast<std::uint32_t>(open.size());
    const std::uint32_t outer = open.empty() ? shown_slice::none : open.back();
    if (one.type == 1) open.push_back(static_cast<std::uint32_t>(result_.slices.size()));
    result_.slices.push_back({one.track, one.name, one.category, depth, outer, time, time, one.flow_out, one.flow_in});
  }
  void remark(const event& one) {
    const auto track = result_.tracks.find(one.track);
    result_.remarks.push_back((track == result_.tracks.end() ? "" : track->second.name + ": ") +
                              result_.texts[one.name] + (one.notes.empty() ? "" : " (" + one.notes + ")"));
  }

  shown_trace result_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::uint32_t unknown_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> known_[3];  ///< categories, names of events, of notes
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> open_;
};

}  // namespace

shown_trace read_pftrace(std::string_view bytes) { return reader().read(bytes); }

}  // namespace ham::trace

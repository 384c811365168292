// Numbers of fields are those of Perfetto's protos. All events are of one packet sequence, which learns names once.
#include "trace/pftrace_writer.hpp"

namespace ham::inline v1::trace {
namespace {

namespace in_trace {
constexpr std::uint32_t packet = 1;
}
namespace in_packet {
constexpr std::uint32_t timestamp = 8, sequence = 10, event = 11, interned = 12, sequence_flags = 13, track = 60;
constexpr std::uint64_t state_cleared = 1, needs_state = 2;
}  // namespace in_packet
namespace in_track {
constexpr std::uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8, order = 12;
}
namespace in_process {
constexpr std::uint32_t pid = 1, name = 6;
}
namespace in_thread {
constexpr std::uint32_t pid = 1, tid = 2, name = 5;
}
namespace in_counter {
constexpr std::uint32_t unit_name = 6;
}
namespace in_event {
constexpr std::uint32_t category = 3, note = 4, type = 9, name = 10, track = 11, real_value = 44, flow = 47,
                        ending_flow = 48;
constexpr std::uint32_t begins = 1, ends = 2, moment = 3, counter = 4;
}  // namespace in_event
namespace in_note {
constexpr std::uint32_t name = 1, number = 4;
}
namespace in_interned {
constexpr std::uint32_t category = 1, event_name = 2, note_name = 3;
constexpr std::uint32_t number = 1, name = 2;
}  // namespace in_interned

constexpr std::uint64_t own_sequence = 1;
constexpr std::size_t flush_bytes = std::size_t{1} << 20;
constexpr std::uint8_t as_event = 1;
constexpr std::uint8_t as_note = 2;

}  // namespace

std::string_view pftrace_writer::name_of(category which) noexcept {
  switch (which) {
    case category::encode: return "encode";
    case category::queue: return "queue";
    case category::execute: return "execute";
    case category::reply: return "reply";
    case category::wait: return "wait";
    case category::transfer: return "transfer";
    case category::sleep: return "sleep";
    case category::span: return "span";
    case category::trace: return "trace";
  }
  return "unknown";
}

pftrace_writer::pftrace_writer(std::ostream& to) : to_(to) { pending_.reserve(flush_bytes + 4096); }

void pftrace_writer::flush() {
  to_.write(pending_.data(), static_cast<std::streamsize>(pending_.size()));
  pending_.clear();
}

pftrace_writer::text pftrace_writer::intern(std::string_view what) {
  const auto [place, fresh] = texts_.try_emplace(std::string(what), texts_.size() + 1);
  if (fresh) {
    spelled_.emplace_back(what);
    known_.push_back(0);
  }
  return place->second;
}

/// In front of the event that uses it first.
void pftrace_writer::teach(std::uint32_t kind, std::uint64_t number, std::string_view what) {
  part_.clear();
  part_.number(in_interned::number, number);
  part_.text(in_interned::name, what);
  interned_.message(kind, part_);
}

void pftrace_writer::add_track(const protobuf& about) {
  packet_.clear();
  packet_.number(in_packet::sequence, own_sequence);
  packet_.message(in_packet::track, about);
  part_.clear();
  part_.message(in_trace::packet, packet_);
  pending_ += part_.bytes();
}

pftrace_writer::track pftrace_writer::add_process(std::int64_t pid, std::string_view name, std::int64_t order) {
  protobuf process;
  process.signed_number(in_process::pid, pid);
  process.text(in_process::name, name);
  protobuf about;
  about.number(in_track::uuid, ++last_track_);
  about.message(in_track::process, process);
  about.signed_number(in_track::order, order);
  add_track(about);
  return last_track_;
}

pftrace_writer::track pftrace_writer::add_thread(std::int64_t pid, std::int64_t tid, std::string_view name) {
  protobuf thread;
  thread.signed_number(in_thread::pid, pid);
  thread.signed_number(in_thread::tid, tid);
  thread.text(in_thread::name, name);
  protobuf about;
  about.number(in_track::uuid, ++last_track_);
  about.message(in_track::thread, thread);
  add_track(about);
  return last_track_;
}

pftrace_writer::track pftrace_writer::add_track(track parent, std::string_view name) {
  protobuf about;
  about.number(in_track::uuid, ++last_track_);
  about.text(in_track::name, name);
  about.number(in_track::parent, parent);
  add_track(about);
  return last_track_;
}

pftrace_writer::track pftrace_writer::add_counter(track parent, std::string_view name, std::string_view unit) {
  protobuf counter;
  if (!unit.empty()) counter.text(in_counter::unit_name, unit);
  protobuf about;
  about.number(in_track::uuid, ++last_track_);
  about.text(in_track::name, name);
  about.number(in_track::parent, parent);
  about.message(in_track::counter, counter);
  add_track(about);
  return last_track_;
}

/// What is in `event_`.
void pftrace_writer::add_event(std::int64_t ns) {
  packet_.clear();
  packet_.signed_number(in_packet::timestamp, ns);
  packet_.number(in_packet::sequence, own_sequence);
  packet_.message(in_packet::event, event_);
  if (!interned_.empty()) {
    packet_.message(in_packet::interned, interned_);
    interned_.clear();
  }
  packet_.number(in_packet::sequence_flags, in_packet::needs_state | (first_ ? in_packet::state_cleared : 0));
  first_ = false;
  part_.clear();
  part_.message(in_trace::packet, packet_);
  pending_ += part_.bytes();
  if (pending_.size() >= flush_bytes) flush();
}

void pftrace_writer::write_named(std::uint32_t type, track on, category what, text name, const details& more) {
  const auto number = static_cast<std::size_t>(what);
  if (!known_categories_[number]) {
    teach(in_interned::category, number + 1, name_of(what));
    known_categories_[number] = true;
  }
  const auto learn = [&](text which, std::uint8_t how) {
    if ((known_[which - 1] & how) != 0) return;
    known_[which - 1] |= how;
    teach(how == as_event ? in_interned::event_name : in_interned::note_name, which, spelled_[which - 1]);
  };
  learn(name, as_event);
  for (const note& one : more.notes) learn(one.name, as_note);
  event_.clear();
  event_.number(in_event::category, number + 1);
  for (const note& one : more.notes) {
    part_.clear();
    part_.number(in_note::name, one.name);
    part_.signed_number(in_note::number, one.value);
    event_.message(in_event::note, part_);
  }
  event_.number(in_event::type, type);
  event_.number(in_event::name, name);
  event_.number(in_event::track, on);
  if (more.flow_out != 0) event_.fixed(in_event::flow, more.flow_out);
  if (more.flow_in != 0) event_.fixed(in_event::ending_flow, more.flow_in);
}

void pftrace_writer::begin(track on, std::int64_t ns, category what, text name, const details& more) {
  write_named(in_event::begins, on, what, name, more);
  add_event(ns);
}

void pftrace_writer::moment(track on, std::int64_t ns, category what, text name, const details& more) {
  write_named(in_event::moment, on, what, name, more);
  add_event(ns);
}

void pftrace_writer::end(track on, std::int64_t ns) {
  event_.clear();
  event_.number(in_event::type, in_event::ends);
  event_.number(in_event::track, on);
  add_event(ns);
}

void pftrace_writer::count(track on, std::int64_t ns, double value) {
  event_.clear();
  event_.number(in_event::type, in_event::counter);
  event_.number(in_event::track, on);
  event_.real(in_event::real_value, value);
  add_event(ns);
}

}  // namespace ham::trace

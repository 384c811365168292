// The areas of long messages: production writer and reader over areas of one to three pages and the page of words. A
// word of the scenario, or the production ring, tells the reader of a place.
#include "explorer/production.hpp"
// What the source below asks the kernel for:
#include <sys/mman.h>

int model_madvise(void* from, std::size_t bytes, int advice);
#define madvise model_madvise
// The production code, with the shadows:
#include "transport/common/message_area.cpp"
#include "transport/common/ring_reader.hpp"
#include "transport/common/ring_writer.hpp"

namespace {

using namespace ham::transport;

constexpr std::size_t page_bytes = area_layout::page_bytes;
constexpr unsigned max_pages = 3;
constexpr unsigned max_messages = 4;

alignas(page_bytes) std::byte memory[area_layout::first_message + max_pages * page_bytes];
bool pages_may_be_refused = false;

/// Of `pages` for messages.
std::span<std::byte> area_of(unsigned pages) { return {&memory[0], area_layout::first_message + pages * page_bytes}; }
/// Of a message that fills so many.
constexpr std::size_t size_of(unsigned pages) { return pages * page_bytes - area_layout::lead_bytes; }

}  // namespace

/// Pages that go lose the word that stands for what is written there.
int model_madvise(void* from, std::size_t bytes, int advice) {
  auto* const first = static_cast<std::byte*>(from);
  if (advice == MADV_REMOVE) {
    model::check(first != memory, "the words of the blocks go");
    for (std::size_t at = 0; at < bytes; at += page_bytes)
      model::plain_store(first + at + area_layout::lead_bytes, 0, model::place::current());
  } else if (pages_may_be_refused && first != memory && model::choose(2, "pages are refused") == 1) {
    errno = ENOMEM;
    return -1;
  }
  return 0;
}

namespace {

/// What the writer does next.
struct action {
  unsigned pages;
  enum : std::uint8_t { sent, given_back, sent_then_trimmed, sent_if_there_is_room } what = sent;
};

/// What a word of the scenario says of a message.
enum announced_as : std::uint8_t { nothing, a_place, not_sent };

struct job {
  explicit job(unsigned pages) : writer(area_of(pages)), reader(area_of(pages)) {}
  message_area_writer writer;
  message_area_reader reader;
  std::atomic<std::uint32_t> announced[max_messages]{};  ///< stands for a ring
  message_place places[max_messages]{};
};

std::byte* wait_for_room(message_area_writer& writer, unsigned pages) {
  std::byte* at = nullptr;
  while ((at = writer.reserve(size_of(pages))) == nullptr) {
    model::outcome("waits");
    model::pause();
  }
  return at;
}

/// A word in each page.
void fill(std::byte* at, unsigned pages, std::uint32_t value) {
  for (unsigned i = 0; i < pages; ++i) model::plain_store(at + i * page_bytes, value, model::place::current());
}

void announce(job& own, unsigned number, const std::byte* at) {
  own.places[number] = own.writer.send(at);
  own.announced[number].store(a_place, std::memory_order_release);
}

void write(job& own, const std::vector<action>& actions) {
  unsigned number = 0;
  for (const action& next : actions) {
    const bool must_go = next.what != action::sent_if_there_is_room;
    std::byte* const at = must_go ? wait_for_room(own.writer, next.pages) : own.writer.reserve(size_of(next.pages));
    if (at == nullptr) {
      model::outcome("no room");
      own.announced[number++].store(not_sent, std::memory_order_release);
      continue;
    }
    fill(at, next.pages, 100 + number);
    if (next.what == action::given_back) {
      own.writer.cancel(at);
      continue;
    }
    announce(own, number++, at);
    if (next.what == action::sent_then_trimmed) model::outcome(own.writer.trim() ? "pages go" : "pages stay");
  }
}

void check_message(std::span<const std::byte> found, unsigned pages, std::uint32_t value) {
  model::check(found.data() != nullptr, "what tells of a message is malformed");
  model::check(found.size() == size_of(pages), "a message has another size");
  for (unsigned i = 0; i < pages; ++i) {
    model::check(model::plain_load(found.data() + i * page_bytes, model::place::current()) == value,
                 "a message has another content");
  }
}

std::span<const std::byte> as_bytes(const message_place& place) {
  return std::as_bytes(std::span<const message_place, 1>(&place, 1));
}

void read(job& own, const std::vector<action>& actions) {
  unsigned number = 0;
  for (const action& next : actions) {
    if (next.what == action::given_back) continue;
    std::uint32_t announced = 0;
    while ((announced = own.announced[number].load(std::memory_order_acquire)) == nothing) model::pause();
    if (announced == a_place) {
      check_message(own.reader.take(as_bytes(own.places[number])), next.pages, 100 + number);
      own.reader.release();
    }
    ++number;
  }
}

void all_is_returned(message_area_writer& writer) { model::check(writer.trim(), "a place that is not returned"); }

void start(unsigned pages, std::vector<action> actions, bool refused = false) {
  pages_may_be_refused = refused;
  auto* const own = new job(pages);
  auto* const all = new std::vector<action>(std::move(actions));
  model::start_thread([=] { write(*own, *all); });
  model::start_thread([=] { read(*own, *all); });
  model::at_end([=] { all_is_returned(own->writer); });
}

/// Each message waits for the one before it.
void one_place() { start(1, {{1}, {1}, {1}}); }
void two_places() { start(2, {{1}, {1}, {1}, {1}}); }
/// What is returned first is not enough for the longer message.
void long_and_short() { start(3, {{1}, {1}, {2}, {1}}); }
void given_back() { start(2, {{1}, {2, action::given_back}, {1, action::given_back}, {1}, {1}}); }
/// Pages are given back to the system, or not, between messages.
void trimmed() { start(2, {{1, action::sent_then_trimmed}, {1, action::sent_then_trimmed}, {1}}); }
/// The pages of later messages are refused while the first one is read.
void refused() { start(3, {{1}, {1, action::sent_if_there_is_room}, {2, action::sent_if_there_is_room}}, true); }

/// A place that is reserved and not yet sent is nobody else's.
void two_at_once() {
  pages_may_be_refused = false;
  auto* const own = new job(2);
  model::start_thread([=] {
    write(*own, {{1}});
    std::byte* const first = wait_for_room(own->writer, 1);
    std::byte* const second = wait_for_room(own->writer, 1);
    model::check(own->writer.reserve(size_of(1)) == nullptr, "a place that is reserved serves another message");
    fill(first, 1, 101);
    fill(second, 1, 102);
    announce(*own, 1, first);
    announce(*own, 2, second);
  });
  model::start_thread([=] { read(*own, {{1}, {1}, {1}}); });
  model::at_end([=] { all_is_returned(own->writer); });
}

/// With a ring of four lines.
struct connection {
  static constexpr unsigned lines_log2 = 2;
  static constexpr std::uint32_t epoch = 0x5a5a0000;
  explicit connection(unsigned pages)
      : area(area_of(pages)), reader(&lines[0], lines_log2, control, epoch, area_of(pages)) {}
  alignas(line_bytes) std::byte lines[line_bytes << lines_log2]{};
  ring_control control{};
  ring_writer writer{&lines[0], lines_log2, control, epoch};
  message_area_writer area;
  ring_reader reader;
};

/// As ring_endpoint::send_long.
void send(connection& own, std::byte* at, unsigned number) {
  std::byte* payload = nullptr;
  while ((payload = own.writer.reserve(sizeof(message_place))) == nullptr) model::pause();
  const message_place place = own.area.send(at);
  std::memcpy(payload, &place, sizeof place);
  own.writer.commit({100 + number, 200 + number, 1 | long_flag});
}

void receive(connection& own, unsigned number) {
  frame found;
  ring_status status{};
  while ((status = own.reader.poll(found)) == ring_status::empty) model::pause();
  model::check(status == ring_status::frame && found.head.key == 100 + number && found.head.kind == 1, "another frame");
  check_message(found.payload, 1, 100 + number);
  own.reader.release();
}

void through_a_ring() {
  pages_may_be_refused = false;
  constexpr unsigned messages = 3;
  auto* const own = new connection(2);
  model::start_thread([=] {
    for (unsigned i = 0; i < messages; ++i) {
      std::byte* const at = wait_for_room(own->area, 1);
      fill(at, 1, 100 + i);
      send(*own, at, i);
    }
  });
  model::start_thread([=] {
    for (unsigned i = 0; i < messages; ++i) receive(*own, i);
  });
  model::at_end([=] { all_is_returned(own->area); });
}

}  // namespace

int main(int argc, char** argv) {
  return model::run(argc, argv,
                    {{"one place", one_place, {"waits"}},
                     {"two places", two_places, {"waits"}},
                     {"long and short messages", long_and_short, {"waits"}},
                     {"reservations given back", given_back},
                     {"pages given back", trimmed, {"pages go", "pages stay"}},
                     {"pages refused", refused, {"no room"}},
                     {"two reservations at once", two_at_once},
                     {"through a ring", through_a_ring, {"waits"}}});
}

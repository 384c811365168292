// The line ring: production writer and reader over a ring of four lines. Frames of one and of two lines, pads, laps,
// and reservations that are given back, with payload in the form of the stamps that the reader waits for.
#include "explorer/production.hpp"
// The production code, with the shadows:
#include "transport/common/message_area.cpp"
#include "transport/common/ring_reader.hpp"
#include "transport/common/ring_writer.hpp"

namespace {

using namespace ham::transport;

constexpr unsigned lines_log2 = 2;
constexpr std::uint64_t lines = 1U << lines_log2;
constexpr std::uint32_t epoch = 0x5a5a0000;

alignas(line_bytes) std::byte memory[lines * line_bytes];

/// What the writer does next.
struct action {
  unsigned lines;
  bool given_back = false;
};

struct ring {
  ring_control control{};
  ring_writer writer{memory, lines_log2, control, epoch};
  ring_reader reader{memory, lines_log2, control, epoch};
};

constexpr std::size_t size_of(unsigned in_lines) { return in_lines == 1 ? 4 : first_line_payload + 8; }

/// The first word of each line of a frame. The second line holds what the reader will wait for there: in the next lap,
/// or, if the frame is given back, in this one.
void fill(std::byte* payload, const action& what, std::uint64_t position, std::uint32_t value) {
  model::plain_store(payload, what.given_back ? 0xbad : value, model::place::current());
  if (what.lines == 1) return;
  const std::uint64_t resembles = position + 1 + (what.given_back ? 0 : lines);
  model::plain_store(payload + first_line_payload, stamp_of(resembles, lines_log2), model::place::current());
}

void write(ring& own, const std::vector<action>& actions) {
  std::uint32_t number = 0;
  for (const action& next : actions) {
    std::byte* payload = nullptr;
    while ((payload = own.writer.reserve(size_of(next.lines))) == nullptr) model::pause();
    fill(payload, next, own.writer.sent(), number);
    if (next.given_back) {
      own.writer.cancel();
      continue;
    }
    own.writer.commit({100 + number, 200 + number, 1});
    ++number;
  }
}

void read(ring& own, const std::vector<action>& actions) {
  std::uint32_t number = 0;
  for (const action& next : actions) {
    if (next.given_back) continue;
    frame found;
    ring_status status{};
    while ((status = own.reader.poll(found)) == ring_status::empty) model::pause();
    model::check(status == ring_status::frame, "a frame is broken");
    model::check(found.head.key == 100 + number && found.head.call == 200 + number && found.head.kind == 1,
                 "a frame has another head");
    model::check(found.payload.size() == size_of(next.lines), "a frame has another size");
    model::check(model::plain_load(found.payload.data(), model::place::current()) == number,
                 "a frame has another payload");
    if (next.lines == 2) {
      const std::uint32_t word = model::plain_load(found.payload.data() + first_line_payload, model::place::current());
      model::check((word & 0x80000000U) != 0, "the second line has another payload");
    }
    own.reader.release();
    ++number;
  }
  frame found;
  model::check(own.reader.poll(found) == ring_status::empty, "a frame that nobody has sent");
}

void start(std::vector<action> actions) {
  auto* own = new ring;
  auto* all = new std::vector<action>(std::move(actions));
  model::start_thread([=] { write(*own, *all); });
  model::start_thread([=] { read(*own, *all); });
  model::at_end([=] {
    model::check(own->control.released.load() == own->writer.sent(), "lines that are not given back");
    model::check(own->writer.consumed() == own->writer.sent(), "frames that are not consumed");
  });
}

/// Two laps of short frames.
void laps() { start({{1}, {1}, {1}, {1}, {1}, {1}}); }
/// The second line of a frame is the first line of another one in the next lap, and the other way round.
void mixed() { start({{2}, {1}, {1}, {1}, {2}, {1}}); }
/// At the end of a lap two lines do not fit.
void pads() { start({{2}, {1}, {2}, {2}, {1}}); }
/// What was reserved is given back, in front of a frame that is shorter.
void given_back() { start({{2, true}, {1}, {1}, {2, true}, {1}}); }
/// The same around a pad.
void given_back_at_the_end() { start({{1}, {2}, {2, true}, {1}, {1}}); }

}  // namespace

int main(int argc, char** argv) {
  return model::run(argc, argv,
                    {{"laps", laps},
                     {"long and short frames", mixed},
                     {"pads", pads},
                     {"reservations given back", given_back},
                     {"given back behind a pad", given_back_at_the_end}});
}

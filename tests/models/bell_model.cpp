// How a node goes to sleep and is woken: production ring_transport, ring_endpoint and bell, between one receiver and
// one or two senders, each a process of its own, with and without membarrier on either side. Beside the receiver
// another thread of its process may take a reply alone.
#include "explorer/production.hpp"
// System headers that the sources below include:
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
// The production code, with the shadows:
#include "base/memory_file.cpp"
#include "transport/common/message_area.cpp"
#include "transport/common/ring_endpoint.cpp"
#include "transport/common/ring_transport.cpp"

namespace {

using namespace ham::transport;
namespace kernel = model::kernel;

constexpr unsigned max_senders = 2;

class observing final : public observer {
 public:
  void on_connected(endpoint&) override {}
  void on_broken(ham::node_t, const std::string&) override { model::check(false, "a connection is broken"); }
  void on_lost(ham::node_t, const std::string&) override {}
};

class node final : public ring_transport {
 public:
  using ring_transport::adopt;
  using ring_transport::ring_transport;
  [[nodiscard]] const char* name() const noexcept override { return "model"; }
  void connect(ham::node_t) override {}
  void shutdown() noexcept override {}

  /// Whoever reads the shared ring.
  void touch_reader(model::place where = model::place::current()) {
    static_cast<void>(model::plain_load(&reader_, where));
    model::plain_store(&reader_, 0, where);
  }

 private:
  /// Within arm(), which uses the readers of all rings before and after.
  void asleep(bool begins) noexcept override {
    if (begins) touch_reader();
  }

  std::uint32_t reader_ = 0;  ///< stands for what a ring_reader keeps, for the race detector
};

alignas(4096) std::byte ring_memory[max_senders][ring_pair::bytes];

/// One receiver, which is the scenario's first thread, and its senders.
struct job {
  bell page{};
  bell peer_page{};
  kernel::event event;
  observing news;
  node* receiver = nullptr;
  ring_endpoint* senders[max_senders]{};
  ham::base::recursive_spin_lock reading;  // of the first sender's ring, when it is shared
  ring_endpoint* shared = nullptr;
  std::atomic<std::uint32_t> taken{0};  // of that ring, a bit for each call
};

/// The rights to use membarrier of what is made now.
void as(bool able) {
  const std::uint32_t making = 1U << model::max_threads;
  kernel::has_membarrier = able ? kernel::has_membarrier | making : kernel::has_membarrier & ~making;
}

void receive(job& own, unsigned frames, bool polls_between) {
  unsigned found_frames = 0;
  while (found_frames < frames) {
    frame found;
    if (endpoint* const from = own.receiver->poll(found, 1)) {
      model::check(found.head.key == 7, "a frame has another head");
      from->release();
      ++found_frames;
      continue;
    }
    if (polls_between) {
      polls_between = false;
      continue;
    }
    if (!own.receiver->arm()) continue;
    own.event.wait(own.receiver->max_sleep_ns() != ham::base::never_ns);
    own.receiver->disarm();
  }
}

void send_one(ring_endpoint& to, std::uint32_t call) {
  model::check(to.reserve(0) != nullptr, "the ring is full");
  to.commit({7, call, 1});
}
void send(ring_endpoint& to, unsigned frames) {
  for (unsigned i = 0; i < frames; ++i) send_one(to, i);
}

/// The call whose reply a thread takes alone, and what else is sent.
constexpr std::uint32_t awaited = 1;
constexpr std::uint32_t other = 2;

void take(job& own, endpoint& from, const frame& found) {
  own.receiver->touch_reader();
  model::check((own.taken.fetch_or(found.head.call) & found.head.call) == 0, "a frame was taken twice");
  from.release();
}

/// Has the receiving lock, until the other frame has come.
void receive_beside(job& own) {
  for (;;) {
    frame found;
    if (endpoint* const from = own.receiver->poll(found, 1)) {
      take(own, *from, found);
      if (found.head.call == other) return;
      continue;
    }
    if (!own.receiver->arm()) continue;
    own.event.wait(own.receiver->max_sleep_ns() != ham::base::never_ns);
    own.receiver->disarm();
  }
}

bool settled(const job& own) { return (own.taken.load() & awaited) != 0; }

/// As reply_reader. True: the call has settled.
bool poll_alone(job& own) {
  if (!own.reading.try_lock()) return false;
  const std::unique_lock reading(own.reading, std::adopt_lock);
  if (settled(own)) return true;
  frame found;
  if (own.shared->poll_reply(1, awaited, 0, 1, found) != reply_poll::reply) return false;
  model::check(found.head.call == awaited, "another frame than the reply");
  take(own, *own.shared, found);
  model::check(own.reading.held_by_me(), "the lock is given back with the frame");
  model::outcome("taken alone");
  return true;
}

void wait_alone(job& own) {
  while (!settled(own) && !poll_alone(own)) model::pause();
}

/// `able`: bit 0: the receiver's process can use membarrier; the others: those of the senders.
job* make(unsigned senders, std::uint32_t able, bool refuses) {
  kernel::reset(able, refuses);
  auto* own = new job;
  kernel::events[1] = &own->event;
  as((able & 1) != 0);
  own->receiver = new node(own->page, 1, own->news);
  for (unsigned i = 0; i < senders; ++i) {
    const auto number = static_cast<ham::node_t>(i + 1);
    const ring_pair rings{ring_memory[i], 0, false};
    as((able & 1) != 0);
    auto receiving = std::make_unique<ring_endpoint>(number, 0, rings, 1, remote_bell{&own->peer_page, 0});
    own->shared = receiving.get();
    own->receiver->adopt(std::move(receiving));
    as((able >> (i + 1) & 1) != 0);
    own->senders[i] = new ring_endpoint(0, number, rings, 0, remote_bell{&own->page, 1});
  }
  own->event.drain();  // adopt() has woken the receiver
  return own;
}

void start(unsigned senders, unsigned frames, std::uint32_t able, bool refuses = false) {
  job* const own = make(senders, able, refuses);
  model::start_thread([=] { receive(*own, senders * frames, true); });
  for (unsigned i = 0; i < senders; ++i) model::start_thread([=] { send(*own->senders[i], frames); });
}

/// One sender, whose ring two threads read.
void start_shared(std::initializer_list<std::uint32_t> calls) {
  job* const own = make(1, 0b111, false);
  own->shared->share_reading(&own->reading);
  model::start_thread([=] { receive_beside(*own); });
  model::start_thread([=] { wait_alone(*own); });
  auto* const all = new std::vector<std::uint32_t>(calls);
  model::start_thread([=] {
    for (const std::uint32_t call : *all) send_one(*own->senders[0], call);
  });
}

void one_frame() { start(1, 1, 0b11); }
void two_frames() { start(1, 2, 0b11); }
void receiver_without() { start(1, 2, 0b10); }
void sender_without() { start(1, 2, 0b01); }
void none_has_it() { start(1, 2, 0b00); }
void refused_later() { start(1, 1, 0b11, true); }
void two_senders() { start(2, 1, 0b111); }
void two_senders_one_without() { start(2, 1, 0b101); }
void reply_alone() { start_shared({awaited, other}); }
void reply_behind_other() { start_shared({other, awaited}); }

}  // namespace

int main(int argc, char** argv) {
  return model::run(argc, argv,
                    {{"one frame", one_frame},
                     {"two frames", two_frames},
                     {"receiver without membarrier", receiver_without},
                     {"sender without membarrier", sender_without},
                     {"no membarrier", none_has_it},
                     {"membarrier refused later", refused_later, {}, 2},
                     {"two senders", two_senders, {}, 4, 3},
                     {"two senders, one without", two_senders_one_without, {}, 4, 3},
                     {"a reply is taken alone", reply_alone, {"taken alone"}, 3, 1},
                     {"a reply behind something else", reply_behind_other, {"taken alone"}, 3, 1}});
}

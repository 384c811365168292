// How a node goes to sleep and is woken: production ring_transport, ring_endpoint and bell, between one receiver and
// one or two senders, each a process of its own, with and without membarrier on either side.
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

void send(ring_endpoint& to, unsigned frames) {
  for (unsigned i = 0; i < frames; ++i) {
    model::check(to.reserve(0) != nullptr, "the ring is full");
    to.commit({7, i, 1});
  }
}

/// `able`: bit 0: the receiver's process can use membarrier; the others: those of the senders.
void start(unsigned senders, unsigned frames, std::uint32_t able, bool refuses = false) {
  kernel::reset(able, refuses);
  auto* own = new job;
  kernel::events[1] = &own->event;
  as((able & 1) != 0);
  own->receiver = new node(own->page, 1, own->news);
  for (unsigned i = 0; i < senders; ++i) {
    const auto number = static_cast<ham::node_t>(i + 1);
    const ring_pair rings{ring_memory[i], 0, false};
    as((able & 1) != 0);
    own->receiver->adopt(std::make_unique<ring_endpoint>(number, 0, rings, 1, remote_bell{&own->peer_page, 0}));
    as((able >> (i + 1) & 1) != 0);
    own->senders[i] = new ring_endpoint(0, number, rings, 0, remote_bell{&own->page, 1});
  }
  own->event.drain();  // adopt() has woken the receiver
  model::start_thread([=] { receive(*own, senders * frames, true); });
  for (unsigned i = 0; i < senders; ++i) model::start_thread([=] { send(*own->senders[i], frames); });
}

void one_frame() { start(1, 1, 0b11); }
void two_frames() { start(1, 2, 0b11); }
void receiver_without() { start(1, 2, 0b10); }
void sender_without() { start(1, 2, 0b01); }
void none_has_it() { start(1, 2, 0b00); }
void refused_later() { start(1, 1, 0b11, true); }
void two_senders() { start(2, 1, 0b111); }
void two_senders_one_without() { start(2, 1, 0b101); }

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
                     {"two senders, one without", two_senders_one_without, {}, 4, 3}});
}

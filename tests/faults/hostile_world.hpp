// A node whose peers are played by the test, frame by frame, through real rings.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/heap.hpp"
#include "ham/msg/handler_table.hpp"
#include "runtime/engine.hpp"
#include "transport/common/ring_transport.hpp"

namespace ham::inline v1::test {

namespace wire = ham::transport;  // inside a transport that name is its base class

using bytes = std::vector<std::byte>;

/// The key of the first function of this program whose name has `part` in it.
inline std::uint32_t key_of(const std::string& part) {
  const auto& table = msg::handler_table::local();
  for (std::uint32_t key = 0; key < table.size(); ++key) {
    if (table.pretty_name(key).find(part) != std::string::npos) return key;
  }
  throw std::logic_error("no handler " + part);
}

/// stderr goes nowhere meanwhile: every refused frame is reported there.
class quiet {
 public:
  quiet() : before_(::dup(STDERR_FILENO)) {
    std::fflush(stderr);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
    ::close(null);
  }
  ~quiet() {
    std::fflush(stderr);
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  quiet(const quiet&) = delete;
  quiet& operator=(const quiet&) = delete;

 private:
  int before_;
};

/// A transport whose endpoints the test makes.
class played_transport final : public wire::ring_transport {
 public:
  played_transport(wire::observer& to, std::size_t nodes)
      : played_transport(std::make_unique<wire::bell>(), base::unique_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
                         to) {
    ends_.resize(nodes);
  }
  [[nodiscard]] const char* name() const noexcept override { return "played"; }
  void connect(node_t) override {}
  void shutdown() noexcept override {}

  void add(node_t peer, const wire::ring_pair& rings) {
    adopt(std::make_unique<wire::ring_endpoint>(peer, 1, rings, 1U, wire::remote_bell{&nobody_, event_.get()}));
  }

  [[nodiscard]] wire::bell& own_bell() { return *own_; }

  /// How a connection ended; the endpoint goes with it.
  struct end {
    bool is = false;
    std::string reason;
  };
  [[nodiscard]] const end& end_of(node_t peer) const { return ends_[static_cast<std::size_t>(peer)]; }
  void forget(wire::endpoint& with) noexcept override {
    end& here = ends_[static_cast<std::size_t>(with.peer())];
    here.is = true;
    try {
      here.reason = with.reason();
    } catch (const std::bad_alloc&) {  // where that is tested, nobody asks
    }
    ring_transport::forget(with);
  }

 private:
  played_transport(std::unique_ptr<wire::bell> own, base::unique_fd event, wire::observer& to)
      : ring_transport(*own, event.get(), to), own_(std::move(own)), event_(std::move(event)) {}
  std::unique_ptr<wire::bell> own_;
  base::unique_fd event_;
  wire::bell nobody_{};
  std::vector<end> ends_;
};

/// Node 1, its peers 2, 3, ...; or other numbers. All in the calling thread.
class world {
 public:
  /// With room for so many peers.
  explicit world(std::size_t max_peers = 500, node_t self = 1, node_t first_peer = 2)
      : max_peers_(max_peers),
        first_peer_(first_peer),
        node_(self, max_peers + 3, std::make_unique<base::heap>(base::heap::make_file())) {
    auto made = std::make_unique<played_transport>(node_.events, max_peers + 3);
    transport_ = made.get();
    node_.use(std::move(made));
  }

  /// The test's end of a connection.
  class peer {
   public:
    peer(const wire::ring_pair& rings, node_t number, played_transport& at)
        : rings(rings),
          number(number),
          at(at),
          writer(rings.lines(0), wire::ring_pair::lines_log2, rings.control(0), rings.epoch),
          reader(rings.lines(1), wire::ring_pair::lines_log2, rings.control(1), rings.epoch) {}

    void send(const wire::ring_writer::head& head, std::span<const std::byte> payload) {
      std::byte* const room = writer.reserve(payload.size());
      ASSERT_NE(room, nullptr);
      if (!payload.empty()) std::memcpy(room, payload.data(), payload.size());
      writer.commit(head);
      if (writer.receiver_armed()) (void)wire::ring_bell(at.own_bell(), static_cast<std::uint32_t>(number));
    }
    [[nodiscard]] std::optional<std::pair<wire::frame_head, bytes>> receive() {
      wire::frame frame;
      if (reader.poll(frame) != wire::ring_status::frame) return std::nullopt;
      std::pair result{frame.head, bytes(frame.payload.begin(), frame.payload.end())};
      reader.release();
      return result;
    }
    [[nodiscard]] bool open() const { return !at.end_of(number).is; }
    /// Why it is not open.
    [[nodiscard]] const std::string& reason() const { return at.end_of(number).reason; }

    wire::ring_pair rings;
    node_t number;
    played_transport& at;
    wire::ring_writer writer;
    wire::ring_reader reader;
  };

  [[nodiscard]] bool full() const { return peers_.size() == max_peers_; }

  [[nodiscard]] peer& at(node_t number) { return *peers_[static_cast<std::size_t>(number - first_peer_)]; }

  /// A new connection; `greeting`: what the node said first.
  peer& connect(bytes* greeting = nullptr) {
    const wire::ring_pair rings{memory(peers_.size()), static_cast<std::uint32_t>(0x1234567 * (peers_.size() + 1))};
    const auto number = first_peer_ + static_cast<node_t>(peers_.size());
    transport_->add(number, rings);
    peers_.push_back(std::make_unique<peer>(rings, number, *transport_));
    step();
    const auto first = peers_.back()->receive();
    EXPECT_TRUE(first && first->first.kind == detail::to_byte(detail::wire_kind::hello));
    if (greeting != nullptr && first) *greeting = first->second;
    return *peers_.back();
  }

  /// A new connection that has greeted in the right way.
  peer& friendly() {
    bytes greeting;
    peer& result = connect(&greeting);
    result.send({0, detail::no_reply, detail::to_byte(detail::wire_kind::hello)}, greeting);
    step();
    EXPECT_TRUE(result.open());
    return result;
  }
  /// The same, and has read the greeting.
  peer& listening() {
    peer& one = friendly();
    while (one.receive()) {
    }
    return one;
  }

  void step(int times = 3) {
    for (int i = 0; i < times; ++i) node_.poll_once();
  }
  [[nodiscard]] detail::engine& node() { return node_; }

 private:
  /// Zeroed memory for ring pairs, used again by the next world.
  static std::byte* memory(std::size_t index) {
    static std::vector<std::byte*> all;
    if (index >= all.size()) {
      void* const fresh =
          ::mmap(nullptr, wire::ring_pair::bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (fresh == MAP_FAILED) throw std::bad_alloc();
      all.push_back(static_cast<std::byte*>(fresh));
    } else {
      ::madvise(all[index], wire::ring_pair::bytes, MADV_DONTNEED);
    }
    return all[index];
  }

  std::size_t max_peers_;
  node_t first_peer_;
  detail::engine node_;
  played_transport* transport_;
  std::vector<std::unique_ptr<peer>> peers_;
};

}  // namespace ham::test

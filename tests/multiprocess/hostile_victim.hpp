// A target process whose host, and whose fellow targets, are all played by the test: raw rings, no runtime.
#pragma once

#include <sys/eventfd.h>

#include <array>

#include "base/control_socket.hpp"
#include "base/process.hpp"
#include "faults/hostile_world.hpp"
#include "multiprocess/support.hpp"
#include "transport/shm/messages.hpp"
#include "transport/shm/segment.hpp"

namespace ham::inline v1::test {

class victim {
 public:
  static constexpr std::uint32_t nodes = 4000;
  static constexpr node_t self = 1;

  /// One connection of the victim. Number 0 is its host, the others pass for targets.
  class link {
   public:
    link(victim& owner, node_t number, bool with_areas)
        : owner_(&owner),
          number_(number),
          pair_file(base::make_memory_file("ham-pair",
                                           with_areas ? wire::ring_pair::bytes_with_areas : wire::ring_pair::bytes)),
          memory_(wire::ring_pair::map(pair_file.get())),
          rings(wire::ring_pair::in(memory_, 0x51ed27U * static_cast<std::uint32_t>(number + 1))),
          writer(rings.lines(0), wire::ring_pair::lines_log2, rings.control(0), rings.epoch),
          reader(rings.lines(1), wire::ring_pair::lines_log2, rings.control(1), rings.epoch) {}

    /// False: the victim does not take frames any more.
    bool send(const wire::ring_writer::head& head, std::span<const std::byte> payload) {
      std::byte* room = nullptr;
      if (!eventually([&] { return (room = writer.reserve(payload.size())) != nullptr; }, 2s)) return false;
      if (!payload.empty()) std::memcpy(room, payload.data(), payload.size());
      writer.commit(head);
      knock();
      return true;
    }
    void knock() { owner_->knock(number_); }
    [[nodiscard]] std::optional<std::pair<wire::frame_head, bytes>> receive(std::chrono::milliseconds timeout = 20s) {
      wire::frame frame;
      wire::ring_status status = wire::ring_status::empty;
      const auto until = std::chrono::steady_clock::now() + timeout;
      for (int i = 0; (status = reader.poll(frame)) == wire::ring_status::empty; ++i) {
        if (i % 1000 == 999 && std::chrono::steady_clock::now() > until) return std::nullopt;
        if (i > 200) ::sched_yield();
      }
      if (status != wire::ring_status::frame) return std::nullopt;
      std::pair result{frame.head, bytes(frame.payload.begin(), frame.payload.end())};
      reader.release();
      return result;
    }
    /// Reads the victim's greeting and says the same.
    void greet() {
      const auto first = receive();
      ASSERT_TRUE(first && first->first.kind == detail::to_byte(detail::wire_kind::hello));
      ASSERT_TRUE(send({0, detail::no_reply, detail::to_byte(detail::wire_kind::hello)}, first->second));
    }
    /// What the victim says when it closes the connection; empty: it did not.
    [[nodiscard]] std::string farewell() {
      while (const auto got = receive()) {
        if (got->first.kind != detail::to_byte(detail::wire_kind::goodbye)) continue;
        return {reinterpret_cast<const char*>(got->second.data()), got->second.size()};
      }
      return {};
    }

   private:
    victim* owner_;
    node_t number_;

   public:
    base::unique_fd pair_file;

   private:
    base::mapping memory_;

   public:
    wire::ring_pair rings;
    wire::ring_writer writer;
    wire::ring_reader reader;
  };

  victim()
      : job_file(base::make_memory_file("ham-job", sizeof(wire::shm::job_segment))),
        job_memory_(job_file.get(), sizeof(wire::shm::job_segment)),
        job(reinterpret_cast<wire::shm::job_segment*>(job_memory_.data())),
        heap(base::heap::make_file()),
        host_heap(base::heap::make_file()),
        event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        our_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    base::raise_file_limit();
    job->magic = wire::shm::job_segment::magic_value;
    job->cores = 64;
    auto [mine, theirs] = base::make_control_pair();
    control_ = std::move(mine);
    host = std::make_unique<link>(*this, 0, false);
    send_control(
        wire::shm::control_kind::welcome, 0, host->rings.epoch,
        std::array{job_file.get(), host->pair_file.get(), heap.get(), host_heap.get(), event_.get(), our_event_.get()});
    base::process_request request;
    request.command = {"/proc/self/exe"};
    request.inherited_fd = theirs.get();
    request.extra_environment = {"HAM_TARGET=shm:" + std::to_string(theirs.get())};
    process_ = base::start_process(request);
    host->greet();
  }
  ~victim() {
    control_.reset();
    if (!ended_) {
      EXPECT_EQ(end(), "exited with status 0");
    }
  }
  victim(const victim&) = delete;
  victim& operator=(const victim&) = delete;

  /// A connection that the victim takes for one to another target, unless there are too many of them.
  [[nodiscard]] bool full() const { return next_ == static_cast<node_t>(nodes); }
  [[nodiscard]] std::unique_ptr<link> connect(bool with_areas = false) {
    auto one = std::make_unique<link>(*this, next_, with_areas);
    send_control(wire::shm::control_kind::connected, next_, one->rings.epoch,
                 std::array{one->pair_file.get(), host_heap.get(), our_event_.get()});
    one->pair_file.reset();
    ++next_;
    return one;
  }

  /// A call by the honest host; its answer as bytes.
  [[nodiscard]] std::optional<std::pair<wire::frame_head, bytes>> call(std::uint32_t key, const bytes& arguments) {
    host->send({key, ++calls_, detail::to_byte(detail::wire_kind::call)}, arguments);
    for (;;) {
      auto answer = host->receive();
      if (!answer || answer->first.call == calls_) return answer;
    }
  }

  /// Wakes the victim, whatever the shared words say.
  void knock(node_t from) {
    static_cast<void>(wire::ring_bell(job->nodes[self].ring_me, static_cast<std::uint32_t>(from)));
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
  }

  [[nodiscard]] bool lives() { return base::wait_for_end(process_, 0ms).empty() ? true : (ended_ = true, false); }
  /// Ends the job; how the victim went.
  std::string end() {
    control_.reset();
    ended_ = true;
    return base::wait_for_end(process_, 20s);
  }

 private:
  template <std::size_t Count>
  void send_control(wire::shm::control_kind what, node_t peer, std::uint32_t epoch, const std::array<int, Count>& fds) {
    wire::shm::control_text text;
    text.kind = what;
    text.peer = peer;
    text.node = self;
    text.nodes = nodes;
    text.side = 1;
    text.epoch = epoch;
    const std::span<const std::byte> as_bytes(reinterpret_cast<const std::byte*>(&text), sizeof text);
    ASSERT_TRUE(eventually([&] { return base::send_control(control_.get(), as_bytes, fds); }));
  }

 public:
  base::unique_fd job_file;

 private:
  base::mapping job_memory_;

 public:
  wire::shm::job_segment* job;
  base::unique_fd heap;       ///< the victim's
  base::unique_fd host_heap;  ///< what it takes for its peers'
  std::unique_ptr<link> host;

 private:
  base::unique_fd event_;
  base::unique_fd our_event_;
  base::unique_fd control_;
  base::process process_;
  node_t next_ = 2;
  std::uint32_t calls_ = 0;
  bool ended_ = false;
};

}  // namespace ham::test

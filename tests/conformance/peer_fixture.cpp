// The peer of the conformance suite.
#include "bulk.hpp"
#include "conformance/subject.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

class peer_program {
 public:
  peer_program(transport& at, base::heap& memory) : at_(at), memory_(memory) {}

  void run(const std::function<bool()>& stop) {
    int idle = 0;
    while (!left_ && !stop()) {
      frame arrived;
      if (endpoint* const from = at_.poll(arrived, 16)) {
        idle = 0;
        handle(*from, arrived);
      } else if (++idle > 100) {
        sleep_on(at_, std::chrono::milliseconds(20));
      }
    }
  }

 private:
  void handle(endpoint& from, const frame& arrived) {
    if (arrived.head.kind == piece_kind) {
      auto message = pieces_.add(arrived);
      from.release();
      if (message) obey_order(from, message->head, message->bytes);
      return;
    }
    const frame_head head = arrived.head;
    const bytes payload(arrived.payload.begin(), arrived.payload.end());
    from.release();
    obey_order(from, head, payload);
  }

  void obey_order(endpoint& from, const frame_head& head, const bytes& payload) {
    const auto number = [&](std::size_t index) { return word<std::uint64_t>(payload, index); };
    auto* const address = payload.size() < 8 ? nullptr : reinterpret_cast<std::byte*>(number(0));
    switch (static_cast<order>(head.key)) {
      case order::echo: answer(from, head, payload); break;
      case order::stop_for: std::this_thread::sleep_for(std::chrono::milliseconds(word<std::uint32_t>(payload))); break;
      case order::send_many:
        for (std::uint32_t i = 0; i < word<std::uint32_t>(payload); ++i) {
          bytes one(std::max<std::size_t>(4, word<std::uint32_t>(payload, 1)), static_cast<std::byte>(i));
          std::memcpy(one.data(), &i, sizeof i);
          answer(from, head, one);
        }
        break;
      case order::allocate: {
        const auto got = memory_.allocate(number(0));
        answer(from, head, pack(reinterpret_cast<std::uint64_t>(got.address), std::uint64_t{got.tag}));
        break;
      }
      case order::free: answer(from, head, pack(std::uint64_t{memory_.free(number(0), number(1))})); break;
      case order::sum: answer(from, head, pack(test::sum_of<std::uint64_t>(address, number(1)))); break;
      case order::fill:
        std::memset(address, static_cast<int>(number(2)), number(1));
        answer(from, head, pack(std::uint64_t{1}));
        break;
      case order::leave: left_ = true; break;
    }
  }

  void answer(endpoint& to, const frame_head& head, bytes payload) {
    outbound message{{head.key, head.call, plain_kind}, std::move(payload), stream_++, 0};
    while (to.state() == endpoint_state::open && !send_some(to, message, piece_kind)) std::this_thread::yield();
  }

  transport& at_;
  base::heap& memory_;
  assembler pieces_;
  std::uint32_t stream_ = 0;
  bool left_ = false;
};

}  // namespace

void obey(transport& at, base::heap& memory, const std::function<bool()>& stop) { peer_program(at, memory).run(stop); }

}  // namespace ham::transport::conformance

// A node that has called a peer, and whatever the peer answers: each future has its value, its exception or the loss of
// the peer in the end.
// fuzz: -max_len=512 -close_fd_mask=2 -detect_leaks=0
#include <map>
#include <tuple>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"
#include "input.hpp"

namespace answers_fuzz {

using namespace ham;
using namespace ham::test;
using detail::to_byte;
using detail::wire_kind;

void nothing() {}
int number(int value) { return value; }
std::string text(const std::string& value) { return value; }
std::map<std::string, std::vector<int>> lists(int) { return {}; }

/// Calls of one peer that are under way.
struct pending {
  offload::future<void> none;
  offload::future<int> one;
  offload::future<std::string> some;
  offload::future<std::map<std::string, std::vector<int>>> many;
  offload::future<int> batched;
  offload::future<std::string> batched_too;
  std::vector<std::uint32_t> ids;

  /// The peer is gone.
  void end() {
    std::apply([](auto&... each) { (look(each), ...); }, std::tie(none, one, some, many, batched, batched_too));
  }

 private:
  template <class T>
  static void look(offload::future<T>& result) {
    fuzz::require(result.test(), "a future that does not settle when its peer is gone");
    try {
      static_cast<void>(result.get());
    } catch (const std::exception& problem) {
      fuzz::require(problem.what() != nullptr, "no text");
    }
  }
};

class stage {
 public:
  world::peer& called(pending& calls) {
    if (world_ == nullptr || world_->full()) {
      world_.reset();
      world_ = std::make_unique<world>(max_peers);
    }
    world::peer& result = world_->friendly();
    const detail::engine_scope scope(&world_->node());
    const node_t there = result.number;
    calls.none = offload::async(there, fn<&nothing>);
    calls.one = offload::async(there, fn<&number>, 1);
    calls.some = offload::async(there, fn<&text>, std::string("some"));
    calls.many = offload::async(there, fn<&lists>, 1);
    while (const auto frame = result.receive()) calls.ids.push_back(frame->first.call);
    offload::batch both(there);
    calls.batched = both.add(fn<&number>, 2);
    calls.batched_too = both.add(fn<&text>, std::string("more"));
    both.submit();
    while (const auto frame = result.receive()) {
      for (const std::size_t at : {std::size_t{4}, std::size_t{4 + 12 + 4}}) {
        std::uint32_t id = 0;
        if (frame->second.size() < at + sizeof id) continue;
        std::memcpy(&id, frame->second.data() + at, sizeof id);
        calls.ids.push_back(id);
      }
    }
    fuzz::require(calls.ids.size() == 6, "six calls");
    return result;
  }
  void step() { world_->step(1); }
  [[nodiscard]] detail::engine& node() { return world_->node(); }

 private:
  static constexpr std::size_t max_peers = 25;  // more take longer than a new node
  std::unique_ptr<world> world_;
};

/// A small number stands for a call that is there.
std::uint32_t id_of(const pending& calls, std::uint32_t number) {
  return number < 250 ? calls.ids[number % calls.ids.size()] : number;
}

void name_calls(const pending& calls, std::span<std::byte> batch_reply) {
  while (batch_reply.size() >= 8) {
    std::uint32_t words[2];
    std::memcpy(words, batch_reply.data(), sizeof words);
    words[0] = id_of(calls, words[0]);
    std::memcpy(batch_reply.data(), words, sizeof words);
    const std::size_t size = words[1] & 0x7fffffffU;
    if (batch_reply.size() - 8 < size) return;
    batch_reply = batch_reply.subspan(8 + size);
  }
}

void answer(world::peer& as, const pending& calls, fuzz::input& from) {
  constexpr wire_kind kinds[] = {wire_kind::reply, wire_kind::reply_error, wire_kind::batch_reply, wire_kind::fragment,
                                 wire_kind::goodbye};
  const wire_kind kind = kinds[from.byte() % std::size(kinds)];
  const std::uint32_t call = id_of(calls, from.byte());
  const auto piece = from.take(from.byte());
  bytes payload(piece.begin(), piece.end());
  if (kind == wire_kind::batch_reply) name_calls(calls, payload);
  as.send({0, call, to_byte(kind)}, payload);
}

}  // namespace answers_fuzz

HAM_FUZZ(from) {
  using namespace answers_fuzz;
  static stage all;
  pending calls;
  world::peer& peer = all.called(calls);
  while (!from.empty() && peer.open()) {
    answer(peer, calls, from);
    all.step();
  }
  const detail::engine_scope scope(&all.node());
  all.node().events.on_lost(peer.number, "gone");
  all.step();
  calls.end();
}

// The table of pending calls: production slot_table and call_table. A caller, the thread that receives, and a deadline
// that passes meanwhile; slots that are used again; replies that come late or name a slot of another generation.
#include "explorer/production.hpp"
// The production code, with the shadows:
#include "core/call_table.cpp"
#include "core/slot_table.cpp"

namespace {

using namespace ham::detail;

constexpr ham::node_t target = 1;

/// What the wire brings: the id of a call; 0: nothing. Release and acquire, as a ring has.
struct job {
  waiter lock;
  call_table calls{nullptr, lock};
  std::atomic<std::uint32_t> sent[3]{};
  std::uint32_t ids[3]{};
};

/// With room in the table: to grow is not what is modelled.
job* make() {
  auto* const own = new job;
  own->calls.cancel(own->calls.claim());
  own->calls.detach_after_fork({});  // the bias of its lock is nobody's
  return own;
}

std::uint32_t* result_of(call_slot& slot) { return reinterpret_cast<std::uint32_t*>(slot.storage); }

/// What call_sender does with a slot, then the commit of a frame.
call_slot& call(job& own, unsigned number) {
  call_slot& slot = own.calls.claim();
  slot.node.store(target, std::memory_order_relaxed);
  slot.deadline_ns = 10;
  slot.state.store(slot_state::pending, std::memory_order_relaxed);
  slot.reply_due.store(true, std::memory_order_release);
  own.ids[number] = slot.id.load(std::memory_order_relaxed);
  own.sent[number].store(own.ids[number] + 1, std::memory_order_release);
  return slot;
}

void read(call_slot& slot, unsigned number) {
  while (!slot.settled()) model::pause();
  if (slot.state.load(std::memory_order_relaxed) != slot_state::value) return;
  model::check(model::plain_load(result_of(slot), model::place::current()) == 100 + number,
               "the result of another call");
}

/// One reply, as message_receiver takes it.
void answer(job& own, std::uint32_t id, unsigned number) {
  std::lock_guard guard(own.lock);
  call_slot* slot = nullptr;
  try {
    slot = own.calls.take_reply(id, target);
  } catch (const ham::protocol_error&) {
    model::check(false, "a reply to no call");
  }
  if (slot == nullptr) return;
  model::plain_store(result_of(*slot), 100 + number, model::place::current());
  own.calls.settle(*slot, slot_state::value);
}

void reply(job& own, unsigned number) {
  std::uint32_t id = 0;
  while ((id = own.sent[number].load(std::memory_order_acquire)) == 0) model::pause();
  answer(own, id - 1, number);
}

/// Calls, one after the other, which use one slot again and again.
void calls(unsigned count) {
  auto* own = make();
  model::start_thread([=] {
    for (unsigned i = 0; i < count; ++i) {
      call_slot& slot = call(*own, i);
      read(slot, i);
      own->calls.release(slot);
    }
  });
  model::start_thread([=] {
    for (unsigned i = 0; i < count; ++i) reply(*own, i);
  });
}
void used_again() { calls(2); }

/// The deadline of the first call passes, perhaps; its slot must not serve the second one before the late reply.
void deadline_and_reply() {
  auto* own = make();
  model::start_thread([=] {
    call_slot& first = call(*own, 0);
    {
      std::lock_guard guard(own->lock);
      if (!first.settled()) own->calls.fail(first, {});
    }
    read(first, 0);
    own->calls.release(first);
    call_slot& second = call(*own, 1);
    read(second, 1);
    own->calls.release(second);
  });
  model::start_thread([=] {
    reply(*own, 0);
    reply(*own, 1);
  });
}

/// Nobody asks for the result any more while the reply comes.
void detached() {
  auto* own = make();
  model::start_thread([=] {
    call_slot& first = call(*own, 0);
    first.function = reinterpret_cast<ham::msg::handler_entry*>(8);
    if (!own->calls.abandon(first)) own->calls.release(first);
    call_slot& second = call(*own, 1);
    read(second, 1);
    own->calls.release(second);
  });
  model::start_thread([=] {
    reply(*own, 0);
    reply(*own, 1);
  });
}

/// A peer that answers twice: the second reply is to no call, whatever the slot serves by then.
void stale_reply() {
  auto* own = make();
  model::start_thread([=] {
    call_slot& first = call(*own, 0);
    read(first, 0);
    own->calls.release(first);
    call_slot& second = call(*own, 1);
    read(second, 1);
    own->calls.release(second);
  });
  model::start_thread([=] {
    reply(*own, 0);
    bool refused = false;
    {
      std::lock_guard guard(own->lock);
      try {
        refused = own->calls.take_reply(own->sent[0].load(std::memory_order_relaxed) - 1, target) == nullptr;
      } catch (const ham::protocol_error&) {
        refused = true;
      }
    }
    model::check(refused, "a second reply was taken");
    reply(*own, 1);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return model::run(argc, argv,
                    {{"slots used again", used_again, {}, 3},
                     {"deadline and reply", deadline_and_reply, {}, 2, 3},
                     {"detached", detached, {}, 2, 3},
                     {"a second reply", stale_reply, {}, 3, 4}});
}

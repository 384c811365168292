#!/usr/bin/env python3
"""Copies the library's sources with bugs planted in them, each of which one number switches on at run time.

The simulation must find every one of them (tests/sim/CMakeLists.txt): this is how we know that it would find others.
Usage: planted_bugs.py SOURCE_TREE COPY          writes COPY/src, COPY/include and COPY/planted_names.hpp
       planted_bugs.py --list                    number, name and meaning of each, options that bring it out, and what
                                                 the simulation then says, or how that begins, with | between
       planted_bugs.py --rows PROGRAM            rows of the table in docs/testing.md, with seeds that PROGRAM finds
       planted_bugs.py --check PAGE              whether the table there is that of these bugs and options
"""
import os
import re
import subprocess
import sys

# name, what is wrong, file, the text there, what stands for it ({bug}: this bug is switched on), a plan that finds it
BUGS = [
    ("lost-wake-up", "a node that goes to sleep does not look again at the rings that it polled",
     "src/transport/common/ring_transport.cpp",
     "  for (ring_endpoint* one : hot_) quiet = quiet && one->reader().empty();\n",
     "  for (ring_endpoint* one : hot_) quiet = quiet && ({bug} || one->reader().empty());\n"),
    ("no-fence-in-arm", "a node goes to sleep without forcing its senders' stores out",
     "src/transport/common/ring_transport.cpp",
     "  if (base::heavy_fence() || !orders_senders_) return true;\n",
     "  if ({bug} || base::heavy_fence() || !orders_senders_) return true;\n"),
    ("slot-without-generation", "a slot is used again under the same number while a late reply to its first call is due",
     "src/core/slot_table.hpp",
     "    slot.id.store(slot.id.load(std::memory_order_relaxed) + (1U << index_bits), std::memory_order_relaxed);\n",
     "    if (!{bug})\n"
     "      slot.id.store(slot.id.load(std::memory_order_relaxed) + (1U << index_bits), std::memory_order_relaxed);\n",
     "src/core/call_table.cpp",
     "  if (slot.reply_due)\n    slot.orphan = true;\n",
     "  if (slot.reply_due && !{bug})\n    slot.orphan = true;\n"),
    ("late-reply-forgotten", "a slot is given back while a late reply to its call is due",
     "src/core/call_table.cpp",
     "  if (!slot.reply_due.load(std::memory_order_acquire)) [[likely]] {\n",
     "  if ({bug} || !slot.reply_due.load(std::memory_order_acquire)) [[likely]] {\n"),
    ("abandoned-slot-kept", "the slot of a call that nobody waits for is not given back when the reply comes",
     "src/core/call_table.cpp",
     "  if (slot.orphan)\n    slots_.release(slot);\n  else\n    slot.reply_due.store(false",
     "  if (slot.orphan) {\n    if (!{bug}) slots_.release(slot);\n  } else\n    slot.reply_due.store(false"),
    ("room-kept", "a node keeps the room of messages that it had set aside",
     "src/core/dispatcher.cpp",
     "  of_.room.give(message.bytes.size());\n  --from.waiting;\n",
     "  if (!{bug}) of_.room.give(message.bytes.size());\n  --from.waiting;\n"),
    ("call-overtakes", "a call begins while earlier ones of its peer wait",
     "src/core/dispatcher.cpp",
     "must_wait(from) || has_waiting(from) ||",
     "must_wait(from) || (!{bug} && has_waiting(from)) ||"),
    ("not-run-of-the-living", "what a node has not taken is said never to run though its process lives",
     "src/core/connections.cpp",
     "  if (how == peer_end::process_died && gone != nullptr) {\n",
     "  if (({bug} || how == peer_end::process_died) && gone != nullptr) {\n"),
    ("not-run-off-by-one", "the last call that a dead node took is said never to have run",
     "src/core/connections.cpp",
     "taken <= slot.position ?",
     "taken <= slot.position + ({bug} ? 1 : 0) ?"),
    ("lock-owner-ignored", "a biased lock is taken while its former owner is still inside",
     "src/base/biased_lock.hpp",
     "    if (busy_.load(std::memory_order_acquire) != 0) {  // the owner",
     "    if (!{bug} && busy_.load(std::memory_order_acquire) != 0) {  // the owner"),
    ("lock-without-fence", "the bias of a lock is revoked without forcing its owner's stores out",
     "src/base/biased_lock.hpp",
     "        heavy_fence_private();\n",
     "        if (!{bug}) heavy_fence_private();\n"),
    ("context-not-woken", "the thread of a context is not woken for a call",
     "src/runtime/contexts.cpp",
     "  to.wake.notify_one();\n  return true;\n",
     "  if (!{bug}) to.wake.notify_one();\n  return true;\n"),
    ("context-unordered", "a context begins the latest of its calls first",
     "src/runtime/contexts.cpp",
     "    stored_message message = std::move(self.queue.front());\n    self.queue.pop_front();\n",
     "    stored_message message = std::move({bug} ? self.queue.back() : self.queue.front());\n"
     "    {bug} ? self.queue.pop_back() : self.queue.pop_front();\n"),
    ("credit-told-twice", "a relayed frame is acknowledged twice",
     "src/core/relay_transport.cpp",
     "    acknowledged_ = taken_;\n",
     "    if (!{bug}) acknowledged_ = taken_;\n"),
    ("settled-twice", "a deadline settles a call that has settled",
     "src/core/call_table.hpp",
     "    if (slot.state.load() != slot_state::pending) return;\n    // Detached",
     "    if (!{bug} && slot.state.load() != slot_state::pending) return;\n    // Detached",
     "src/core/call_table.hpp",
     "        if (!slot->settled() && slot->id.load(",
     "        if (({bug} || !slot->settled()) && slot->id.load("),
    ("continuation-lost", "a continuation is attached without the lock under which calls settle",
     "src/core/call_table.hpp",
     "      std::lock_guard guard(waiter_);\n      alone(slot.node",
     "      std::unique_lock guard(waiter_, std::defer_lock);\n      if (!{bug}) guard.lock();\n      alone(slot.node"),
    ("settled-beside", "a deadline, or a stop, settles a call while the thread that waits for it takes the reply",
     "src/core/peer.hpp",
     "    if (to != nullptr && to->shared() != nullptr) [[unlikely]]\n      lock_ = to->shared();\n",
     "    if (!{bug} && to != nullptr && to->shared() != nullptr) [[unlikely]]\n      lock_ = to->shared();\n"),
    ("queues-kept", "a function that polls its stop token keeps back what waits in full queues",
     "src/runtime/engine_stops.cpp",
     "  if (peers.filled_outboxes().load(std::memory_order_relaxed) != 0) [[unlikely]]\n",
     "  if (!{bug} && peers.filled_outboxes().load(std::memory_order_relaxed) != 0) [[unlikely]]\n"),
    ("chunk-repeated", "a map repeats what is not idempotent when its node is lost",
     "src/runtime/pool_map.cpp",
     "      if (!lost || !plan_.may_repeat || ++one.part.losses > pool_->max_repetitions()) {\n",
     "      if (!lost || (!plan_.may_repeat && !{bug}) || ++one.part.losses > pool_->max_repetitions()) {\n"),
    ("byte-not-put", "the last byte that travels in the message of a call is not written before it",
     "src/runtime/then_call.cpp",
     "  offload::detail::store_local(*call.at, {address, tag}, rest.data(), size);\n",
     "  offload::detail::store_local(*call.at, {address, tag}, rest.data(), size - ({bug} && size != 0 ? 1 : 0));\n"),
    ("device-reply-too-early", "a device says that a reply is there before it has written it",
     "include/ham/device/mailbox.hpp",
     "    note_arrival(link, slot);\n    link.store_pair(",
     "    if ({bug}) link.write_word(slot.what, kept.words[at].first);\n    note_arrival(link, slot);\n    link.store_pair("),
    ("device-reply-kept", "a device keeps the reply to a call while the next one waits for what the host does then",
     "include/ham/device/loop.hpp",
     "  return own.short_place_of(number) == number + 1;\n",
     "  return {bug} || own.short_place_of(number) == number + 1;\n",
     "src/transport/cuda/emulated_lane.cpp",
     "  if (kept_ != nullptr) device::detail::send_kept(",
     "  if (kept_ != nullptr && !{bug}) device::detail::send_kept("),
    ("device-last-barrier", "a block replies while some of its threads still execute the call",
     "include/ham/device/loop.hpp",
     "    run_common_part(with, unit, own);\n    unit.sync_block();\n",
     "    run_common_part(with, unit, own);\n    if (!{bug}) unit.sync_block();\n"),
    ("device-left-behind", "a call that comes while the resident kernel leaves does not start it again",
     "src/runtime/device_residency.cpp",
     "      if (in_queues_ != 0 || !waiting_.empty())\n        launch_or_end(lock);\n",
     "      if ({bug} && in_queues_ == 0 && waiting_.empty()) leaving_ = false;\n"
     "      if ({bug} && leaving_) {\n        leaving_ = false;\n        work_.wait(lock);\n"
     "      } else if (in_queues_ != 0 || !waiting_.empty())\n        launch_or_end(lock);\n"),
    ("device-not-absent", "a function that needs the absence of the resident kernel begins before that has left",
     "src/runtime/device_residency.cpp",
     "  return away_;\n",
     "  return away_ || ({bug} && leaving_);\n"),
    ("device-slot-overwritten", "a call is written into a slot whose last call has not been answered",
     "src/runtime/device_calls.hpp",
     "return sent - consumed() == device::detail::queue_slots;",
     "return sent - consumed() == device::detail::queue_slots + ({bug} ? 1 : 0);"),
    ("device-stop-misdirected", "a device is told to stop the call behind the one that is to stop",
     "src/runtime/device_stops.cpp",
     "      wire::send_stop(driver_->queues()[i], position);\n",
     "      wire::send_stop(driver_->queues()[i], position + ({bug} ? 1 : 0));\n"),
    ("device-not-drained", "a context is said to be drained while a device executes calls of it",
     "src/runtime/api.cpp",
     "  ham::detail::await_calls_on_device(here);\n",
     "  if (!{bug}) ham::detail::await_calls_on_device(here);\n"),
    ("epoch-not-bumped", "a process that is started again has the epoch of the one before",
     "src/job/supervisor_restarts.cpp",
     "    fresh.epoch = ++one.epoch;\n",
     "    fresh.epoch = {bug} ? one.epoch : ++one.epoch;\n"),
    ("repeated-too-often", "a call that `retry` sends is repeated once more than it may be",
     "src/runtime/retry.cpp",
     "    if (!lost || left_ == 0 || is_stopped(*target_)) {\n",
     "    if (!lost || (left_ == 0 && !({bug} && loss_ != nullptr && !std::exchange(goes_on_, true))) || is_stopped(*target_)) {\n",
     "src/runtime/retry.cpp",
     "    --left_;\n",
     "    if (left_ != 0) --left_;\n",
     "src/runtime/retry.cpp",
     "  bool may_have_run_ = false;\n",
     "  bool may_have_run_ = false;\n  [[maybe_unused]] bool goes_on_ = false;\n"),
    ("run-forgotten", "a repeated call that may have run is said not to have run because its last repetition has not",
     "src/runtime/retry.cpp",
     "    if (lost && !may_have_run_) {\n",
     "    if (lost && (!may_have_run_ || {bug})) {\n"),
    ("given-up-silently", "what waits for a restart is not told that the node is given up",
     "src/core/replacements.cpp",
     "  if (now != phase::restarting) waiting_.release(number);\n",
     "  if (now != phase::restarting && !({bug} && now == phase::given_up)) waiting_.release(number);\n"),
    ("called-too-early", "calls reach a new process before `on_respawn` has prepared it",
     "src/job/supervisor_restarts.cpp",
     "    host_.numbers.set(number, process, phase::restarting);\n  }\n  starter_.announce_numbers();\n  return fresh;\n",
     "    host_.numbers.set(number, process, {bug} ? phase::up : phase::restarting);\n  }\n"
     "  starter_.announce_numbers();\n  return fresh;\n"),
    ("old-handle-taken", "what a handle of an earlier process names is looked for on the next one",
     "src/runtime/engine_numbers.cpp",
     "  if (to.context == 0 && node == to.node) return",
     "  if (to.context == 0 && ({bug} || node == to.node)) return"),
    ("watchdog-too-early", "a device function that is to stop is taken for one that hangs while it waits behind others",
     "src/runtime/device_stops.cpp",
     "      if (!begun && (position != queues_[i].consumed() || !is_first(*one))) continue;\n",
     "      if (!{bug} && !begun && (position != queues_[i].consumed() || !is_first(*one))) continue;\n"),
    ("hang-not-ended", "a node that hangs is reported, and its process is left alone",
     "src/job/supervisor_hangs.cpp",
     "    host_.end_hanging(one.process, ",
     "    if (!{bug}) host_.end_hanging(one.process, "),
    ("credit-told-early", "the lines of a frame may be written again while it is read",
     "src/transport/common/ring_reader.hpp",
     "    held_ = count;\n",
     "    held_ = count;\n    if ({bug}) control_->released.store(position_ + count, std::memory_order_release);\n"),
    ("relay-credit-told-early", "relayed frames are acknowledged that have not come yet",
     "src/core/relay_transport.cpp",
     "    msg::writer(bytes, sizeof bytes).number(taken_);\n",
     "    msg::writer(bytes, sizeof bytes).number(taken_ + ({bug} ? relay_credit_step / 2 : 0));\n"),
    ("relay-credit-kept", "relayed frames are never acknowledged",
     "src/core/relay_transport.cpp",
     "    if (taken_ - acknowledged_ < relay_credit_step) return;\n",
     "    if ({bug} || taken_ - acknowledged_ < relay_credit_step) return;\n"),
    ("reply-before-call", "a call without a result is answered before its function runs",
     "include/ham/offload/detail/call_message.hpp",
     "      callable(static_cast<msg::decode_result_t<Params>&&>(values)...);\n"
     "      if (wants_reply(call)) reply_nothing(call);\n",
     "      if ({bug} && wants_reply(call)) reply_nothing(call);\n"
     "      callable(static_cast<msg::decode_result_t<Params>&&>(values)...);\n"
     "      if (!{bug} && wants_reply(call)) reply_nothing(call);\n"),
    ("last-answer-lost", "what a node has sent, and has woken nobody for when it died, is not read",
     "src/core/connections.cpp",
     "  receive_last_answers(who);\n",
     "  if (!{bug} || how != peer_end::process_died) receive_last_answers(who);\n"),
    ("death-not-told", "a node that sleeps is not woken when another one has died",
     "src/core/peer_events.cpp",
     "void peer_events::post(peer_event what) {\n",
     "void peer_events::post(peer_event what) {\n  const bool is_end = what.connected == nullptr;\n",
     "src/core/peer_events.cpp",
     "  waiter_.wake_if_asleep();\n  if (report_listener",
     "  if (!({bug} && is_end)) waiter_.wake_if_asleep();\n  if (report_listener"),
    ("stopped-and-repeated", "a call that `retry` sends is repeated though it was stopped",
     "src/runtime/repeatable_call.cpp",
     "  return at != nullptr && at->repeated.is_stopped(future);\n",
     "  return at != nullptr && !{bug} && at->repeated.is_stopped(future);\n"),
    ("moved-and-not-run", "a transfer that was stopped while it moved is said not to have run",
     "src/runtime/stoppable_transfer.cpp",
     "      throw stopped_transfer(what_, done_ != 0 || why.outcome() != call_outcome::not_run);\n",
     "      throw stopped_transfer(what_, !{bug} && (done_ != 0 || why.outcome() != call_outcome::not_run));\n"),
    ("stop-not-seen", "a transfer that was stopped before it began is made",
     "src/runtime/stoppable_transfer.cpp",
     "  [[nodiscard]] future<void> start() {\n",
     "  [[nodiscard]] future<void> start() {\n    if ({bug}) const_cast<std::stop_token&>(token_) = std::stop_token();\n"),
    ("process-not-ended", "`kill_call` says that it has ended the process of a call, and has not",
     "src/runtime/engine_stops.cpp",
     "  if (const int error = base::kill_child(process); error != 0)\n",
     "  if (const int error = {bug} ? 0 : base::kill_child(process); error != 0)\n"),
    ("broadcast-error-lost", "a node that has not got a part of a broadcast is said to have all of it",
     "src/runtime/group_records.cpp",
     "      if (joined.ok(at) && !part.ok(at)) group_result_access::fail(joined, at, part.error(at));\n",
     "      if (!{bug} && joined.ok(at) && !part.ok(at)) group_result_access::fail(joined, at, part.error(at));\n"),
    ("heartbeat-ignored", "a sign of life of a long function is not counted",
     "src/job/supervisor_hangs.cpp",
     "  if (found != nodes_.end()) found->second.hang.beat(base::now_ns());\n",
     "  if (!{bug} && found != nodes_.end()) found->second.hang.beat(base::now_ns());\n"),
    ("restart-told-early", "a number is said to have another process before `on_respawn` has prepared it",
     "src/job/supervisor_restarts.cpp",
     "  starter_.announce_numbers();\n  return fresh;\n",
     "  starter_.announce_numbers();\n"
     "  if ({bug}) host_.locked([&] { host_.reports.add(offload::event_kind::respawned, number, {}); });\n"
     "  return fresh;\n",
     "src/job/supervisor_restarts.cpp",
     "    host_.reports.add(offload::event_kind::respawned, number, reasons.empty()",
     "    if (!{bug}) host_.reports.add(offload::event_kind::respawned, number, reasons.empty()"),
    ("late-reply-kept", "the slot of a call that was given up is not given back when its late reply comes",
     "src/core/call_table.cpp",
     "void call_table::drop_reply(call_slot& slot) noexcept {\n",
     "void call_table::drop_reply(call_slot& slot) noexcept {\n  if ({bug} && slot.orphan && slot.settled()) return;\n"),
    ("event-left-behind", "what happens to nodes while the handler of an event runs waits for the next event",
     "src/core/event_reports.cpp",
     "  due_to_run_ = !waiting_.empty() || (memory && kinds_beyond() != 0);\n",
     "  due_to_run_ = !{bug} && (!waiting_.empty() || (memory && kinds_beyond() != 0));\n"),
    ("failed-replay-untold", "a replay that fails has its nodes told of it in place of the one before, of which they were not told yet",
     "src/runtime/graph_replays.cpp",
     "    if (one != nullptr && one->failed_where != nullptr) [[unlikely]] {\n",
     "    if (!{bug} && one != nullptr && one->failed_where != nullptr) [[unlikely]] {\n"),
    ("ping-lost", "a ping that finds its node busy is forgotten",
     "src/core/dispatcher.cpp",
     "  std::list<stored_message> message;\n  message.push_back({&from, head,",
     "  if ({bug} && head.is_call() && head.id() == no_reply) return;\n"
     "  std::list<stored_message> message;\n  message.push_back({&from, head,"),
]

DEVICES = "--devices some --medium sim"
RESTARTS = "--supervised some --medium sim --without group,graph,event-loop,block,then-call,stream,long-message,kill-host"

# Options of ham_sim that bring out a bug which is seldom found otherwise.
FOCUS = {
    "device-reply-too-early": DEVICES,
    "device-reply-kept": DEVICES,
    "device-last-barrier": DEVICES,
    "device-left-behind": DEVICES,
    "device-not-absent": DEVICES,
    "device-slot-overwritten": DEVICES,
    "device-stop-misdirected": DEVICES,
    "device-not-drained": DEVICES,
    "watchdog-too-early": DEVICES + " --verbs all",
    "epoch-not-bumped": RESTARTS,
    "repeated-too-often": RESTARTS,
    "run-forgotten": RESTARTS,
    "given-up-silently": RESTARTS,
    "called-too-early": RESTARTS,
    "old-handle-taken": RESTARTS,
    "hang-not-ended": RESTARTS,
    "heartbeat-ignored": RESTARTS,
    "restart-told-early": RESTARTS,
    "lost-wake-up": "--medium loopback",
    "no-fence-in-arm": "--medium loopback",
    "continuation-lost": "--kinds async,then,graph",
    "settled-beside": "--medium sim --steps 600 --kinds sync,deadline,cancel",
    "lock-without-fence": "--medium sim --kinds sync,async,ping,batch,deadline,then,cancel",
    "queues-kept": "--medium sim --kinds async,ping,batch,cancel",
    "chunk-repeated": "--kinds pool,restart,add-node,remove-node,stop,cut,kill,kill-host",
    "stopped-and-repeated": "--supervised some --medium sim --verbs all --without group,graph,event-loop,block,then-call,stream,long-message,kill-host",
    "moved-and-not-run": "--verbs all --medium sim --devices none --supervised none",
    "stop-not-seen": "--verbs all",
    "process-not-ended": "--verbs all --medium sim",
    "broadcast-error-lost": "--verbs all",
    "event-left-behind": "--medium sim --kinds sync,ping,add-node,remove-node,kill,restart,deadline,async,events",
    "failed-replay-untold": "--verbs all --kinds graph-replay,long-message,batch,ping",
    "credit-told-early": "--medium loopback --steps 400 --kinds sync,async,batch,context,nested,stream",
}

# How the simulation fails with each of them, mostly: what is printed of a seed, without its numbers, or how that begins.
SAYS = {
    "lost-wake-up": ("nothing comes on",),
    "no-fence-in-arm": ("nothing comes on",),
    "slot-without-generation": ("node is lost without a reason", "call to node gives", "call to node has a result, and has not run"),
    "late-reply-forgotten": ("node is lost without a reason", "a node is lost without a reason"),
    "abandoned-slot-kept": ("node has left over: pending calls",),
    "room-kept": ("node has left over: room of calls",),
    "call-overtakes": ("call to node begins after a later one of the same sender",),
    "not-run-of-the-living": ("call to node is said never to run, and has run", "call to node runs after its sender was told"),
    "not-run-off-by-one": ("call to node is said never to run, and has run",),
    "lock-owner-ignored": ("it crashes",),
    "lock-without-fence": ("it crashes", "nothing comes on"),
    "context-not-woken": ("nothing comes on",),
    "context-unordered": ("call to node begins after a later one of the same sender",),
    "credit-told-twice": ("node is lost without a reason", "a node is lost without a reason"),
    "settled-twice": ("it crashes",),
    "continuation-lost": ("nothing comes on",),
    "settled-beside": ("it crashes",),
    "queues-kept": ("call to node was stopped, and polls in vain",),
    "chunk-repeated": ("call to node runs twice",),
    "byte-not-put": ("call to node gives",),
    "device-reply-too-early": ("call to node gives",),
    "device-reply-kept": ("a device keeps a reply while a function asks whether it is to stop",),
    "device-last-barrier": ("call to node has a result while threads execute it",),
    "device-left-behind": ("nothing comes on",),
    "device-not-absent": ("the resident kernel is there while a function has the device to itself",),
    "device-slot-overwritten": ("nothing comes on", "call to node has a result, and has not run"),
    "device-stop-misdirected": ("call to node was stopped, and polls in vain",),
    "device-not-drained": ("call to node has not run",),
    "epoch-not-bumped": ("process of node has epoch behind",),
    "repeated-too-often": ("call to node runs more often than it may",),
    "run-forgotten": ("call to node is said never to run, and has run",),
    "given-up-silently": ("nothing comes on",),
    "called-too-early": ("call to node runs on a process that is not prepared",),
    "old-handle-taken": ("it crashes",),
    "watchdog-too-early": ("node is lost without a reason",),
    "hang-not-ended": ("call to node gives",),
    "credit-told-early": ("node is lost without a reason", "a node is lost without a reason", "nothing comes on"),
    "relay-credit-told-early": ("a relayed frame is acknowledged that was not taken",),
    "relay-credit-kept": ("the host has left over: bytes that are not acknowledged",),
    "reply-before-call": ("call to node is answered before its function has ended",),
    "last-answer-lost": ("call to node fails, though it was answered",),
    "death-not-told": ("node has not ended",),
    "stopped-and-repeated": ("call to node runs more often than it may",),
    "moved-and-not-run": ("memory of node holds other bytes than a transfer that may be stopped has moved",),
    "stop-not-seen": ("a transfer has moved bytes that was stopped before it began",),
    "process-not-ended": ("the process of a call that was to be ended with it goes on", "call to node has a result, and its process was to be ended"),
    "broadcast-error-lost": ("memory of node holds other bytes than were sent to all",),
    "heartbeat-ignored": ("node is lost without a reason", "the process of node is reported as lost without a reason", "node is given up before its limit"),
    "restart-told-early": ("node is reported to be started again more often than it was",),
    "late-reply-kept": ("node has left over:",),
    "event-left-behind": ("the program is not told of",),
    "failed-replay-untold": ("call to node was stopped, and polls in vain",),
    "ping-lost": ("call to node was sent, and has not run",),
}

SWITCH = 'extern "C" int ham_planted_bug;\n'


def plant(tree, copy):
    texts = {}
    for number, bug in enumerate(BUGS, 1):
        for file, old, new in zip(bug[2::3], bug[3::3], bug[4::3]):
            text = texts.get(file) or open(os.path.join(tree, file), encoding="utf-8").read()
            if text.count(old) != 1:
                sys.exit(f"{file}: the place of the planted bug {bug[0]} is there {text.count(old)} times; "
                         f"adapt tests/sim/planted_bugs.py to the change, so that the bug stays what it is")
            texts[file] = text.replace(old, new.replace("{bug}", f"(ham_planted_bug == {number})"))
    there_is = set()
    for folder in ("src", "include"):
        for where, folders, files in os.walk(os.path.join(tree, folder)):
            to = os.path.join(copy, os.path.relpath(where, tree))
            os.makedirs(to, exist_ok=True)
            for name in files:
                file = os.path.relpath(os.path.join(where, name), tree)
                text = texts.get(file)
                if text is None:
                    text = open(os.path.join(tree, file), encoding="utf-8").read()
                elif "#pragma once\n" in text:
                    text = text.replace("#pragma once\n", "#pragma once\n" + SWITCH, 1)
                else:
                    text = SWITCH + text
                there = os.path.join(copy, file)
                there_is.add(there)
                if not os.path.exists(there) or open(there, encoding="utf-8").read() != text:
                    open(there, "w", encoding="utf-8").write(text)
    for folder in ("src", "include"):
        for where, folders, files in os.walk(os.path.join(copy, folder)):
            for name in files:
                if os.path.join(where, name) not in there_is:
                    os.remove(os.path.join(where, name))

    names = ", ".join(f'"{bug[0]}"' for bug in BUGS)
    header = os.path.join(copy, "planted_names.hpp")
    text = f"// Made by planted_bugs.py.\nconstexpr const char* planted_names[] = {{{names}}};\n"
    if not os.path.exists(header) or open(header, encoding="utf-8").read() != text:
        open(header, "w", encoding="utf-8").write(text)


def row_of(bug, seed, says):
    options = FOCUS.get(bug[0], "")
    return f"| `{bug[0]}` | {bug[1]} | {f'`{options}`' if options else ''} | {seed} | {says} |"


def print_rows(program):
    for bug in BUGS:
        kinds = [f"--expect-failure={kind}" for kind in SAYS[bug[0]]]
        found = subprocess.run([program, "--plant", bug[0], *FOCUS.get(bug[0], "").split(), "--seeds", "10000", "--jobs",
                                "1", "--until-failure", *kinds], capture_output=True, text=True).stdout
        seed = re.search(r"^seed (\d+): (?!not as expected)(.*)$", found, re.MULTILINE)
        says = re.sub(r" +", " ", seed[2].replace(" - ", " ")).strip() if seed else "nothing"
        print(row_of(bug, seed[1] if seed else "none", says), flush=True)


def check(page):
    """Seeds are those of one build, and are not compared."""
    rows = re.findall(r"^\| `([a-z-]+)` \| .* \| (\d+) \| ([^|]*) \|$", open(page, encoding="utf-8").read(), re.MULTILINE)
    lines = set(open(page, encoding="utf-8").read().splitlines())
    wrong = []
    if [name for name, _, _ in rows] != [bug[0] for bug in BUGS]:
        wrong.append("the bugs are others, or in another order")
    for name, seed, says in rows:
        bug = next((bug for bug in BUGS if bug[0] == name), None)
        if bug is None:
            continue
        if row_of(bug, seed, says) not in lines:
            wrong.append(f"not there: {row_of(bug, seed, says)}")
        if not says.startswith(SAYS[name]):
            wrong.append(f"{name}: its test does not count what the page says of it")
    if wrong:
        sys.exit(f"{page}: the table of planted bugs is not that of tests/sim/planted_bugs.py (--rows makes it):\n  " +
                 "\n  ".join(wrong))


def main():
    if sys.argv[1:2] == ["--rows"] and len(sys.argv) == 3:
        print_rows(sys.argv[2])
    elif sys.argv[1:2] == ["--check"] and len(sys.argv) == 3:
        check(sys.argv[2])
    elif sys.argv[1:] == ["--list"]:
        for number, bug in enumerate(BUGS, 1):
            print(number, bug[0], bug[1], FOCUS.get(bug[0], ""), "|".join(SAYS[bug[0]]), sep="\t")
    elif len(sys.argv) == 3:
        plant(sys.argv[1], sys.argv[2])
    else:
        sys.exit(__doc__)


main()

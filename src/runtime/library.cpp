// Libraries that are loaded while the job runs, and how nodes learn what others have got.
#include "ham/offload/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

#include "base/immortal.hpp"
#include "base/thread.hpp"
#include "ham/msg/library_entry.hpp"
#include "ham/msg/manifest.hpp"
#include "ham/msg/translation.hpp"
#include "ham/offload/call.hpp"
#include "runtime/engine.hpp"
#include "runtime/group_calls.hpp"

namespace ham::inline v1 {

namespace detail {
namespace {

// ---- what a node has loaded

/// A library of this process, for all of its runtimes. Never destroyed: entries of the handler table refer to it.
struct loaded_library {
  std::string path;  ///< does not change: calls that are refused name it
  void* handle = nullptr;
  std::vector<msg::handler_entry*> entries;
  std::atomic<int> running{0};
  std::atomic<bool> in_use{false};
};

struct loaded_libraries {
  std::mutex mutex;  // held while one is loaded, or unloaded
  std::vector<std::unique_ptr<loaded_library>> all;
};
loaded_libraries& libraries() { return base::immortal<loaded_libraries>(); }

/// What peers reach when they call a function of a library, also by a table of before that was taken away. It is
/// counted first, and then checks that the library is there; who unloads it does it the other way round.
void run_library_call(void* buffer) {
  auto& call = *static_cast<incoming_call*>(buffer);
  const auto& entry = static_cast<const msg::library_entry&>(*call.function);
  auto& of = *static_cast<loaded_library*>(entry.owner);
  of.running.fetch_add(1);
  const struct ended {
    loaded_library& of;
    ~ended() { of.running.fetch_sub(1); }
  } at_end{of};
  try {
    if (!of.in_use.load()) {
      call.decoded = true;
      throw call_error("the library " + of.path + " of the function was unloaded on the node that was to run it",
                       call_error_reason::unknown_function);
    }
    entry.function.handler(buffer);
  } catch (...) {  // the exception may be of the library, too
    call_failed(call);
  }
}

/// Its number, and the names of its functions.
using library_info = std::tuple<std::uint64_t, std::vector<std::string>>;

library_info info_of(std::uint64_t number, const loaded_library& of) {
  std::vector<std::string> names;
  const msg::handler_table& table = msg::handler_table::local();
  for (const msg::handler_entry* const one : of.entries)
    if (one->kind == msg::handler_kind::call && !one->duplicate()) names.push_back(table.pretty_name(one->key()));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return {number, std::move(names)};
}

library_info load_here(const std::string& path) {
  loaded_libraries& known = libraries();
  const std::lock_guard guard(known.mutex);
  void* handle = nullptr;
  std::vector<msg::handler_entry*> entries =
      msg::handler_table::linked_by([&] { handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); });
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    throw call_error("the library " + path + " cannot be loaded on node " + std::to_string(current().self()) + " (" +
                     (why == nullptr ? "no reason is given" : why) + ")");
  }
  auto found = std::find_if(known.all.begin(), known.all.end(), [&](const auto& one) { return one->handle == handle; });
  if (found != known.all.end() && !entries.empty() && !(*found)->in_use.load()) {
    (*found)->handle = nullptr;  // it had gone behind our back: what stands in for its functions stays without
    (*found)->entries.clear();
    found = known.all.end();
  }
  if (found == known.all.end()) {
    known.all.push_back(std::make_unique<loaded_library>());
    found = std::prev(known.all.end());
    (*found)->handle = handle;
    (*found)->path = path;
  }
  loaded_library& one = **found;
  const auto number = static_cast<std::uint64_t>(found - known.all.begin());
  if (one.in_use.load()) {
    ::dlclose(handle);  // counted once
    return info_of(number, one);
  }
  if (entries.empty())
    msg::handler_table::link_again(one.entries);  // it has stayed in memory, and is not initialised again
  else
    one.entries = std::move(entries);
  one.in_use.store(true);
  msg::handler_table::add_library(&run_library_call, &one);
  return info_of(number, one);
}

[[noreturn]] void refuse_to_unload(const loaded_library& which, const std::string& why) {
  throw call_error("the library " + which.path + " cannot be unloaded on node " + std::to_string(current().self()) +
                   " (" + why + "); wait for them first");
}

/// No call begins any more. A thread of a pool, which goes back through code of the library when its call has ended,
/// gets time for that.
[[nodiscard]] bool is_left_alone(const loaded_library& which, const engine& at) {
  base::sleep_ns(2'000'000);
  return which.running.load() == 0 && !at.calls_in.runs_elsewhere();
}

void unload_here(std::uint64_t number) {
  loaded_libraries& known = libraries();
  const std::lock_guard guard(known.mutex);
  if (number >= known.all.size())
    throw call_error("node " + std::to_string(current().self()) + " has loaded no library of number " +
                     std::to_string(number));
  loaded_library& which = *known.all[number];
  if (!which.in_use.load()) return;
  engine& at = current();
  if (which.running.load(std::memory_order_acquire) != 0) refuse_to_unload(which, "calls of its functions run there");
  if (at.calls_in.runs_elsewhere()) refuse_to_unload(which, "pooled calls wait or run there");
  if (group_calls_under_way() != 0) refuse_to_unload(which, "calls of groups are under way there");
  const auto is_its = [&](const msg::handler_entry* function) {
    return std::find(which.entries.begin(), which.entries.end(), function) != which.entries.end();
  };
  at.waits.lock();
  const bool pending =
      at.calls.has_pending(at.settling_alone_with(), [&](const call_slot& slot) { return is_its(slot.function); }) ||
      at.repeated.any([&](const msg::handler_entry& function) { return is_its(&function); });
  const auto stands_for_it = [&](const msg::handler_entry& function) {
    return is_its(&function) ||
           (function.handler == &run_library_call && static_cast<const msg::library_entry&>(function).owner == &which);
  };
  const bool waiting = at.calls_in.has_deferred_of(stands_for_it) || at.thread_contexts.any([&](const auto& message) {
    return at.calls_in.has_call_of(message, stands_for_it);
  });
  at.waits.unlock();
  if (pending) refuse_to_unload(which, "it has made calls of its functions that are pending");
  if (waiting) refuse_to_unload(which, "calls of its functions wait there");
  msg::handler_table::remove_library(which.entries);
  which.in_use.store(false);
  if (!is_left_alone(which, at)) return;  // it stays in memory
  ::dlclose(which.handle);
  if (void* const stays = ::dlopen(which.path.c_str(), RTLD_NOW | RTLD_NOLOAD); stays != nullptr) {
    ::dlclose(stays);
    return;
  }
  which.handle = nullptr;  // the next library may get it
  which.entries.clear();
}

// ---- who may ask for it

/// A call that only the host, and the node itself, may make.
template <auto Function, class Param>
struct call_of_host {
  using inner = typename call_of<fn_t<decltype(Function), Function>, Param>::message;
  using result = typename call_of<fn_t<decltype(Function), Function>, Param>::result;

  struct tag {};
  static constexpr msg::handler_kind kind = msg::handler_kind::call;
  static constexpr std::size_t message_size() noexcept { return 0; }
  static std::string layout() { return inner::layout(); }
  static void handler(void* buffer) {
    auto& call = *static_cast<incoming_call*>(buffer);
    const bool is_of_graph = call.sink != nullptr;  // which says nothing of who has recorded it
    if (is_of_graph || (call.from->node != 0 && call.from->node != call.at->self())) {
      if (!is_of_graph) {  // what is none of these calls is no honest node's
        msg::reader from(call.payload);
        static_cast<void>(msg::decode<Param>(from));
        from.expect_end();
      }
      throw call_error("node " + std::to_string(call.from->node) + " may not load libraries on node " +
                       std::to_string(call.at->self()) +
                       " (only the host may, and each node for itself, by load_library)");
    }
    inner::body(call);
  }
  static result call(const destination& to, const Param& value) {
    engine& at = engine_for(to);
    const std::size_t bytes = inner::size({}, value);
    call_room room;
    if (begin_call(at, to, msg::handler_registrar<call_of_host>::entry(), bytes, &slot_value<result>::decode,
                   when_full::wait, room)) {
      reservation message(room);
      msg::writer writer(room.data, bytes);
      inner::encode(writer, {}, value);
      finish_call(at, message.release());
    }
    return offload::detail::future_access::make<result>(room.slot).get();
  }
};
using load_call = call_of_host<&load_here, std::string>;
using unload_call = call_of_host<&unload_here, std::uint64_t>;

// ---- how nodes learn of them

/// The manifest as it is now. Also libraries that were loaded in another way are in it.
std::string functions_now() {
  msg::handler_table::refresh();
  const std::vector<std::byte> bytes = msg::manifest::local().serialise();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

const msg::handler_entry* engine::asking_function() const noexcept {
  return &call_of<fn_t<std::string (*)(), &functions_now>>::message::entry();
}

/// Each thread that needs the answer asks: one that waited for another's could be what that one executes.
void engine::ask_for_functions(node_t node, std::int64_t deadline_ns) {
  destination there(node, 0, serial);
  there.deadline_ns = deadline_ns;
  const std::size_t keys = msg::handler_table::local().size();
  std::uint64_t question = 0;
  {
    const peer_hold who = peers.hold(node);
    if (!who) return;
    const std::lock_guard guard(who->sending);
    question = who->begin_question();
  }
  std::optional<std::string> bytes;
  try {
    const stop_shield unstopped;
    bytes = offload::sync(there, fn<&functions_now>);
  } catch (const deadline_exceeded&) {
    return;                      // who calls next asks again
  } catch (const call_error&) {  // another release, which does not have it
  }
  const peer_hold who = peers.hold(node);
  if (!who) return;
  std::unique_ptr<msg::translation> learned;
  try {
    if (bytes)
      learned = std::make_unique<msg::translation>(msg::manifest::local(),
                                                   msg::manifest::parse(std::as_bytes(std::span(*bytes))));
  } catch (const protocol_error& problem) {
    all_connections.fail(*who, std::string("a manifest that cannot be read: ") + problem.what());
  }
  const std::lock_guard guard(who->sending);
  who->take_answer(question, keys, learned);
}

}  // namespace detail

namespace offload {
namespace {

/// The node is asked for its functions when one is called that it is not known to have.
void forget_what_is_known(detail::engine& at, node_t process) {
  const ham::detail::peer_hold who = at.peers.hold(process);
  if (!who) return;
  std::unique_ptr<msg::translation> outdated;
  const std::lock_guard guard(who->sending);
  outdated = who->forget_functions();
}

}  // namespace

library load_library(const destination& node, const std::string& path) {
  detail::engine& at = detail::engine_for(node);
  destination where = node;
  where.node = at.process_of_handle(node);
  destination exact = where;
  exact.node = at.exactly(where.node);
  auto [number, functions] = ham::detail::load_call::call(exact, path);
  forget_what_is_known(at, where.node);
  where.deadline_ns = 0;
  where.runtime = serial_of(at);
  return {where, path, number, std::move(functions)};
}

void unload_library(const library& what) {
  detail::engine& at = detail::engine_for(what.where());
  const msg::handler_table& table = msg::handler_table::local();
  at.waits.lock();
  const bool pending = at.calls.has_pending(at.settling_alone_with(), [&](const ham::detail::call_slot& slot) {
    if (slot.node.load(std::memory_order_relaxed) != what.node() || slot.function == nullptr) return false;
    const std::string name = table.pretty_name(slot.function->key());
    return std::find(what.functions().begin(), what.functions().end(), name) != what.functions().end();
  });
  at.waits.unlock();
  if (pending)
    throw call_error("the library " + what.path() + " cannot be unloaded on node " + std::to_string(what.node()) +
                     " (calls of its functions are pending); wait for them first");
  destination exact = what.where();
  exact.node = at.exactly(what.node());  // in another process the number would be another library's
  ham::detail::unload_call::call(exact, what.number());
}

}  // namespace offload
}  // namespace ham

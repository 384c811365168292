// The object space of each node of this process.
#include "runtime/objects.hpp"

#include <sys/random.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/immortal.hpp"
#include "base/renew.hpp"
#include "core/node_loss.hpp"
#include "ham/msg/names.hpp"
#include "ham/offload/detail/object_space.hpp"
#include "ham/offload/remote.hpp"
#include "runtime/always_runs.hpp"
#include "runtime/end_of_handle.hpp"
#include "runtime/engine.hpp"
#include "runtime/forks.hpp"

namespace ham::inline v1::detail {
namespace {

struct kept_object {
  std::uint64_t tag = 0;
  std::uint64_t owner = 0;  // serial of the engine that it lives on
  object_hold hold;
};

/// What tags are made of. Peers may call anything here, so that this keeps out mistakes and not attackers.
std::uint64_t make_secret() noexcept {
  std::uint64_t secret = 0;
  if (::getrandom(&secret, sizeof secret, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof secret)) {
    secret = static_cast<std::uint64_t>(base::now_ns());
  }
  return secret;
}

/// Where a base of one type lies in objects of another one.
struct known_base {
  const std::type_info* made;
  const std::type_info* wanted;
  std::ptrdiff_t offset;
};

/// Of all nodes that live in this process. Runtimes may end behind the destructors of statics.
class object_space {
 public:
  static object_space& process() { return base::immortal<object_space>(); }

  object_id keep(std::uint64_t owner, object_hold hold) {
    kept_object fresh{0, owner, std::move(hold)};  // without memory it is destroyed behind the lock
    const std::lock_guard guard(mutex_);
    if (const auto end = ending_.find(owner); end != ending_.end() && !end->second) {
      throw object_error("the runtime of this node ends and makes no more objects");
    }
    const std::uint64_t number = last_ + 1;
    fresh.tag = tag_of(number);
    const object_id made{number, fresh.tag};
    objects_.try_emplace(number).first->second = std::move(fresh);
    last_ = number;
    return made;
  }

  object_hold find(std::uint64_t owner, object_id which) {
    const std::lock_guard guard(mutex_);
    return place_of(owner, which)->second.hold;
  }

  /// The caller destroys it, without the lock.
  object_hold take(std::uint64_t owner, object_id which) {
    const std::lock_guard guard(mutex_);
    const auto place = place_of(owner, which);
    object_hold hold = std::move(place->second.hold);
    objects_.erase(place);
    return hold;
  }

  /// Objects of `owner` are about to be destroyed because it ends.
  void begin_end(std::uint64_t owner) {
    const std::lock_guard guard(mutex_);
    ending_.try_emplace(owner, true);
  }

  /// The object of `owner` that was made last; an empty one: there is none, and none is kept any more.
  object_hold take_last(std::uint64_t owner) {
    const std::lock_guard guard(mutex_);
    for (auto place = objects_.rbegin(); place != objects_.rend(); ++place) {
      if (place->second.owner != owner) continue;
      object_hold hold = std::move(place->second.hold);
      objects_.erase(std::next(place).base());
      return hold;
    }
    ending_[owner] = false;
    return {};
  }

  bool find_base(const std::type_info& made, const std::type_info& wanted, std::ptrdiff_t& offset) {
    const std::lock_guard guard(mutex_);
    for (const known_base& one : bases_) {
      if (*one.made != made || *one.wanted != wanted) continue;
      offset = one.offset;
      return true;
    }
    return false;
  }
  void remember_base(const known_base& fresh) {
    const std::lock_guard guard(mutex_);
    bases_.push_back(fresh);
  }

 private:
  using objects = std::map<std::uint64_t, kept_object>;

  [[nodiscard]] std::uint64_t tag_of(std::uint64_t number) const noexcept {
    std::uint64_t bits = secret_ + number * 0x9e3779b97f4a7c15U;  // splitmix64
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
  }

  objects::iterator place_of(std::uint64_t owner, object_id which) {
    if (which.number == 0) throw_no_object();
    const auto place = objects_.find(which.number);
    if (place != objects_.end() && place->second.tag == which.tag && place->second.owner == owner) return place;
    if (place == objects_.end() && which.number <= last_ && which.tag == tag_of(which.number)) {
      if (ending_.contains(owner)) {  // the function that asks for it may have done something before
        throw_ending(current().self(), "its runtime ends, and has destroyed object " + std::to_string(which.number));
      }
      throw object_error("object " + std::to_string(which.number) +
                         " of this node was destroyed; its owner must outlive those that use it");
    }
    throw object_error("this node has never made object " + std::to_string(which.number) +
                       " of this handle (it is of another job, or its bytes were changed); use handles as "
                       "offload::make returns them");
  }

  std::mutex mutex_;
  objects objects_;
  std::uint64_t last_ = 0;
  std::uint64_t secret_ = make_secret();
  std::map<std::uint64_t, bool> ending_;  // owners whose end has begun; whether their objects' destructors make others
  std::vector<known_base> bases_;
};

std::string name_of(const std::type_info& type) { return msg::canonical_name(type.name()); }

engine& engine_of(node_t node) {
  engine& at = current();
  if (node != at.self() && node >= 0) {
    if (at.numbers.number_of(at.self()) == node)
      throw object_error("the object was of another process of node " + std::to_string(node) +
                         ", which has died and was started again; make it anew");
    throw object_error("the object lives on node " + std::to_string(node) + ", this is node " +
                       std::to_string(at.self()) + "; call it there");
  }
  return at;
}

}  // namespace

object_id keep_object(std::shared_ptr<void> object, const object_type& type) {
  return object_space::process().keep(serial_of(current()), {std::move(object), &type});
}

object_hold find_object(node_t node, object_id which) {
  return object_space::process().find(serial_of(engine_of(node)), which);
}

/// What is called on the object's node.
void destroy_here(node_t node, object_id which) {
  static_cast<void>(object_space::process().take(serial_of(engine_of(node)), which));
}

[[maybe_unused]] static const bool always_runs = always_run(fn<&destroy_here>);

void destroy_object(const destination& to, object_id which) {
  if (which.number == 0) throw_no_object();
  engine& at = engine_for(to);
  const engine_scope scope(&at);
  if (to.node == at.self())
    destroy_here(to.node, which);
  else
    offload::sync(to, fn<&destroy_here>, to.node, which);
}

void destroy_late(const destination& to, object_id which) noexcept {
  give_back([&] { return offload::async(to, fn<&destroy_here>, to.node, which); });
}

bool destroy_at_end(std::uint64_t runtime, node_t node, object_id which, std::int64_t limit_ns) noexcept {
  try {
    engine* const at = find_engine(runtime);
    if (at == nullptr) return true;  // its objects are gone
    const engine_scope scope(at);
    if (node != at->self()) {
      return end_handle(
          *at, node, "an object",
          [at, node, which] { return offload::try_async(at->exactly(node), fn<&destroy_here>, node, which); },
          limit_ns);
    }
    destroy_here(node, which);
  } catch (const std::exception&) {
    // the node may be gone, and its objects with it
  }
  return true;
}

bool find_base(const std::type_info& made, const std::type_info& wanted, std::ptrdiff_t& offset) {
  return object_space::process().find_base(made, wanted, offset);
}

void remember_base(const std::type_info& made, const std::type_info& wanted, std::ptrdiff_t offset) {
  object_space::process().remember_base({&made, &wanted, offset});
}

void throw_no_object() { throw object_error("the handle names no object; make one with offload::make"); }

void throw_other_type(const std::type_info& made, const std::type_info& wanted) {
  throw object_error("the object is a " + name_of(made) + ", and no " + name_of(wanted) +
                     "; use handles as offload::make returns them");
}

void destroy_objects_of(engine& at) {
  const engine_scope scope(&at);
  object_space::process().begin_end(serial_of(at));
  while (object_space::process().take_last(serial_of(at)).object != nullptr) {
  }
}

void forget_objects_after_fork() noexcept { base::renew(object_space::process()); }

}  // namespace ham::detail

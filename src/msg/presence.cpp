// What is asked whether a handler is there: a list, which few handlers are in.
#include "ham/msg/presence.hpp"

#include <map>
#include <mutex>

#include "base/immortal.hpp"

namespace ham::inline v1::msg {
namespace {

/// Never destroyed: threads may look while the process ends.
struct presence_list {
  std::mutex mutex;
  std::map<const handler_entry*, presence_function> of;
};
presence_list& listed_presence() { return base::immortal<presence_list>(); }

}  // namespace

bool set_presence(const handler_entry& of, presence_function present) {
  presence_list& all = listed_presence();
  const std::lock_guard guard(all.mutex);
  all.of[&of] = present;
  return true;
}

bool runs_here(const handler_entry& one) {
  presence_function present = nullptr;
  {
    presence_list& all = listed_presence();
    const std::lock_guard guard(all.mutex);
    const auto found = all.of.find(&one);
    if (found != all.of.end()) present = found->second;
  }
  return present == nullptr || present();
}

}  // namespace ham::msg

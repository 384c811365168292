// Stands for src/base/shared_event.hpp in the models.
#pragma once

#include "shadow/kernel.hpp"

namespace ham::inline v1::base {

inline void ring_event(int event, model::place where = model::place::current()) noexcept {
  model::kernel::events[event]->signal(where);
}

class shared_event {
 public:
  explicit shared_event(int event) : event_(event) {}
  [[nodiscard]] int fd() const noexcept { return event_; }
  void drain(model::place where = model::place::current()) noexcept { model::kernel::events[event_]->drain(where); }
  [[nodiscard]] bool wakes() const noexcept { return true; }

 private:
  int event_;
};

}  // namespace ham::base

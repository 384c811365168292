// What stands for std::atomic, std::mutex and std::thread in production code that is part of a model.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include "explorer/engine.hpp"

namespace std {  // production code names them so (production.hpp)

template <class T>
class model_atomic {
  static_assert(is_trivially_copyable_v<T> && sizeof(T) <= 8);
  using order = memory_order;
  using place = source_location;

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;

  constexpr model_atomic() noexcept = default;
  constexpr model_atomic(T value) noexcept : value_(value) {}
  model_atomic(const model_atomic&) = delete;
  model_atomic& operator=(const model_atomic&) = delete;

  T load(order how = memory_order_seq_cst, place where = place::current()) const noexcept {
    return from(model::load(&value_, sizeof(T), how, where));
  }
  void store(T value, order how = memory_order_seq_cst, place where = place::current()) noexcept {
    model::store(&value_, sizeof(T), bits(value), how, where);
  }
  operator T() const noexcept { return load(); }
  T operator=(T value) noexcept {
    store(value);
    return value;
  }
  T exchange(T value, order how = memory_order_seq_cst, place where = place::current()) noexcept {
    return change([&](T) { return value; }, how, where);
  }
  bool compare_exchange_strong(T& expected, T value, order how, order failure,
                               place where = place::current()) noexcept {
    const auto old = model::update(
        &value_, sizeof(T),
        [&](uint64_t found, uint64_t& next) {
          next = bits(value);
          return found == bits(expected);
        },
        how, failure, where);
    const bool done = old == bits(expected);
    expected = from(old);
    return done;
  }
  bool compare_exchange_strong(T& expected, T value, order how = memory_order_seq_cst,
                               place where = place::current()) noexcept {
    const order failure = how == memory_order_acq_rel   ? memory_order_acquire
                          : how == memory_order_release ? memory_order_relaxed
                                                        : how;
    return compare_exchange_strong(expected, value, how, failure, where);
  }
  bool compare_exchange_weak(T& expected, T value, order how = memory_order_seq_cst,
                             place where = place::current()) noexcept {
    return compare_exchange_strong(expected, value, how, where);
  }
  T fetch_add(T by, order how = memory_order_seq_cst, place where = place::current()) noexcept {
    return change([&](T old) { return static_cast<T>(old + by); }, how, where);
  }
  T fetch_sub(T by, order how = memory_order_seq_cst, place where = place::current()) noexcept {
    return change([&](T old) { return static_cast<T>(old - by); }, how, where);
  }
  T fetch_or(T by, order how = memory_order_seq_cst, place where = place::current()) noexcept {
    return change([&](T old) { return static_cast<T>(old | by); }, how, where);
  }
  T fetch_and(T by, order how = memory_order_seq_cst, place where = place::current()) noexcept {
    return change([&](T old) { return static_cast<T>(old & by); }, how, where);
  }

 private:
  static uint64_t bits(T value) noexcept {
    uint64_t all = 0;
    memcpy(&all, &value, sizeof(T));
    return all;
  }
  static T from(uint64_t all) noexcept {
    T value;
    memcpy(&value, &all, sizeof(T));
    return value;
  }
  template <class Change>
  T change(Change next_of, order how, place where) noexcept {
    return from(model::update(
        &value_, sizeof(T),
        [&](uint64_t found, uint64_t& next) {
          next = bits(next_of(from(found)));
          return true;
        },
        how, how, where));
  }

  T value_{};
};

inline void model_thread_fence(memory_order how, source_location where = source_location::current()) noexcept {
  model::fence(how, where);
}

class model_mutex {
 public:
  void lock(source_location where = source_location::current()) {
    state_.step(
        "lock", [this] { return !held_; }, [this] { return held_ = true; }, where);
  }
  bool try_lock(source_location where = source_location::current()) {
    return state_.step(
               "try to lock", {}, [this] { return held_ ? 0U : (held_ = true, 1U); }, where) != 0;
  }
  void unlock(source_location where = source_location::current()) {
    state_.step(
        "unlock", {}, [this] { return held_ = false; }, where);
  }

 private:
  model::object state_;
  bool held_ = false;
};

class model_thread {
 public:
  model_thread() = default;
  template <class Work>
  explicit model_thread(Work work, model::lifetime life = model::lifetime::ends)
      : number_(static_cast<int>(model::start_thread(std::move(work), life))) {}
  model_thread(model_thread&& other) noexcept : number_(exchange(other.number_, -1)) {}
  model_thread& operator=(model_thread&& other) noexcept {
    number_ = exchange(other.number_, -1);
    return *this;
  }
  [[nodiscard]] bool joinable() const noexcept { return number_ >= 0; }
  void join() {
    model::join_thread(static_cast<unsigned>(number_));
    number_ = -1;
  }

 private:
  int number_ = -1;
};

}  // namespace std

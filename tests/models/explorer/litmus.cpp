// The explorer against litmus tests: which outcomes the memory model allows, all of them and no other.
#include "explorer/shadow_std.hpp"

namespace {

using atomic_int = std::model_atomic<int>;
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto sequential = std::memory_order_seq_cst;

/// Objects and results of a test.
struct state {
  atomic_int x{0}, y{0};
  std::uint32_t data = 0;
  int a = -1, b = -1, c = -1, d = -1;
};

void give(const std::string& values) { model::outcome(values); }
std::string text(int a, int b) { return std::to_string(a) + std::to_string(b); }

template <class Fence>
void store_buffer(Fence first, Fence second) {
  auto* s = new state;
  model::start_thread([=] {
    s->x.store(1, relaxed);
    first();
    s->a = s->y.load(relaxed);
  });
  model::start_thread([=] {
    s->y.store(1, relaxed);
    second();
    s->b = s->x.load(relaxed);
  });
  model::at_end([=] { give(text(s->a, s->b)); });
}
using any_fence = void (*)();
void none() {}
void full() { std::model_thread_fence(sequential); }
void half() { std::model_thread_fence(std::memory_order_acq_rel); }
void light() { model::light_fence(model::place::current()); }
void heavy() {
  model::heavy_fence([](unsigned) { return true; }, model::place::current());
}
void heavy_alone() {
  model::heavy_fence([](unsigned) { return false; }, model::place::current());
}

void store_buffer_sequential() {
  auto* s = new state;
  model::start_thread([=] {
    s->x.store(1, sequential);
    s->a = s->y.load(sequential);
  });
  model::start_thread([=] {
    s->y.store(1, sequential);
    s->b = s->x.load(sequential);
  });
  model::at_end([=] { give(text(s->a, s->b)); });
}

template <std::memory_order Store, std::memory_order Load>
void message_passing() {
  auto* s = new state;
  model::start_thread([=] {
    s->x.store(1, relaxed);
    s->y.store(1, Store);
  });
  model::start_thread([=] {
    s->a = s->y.load(Load);
    s->b = s->x.load(relaxed);
  });
  model::at_end([=] { give(text(s->a, s->b)); });
}

void message_passing_by_fences() {
  auto* s = new state;
  model::start_thread([=] {
    s->x.store(1, relaxed);
    std::model_thread_fence(release);
    s->y.store(1, relaxed);
  });
  model::start_thread([=] {
    s->a = s->y.load(relaxed);
    std::model_thread_fence(acquire);
    s->b = s->x.load(relaxed);
  });
  model::at_end([=] { give(text(s->a, s->b)); });
}

void two_writers_each() {
  auto* s = new state;
  model::start_thread([=] {
    s->x.store(1, relaxed);
    s->y.store(2, relaxed);
  });
  model::start_thread([=] {
    s->y.store(1, relaxed);
    s->x.store(2, relaxed);
  });
  model::at_end([=] { give(text(s->x.load(), s->y.load())); });
}

void coherent_reads() {
  auto* s = new state;
  model::start_thread([=] { s->x.store(1, relaxed); });
  model::start_thread([=] {
    s->a = s->x.load(relaxed);
    s->b = s->x.load(relaxed);
  });
  model::at_end([=] { give(text(s->a, s->b)); });
}

template <std::memory_order Order>
void independent_readers() {
  auto* s = new state;
  constexpr auto load = Order == release ? acquire : Order;
  model::start_thread([=] { s->x.store(1, Order); });
  model::start_thread([=] { s->y.store(1, Order); });
  model::start_thread([=] {
    s->a = s->x.load(load);
    s->b = s->y.load(load);
  });
  model::start_thread([=] {
    s->c = s->y.load(load);
    s->d = s->x.load(load);
  });
  model::at_end([=] { give(text(s->a, s->b) + text(s->c, s->d)); });
}

void release_sequence() {
  auto* s = new state;
  model::start_thread([=] {
    s->x.store(1, relaxed);
    s->y.store(1, release);
  });
  model::start_thread([=] { s->y.fetch_add(1, relaxed); });
  model::start_thread([=] {
    s->a = s->y.load(acquire);
    s->b = s->x.load(relaxed);
  });
  model::at_end([=] { give(text(s->a, s->b)); });
}

void increments() {
  auto* s = new state;
  for (int i = 0; i < 3; ++i) model::start_thread([=] { s->x.fetch_add(1, relaxed); });
  model::at_end([=] { give(std::to_string(s->x.load())); });
}

void load_buffer() {
  auto* s = new state;
  model::start_thread([=] {
    s->a = s->x.load(relaxed);
    s->y.store(1, relaxed);
  });
  model::start_thread([=] {
    s->b = s->y.load(relaxed);
    s->x.store(1, relaxed);
  });
  model::at_end([=] { give(text(s->a, s->b)); });
}

template <std::memory_order Store, std::memory_order Load>
void plain_data() {
  auto* s = new state;
  model::start_thread([=] {
    model::plain_store(&s->data, 5, model::place::current());
    s->y.store(1, Store);
  });
  model::start_thread([=] {
    while (s->y.load(Load) == 0) model::pause();
    give(std::to_string(model::plain_load(&s->data, model::place::current())));
  });
}

/// What is freed was last used by another thread.
template <std::memory_order Done>
void freed() {
  auto* s = new state;
  model::start_thread([=] {
    static_cast<void>(s->x.load(relaxed));
    s->y.store(1, Done);
  });
  model::start_thread([=] {
    while (s->y.load(acquire) == 0) model::pause();
    model::free_atomic(&s->x, sizeof s->x, model::place::current());
  });
}

void nobody_comes() {
  auto* s = new state;
  model::start_thread([=] {
    while (s->y.load(acquire) == 0) model::pause();
  });
}

/// In steps, a heavy fence reaches two threads at different times.
void heavy_reaches_one_by_one() {
  auto* s = new state;
  model::start_thread([=] {
    s->x.store(1, relaxed);
    heavy();
    s->a = s->y.load(relaxed);
  });
  model::start_thread([=] {
    s->y.store(1, relaxed);
    light();
    s->b = s->x.load(relaxed);
  });
  model::start_thread([=] {
    s->y.store(1, relaxed);
    light();
    s->c = s->x.load(relaxed);
  });
  model::at_end([=] { give(text(s->a, s->b + s->c)); });
}

template <any_fence First, any_fence Second>
void buffer() {
  store_buffer(First, Second);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> all{"00", "01", "10", "11"};
  const std::vector<std::string> not_both_old{"!00", "01", "10", "11"};
  const std::vector<std::string> in_order{"00", "01", "!10", "11"};
  return model::run(argc, argv,
                    {
                        {"store buffer", buffer<none, none>, all},
                        {"store buffer, acq_rel fences", buffer<half, half>, all},
                        {"store buffer, fences", buffer<full, full>, not_both_old},
                        {"store buffer, one fence", buffer<full, none>, all},
                        {"store buffer, light fences", buffer<light, light>, all},
                        {"store buffer, light and heavy", buffer<light, heavy>, not_both_old},
                        {"store buffer, none and heavy", buffer<none, heavy>, all},
                        {"store buffer, heavy elsewhere", buffer<light, heavy_alone>, all},
                        {"store buffer, seq_cst", store_buffer_sequential, not_both_old},
                        {"heavy fence and two", heavy_reaches_one_by_one, {"!00", "!01", "02", "11", "12", "10"}},
                        {"message passing, relaxed", message_passing<relaxed, relaxed>, all},
                        {"message passing, release only", message_passing<release, relaxed>, all},
                        {"message passing, acquire only", message_passing<relaxed, acquire>, all},
                        {"message passing", message_passing<release, acquire>, in_order},
                        {"message passing, fences", message_passing_by_fences, in_order},
                        {"2+2W", two_writers_each, {"11", "12", "21", "22"}},
                        {"coherence", coherent_reads, in_order},
                        {"independent readers, acquire", independent_readers<release>, {"1010", "1111", "0000"}},
                        {"independent readers, seq_cst", independent_readers<sequential>, {"!1010", "1111", "0000"}},
                        {"release sequence", release_sequence, {"!20", "21", "10", "00", "01", "11"}},
                        {"increments", increments, {"3", "!2", "!1"}},
                        {"load buffer (not seen)", load_buffer, {"00", "01", "10", "!11"}},
                        {"plain data", plain_data<release, acquire>, {"5", "!0"}},
                        {"plain data, relaxed: fails", plain_data<relaxed, acquire>, {}, 4, ~0U, "data race"},
                        {"plain data, not acquired: fails", plain_data<release, relaxed>, {}, 4, ~0U, "data race"},
                        {"freed", freed<release>},
                        {"freed while it is used: fails", freed<relaxed>, {}, 4, ~0U, "data race"},
                        {"nobody comes: fails", nobody_comes, {}, 4, ~0U, "waits for ever"},
                    });
}

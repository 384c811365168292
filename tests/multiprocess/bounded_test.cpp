// Every verb that waits for a node, bounded, while that node's process is stopped.
// link: ham::ham
// timeout: 300
// serial: no
#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "tcp_server.hpp"

using namespace ham;
using namespace ham::test;

namespace {

constexpr auto limit = 200ms;
constexpr auto bound = 15s;  // of a loaded machine; what is not bounded hangs

pid_t my_pid() { return ::getpid(); }
std::atomic<int> gone{0};
int gone_there() { return gone.load(); }
struct tally {
  ~tally() { ++gone; }
  int add(int more) { return sum += more; }
  int sum = 0;
};
std::size_t threads_there() {
  const auto all = std::filesystem::directory_iterator("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}
long sum_of(offload::buffer_ptr<int> at, std::size_t n) {
  long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += at[i];
  return sum;
}
std::atomic<int> ran{0};
int count() { return ++ran; }
int counted() { return ran.load(); }

class stopped {
 public:
  explicit stopped(pid_t pid) : pid_(pid) {
    ::kill(pid_, SIGSTOP);
    EXPECT_TRUE(eventually([this] { return state() == 'T'; }));
  }
  ~stopped() { go_on(); }
  stopped(const stopped&) = delete;
  stopped& operator=(const stopped&) = delete;
  void go_on() const { ::kill(pid_, SIGCONT); }

 private:
  [[nodiscard]] char state() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
    std::string number;
    std::string name;
    char state = '?';
    file >> number >> name >> state;
    return state;
  }
  pid_t pid_;
};

/// What became of a verb that must not come to its end.
template <class What>
call_outcome late(What what) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    what();
    ADD_FAILURE() << "it came to its end";
  } catch (const deadline_exceeded& why) {
    EXPECT_LT(std::chrono::steady_clock::now() - begin, bound);
    return why.outcome();
  }
  return call_outcome::ran;
}
template <class What>
void in_time(What what) {
  const auto begin = std::chrono::steady_clock::now();
  what();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, bound);
}

/// Parameter: whether the target is reached over tcp.
class bounded : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (tcp()) {
      ::setenv("HAM_TCP_SECURITY", "off", 1);
      server_.emplace("");
      rt_.emplace(nodes(server_->nodes()));
    } else {
      rt_.emplace(nodes("shm:1"));
    }
    pid_ = offload::sync(1, fn<&my_pid>);
  }
  void TearDown() override { ::unsetenv("HAM_TCP_SECURITY"); }
  [[nodiscard]] static bool tcp() { return GetParam(); }
  [[nodiscard]] static offload::destination soon() { return offload::within(1, limit); }

  std::optional<server> server_;
  std::optional<runtime> rt_;
  pid_t pid_ = 0;
};
INSTANTIATE_TEST_SUITE_P(over, bounded, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "tcp" : "shm"); });

TEST_P(bounded, what_is_made_too_late_is_given_back) {
  constexpr std::size_t n = 1 << 20;
  const std::uint64_t place = offload::buffer<int>(1, n).ptr().address();
  offload::context(1).close();  // the first one starts a thread that stays
  const std::size_t threads = offload::sync(1, fn<&threads_there>);
  {
    const stopped target(pid_);
    EXPECT_EQ(late([] { static_cast<void>(offload::allocate<int>(soon(), n)); }), call_outcome::may_have_run);
    EXPECT_EQ(late([] { const offload::buffer<int> none(soon(), n); }), call_outcome::may_have_run);
    EXPECT_EQ(late([] { const offload::context none(soon()); }), call_outcome::may_have_run);
    EXPECT_EQ(late([] { const auto none = offload::make<tally>(soon()); }), call_outcome::may_have_run);
  }
  EXPECT_TRUE(eventually([] { return offload::sync(1, fn<&gone_there>) == 1; })) << "the object";
  EXPECT_TRUE(eventually([&] { return offload::buffer<int>(1, n).ptr().address() == place; })) << "the memory";
  EXPECT_TRUE(eventually([&] { return offload::sync(1, fn<&threads_there>) <= threads; })) << "the context's thread";
}

TEST_P(bounded, calls_and_ends_of_handles) {
  offload::context queue(1);
  offload::buffer<int> memory(1, 1000);
  offload::buffer<int> other(1, 1000);
  auto object = offload::make<tally>(1);
  auto second = offload::make<tally>(1);
  {
    const stopped target(pid_);
    EXPECT_EQ(late([&] { offload::sync(soon(), fn<&count>); }), call_outcome::may_have_run);
    EXPECT_EQ(late([&] { offload::sync(within(queue, limit), fn<&count>); }), call_outcome::may_have_run);
    EXPECT_EQ(late([&] { offload::sync(within(object.where(), limit), fn<&tally::add>, object, 1); }),
              call_outcome::may_have_run);
    EXPECT_EQ(late([&] {
                offload::batch several(soon());
                auto one = several.add(fn<&count>);
                several.submit();
                one.get();
              }),
              call_outcome::may_have_run);
    EXPECT_EQ(late([&] { queue.drain(limit); }), call_outcome::may_have_run);
    EXPECT_EQ(late([&] { queue.close(limit); }), call_outcome::may_have_run);
    EXPECT_EQ(late([&] { offload::free(soon(), other.release()); }), call_outcome::may_have_run);
    EXPECT_EQ(late([&] { offload::destroy(soon(), second.release()); }), call_outcome::may_have_run);
    in_time([&] { EXPECT_TRUE(offload::alive(soon())); });
    in_time([&] { EXPECT_EQ(offload::get_node_descriptor(soon()).pid(), pid_); });
    testing::internal::CaptureStderr();
    in_time([&] { EXPECT_FALSE(memory.reset(limit)); });
    in_time([&] { EXPECT_FALSE(object.reset(limit)); });
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("a buffer of node 1 is left to that node"), std::string::npos) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
  EXPECT_TRUE(eventually([] { return offload::sync(1, fn<&gone_there>) == 2; }));
  EXPECT_TRUE(eventually([] { return offload::sync(1, fn<&counted>) > 0; })) << "a batch that was sent runs";
  if (!tcp()) {
    EXPECT_EQ(offload::sync(1, fn<&counted>), 1) << "calls that had not begun do not";
  }
  EXPECT_TRUE(offload::buffer<int>(1, 10).reset(10s)) << "it answers again";
}

TEST_P(bounded, ends_of_handles_that_find_no_room_are_sent_later) {
  offload::buffer<int> memory(1, 1000);
  auto object = offload::make<tally>(1);
  {
    const stopped target(pid_);
    while (auto one = offload::try_async(1, fn<&count>)) one->detach();
    testing::internal::CaptureStderr();
    in_time([&] { EXPECT_FALSE(object.reset(limit)); });
    in_time([&] { EXPECT_FALSE(memory.reset(limit)); });
    static_cast<void>(testing::internal::GetCapturedStderr());
  }
  EXPECT_TRUE(eventually([] { return offload::sync(1, fn<&gone_there>) == 1; }));
}

/// Small and large: the caller's own, and in the background. What does not fit the queue to a stopped node is not sent.
TEST_P(bounded, transfers) {
  for (const std::size_t n : {std::size_t{100}, std::size_t{3} << 20}) {
    const bool fills_queue = tcp() && n > 100;
    const offload::buffer<int> there(1, n);
    const std::vector<int> sent(n, 7);
    std::vector<int> got(n, -1);
    const auto put = [&] { offload::put(soon(), sent.data(), there.ptr(), n).get(); };
    const auto get = [&] { offload::get(soon(), there.ptr(), got.data(), n).get(); };
    const offload::buffer_matrix<int> matrix(there, 2, n / 2);
    const auto is_late = [&](auto what) {
      const call_outcome outcome = late(what);
      EXPECT_TRUE(outcome == call_outcome::may_have_run || (fills_queue && outcome == call_outcome::not_run))
          << to_string(outcome);
    };
    {
      const stopped target(pid_);
      if (tcp()) {
        EXPECT_EQ(late(put), call_outcome::may_have_run);
        is_late(get);
        is_late([&] { offload::put_sync(soon(), sent.data(), there.ptr(), n); });
        is_late([&] { offload::read(soon(), there.ptr(), got.data(), n).get(); });
        is_late([&] { offload::write(soon(), there.ptr(), sent.data(), n).get(); });
        is_late([&] {
          offload::get_sync(soon(), there.ptr(), got.data(), offload::block{10, n / 20, n / 10, n / 20});
        });
        is_late([&] { offload::put(soon(), sent, there).get(); });
        is_late([&] { offload::get_sync(soon(), there.subspan(1), std::span(got).first(n - 1)); });
        is_late([&] { offload::put_sync(soon(), offload::matrix_span(sent.data(), 2, n / 2), matrix); });
      } else {
        in_time(put);
        in_time(get);
        EXPECT_EQ(got, sent) << "nobody is needed there";
        std::fill(got.begin(), got.end(), -1);
      }
      is_late([&] { offload::copy(soon(), there.ptr(), there.ptr(), n).get(); });  // the owner does that
      is_late([&] { offload::copy_sync(soon(), there.ptr(), there.ptr(), offload::block{2, n / 2, 0, 0}); });
      is_late([&] {
        offload::put(soon(), sent.data(), there.ptr(), n, offload::then_call(fn<&sum_of>, there.ptr(), n)).get();
      });
      is_late([&] { offload::copy(soon(), there, there).get(); });
      is_late([&] { offload::copy(soon(), matrix, matrix).get(); });
      is_late([&] { offload::put(soon(), sent, there, offload::then_call(fn<&sum_of>, there.ptr(), n)).get(); });
      is_late([&] {
        offload::put(soon(), offload::matrix_span(sent.data(), 2, n / 2), matrix,
                     offload::then_call(fn<&sum_of>, there.ptr(), n))
            .get();
      });
    }
    const long sum = offload::sync(1, fn<&sum_of>, there.ptr(), n);
    EXPECT_TRUE(fills_queue || sum == 7 * static_cast<long>(n)) << "what was sent came when it went on";
    EXPECT_EQ(std::count(got.begin(), got.end(), -1), static_cast<long>(n)) << "what came late was dropped";
    in_time([&] { offload::put_sync(offload::within(1, bound), sent.data(), there.ptr(), n); });
    in_time([&] { offload::get_sync(offload::within(1, bound), there.ptr(), got.data(), n); });
    EXPECT_EQ(got, sent);
  }
}

TEST(bounded, a_target_that_does_not_join_is_not_added) {
  const runtime rt(nodes("shm:1"));
  const std::set<pid_t> before = children();
  EXPECT_EQ(late([] { offload::add_node("exec:/bin/sleep 1000", limit); }), call_outcome::not_run);
  EXPECT_EQ(late([] {
              offload::add_node(offload::target_program{{"/bin/sleep", "1000"}, {}, {}}, limit);
            }),
            call_outcome::not_run);
  const std::string program = testing::TempDir() + "/ham_never_joins." + std::to_string(::getpid());
  std::ofstream(program) << "#!/bin/sh\nexec sleep 1000\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_EQ(late([&] { offload::spawn("shm:2", program, limit); }), call_outcome::not_run);
  std::filesystem::remove(program);
  EXPECT_TRUE(eventually([&] { return children() == before; }));
  EXPECT_EQ(offload::targets(), std::vector<node_t>{1});
  const node_t spawned = offload::spawn("shm:1", "/proc/self/exe", bound);
  EXPECT_EQ(offload::sync(spawned, fn<&gone_there>), 0);
  offload::remove_node(spawned);
  const node_t added = offload::add_node("shm:1", bound);
  EXPECT_EQ(offload::sync(added, fn<&gone_there>), 0);
  EXPECT_EQ(offload::targets(), (std::vector<node_t>{1, added}));
}

int ask_soon(node_t other) {
  try {
    offload::sync(offload::within(other, limit), fn<&my_pid>);
  } catch (const deadline_exceeded& why) {
    return why.outcome() == call_outcome::not_run ? 1 : 2;
  }
  return 0;
}
int connect_soon(node_t other) {
  try {
    static_cast<void>(offload::alive(offload::within(other, limit)));
    return 0;
  } catch (const deadline_exceeded& why) {
    return why.outcome() == call_outcome::not_run ? 1 : 2;
  }
}
int ask(node_t other) { return offload::sync(other, fn<&my_pid>); }

/// Targets connect to each other when they first call.
TEST(bounded, a_first_connection_to_a_stopped_node) {
  const runtime rt(nodes("shm:2"));
  const int pid = offload::sync(2, fn<&my_pid>);
  {
    const stopped target(pid);
    in_time([] { EXPECT_NE(offload::sync(1, fn<&connect_soon>, 2), 2); });
    in_time([] { EXPECT_NE(offload::sync(1, fn<&ask_soon>, 2), 0); });
  }
  EXPECT_EQ(offload::sync(1, fn<&ask>, 2), pid) << "and later it works";
}

/// Asks the other node for something from a thread of its own; stopped while it connects, or by its caller.
call_outcome stopped_while_it_connects(node_t other) {
  std::stop_source source;
  const std::jthread stops([&] {
    ::usleep(50'000);
    source.request_stop();
  });
  try {
    offload::sync(offload::within(other, bound, source.get_token()), fn<&my_pid>);
  } catch (const operation_cancelled& why) {
    return why.outcome();
  }
  return call_outcome::ran;
}
std::atomic<bool> nested_has_begun{false};
std::atomic<bool> nested_was_stopped{false};
void call_until_stopped(node_t other) {
  nested_has_begun = true;
  try {
    offload::sync(other, fn<&my_pid>);
  } catch (const operation_cancelled&) {
    nested_was_stopped = true;
  }
}
bool has_nested_begun() { return nested_has_begun.load(); }
bool was_nested_stopped() { return nested_was_stopped.load(); }

TEST(bounded, a_stop_ends_the_wait_for_a_first_connection) {
  const runtime rt(nodes("shm:3"));
  const int pid = offload::sync(3, fn<&my_pid>);
  {
    const stopped target(pid);
    in_time([] {
      const call_outcome became = offload::sync(1, fn<&stopped_while_it_connects>, 3);
      EXPECT_NE(became, call_outcome::ran);
    });
    in_time([] {
      auto call = offload::async(offload::stoppable(2), fn<&call_until_stopped>, 3);
      EXPECT_TRUE(eventually([] { return offload::sync(2, fn<&has_nested_begun>); })) << "executed while that waits";
      EXPECT_FALSE(call.wait_for(50ms));
      EXPECT_TRUE(call.request_stop());
      call.get();
      EXPECT_TRUE(offload::sync(2, fn<&was_nested_stopped>));
    });
  }
  EXPECT_EQ(offload::sync(1, fn<&ask>, 3), pid);
  EXPECT_EQ(offload::sync(2, fn<&ask>, 3), pid);
}

/// A flood of calls to the waiting node must not keep its clock from being read.
std::atomic<bool> flooding{false};
void splash() { ::usleep(100); }
void flood() {
  for (int i = 0; i < 400000 && !flooding.load(); ++i) offload::ping(0, fn<&splash>);
}
void end_flood() { flooding = true; }
void sleep_long() { ::sleep(20); }

TEST(bounded, a_wait_into_which_calls_pour) {
  const runtime rt(nodes("shm:2"));
  offload::context source(1);
  auto pouring = offload::async(source, fn<&flood>);
  EXPECT_EQ(late([] { offload::sync(offload::within(2, limit), fn<&sleep_long>); }), call_outcome::may_have_run);
  offload::sync(1, fn<&end_flood>);
  pouring.get();
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}

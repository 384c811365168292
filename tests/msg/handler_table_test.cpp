// The handler table: keys in both directions, duplicates, handlers that come late.
#include "ham/msg/handler_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "duplicates.hpp"
#include "ham/error.hpp"
#include "ham/msg/active_msg.hpp"
#include "ham/msg/f2f.hpp"
#include "ham/msg/library_entry.hpp"

namespace {

using namespace ham::msg;

template <int N>
struct numbered {};

template <int N>
struct numbered_registration {
  using tag = numbered<N>;
  static constexpr handler_kind kind = handler_kind::call;
  static void handler(void* buffer) { *static_cast<int*>(buffer) = N; }
  static std::string layout() { return ";i4;i" + std::to_string(N); }
  static constexpr std::size_t message_size() { return 0; }
};

template <int N>
handler_entry& entry_of() {
  return handler_registrar<numbered_registration<N>>::entry();
}

// A message made by a static initialiser: its own entry, and others, may not be linked yet.
struct early_message : active_msg<early_message> {
  void operator()() {}
};
const early_message made_early;

std::uint32_t key_of(const std::string& name) {
  const handler_table& table = handler_table::local();
  for (std::uint32_t key = 0; key < table.size(); ++key) {
    if (table.name(key) == name) return key;
  }
  return invalid_key;
}

TEST(HandlerTable, KeysLeadToHandlersAndBack) {
  handler_table::refresh();
  const handler_table& table = handler_table::local();
  for (handler_entry* entry : {&entry_of<1>(), &entry_of<2>(), &entry_of<3>()}) {
    ASSERT_NE(entry->key(), invalid_key);
    EXPECT_EQ(table.find(entry->key()), entry);
    EXPECT_EQ(entry->resolve(), entry->key());
    EXPECT_FALSE(entry->duplicate());
  }
  int result = 0;
  table.find(entry_of<2>().key())->handler(&result);
  EXPECT_EQ(result, 2);
  EXPECT_EQ(table.layout(entry_of<2>().key()), ";i4;i2");
  EXPECT_EQ(table.kind(entry_of<2>().key()), handler_kind::call);
  EXPECT_EQ(table.name(entry_of<2>().key()), "(anonymous namespace)::numbered<2>");
}

// Never called, never constructed: compiled is enough.
[[maybe_unused]] std::uint32_t never_called() { return entry_of<50>().key(); }
struct never_made : active_msg<never_made> {
  void operator()() {}
};

TEST(HandlerTable, CodeThatIsOnlyCompiledRegisters) {
  handler_table::refresh();
  EXPECT_NE(key_of("(anonymous namespace)::numbered<50>"), invalid_key);
  EXPECT_NE(key_of("(anonymous namespace)::never_made"), invalid_key);
}

TEST(HandlerTable, KeysOutOfRangeFindNothing) {
  const handler_table& table = handler_table::local();
  for (const std::uint32_t key : {static_cast<std::uint32_t>(table.size()), 0x80000000u, 0xfffffffdu, invalid_key}) {
    EXPECT_EQ(table.find(key), nullptr);
    EXPECT_EQ(table.name(key), "");
    EXPECT_EQ(table.layout(key), "");
    EXPECT_EQ(table.pretty_name(key), "");
    EXPECT_FALSE(table.duplicate(key));
  }
}

TEST(HandlerTable, MessagesOfStaticInitialisersHaveTheirKey) {
  EXPECT_EQ(made_early.key(), early_message::handler().key());
  EXPECT_EQ(handler_table::local().find(made_early.key()), &early_message::handler());
}

TEST(HandlerTable, FunctionsOfOneNameInTwoFilesAreDuplicates) {
  handler_table::refresh();
  handler_entry& first = duplicates::first_file_entry();
  handler_entry& second = duplicates::second_file_entry();
  ASSERT_NE(&first, &second);
  ASSERT_EQ(std::string(first.type_name()), second.type_name());
  EXPECT_EQ(first.key(), second.key());
  EXPECT_TRUE(first.duplicate());
  EXPECT_TRUE(second.duplicate());
  EXPECT_TRUE(handler_table::local().duplicate(first.key()));
  EXPECT_EQ(handler_table::local().find(first.key()), nullptr) << "never a silent pick";
}

TEST(HandlerTable, MessagesOfADuplicateTypeCannotBeMade) {
  handler_table::refresh();
  try {
    duplicates::make_first_message();
    FAIL() << "no exception";
  } catch (const ham::call_error& e) {
    EXPECT_NE(std::string(e.what()).find("twice_defined"), std::string::npos) << e.what();
  }
  EXPECT_THROW(duplicates::make_second_message(), ham::call_error);
}

TEST(HandlerTable, LateHandlersGetKeysBehindTheOthers) {
  static constinit handler_entry late{typeid(numbered<100>), handler_kind::call, nullptr, [] { return std::string(); },
                                      0};
  handler_table::refresh();
  const handler_table& before = handler_table::local();
  const std::uint32_t old_key = entry_of<1>().key();
  EXPECT_FALSE(handler_table::refresh());

  late.enlist();
  EXPECT_EQ(late.key(), invalid_key);
  EXPECT_TRUE(handler_table::refresh());
  EXPECT_EQ(late.key(), before.size());
  EXPECT_EQ(handler_table::local().size(), before.size() + 1);
  EXPECT_EQ(handler_table::local().find(late.key()), &late);
  EXPECT_EQ(entry_of<1>().key(), old_key);
  EXPECT_EQ(before.find(old_key), &entry_of<1>()) << "old tables stay valid";
  EXPECT_EQ(before.find(late.key()), &late) << "and know later keys by the newest one";
  EXPECT_EQ(before.name(late.key()), handler_table::local().name(late.key()));
  EXPECT_EQ(before.find(late.key() + 1000), nullptr);
}

// ---- libraries

void through(void*) {}

TEST(HandlerTable, HandlersOfLibrariesAreReachedThroughStandIns) {
  static constinit handler_entry known{typeid(numbered<110>), handler_kind::call, nullptr, [] { return std::string(); },
                                       0};
  static constinit handler_entry added{typeid(numbered<111>), handler_kind::call, nullptr, [] { return std::string(); },
                                       0};
  known.enlist();
  handler_table::refresh();
  const handler_table& before = handler_table::local();
  int owner = 0;
  const std::vector<handler_entry*> entries = handler_table::linked_by([] { added.enlist(); });
  EXPECT_EQ(entries, std::vector<handler_entry*>{&added});
  handler_table::add_library(&through, &owner);
  const std::uint32_t key = added.key();
  EXPECT_GE(key, before.size());
  const auto* const stand_in = static_cast<const library_entry*>(before.find(key));
  EXPECT_EQ(stand_in->handler, &through);
  EXPECT_EQ(stand_in->owner, &owner);
  EXPECT_EQ(&stand_in->function, &added);
  EXPECT_EQ(stand_in->key(), key);
  EXPECT_EQ(before.find(known.key()), &known);

  handler_table::remove_library(entries);
  EXPECT_EQ(added.key(), invalid_key);
  const handler_entry* const gone = before.find(key);
  ASSERT_NE(gone, nullptr) << "calls that are on their way get an answer";
  EXPECT_THROW(gone->handler(nullptr), ham::call_error);
  EXPECT_NE(before.name(key).find("unloaded"), std::string::npos);
  EXPECT_EQ(before.find(known.key()), &known);

  handler_table::link_again(entries);
  handler_table::add_library(&through, &owner);
  EXPECT_EQ(added.key(), key) << "the same name and layout: peers may have kept the key";
  EXPECT_EQ(before.find(key)->handler, &through);
}

TEST(HandlerTable, FunctionsOfOneNameInSeveralLibrariesAreEachReachedThroughTheirOwn) {
  static constinit handler_entry one{typeid(numbered<113>), handler_kind::call, nullptr, [] { return std::string(); },
                                     0};
  static constinit handler_entry other{typeid(numbered<113>), handler_kind::call, nullptr, [] { return std::string(); },
                                       0};
  handler_table::refresh();
  int owner_of_one = 0;
  int owner_of_other = 0;
  const std::vector<handler_entry*> first = handler_table::linked_by([] { one.enlist(); });
  handler_table::add_library(&through, &owner_of_one);
  const std::uint32_t key = one.key();
  const handler_table& with_one = handler_table::local();
  const std::vector<handler_entry*> second = handler_table::linked_by([] { other.enlist(); });
  handler_table::add_library(&through, &owner_of_other);
  EXPECT_EQ(other.key(), key);
  EXPECT_TRUE(other.duplicate());
  ASSERT_NE(with_one.find(key), nullptr) << "a peer that knows the key breaks no rule when it calls it";
  EXPECT_THROW(handler_table::local().find(key)->handler(nullptr), ham::call_error);
  handler_table::remove_library(first);
  const auto owner_in = [key](const handler_table& table) {
    return static_cast<const library_entry*>(table.find(key))->owner;
  };
  ASSERT_EQ(handler_table::local().find(key)->handler, &through) << "its calls count, too";
  EXPECT_EQ(owner_in(handler_table::local()), &owner_of_other);
  EXPECT_EQ(owner_in(with_one), &owner_of_one) << "whoever has unloaded it refuses its calls";
  handler_table::remove_library(second);
  EXPECT_THROW(handler_table::local().find(key)->handler(nullptr), ham::call_error);
}

TEST(HandlerTable, KeysOfUnloadedLibrariesAreNotUsedForAnythingElse) {
  static std::string layout = "i4->i4";
  static constinit handler_entry changing{typeid(numbered<112>), handler_kind::call, nullptr, [] { return layout; }, 0};
  handler_table::refresh();
  const std::vector<handler_entry*> entries = handler_table::linked_by([] { changing.enlist(); });
  handler_table::add_library(&through, nullptr);
  const std::uint32_t key = changing.key();
  handler_table::remove_library(entries);
  layout = "i8->i8";
  handler_table::link_again(entries);
  handler_table::add_library(&through, nullptr);
  EXPECT_NE(changing.key(), key);
  EXPECT_THROW(handler_table::local().find(key)->handler(nullptr), ham::call_error);
}

TEST(HandlerTable, LookupsGoOnWhileAForkHoldsChanges) {
  const std::uint32_t key = entry_of<1>().resolve();
  handler_table::hold_for_fork();
  std::atomic<bool> changed{false};
  std::thread other([&] {
    handler_table::refresh();
    changed = true;
  });
  EXPECT_EQ(handler_table::local().find(key), &entry_of<1>());
  EXPECT_FALSE(changed);
  handler_table::release_after_fork();
  other.join();
  EXPECT_TRUE(changed);
}

TEST(HandlerTable, ResolveRegistersAnEntryThatNobodyLinked) {
  static constinit handler_entry unlinked{typeid(numbered<101>), handler_kind::call, nullptr,
                                          [] { return std::string(); }, 0};
  const std::uint32_t key = unlinked.resolve();
  EXPECT_EQ(handler_table::local().find(key), &unlinked);
}

TEST(HandlerTable, LookupsGoOnDuringRefresh) {
  static constinit handler_entry more[2]{
      {typeid(numbered<102>), handler_kind::call, nullptr, [] { return std::string(); }, 0},
      {typeid(numbered<103>), handler_kind::call, nullptr, [] { return std::string(); }, 0}};
  const std::uint32_t key = entry_of<3>().resolve();
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([key] {
      for (int n = 0; n < 20000; ++n) {
        if (handler_table::local().find(key) != &entry_of<3>()) ADD_FAILURE();
      }
    });
  }
  for (auto& entry : more) {
    static_cast<void>(entry.resolve());
    handler_table::refresh();
  }
  for (auto& thread : threads) thread.join();
  EXPECT_NE(key_of("(anonymous namespace)::numbered<103>"), invalid_key);
}

}  // namespace

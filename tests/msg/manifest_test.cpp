// Manifests: digest, bytes, and bytes that were never a manifest.
#include "ham/msg/manifest.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "ham/error.hpp"
#include "ham/msg/active_msg.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/msg/names.hpp"

namespace {

using namespace ham::msg;

struct some_message : active_msg<some_message> {
  void operator()() {}
  long value = 0;
};

manifest example() {
  return {data_layout::local(),
          {{"alpha", "i4,f8->u8", handler_kind::call, false},
           {"beta", "opaque<beta,16,8>", handler_kind::message, false},
           {"gamma", "", handler_kind::call, true}}};
}

TEST(Manifest, ListsTheTableOfThisProcess) {
  handler_table::refresh();
  const manifest local = manifest::local();
  const std::uint32_t key = some_message::handler().key();
  ASSERT_LT(key, local.entries().size());
  EXPECT_EQ(local.entries()[key].name, "(anonymous namespace)::some_message");
  EXPECT_EQ(local.entries()[key].layout, "opaque<(anonymous namespace)::some_message,16,8>");
  EXPECT_EQ(local.entries()[key].kind, handler_kind::message);
  EXPECT_EQ(local.id(), manifest::local().id());
}

TEST(Manifest, SurvivesTheWayThroughBytes) {
  for (const manifest& original : {example(), manifest::local(), manifest(data_layout::local(), {})}) {
    const manifest copy = manifest::parse(original.serialise());
    EXPECT_EQ(copy.entries(), original.entries());
    EXPECT_EQ(copy.layout(), original.layout());
    EXPECT_EQ(copy.id(), original.id());
  }
}

TEST(Manifest, TheDigestSeesEveryDifference) {
  const auto entries = example().entries();
  std::set<std::string> digests{to_string(example().id())};
  const auto add = [&digests](const data_layout& layout, const std::vector<manifest::entry>& changed) {
    EXPECT_TRUE(digests.insert(to_string(manifest(layout, changed).id())).second);
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto changed = entries;
    changed[i].name += 'x';
    add(data_layout::local(), changed);
    changed = entries;
    changed[i].layout += 'x';
    add(data_layout::local(), changed);
    changed = entries;
    changed[i].duplicate = !changed[i].duplicate;
    add(data_layout::local(), changed);
    changed = entries;
    changed[i].host_only = true;
    add(data_layout::local(), changed);
    changed = entries;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    add(data_layout::local(), changed);
  }
  auto shifted = entries;  // the same characters, cut differently
  shifted[0].name = "alph";
  shifted[0].layout = "a" + shifted[0].layout;
  add(data_layout::local(), shifted);
  data_layout other = data_layout::local();
  other.long_double_digits ^= 1;
  add(other, entries);
}

TEST(Manifest, SaysWhatADeviceHasNoVersionOf) {
  constexpr std::size_t version_at = 4;
  auto entries = example().entries();
  EXPECT_EQ(example().serialise()[version_at], std::byte{1}) << "which nodes of other releases read";
  entries[1].host_only = true;
  entries[2].host_only = true;
  const manifest original(data_layout::local(), entries);
  auto bytes = original.serialise();
  EXPECT_EQ(bytes[version_at], std::byte{2});
  EXPECT_EQ(manifest::parse(bytes).entries(), entries);
  bytes[version_at] = std::byte{1};
  EXPECT_THROW(static_cast<void>(manifest::parse(bytes)), ham::protocol_error) << "that version has no such flag";
  bytes = example().serialise();
  bytes[version_at] = std::byte{2};
  EXPECT_THROW(static_cast<void>(manifest::parse(bytes)), ham::protocol_error) << "nothing needs that version";
}

TEST(Manifest, EveryTruncationIsRefused) {
  const auto bytes = example().serialise();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(static_cast<void>(manifest::parse(cut)), ham::protocol_error) << size;
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW(static_cast<void>(manifest::parse(longer)), ham::protocol_error);
}

TEST(Manifest, LyingCountsAndLengthsAllocateNothing) {
  const auto bytes = example().serialise();
  for (const std::size_t at : {std::size_t{19}, std::size_t{25}}) {  // number of entries; length of the first name
    auto lie = bytes;
    for (std::size_t i = 0; i < 4; ++i) lie[at + i] = std::byte{0xff};
    EXPECT_THROW(static_cast<void>(manifest::parse(lie)), ham::protocol_error);
  }
}

TEST(Manifest, ContradictionsAreRefused) {
  const auto refused = [](const std::vector<manifest::entry>& entries) {
    const auto bytes = manifest(data_layout::local(), entries).serialise();
    EXPECT_THROW(static_cast<void>(manifest::parse(bytes)), ham::protocol_error);
  };
  refused({{"same", "", handler_kind::call, false}, {"same", "", handler_kind::call, false}});
  refused({{"", "", handler_kind::call, false}});
  refused({{"line\nbreak", "", handler_kind::call, false}});
  refused({{"x", "\x1b[2J", handler_kind::call, false}});
  refused({{"x", "", static_cast<handler_kind>(2), false}});
  refused({{std::string(max_name_bytes + 1, 'x'), "", handler_kind::call, false}});
}

TEST(Manifest, LimitsAreOfNamesAndLayouts) {
  const auto travels = [](std::size_t name, std::size_t layout) {
    const manifest sent(data_layout::local(),
                        {{std::string(name, 'x'), std::string(layout, 'y'), handler_kind::call, false}});
    return manifest::parse(sent.serialise()).entries() == sent.entries();
  };
  EXPECT_TRUE(travels(max_name_bytes, manifest::max_layout_bytes));
  EXPECT_THROW((void)travels(max_name_bytes + 1, 0), ham::protocol_error);
  EXPECT_THROW((void)travels(1, manifest::max_layout_bytes + 1), ham::protocol_error);
}

TEST(Manifest, RandomBytesNeverDoHarm) {
  std::mt19937 random(7);
  const auto bytes = example().serialise();
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    auto changed = bytes;
    for (int n = static_cast<int>(random() % 4) + 1; n > 0; --n) {
      changed[random() % changed.size()] = static_cast<std::byte>(random());
    }
    try {
      const manifest parsed = manifest::parse(changed);
      EXPECT_LE(parsed.entries().size(), bytes.size());
      ++accepted;
    } catch (const ham::protocol_error&) {
    }
  }
  EXPECT_GT(accepted, 0) << "a changed letter in a name is no error";
}

}  // namespace

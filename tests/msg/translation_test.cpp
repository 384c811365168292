// Translation between nodes whose programs differ, and its explanations.
#include "ham/msg/translation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ham/msg/names.hpp"

namespace {

using namespace ham::msg;
using entries = std::vector<manifest::entry>;

manifest node(entries list, data_layout layout = data_layout::local()) { return {layout, std::move(list)}; }

manifest::entry call(std::string name, std::string layout) {
  return {std::move(name), std::move(layout), handler_kind::call, false};
}

data_layout other_processor() {
  data_layout layout = data_layout::local();
  layout.long_double_digits = 107;
  layout.char_signed = layout.char_signed == 0;
  return layout;
}

void expect_says(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts) EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in: " << text;
}

TEST(Translation, OfEqualManifestsChangesNothing) {
  const manifest local = manifest::local();
  const translation keys(local, manifest::parse(local.serialise()));
  for (std::uint32_t key = 0; key < local.entries().size(); ++key) {
    if (local.entries()[key].duplicate) {
      EXPECT_EQ(keys[key], translation::ambiguous);
      continue;
    }
    EXPECT_EQ(keys[key], key);
    EXPECT_EQ(keys.explain(key), "");
  }
  EXPECT_TRUE(translation(node({call("a", "i4->i4")}), node({call("a", "i4->i4")})).identity());
}

TEST(Translation, MatchesByName) {
  const manifest mine = node({call("a", "c->x"), call("b", "c->x"), call("d", "c->x")});
  const manifest theirs = node({call("b", "c->x"), call("c", "c->x"), call("d", "c->x"), call("a", "c->x")});
  const translation there(mine, theirs);
  EXPECT_EQ(there[0], 3u);
  EXPECT_EQ(there[1], 0u);
  EXPECT_EQ(there[2], 2u);
  EXPECT_FALSE(there.identity());
  const translation back(theirs, mine);
  for (std::uint32_t key = 0; key < 3; ++key) EXPECT_EQ(back[there[key]], key);
  EXPECT_EQ(back[1], translation::missing);
}

TEST(Translation, RefusesWhatTheDeviceOfThePeerHasNoVersionOf) {
  manifest::entry there = call("norm(double)", "c,f8->f8");
  there.host_only = true;
  const translation keys(node({call("norm(double)", "c,f8->f8"), call("sum()", "c->f8")}),
                         node({there, call("sum()", "c->f8")}));
  EXPECT_EQ(keys[0], translation::host_only);
  EXPECT_FALSE(translation::usable(keys[0]));
  EXPECT_EQ(keys[1], 1u) << "the others are called as ever";
  expect_says(keys.explain(0, "node 0", "node 3"), {"norm(double)", "the device of node 3 has no version of it"});
  const translation back(node({there}), node({call("norm(double)", "c,f8->f8")}));
  EXPECT_EQ(back[0], 0u) << "a node without a device runs it as any function";
}

TEST(Translation, KeysOutOfRangeAreMissing) {
  const translation keys(node({call("a", "x->x")}), node({call("a", "x->x")}));
  EXPECT_EQ(keys[1], translation::missing);
  EXPECT_EQ(keys[invalid_key], translation::missing);
  EXPECT_EQ(translation()[0], translation::missing);
  EXPECT_FALSE(keys.explain(7).empty());
  for (const auto key : {translation::differs, translation::missing, translation::ambiguous}) {
    EXPECT_FALSE(translation::usable(key));
  }
}

TEST(Translation, ExplainsWhatIsMissing) {
  const translation keys(node({call("solve", "e->i4"), call("main::{lambda(int)#1}", "e,i4->i4")}), node({}));
  EXPECT_EQ(keys[0], translation::missing);
  expect_says(keys.explain(0, "node 0 (alpha)", "node 3 (beta)"),
              {"solve", "node 0 (alpha)", "node 3 (beta)", "does not have it"});
  expect_says(keys.explain(1), {"lambda", "ham::named"});
}

TEST(Translation, ExplainsWhichArgumentDiffers) {
  const manifest mine = node({call("f", "empty,i4,i4->f8")});
  const auto against = [&mine](const char* layout) {
    const translation keys(mine, node({call("f", layout)}));
    EXPECT_EQ(keys[0], translation::differs) << layout;
    return keys.explain(0, "node 0", "node 1");
  };
  expect_says(against("empty,i4,f8->f8"), {"f of node 0", "argument 2 is i4 on node 0 and f8 on node 1"});
  expect_says(against("empty,map<str,i4>,i4->f8"), {"argument 1 is i4", "map<str,i4>"});
  expect_says(against("empty,i4->f8"), {"it takes 2 arguments on node 0 and 1 on node 1"});
  expect_says(against("empty,i4,i4->f4"), {"the result is f8 on node 0 and f4 on node 1"});
  expect_says(against("fields<L:i4>,i4,i4->f8"), {"captures", "fields<L:i4>"});
  expect_says(against("nonsense"), {"nonsense"});
}

TEST(Translation, ObjectsOfKnownMembersNeedTheByteOrderOnly) {
  const entries list{call("f", "empty,object<point,16,8:f8@0,i4@8>->i4"),
                     call("g", "empty,object<odd,32,16:f80@0,i4@16>->void"),
                     call("h", "empty,buffer_ptr<opaque<x,24,8>>->void")};
  const translation same_order(node(list), node(list, other_processor()));
  EXPECT_TRUE(same_order.same_byte_order());
  EXPECT_FALSE(same_order.same_structs());
  EXPECT_EQ(same_order[0], 0U);
  EXPECT_EQ(same_order[1], translation::differs);
  EXPECT_EQ(same_order[2], 2U);
  data_layout swapped = data_layout::local();
  swapped.little_endian ^= 1;
  const translation other_order(node(list), node(list, swapped));
  EXPECT_FALSE(other_order.same_byte_order());
  EXPECT_EQ(other_order[0], translation::differs);
  EXPECT_EQ(other_order[2], 2U);
  expect_says(other_order.explain(0), {"argument 1", "endian", "HAM_FIELDS"});
}

TEST(Translation, RawStructsNeedEqualDataLayouts) {
  const entries list{call("f", "empty,opaque<point,16,8>->i4"),
                     call("g", "empty,i4,fields<point:f8,f8>->str"),
                     call("h", "opaque<capture,8,8>->void"),
                     call("k", "empty->opaque<point,16,8>"),
                     {"message", "opaque<message,8,4>", handler_kind::message, false}};
  const translation alike(node(list), node(list));
  EXPECT_TRUE(alike.identity());
  const translation keys(node(list), node(list, other_processor()));
  EXPECT_EQ(keys[0], translation::differs);
  EXPECT_EQ(keys[1], 1u);
  for (std::uint32_t key = 2; key < 5; ++key) EXPECT_EQ(keys[key], translation::differs) << key;
  expect_says(keys.explain(0), {"argument 1", "107 mantissa bits", "HAM_FIELDS"});
  expect_says(keys.explain(2), {"captures"});
  expect_says(keys.explain(3), {"the result"});
  expect_says(keys.explain(4), {"the message"});
}

TEST(Translation, AmbiguousNamesAreNeverTranslated) {
  manifest::entry twice = call("twice", "e->i4");
  twice.duplicate = true;
  const translation here(node({twice}), node({call("twice", "e->i4")}));
  const translation there(node({call("twice", "e->i4")}), node({twice}));
  EXPECT_EQ(here[0], translation::ambiguous);
  EXPECT_EQ(there[0], translation::ambiguous);
  expect_says(here.explain(0, "node 0", "node 1"), {"twice", "program of node 0"});
  expect_says(there.explain(0, "node 0", "node 1"), {"twice", "program of node 1"});
}

TEST(Translation, MessagesAndCallsAreNotTheSame) {
  const translation keys(node({call("f", "x")}), node({{"f", "x", handler_kind::message, false}}));
  EXPECT_EQ(keys[0], translation::differs);
  expect_says(keys.explain(0), {"active message"});
}

}  // namespace

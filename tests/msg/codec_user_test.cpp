// Types whose users say how they cross: ham::codec, migratable, HAM_FIELDS(_OF), serialize, save and load; nesting
// limits.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codec_helpers.hpp"
#include "ham/msg/codec.hpp"

namespace {

using namespace codec_test;
using namespace ham::msg;

class temperature {
 public:
  explicit temperature(std::string unit, double value) : unit_(std::move(unit)), value_(value) {}
  const std::string& unit() const { return unit_; }
  double value() const { return value_; }
  bool operator==(const temperature&) const = default;

 private:
  std::string unit_;
  double value_;
};

struct handle {
  std::uint32_t id;
  bool operator==(const handle&) const = default;
};

struct chain {
  std::vector<chain> next;
};

struct text_in_place {
  std::string text;
  bool operator==(const text_in_place&) const = default;
};

}  // namespace

// As if of a library that knows nothing of HAM.
namespace elsewhere {

class vec3 {
 public:
  double x = 0, y = 0, z = 0;
  bool operator==(const vec3&) const = default;

 private:
  int cache_ = 0;
};
struct body {
  std::string name;
  vec3 at[2];
  int cached = 7;
  bool operator==(const body&) const = default;
};
struct heavy_body : body {};
template <class Value>
struct interval {
  Value low{}, high{};
  bool operator==(const interval&) const = default;
};
struct nothing {
  std::string unused;
};

class stamp {
 public:
  explicit stamp(int day = 0) : day_(day) {}
  int day() const { return day_; }
  void set_day(int day) { day_ = day; }
  bool operator==(const stamp&) const = default;

 private:
  int day_;
};
template <class Archive>
void serialize(Archive& ar, stamp& value) {
  int day = value.day();
  ar(day);
  value.set_day(day);
}

struct record {
  std::string text;
  virtual ~record() = default;
  bool operator==(const record& other) const { return text == other.text; }
};
template <class Archive>
void serialize(Archive& ar, record& value, unsigned /*version*/) {
  ar& value.text;
}
struct longer_record : record {
  std::string more;
};
struct own_record : record {
  std::string more;
};
template <class Archive>
void serialize(Archive& ar, own_record& value) {
  ar(value.text, value.more);
}

template <class Value>
struct box {
  std::unique_ptr<Value> held = std::make_unique<Value>();
};
template <class Archive, class Value>
void serialize(Archive& ar, box<Value>& value) {
  ar(*value.held);
}

}  // namespace elsewhere

HAM_FIELDS_OF(elsewhere::vec3, x, y, z)
HAM_FIELDS_OF(elsewhere::body, name, at)
using interval_of_text = elsewhere::interval<std::string>;
HAM_FIELDS_OF(interval_of_text, low, high)
HAM_FIELDS_OF(elsewhere::nothing)

template <>
struct ham::codec<temperature> {
  static std::size_t size(const temperature& t) { return encoded_size(t.unit()) + encoded_size(t.value()); }
  static void write(writer& to, const temperature& t) {
    encode(to, t.unit());
    encode(to, t.value());
  }
  static temperature read(reader& from) {
    auto unit = decode<std::string>(from);
    return temperature(std::move(unit), decode<double>(from));
  }
  static std::string layout() { return layout_text<std::string, double>(); }
};

template <>
struct ham::codec<handle> {
  static constexpr std::size_t fixed_size = 4;
  static void write(writer& to, const handle& h) { encode(to, h.id); }
  static handle read(reader& from) { return {decode<std::uint32_t>(from)}; }
};

template <>
struct ham::codec<chain> {
  static std::size_t size(const chain& c) { return encoded_size(c.next); }
  static void write(writer& to, const chain& c) { encode(to, c.next); }
  static chain read(reader& from) { return {decode<std::vector<chain>>(from)}; }
  static std::string layout() { return layout_text<std::vector<chain>>(); }
};

template <>
class ham::migratable<text_in_place> {
 public:
  migratable(const text_in_place& value)
      : size_(static_cast<unsigned char>(std::min(value.text.size(), sizeof(text_)))) {
    value.text.copy(text_, sizeof(text_));
  }
  operator text_in_place() const { return {std::string(text_, std::min<std::size_t>(size_, sizeof(text_)))}; }

 private:
  char text_[15] = {};
  unsigned char size_;
};

namespace {

struct particle {
  double position[3] = {};
  std::string name;
  bool charged = false;
  std::array<short, 2> spin = {};
  int not_sent = 7;
  HAM_FIELDS(position, name, charged, spin)
  bool operator==(const particle&) const = default;
};

struct tagged_particle : particle {
  std::string tag;
};
struct relisted : particle {
  int more = 0;
  HAM_FIELDS(name, more)
};

class secret {
 public:
  secret() = default;
  explicit secret(int value) : value_(value) {}
  bool operator==(const secret&) const = default;

 private:
  int value_ = 0;
  HAM_FIELDS(value_);
};

template <class T>
struct generic_pair {
  T left{}, right{};
  HAM_FIELDS(left, right)
  bool operator==(const generic_pair&) const = default;
};

struct grid {
  std::string names[2][2];
  int numbers[2][3] = {};
  HAM_FIELDS(names, numbers)
  bool operator==(const grid&) const = default;
};

struct no_fields {
  HAM_FIELDS()
  bool operator==(const no_fields&) const = default;
};

struct tree {
  int value = 0;
  std::vector<tree> children;
  HAM_FIELDS(value, children)
  bool operator==(const tree&) const = default;
};

struct archived {
  int a = 0;
  std::string b;
  std::map<int, std::string> c;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(a, b, c);
  }
  bool operator==(const archived&) const = default;
};

struct with_ampersand {
  int a = 0, b = 0;
  std::vector<archived> c;
  template <class Archive>
  void serialize(Archive& ar) {
    ar& a& b& c;
  }
  bool operator==(const with_ampersand&) const = default;
};

struct boost_style {
  int a = 0;
  template <class Archive>
  void serialize(Archive& ar, const unsigned) {
    ar& a;
  }
  bool operator==(const boost_style&) const = default;
};

class save_load {
 public:
  save_load() = default;
  explicit save_load(int value) : value_(value) {}
  template <class Archive>
  void save(Archive& ar) const {
    ar << value_ << std::string("check");
  }
  template <class Archive>
  void load(Archive& ar) {
    std::string check;
    ar >> value_ >> check;
    if (check != "check") throw ham::protocol_error("save_load: check missing");
  }
  bool operator==(const save_load&) const = default;

 private:
  int value_ = 0;
};

struct derived_archived : archived {
  std::string d;
};
struct chained_archived : archived {
  std::string d;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(static_cast<archived&>(*this), d);
  }
  bool operator==(const chained_archived&) const = default;
};

class private_archived {
 public:
  private_archived() = default;
  explicit private_archived(int v) : value_(v) {}
  bool operator==(const private_archived&) const = default;

 private:
  friend struct ham::msg::access;
  template <class Archive>
  void serialize(Archive& ar) {
    if constexpr (Archive::is_loading::value) {
      int negated = 0;
      ar(negated);
      value_ = -negated;
    } else {
      ar(-value_);
    }
  }
  int value_ = 0;
};

struct archived_tree {
  std::vector<archived_tree> children;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(children);
  }
};

struct nothing_archived {
  template <class Archive>
  void serialize(Archive&) {}
  bool operator==(const nothing_archived&) const = default;
};

template <class Tree, auto Children>
Tree nested(std::size_t levels) {
  Tree top;
  for (std::size_t i = 1; i < levels; ++i) {
    Tree above;
    (above.*Children).push_back(std::move(top));
    top = std::move(above);
  }
  return top;
}

TEST(codec_user, own_codecs_are_used) {
  expect_crosses(temperature("K", 293.15));
  expect_crosses(std::vector<temperature>{temperature("K", 1), temperature("C", 2)});
  EXPECT_EQ(layout_text<temperature>().substr(0, 6), "codec<");
  static_assert(!fixed_size_v<temperature>);
  expect_crosses(handle{5});
  expect_crosses(std::vector<handle>{{5}, {6}});
  static_assert(fixed_encoded_size_v<std::tuple<handle, int>> == 8);
}

TEST(codec_user, own_migratable_is_used) {
  expect_crosses(text_in_place{"hello"});
  static_assert(fixed_encoded_size_v<text_in_place> == 16);
  EXPECT_FALSE(layout_is_portable(layout_text<text_in_place>()));
}

TEST(codec_user, migratable_holds_a_value_and_gives_it_back) {
  const ham::migratable<std::string> text("hello");
  const std::string& seen = text;
  EXPECT_EQ(seen, "hello");
  const ham::migratable<double> number(3);
  EXPECT_EQ(number, 3.0);
  const ham::migratable<std::string> copy(text);
  EXPECT_EQ(static_cast<const std::string&>(copy), "hello");
}

TEST(codec_user, listed_fields_cross) {
  particle p;
  p.position[1] = 2.5;
  p.name = "electron";
  p.charged = true;
  p.spin = {1, -1};
  expect_crosses(p);
  expect_crosses(std::vector<particle>{p, particle()});
  p.not_sent = 8;
  EXPECT_EQ(round_trip(p).not_sent, 7);
  EXPECT_EQ(encoded(p).size(), 24U + 8 + 8 + 1 + 4);
}

TEST(codec_user, lists_in_unusual_places) {
  struct local {
    int a = 0;
    double b[2] = {};
    HAM_FIELDS(a, b)
    bool operator==(const local&) const = default;
  };
  expect_crosses(local{1, {2, 3}});
  static_assert(fixed_encoded_size_v<local> == 20);
  expect_crosses(secret(5));
  expect_crosses(generic_pair<std::string>{"a", "b"});
  expect_crosses(generic_pair<generic_pair<int>>{{1, 2}, {3, 4}});
  expect_crosses(grid{{{"a", "b"}, {"c", "d"}}, {{1, 2, 3}, {4, 5, 6}}});
  expect_crosses(no_fields());
  expect_crosses(std::vector<no_fields>(3));
}

TEST(codec_user, a_derived_class_does_not_take_the_list_of_its_base) {
  static_assert(!crosses<tagged_particle> && !crosses<derived_archived>);
  relisted r;
  r.name = "x";
  r.more = 3;
  r.charged = true;
  EXPECT_EQ(round_trip(r).name, "x");
  EXPECT_EQ(round_trip(r).more, 3);
  EXPECT_FALSE(round_trip(r).charged);
}

TEST(codec_user, serialize_members_cross) {
  expect_crosses(archived{1, "two", {{3, "three"}}});
  expect_crosses(with_ampersand{1, 2, {{3, "four", {}}}});
  boost_style boost;
  boost.a = 5;
  expect_crosses(boost);
  expect_crosses(save_load(5));
  expect_crosses(private_archived(5));
  chained_archived chained;
  chained.b = "base";
  chained.d = "derived";
  expect_crosses(chained);
  expect_crosses(std::vector<nothing_archived>(4));
}

TEST(codec_user, fields_of_other_peoples_types) {
  static_assert(fixed_encoded_size_v<elsewhere::vec3> == 24);
  elsewhere::vec3 one;
  one.y = 2;
  expect_crosses(one);
  elsewhere::body earth{"earth", {one, {}}, 8};
  EXPECT_EQ(round_trip(earth).cached, 7);
  earth.cached = 7;
  expect_crosses(earth);
  expect_crosses(interval_of_text{"a", "b"});
  EXPECT_EQ(encoded(elsewhere::nothing{"text"}).size(), 0U);
  EXPECT_EQ(layout_text<elsewhere::body>(), "fields<elsewhere::body:str,array<fields<elsewhere::vec3:f8,f8,f8>,2>>");
  static_assert(!crosses<elsewhere::heavy_body>, "the list of its base is not taken for it");
}

TEST(codec_user, free_serialize_functions_cross) {
  expect_crosses(elsewhere::stamp(5));
  EXPECT_TRUE(layout_text<elsewhere::stamp>().starts_with("serialize<")) << "not as its bytes";
  elsewhere::record record;
  record.text = "text";
  expect_crosses(record);
  elsewhere::own_record own;
  own.text = "text";
  own.more = "more";
  EXPECT_EQ(round_trip(own).more, "more");
  static_assert(!crosses<elsewhere::longer_record>, "its base's function would send the base");
  elsewhere::box<int> box;
  *box.held = 7;
  EXPECT_EQ(*round_trip(box).held, 7);
}

TEST(codec_user, nesting_has_a_limit_on_both_sides) {
  const auto at_limit = nested<tree, &tree::children>(max_nesting);
  EXPECT_EQ(round_trip(at_limit), at_limit);
  const auto beyond = nested<tree, &tree::children>(max_nesting + 1);
  EXPECT_THROW((void)encoded_size(beyond), ham::error);
  EXPECT_EQ(round_trip(at_limit), at_limit) << "a refused value must leave nothing behind";
  EXPECT_THROW((void)encoded_size(nested<archived_tree, &archived_tree::children>(max_nesting + 1)), ham::error);
  EXPECT_THROW((void)encoded_size(nested<chain, &chain::next>(max_nesting + 1)), ham::error);

  bytes hostile;
  for (int i = 0; i < 100000; ++i) {
    const bytes level = encoded(std::tuple<int, std::uint64_t>(0, 1));
    hostile.insert(hostile.end(), level.begin(), level.end());
  }
  EXPECT_THROW((void)decoded<tree>(hostile), ham::protocol_error);
  bytes counts;
  for (int i = 0; i < 100000; ++i)
    counts.insert(counts.end(), {std::byte{0}, std::byte{1}, {}, {}, {}, {}, {}, {}, {}});
  EXPECT_THROW((void)decoded<archived_tree>(bytes(counts.begin() + 1, counts.end())), ham::protocol_error);
  EXPECT_THROW((void)decoded<chain>(bytes(counts.begin() + 1, counts.end())), ham::protocol_error);
}

TEST(codec_user, wide_values_are_not_nested_ones) {
  tree wide;
  wide.children.resize(1000);
  EXPECT_EQ(round_trip(wide), wide);
  expect_truncations_refused(nested<tree, &tree::children>(5));
  expect_damage_survived(nested<tree, &tree::children>(5));
}

}  // namespace

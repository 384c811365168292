// expect: warnings ham: an object in this call holds a pointer, a reference or a view
// Objects that cross as their bytes: those that hold pointers compile, with a warning.
#include <ham/offload.hpp>
#include <ham/offload/pool.hpp>

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

using ham::fn;
namespace offload = ham::offload;

struct range {
  const double* first;
  std::size_t count;
};
struct text {
  int line;
  std::string_view words;
};
struct view {
  std::span<double> elements;
};
struct named_range {
  char name[8];
  range elements;
};
struct rows {
  double* row[3];
};
struct ranges {
  std::array<range, 2> two;
};
struct reference {
  int at;
  const std::string& of;
};
struct result_place {
  double& result;
};
struct derived : range {
  int more;
};
struct callback {
  void (*function)(int);
};
struct maybe {
  std::optional<std::string_view> word;
};
struct long_name {
  char name[64];
  double* values;
};
struct scaler {
  double* factor;
  double operator()(double x) const { return x; }
};

struct particle {
  double x[3];
  long double mass;
  std::optional<double> charge;
  std::array<char, 64> name;
};
struct packed {
  unsigned long kind : 40, flags : 24;
};
union either {
  double number;
  long count;
};
struct holds_union {
  either value;
  int which;
};
struct large {
  double cells[512][512];
};
struct handle {
  ham::buffer_ptr<double> values;
  std::size_t count;
};
struct device_address {
  void* address;
};
struct device_range {
  device_address first[2];
  int count;
};
class vec3 {
 public:
  explicit vec3(double x) : x_(x) {}
  double x() const { return x_; }

 private:
  double x_;
};

template <class Value>
int take(Value) {
  return 0;
}
template <class Value>
Value give();

}  // namespace

template <>
struct ham::is_bitwise_copyable<device_address> : std::true_type {};

template <class Value>
void send(const Value& value) {
  offload::sync(1, fn<&take<Value>>, value);  // warns
}

void arguments(const range& r, const text& t, const view& v, const named_range& n, const rows& o, const ranges& s,
               const reference& c, const result_place& p, const derived& d, const callback& f, const maybe& m,
               const long_name& l) {
  offload::sync(1, fn<&take<range>>, r);                                 // warns
  offload::sync(1, fn<&take<text>>, t);                                  // warns
  offload::sync(1, fn<&take<view>>, v);                                  // warns
  offload::sync(1, fn<&take<named_range>>, n);                           // warns
  offload::sync(1, fn<&take<rows>>, o);                                  // warns
  offload::sync(1, fn<&take<ranges>>, s);                                // warns
  offload::sync(1, fn<&take<reference>>, c);                             // warns
  offload::sync(1, fn<&take<result_place>>, p);                          // warns
  offload::sync(1, fn<&take<derived>>, d);                               // warns
  offload::sync(1, fn<&take<callback>>, f);                              // warns
  offload::sync(1, fn<&take<maybe>>, m);                                 // warns
  offload::sync(1, fn<&take<long_name>>, l);                             // warns
  offload::sync(1, fn<&take<std::vector<text>>>, std::vector{t});        // warns
  offload::sync(1, fn<&take<std::tuple<int, text>>>, std::tuple{1, t});  // warns
  send(r);
}

void verbs(const range& r, double* factor) {
  offload::sync(1, f2f(&take<range>, r));            // warns
  (void)offload::async(1, fn<&take<range>>, r);      // warns
  (void)offload::try_async(1, fn<&take<range>>, r);  // warns
  offload::ping(1, fn<&take<range>>, r);             // warns
  offload::pool nodes;
  (void)nodes.async(fn<&take<range>>, r);                       // warns
  (void)nodes.try_async(ham::idempotent(fn<&take<range>>), r);  // warns
  (void)nodes.async(fn<&take<int>>, 1);
  offload::batch calls(1);
  (void)calls.add(fn<&take<range>>, r);                      // warns
  (void)offload::async(1, fn<&give<range>>);                 // warns
  (void)offload::async(1, fn<&give<std::optional<range>>>);  // warns
  offload::sync(1, scaler{factor}, 1.0);                     // warns
  offload::sync(1, ham::pooled(scaler{factor}), 1.0);        // warns
}

void captures(std::string_view words, int* p, int k, double d) {
  offload::sync(1, [words] { return words.size(); });  // warns
  offload::sync(1, [&k, d] { return k + d; });         // warns
  offload::sync(1, [p, d] { return *p + d; });         // warns

  offload::sync(1, ham::bind([&k, d](int x) { return k + d + x; }, 1));                                     // warns
  offload::sync(1, ham::bind(fn<&take<text>>, text{1, words}));                                             // warns
  offload::sync(1, ham::bind(ham::bind([p, d](int x, int y) { return *p + d + x + y; }, 1), 2));            // warns
  offload::sync(1, std::bind(&take<int>, 1));                                                               // warns
  offload::sync(1, std::bind([](int x, int y) { return x + y; }, std::cref(k), std::placeholders::_1), 1);  // warns
  offload::sync(1, std::bind<long>(&take<int>, 1));                                                         // warns
  offload::sync(1, std::bind(fn<&take<int>>, 1));
  offload::sync(1, std::bind<long>([d](int x) { return static_cast<long>(d) + x; }, std::placeholders::_1), 1);
  offload::sync(1, ham::pooled(ham::bind([p, d](int x) { return *p + d + x; }, 1)));  // warns
}

void what_crosses(const particle& p, const packed& b, const either& e, const holds_union& u, const large& l,
                  const handle& h, const device_address& a, const device_range& r, const vec3& v, int k, double d,
                  ham::buffer_ptr<double> values, const std::array<double, 16>& row) {
  offload::sync(1, fn<&take<particle>>, p);
  offload::sync(1, fn<&take<packed>>, b);
  offload::sync(1, fn<&take<either>>, e);
  offload::sync(1, fn<&take<holds_union>>, u);
  offload::sync(1, fn<&take<large>>, l);
  offload::sync(1, fn<&take<handle>>, h);
  offload::sync(1, fn<&take<device_address>>, a);
  offload::sync(1, fn<&take<device_range>>, r);
  offload::sync(1, fn<&take<vec3>>, v);
  offload::sync(1, fn<&take<std::vector<particle>>>, std::vector<particle>{p});
  offload::sync(1, fn<&take<std::tuple<int*, int>>>, std::tuple<int*, int>{});
  offload::sync(1, fn<&take<std::string_view>>, "text");
  offload::batch calls(1);
  (void)calls.add(fn<&take<particle>>, p);
  (void)offload::async(1, fn<&give<handle>>);
  const auto scale = [k, d](int x) { return k * d * x; };
  offload::sync(1, scale, 1);
  offload::sync(1, [values] { return values[0]; });
  offload::sync(1, ham::bind([values, k](int x) { return values[0] + k + x; }, 1));
  offload::sync(1, [row, v] { return row[0] + v.x(); });
  offload::sync(1, [k]() mutable { return ++k; });
}

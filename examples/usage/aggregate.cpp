// aggregate: structs are sent and returned as they are; other people's types by a list of their fields or a function.
// expect: Ada and Grace are 3.22 m tall together, Grace is the last one
// expect: moved to 2 4 on day 8
#include <ham/offload.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace ham;

// Nothing to declare: strings, containers, arrays, other structs.
struct person {
  std::string name;
  double height;
};
struct group {
  std::string title;
  std::vector<person> members;
  int birthdays[2][3];
};
struct summary {
  std::string names;
  double height = 0;
  person last;
};

summary describe(const group& people) {
  summary result;
  for (const person& one : people.members) {
    result.names += (result.names.empty() ? "" : " and ") + one.name;
    result.height += one.height;
    result.last = one;
  }
  return result;
}

// A library that knows nothing of HAM.
namespace library {
class particle {
 public:
  double x = 0, y = 0;

 private:
  mutable double cached_energy_ = 0;  // is not sent
};
class date {
 public:
  explicit date(int day = 1) : day_(day) {}
  int day() const { return day_; }

 private:
  int day_;
};
// A function in the namespace of the class, as for other serialisation libraries.
template <class Archive>
void serialize(Archive& archive, date& value) {
  int day = value.day();
  archive(day);
  value = date(day);
}
}  // namespace library

HAM_FIELDS_OF(library::particle, x, y)

struct step {
  library::particle at;
  library::date when;
};

step next(step now) {
  now.at.x *= 2;
  now.at.y *= 2;
  now.when = library::date(now.when.day() + 1);
  return now;
}

int main() {
  const group people{"programmers", {{"Ada", 1.65}, {"Grace", 1.57}}, {{1815, 12, 10}, {1906, 12, 9}}};
  const summary all = offload::sync(1, fn<&describe>, people);
  std::cout << all.names << " are " << all.height << " m tall together, " << all.last.name << " is the last one\n";

  step now;
  now.at.x = 1;
  now.at.y = 2;
  now.when = library::date(7);
  now = offload::sync(1, fn<&next>, now);
  std::cout << "moved to " << now.at.x << ' ' << now.at.y << " on day " << now.when.day() << '\n';
}

// Arguments and results: what crosses without any help.
// expect: Ada is 36 and likes 2 things: chess tea
// expect: mean of 4 numbers: 2.5
#include <ham/offload.hpp>

#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace ham;

using likes = std::map<std::string, std::vector<std::string>>;

std::string describe(const std::string& name, std::optional<int> age, const likes& all) {
  std::string text = name + " is " + (age ? std::to_string(*age) : "ageless");
  const auto& things = all.at(name);
  text += " and likes " + std::to_string(things.size()) + " things:";
  for (const auto& thing : things) text += " " + thing;
  return text;
}

// A span as input: the target reads the elements where the message lies, without a copy of its own.
double mean(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

int main() {
  // Arithmetic types, enums, trivially copyable structs, strings, containers, optional, variant, tuple, chrono, ...
  const likes all{{"Ada", {"chess", "tea"}}, {"Bob", {"rain"}}};
  std::cout << offload::sync(1, fn<&describe>, "Ada", 36, all) << '\n';

  const std::vector<double> numbers{1, 2, 3, 4};
  std::cout << "mean of " << numbers.size() << " numbers: " << offload::sync(1, fn<&mean>, numbers) << '\n';
}

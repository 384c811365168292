// Medians of each part.
#include "common/breakdown.hpp"

#include "common/quartiles.hpp"

#include <utility>

namespace app {

const char* to_string(model which) {
  switch (which) {
    case model::native: return "native";
    case model::kernels: return "kernels";
    case model::callback: return "callback";
    case model::local: break;
  }
  return "no target";
}

std::vector<model> models_named(const std::string& name) {
  const std::vector<model> all{model::local, model::native, model::kernels, model::callback};
  for (const model one : all) {
    if (name == to_string(one)) return {one};
  }
  return all;
}

std::string breakdown_title(const std::string& program, const std::string& transport, const std::string& amount) {
  return program + ", execution models" + (transport == "emulated" ? " over an emulated link: " : ": ") + amount;
}

std::vector<std::string> breakdown_columns() {
  std::vector<std::string> columns = joined({"model", "transport"}, quartile_columns("total", "ms"));
  for (const char* part : {"computing", "transfer", "call", "I/O"}) {
    columns = joined(std::move(columns), further_quartile_columns(part, "ms"));
  }
  return columns;
}

std::vector<ham::bench::cell> breakdown_row(model which, const std::string& transport,
                                            const std::vector<breakdown>& repetitions) {
  std::vector<double> total, computing, transfer, call, io;
  for (const breakdown& one : repetitions) {
    total.push_back(1e3 * one.total);
    computing.push_back(1e3 * one.computing);
    transfer.push_back(1e3 * one.transfer);
    call.push_back(1e3 * one.call());
    io.push_back(1e3 * one.io);
  }
  std::vector<ham::bench::cell> row{to_string(which), which == model::local ? "-" : transport};
  for (const auto* part : {&total, &computing, &transfer, &call, &io}) {
    row = joined(std::move(row), cells_of(quartiles_of(*part), 3));
  }
  return row;
}

}  // namespace app

// The command line of a model; and where a run's memory comes from.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "explorer/search.hpp"

namespace model {
namespace {

struct command_line {
  std::string only;
  std::string replay;
  engine::limits limit;
  bool stop = false;  // at the first scenario that fails
};

command_line read(int argc, char** argv) {
  command_line found;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const auto value = [&](const char* name) -> const char* {
      const std::size_t length = std::strlen(name);
      return text.compare(0, length, name) == 0 ? argv[i] + length : nullptr;
    };
    if (text == "--stop")
      found.stop = true;
    else if (const char* at = value("--scenario="))
      found.only = at;
    else if (const char* at = value("--replay="))
      found.replay = at;
    else if (const char* at = value("--seconds="))
      found.limit.seconds = std::atof(at);
    else if (const char* at = value("--pauses="))
      found.limit.pauses = static_cast<unsigned>(std::atoi(at));
    else if (const char* at = value("--switches="))
      found.limit.preemptions = static_cast<unsigned>(std::atoi(at));
    else {
      std::fprintf(stderr,
                   "%s [--scenario=NAME] [--replay=CHOICES] [--seconds=N] [--pauses=N] [--switches=N] [--stop]\n"
                   "unknown: %s\n",
                   argv[0], argv[i]);
      std::exit(2);
    }
  }
  return found;
}

void set_choices(engine& with, const std::string& text) {
  const char* at = text.c_str();
  while (*at != 0) {
    char* end = nullptr;
    const auto chosen = static_cast<unsigned>(std::strtoul(at, &end, 10));
    with.choices.push_back({chosen, 0});
    at = *end == '.' ? end + 1 : end;
  }
}

enum class result : std::uint8_t { holds, failed, incomplete };

/// Whether the runs had the outcomes that they should.
bool has_outcomes(const scenario& what, const std::set<std::string>& found) {
  bool good = true;
  for (const std::string& wanted : what.outcomes) {
    const bool forbidden = wanted.front() == '!';
    const std::string which = forbidden ? wanted.substr(1) : wanted;
    if ((found.count(which) != 0) != forbidden) continue;
    std::printf("%s: %s run has the outcome %s\n", what.name, forbidden ? "a" : "no", which.c_str());
    good = false;
  }
  return good;
}

result run_one(const scenario& what, const command_line& wish) {
  const auto one = std::make_unique<engine>(what);
  one->limit = wish.limit;
  if (one->limit.preemptions == ~0U) one->limit.preemptions = what.switches;
  the_engine = one.get();
  if (!wish.replay.empty()) {
    set_choices(*one, wish.replay);
    return one->replay() ? result::holds : result::failed;
  }
  const auto begin = std::chrono::steady_clock::now();
  const bool held = one->explore();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  one->report(spent.count());
  if (what.failure != nullptr) {
    if (!held && one->failure.find(what.failure) != std::string::npos) return result::holds;
    std::printf("%s: must fail with \"%s\", but %s\n", what.name, what.failure, held ? "holds" : one->failure.c_str());
    return result::failed;
  }
  if (!held) {
    std::printf("%s: %s\nto see it: --scenario=\"%s\" --replay=%s\n", what.name, one->failure.c_str(), what.name,
                one->replay_text().c_str());
    return result::failed;
  }
  if (!one->complete()) return result::incomplete;
  return has_outcomes(what, one->outcomes()) ? result::holds : result::failed;
}

}  // namespace

[[gnu::noinline]] void release(void* what) noexcept {
  auto* const at = static_cast<std::byte*>(what);
  if (at < arenas() || at >= arenas() + (max_threads + 1) * arena_bytes) std::free(what);
}

int run(int argc, char** argv, const std::vector<scenario>& scenarios) {
  const command_line wish = read(argc, argv);
  bool good = true;
  bool failed = false;
  bool any = false;
  for (const scenario& one : scenarios) {
    if (!wish.only.empty() && wish.only != one.name) continue;
    any = true;
    const result how = run_one(one, wish);
    failed = failed || how == result::failed;
    good = good && how == result::holds;
    if (failed && wish.stop) break;
  }
  if (!any) std::fprintf(stderr, "no such scenario\n");
  if (!any) return 2;
  return failed ? 3 : good ? 0 : 1;
}

}  // namespace model

// What a run allocates is gone with it, wherever it was broken off; and each thread finds the same addresses in every
// run in which it has done the same.
void* operator new(std::size_t size) {
  if (model::in_model_code) return model::the_engine->allocate(size, alignof(std::max_align_t));
  if (void* const found = std::malloc(size == 0 ? 1 : size)) return found;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (model::in_model_code) return model::the_engine->allocate(size, static_cast<std::size_t>(alignment));
  const auto bytes = static_cast<std::size_t>(alignment);
  if (void* const found = std::aligned_alloc(bytes, (size + bytes - 1) / bytes * bytes)) return found;
  throw std::bad_alloc();
}
void operator delete(void* what) noexcept { model::release(what); }
void operator delete(void* what, std::size_t) noexcept { model::release(what); }
void operator delete(void* what, std::align_val_t) noexcept { model::release(what); }
void operator delete(void* what, std::size_t, std::align_val_t) noexcept { model::release(what); }

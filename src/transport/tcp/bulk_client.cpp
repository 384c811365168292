// Requests on lanes; a large transfer moves only when the owner has said that it may.
#include "transport/tcp/bulk_client.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "base/thread.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

/// A lane may be asked for again if none has come for so long.
constexpr std::chrono::seconds timeout{1};

access_result meaning(bulk_answer answer) noexcept {
  switch (answer) {
    case bulk_answer::go: return access_result::done;
    case bulk_answer::stale: return access_result::stale;
    case bulk_answer::out_of_range: return access_result::out_of_range;
    case bulk_answer::unsupported: break;
  }
  return access_result::unsupported;
}

access_result await_answer(lane& on) noexcept {
  std::array<std::byte, answer_bytes> bytes;
  bulk_answer answer{};
  if (!on.receive(bytes) || !read_answer(bytes, answer)) return access_result::lost;
  return meaning(answer);
}

access_result run(lane& on, const bulk_request& what, std::byte* here) noexcept {
  std::array<std::byte, bulk_request::bytes> head;
  store_request(head.data(), what);
  const bool eager = what.verb == bulk_verb::put && what.size <= eager_bytes;
  const std::span<std::byte> data{here, what.verb == bulk_verb::check ? 0 : what.size};
  if (!on.send(head, eager ? data : std::span<std::byte>())) return access_result::lost;
  const access_result allowed = await_answer(on);
  if (eager || what.verb == bulk_verb::check || allowed != access_result::done) return allowed;
  const bool moved = what.verb == bulk_verb::put ? on.send(data) : on.receive(data);
  return moved ? await_answer(on) : access_result::lost;
}

}  // namespace

access_result bulk_client::put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) {
  return access({bulk_verb::put, address, tag, size}, const_cast<std::byte*>(from));
}

access_result bulk_client::get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) {
  return access({bulk_verb::get, address, tag, size}, to);
}

access_result bulk_client::access(const bulk_request& what, std::byte* here) {
  return streams_ > 1 && what.size >= spread_bytes ? access_on_many(what, here) : access_on_one(what, here);
}

/// All of it is checked before a part of it moves.
access_result bulk_client::access_on_many(const bulk_request& what, std::byte* here) {
  bulk_request check = what;
  check.verb = bulk_verb::check;
  if (const access_result allowed = access_on_one(check, nullptr); allowed != access_result::done) return allowed;
  const std::uint64_t part = (what.size / streams_ + 4095) / 4096 * 4096;
  std::vector<access_result> results(streams_, access_result::done);
  std::mutex problem_mutex;
  std::exception_ptr problem;
  const auto move = [&](std::size_t number) noexcept {
    const std::uint64_t begin = std::min(what.size, number * part);
    const std::uint64_t size = std::min(part, what.size - begin);
    try {
      results[number] = access_on_one({what.verb, what.address + begin, what.tag, size}, here + begin);
    } catch (...) {
      std::lock_guard guard(problem_mutex);
      if (problem == nullptr) problem = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(streams_);
  std::size_t own = streams_;  // from here on for want of threads
  for (std::size_t i = 1; i < own; ++i) {
    try {
      others.push_back(base::start_thread([&move, i] { move(i); }));
    } catch (const std::exception&) {  // no thread, or no memory for one
      own = i;
    }
  }
  move(0);
  for (std::size_t i = own; i < streams_; ++i) move(i);
  for (std::thread& one : others) one.join();
  if (problem != nullptr) std::rethrow_exception(problem);
  const auto failed =
      std::find_if(results.begin(), results.end(), [](access_result one) { return one != access_result::done; });
  return failed == results.end() ? access_result::done : *failed;
}

access_result bulk_client::access_on_one(const bulk_request& what, std::byte* here) {
  std::unique_ptr<lane> on = take();
  if (on == nullptr) return access_result::lost;
  const access_result result = run(*on, what, here);
  give(std::move(on), result != access_result::lost);
  return result;
}

std::unique_ptr<lane> bulk_client::take() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (closed_) return nullptr;
    if (!idle_.empty()) {
      std::unique_ptr<lane> result = std::move(idle_.back());
      idle_.pop_back();
      busy_.push_back(result.get());
      return result;
    }
    if (opened_ == max_lanes) {
      changed_.wait(lock);
      continue;
    }
    ++opened_;
    lock.unlock();
    std::unique_ptr<lane> fresh;
    try {
      fresh = open_();
    } catch (...) {
      lock.lock();
      --opened_;
      changed_.notify_one();
      throw;
    }
    lock.lock();
    if (fresh != nullptr) {
      if (closed_) return nullptr;
      idle_.push_back(std::move(fresh));
      continue;
    }
    // adopt() counts the one that comes.
    --opened_;
    changed_.wait_for(lock, timeout);
  }
}

void bulk_client::give(std::unique_ptr<lane> used, bool sound) {
  std::lock_guard guard(mutex_);
  std::erase(busy_, used.get());
  if (sound && !closed_)
    idle_.push_back(std::move(used));
  else
    --opened_;
  changed_.notify_one();
}

void bulk_client::adopt(std::unique_ptr<lane> fresh) {
  std::lock_guard guard(mutex_);
  if (closed_ || opened_ >= 2 * max_lanes) return;  // more than were asked for
  ++opened_;
  idle_.push_back(std::move(fresh));
  changed_.notify_one();
}

void bulk_client::close() noexcept {
  std::lock_guard guard(mutex_);
  closed_ = true;
  for (const lane* one : busy_) one->cut();
  idle_.clear();
  changed_.notify_all();
}

}  // namespace ham::transport::tcp

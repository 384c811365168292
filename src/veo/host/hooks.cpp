// The table of hooks, and hooks for memory with a tag.
#include "hooks.hpp"

#include <atomic>
#include <cstdarg>
#include <map>
#include <mutex>

#include "../tagged_pointers.hpp"
#include "proc.hpp"
#include "ve_offload.h"

namespace ham::inline v1::veo {
namespace {

struct hook_table {
  std::mutex mutex;
  std::atomic<std::size_t> size{0};
  std::map<const void*, hook> all;
};

/// Never destroyed: hooks are looked up until the very end.
hook_table& table() {
  static auto* const one = new hook_table;
  return *one;
}

void set_hook(const void* function, hook what) {
  std::lock_guard guard(table().mutex);
  if (what)
    table().all[function] = what;
  else
    table().all.erase(function);
  table().size = table().all.size();
}

std::atomic<void (*)(void*, std::size_t)> allocation_observer{nullptr};
std::atomic<void (*)(std::uint64_t)> release_observer{nullptr};

void report_allocation(const proc& of, std::uint64_t address, std::size_t bytes) {
  if (auto* const observer = allocation_observer.load(); observer != nullptr)
    observer(tagged(address, of.identifier()), bytes);
}
void report_release(const proc& of, std::uint64_t address) {
  if (auto* const observer = release_observer.load(); observer != nullptr)
    observer(bits_of(tagged(address, of.identifier())));
}

void on_alloc_mem(void* payload, ...) {
  va_list rest;
  va_start(rest, payload);
  const proc* const of = va_arg(rest, veo_proc_handle*);
  const std::uint64_t address = *va_arg(rest, std::uint64_t*);
  report_allocation(*of, address, va_arg(rest, std::size_t));
  va_end(rest);
}
void on_free_mem(void* payload, ...) {
  va_list rest;
  va_start(rest, payload);
  const proc* const of = va_arg(rest, veo_proc_handle*);
  report_release(*of, va_arg(rest, std::uint64_t));
  va_end(rest);
}
void on_alloc_mem_async(void* payload, ...) {
  va_list rest;
  va_start(rest, payload);
  veo_thr_ctxt* const in = va_arg(rest, veo_thr_ctxt*);
  const std::uint64_t address = va_arg(rest, std::uint64_t);
  report_allocation(in->of(), address, va_arg(rest, std::size_t));
  va_end(rest);
}
void on_free_mem_async(void* payload, ...) {
  va_list rest;
  va_start(rest, payload);
  veo_thr_ctxt* const in = va_arg(rest, veo_thr_ctxt*);
  report_release(in->of(), va_arg(rest, std::uint64_t));
  va_end(rest);
}

}  // namespace

hook hook_of(const void* function) {
  if (table().size.load(std::memory_order_relaxed) == 0) return {};
  std::lock_guard guard(table().mutex);
  const auto found = table().all.find(function);
  return found == table().all.end() ? hook{} : found->second;
}

}  // namespace ham::veo

using namespace ham::veo;

extern "C" {

void veo_register_hook(void* func, void (*hook_function)(void*, ...), void* payload) {
  set_hook(func, {hook_function, payload});
}

void* veo_get_hook(void* func) { return reinterpret_cast<void*>(hook_of(static_cast<const void*>(func)).function); }

void veo_unregister_hook(void* func) { set_hook(func, {}); }

void veo_register_hmem_hook_functions(void (*alloc)(void*, size_t), void (*free)(uint64_t)) {
  allocation_observer = alloc;
  release_observer = free;
  veo_register_hook(reinterpret_cast<void*>(&veo_alloc_mem), &on_alloc_mem, nullptr);
  veo_register_hook(reinterpret_cast<void*>(&veo_free_mem), &on_free_mem, nullptr);
  veo_register_hook(reinterpret_cast<void*>(&veo_alloc_mem_async), &on_alloc_mem_async, nullptr);
  veo_register_hook(reinterpret_cast<void*>(&veo_free_mem_async), &on_free_mem_async, nullptr);
}

void veo_unregister_hmem_hook_functions() {
  veo_unregister_hook(reinterpret_cast<void*>(&veo_alloc_mem));
  veo_unregister_hook(reinterpret_cast<void*>(&veo_free_mem));
  veo_unregister_hook(reinterpret_cast<void*>(&veo_alloc_mem_async));
  veo_unregister_hook(reinterpret_cast<void*>(&veo_free_mem_async));
}
}

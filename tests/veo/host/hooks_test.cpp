// Functions of clients that are told of memory: one per function of the API, until they are taken out.
#include "veo/host/hooks.hpp"

#include <gtest/gtest.h>

#include "ve_offload.h"
#include "veo_hmem.h"

namespace ham::inline v1::veo {
namespace {

void first_hook(void*, ...) {}
void second_hook(void*, ...) {}
void* as_pointer(void (*function)(void*, ...)) { return reinterpret_cast<void*>(function); }

int places[2];
void* const one = &places[0];
void* const other = &places[1];

TEST(veo_hooks, are_found_by_the_function_they_are_for) {
  EXPECT_FALSE(hook_of(one));
  EXPECT_EQ(veo_get_hook(one), nullptr);
  int payload = 0;
  veo_register_hook(one, &first_hook, &payload);
  EXPECT_EQ(veo_get_hook(one), as_pointer(&first_hook));
  EXPECT_EQ(hook_of(one).payload, &payload);
  EXPECT_FALSE(hook_of(other));
  veo_register_hook(one, &second_hook, nullptr);
  EXPECT_EQ(veo_get_hook(one), as_pointer(&second_hook)) << "the last one counts";
  veo_unregister_hook(one);
  EXPECT_FALSE(hook_of(one));
  veo_unregister_hook(one);
}

TEST(veo_hooks, registering_none_takes_one_out) {
  veo_register_hook(one, &first_hook, nullptr);
  veo_register_hook(one, nullptr, nullptr);
  EXPECT_FALSE(hook_of(one));
}

TEST(veo_hooks, of_tagged_memory_are_for_all_four_functions) {
  void* const functions[] = {reinterpret_cast<void*>(&veo_alloc_mem), reinterpret_cast<void*>(&veo_free_mem),
                             reinterpret_cast<void*>(&veo_alloc_mem_async),
                             reinterpret_cast<void*>(&veo_free_mem_async)};
  veo_register_hmem_hook_functions([](void*, std::size_t) {}, [](std::uint64_t) {});
  for (void* const function : functions) EXPECT_NE(veo_get_hook(function), nullptr);
  veo_unregister_hmem_hook_functions();
  for (void* const function : functions) EXPECT_EQ(veo_get_hook(function), nullptr);
}

}  // namespace
}  // namespace ham::veo

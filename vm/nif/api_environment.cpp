// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <string>

#include "vm/base/allocate.hpp"
#include "vm/code/native_env.hpp"
#include "vm/heap/copy.hpp"
#include "vm/nif/nif_library.hpp"

// The native interface: memory, environments, shared libraries.

using namespace vmrun;

void* enif_alloc(size_t size) { return try_allocate_bytes(size); }
void* enif_realloc(void* p, size_t size) {
  return p ? try_reallocate_bytes(p, size) : try_allocate_bytes(size);
}
void enif_free(void* p) {
  if (p) free_bytes(p);
}

void* enif_priv_data(ErlNifEnv* env) { return env->library ? env->library->data : nullptr; }

namespace {

/// The environment that enif_alloc_env makes.
struct IndependentEnv : ErlNifEnv {
  IndependentEnv() : ErlNifEnv(nullptr, &own_heap, nullptr) {}
  Arena own_heap;
};

}  // namespace

ErlNifEnv* enif_alloc_env(void) { return new IndependentEnv; }
void enif_clear_env(ErlNifEnv* env) {
  free_temporaries(*env);
  env->heap->release_all();
}
void enif_free_env(ErlNifEnv* env) {
  free_temporaries(*env);
  delete static_cast<IndependentEnv*>(env);
}

ERL_NIF_TERM enif_make_copy(ErlNifEnv* to, ERL_NIF_TERM term) {
  return from_term(copy_to(*to->heap, to_term(term), to->process ? Literals::kShared : Literals::kCopied));
}

namespace {

void* report_unless(void* found, void (*handler)(void*, const char*), void* argument) {
  if (!found && handler) {
    const char* why = dlerror();
    handler(argument, why ? why : "unknown error");
  }
  return found;
}

}  // namespace

// The name has no .so, as for load_nif; NULL stands for the program itself.
void* enif_dlopen(const char* lib, void (*handler)(void*, const char*), void* argument) {
  const std::string path = lib ? std::string(lib) + ".so" : std::string();
  return report_unless(dlopen(lib ? path.c_str() : nullptr, RTLD_NOW), handler, argument);
}
void* enif_dlsym(void* handle, const char* symbol, void (*on_error)(void*, const char*), void* argument) {
  return report_unless(dlsym(handle, symbol), on_error, argument);
}

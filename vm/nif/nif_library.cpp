// SPDX-License-Identifier: Apache-2.0
#include "vm/nif/nif_library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <mutex>
#include <utility>

namespace vmrun {

namespace {

std::mutex& listeners_mutex() {
  static auto& m = *new std::mutex;
  return m;
}
std::vector<NifLibrary*>& listeners() {
  static auto& all = *new std::vector<NifLibrary*>;
  return all;
}

}  // namespace

void listen_for_halt(NifLibrary* l) {
  if (!l->on_halt) return;
  std::lock_guard lock(listeners_mutex());
  listeners().push_back(l);
}
void stop_listening_for_halt(NifLibrary* l) {
  if (!l->on_halt) return;
  std::lock_guard lock(listeners_mutex());
  std::erase(listeners(), l);
}

void tell_libraries_of_halt() {
  std::lock_guard lock(listeners_mutex());  // none of them is unloaded meanwhile
  for (NifLibrary* l : listeners()) l->on_halt(l->data);
}

void drop_library_record(NifLibrary* l) {
  if (l->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete l;
}

void retain_library(NifLibrary* l) { l->references.fetch_add(1, std::memory_order_relaxed); }

void release_library(NifLibrary* l) {
  if (l->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (l->entry->unload) {
    CallbackEnv env(l);
    l->entry->unload(&env, l->data);
  }
  if (l->handle) dlclose(l->handle);
  drop_library_record(l);
}

}  // namespace vmrun

using namespace vmrun;

// Each option can be set once, by load or upgrade.
int enif_set_option(ErlNifEnv* env, ErlNifOption option, ...) {
  NifLibrary* l = env ? env->library : nullptr;
  if (!l || !l->is_loading) return EINVAL;
  if (option == ERL_NIF_OPT_DELAY_HALT) return std::exchange(l->delays_halt, true) ? EINVAL : 0;
  va_list rest;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvarargs"  // erl_nif.h has an enumeration as the last parameter
  va_start(rest, option);
#pragma GCC diagnostic pop
  int status = EINVAL;
  const auto set = [&status](auto*& member, auto* callback) {
    if (member || !callback) return;
    member = callback;
    status = 0;
  };
  if (option == ERL_NIF_OPT_ON_HALT) set(l->on_halt, va_arg(rest, ErlNifOnHaltCallback*));
  else if (option == ERL_NIF_OPT_ON_UNLOAD_THREAD)
    set(l->on_unload_thread, va_arg(rest, ErlNifOnUnloadThreadCallback*));
  va_end(rest);
  return status;
}

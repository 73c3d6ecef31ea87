// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>

#include "vm/include/erl_nif.h"

/// Resources of one native module that are objects of one class: made with the first reference to
/// them, destroyed after the last.
namespace vmrun::preloaded {

template <class Object>
class Resources {
 public:
  /// Called by the module's load function. down: called when a process ends that the object
  /// monitors. Returns false on failure.
  bool open(ErlNifEnv* env, const char* name, ErlNifResourceDown* down = nullptr) {
    ErlNifResourceTypeInit callbacks{};
    callbacks.dtor = [](ErlNifEnv*, void* object) { static_cast<Object*>(object)->~Object(); };
    callbacks.down = down;
    // For objects that wait for a descriptor, which stays open.
    callbacks.stop = [](ErlNifEnv*, void*, ErlNifEvent, int) {};
    type_ = enif_open_resource_type_x(
        env, name, &callbacks, static_cast<ErlNifResourceFlags>(ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER),
        nullptr);
    return type_ != nullptr;
  }

  /// Makes a new object, to which `term` refers.
  Object& make(ErlNifEnv* env, ERL_NIF_TERM* term) const {
    auto* object = new (enif_alloc_resource(type_, sizeof(Object))) Object;
    *term = enif_make_resource(env, object);
    enif_release_resource(object);
    return *object;
  }

  /// Returns nullptr when the term is not a reference to such an object.
  Object* find(ErlNifEnv* env, ERL_NIF_TERM term) const {
    void* object;
    return enif_get_resource(env, term, type_, &object) ? static_cast<Object*>(object) : nullptr;
  }

 private:
  ErlNifResourceType* type_ = nullptr;
};

}  // namespace vmrun::preloaded

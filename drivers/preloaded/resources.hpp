#pragma once

#include <new>

#include "vm/include/erl_nif.h"

/// Resources that are objects of one class, of one native module: made with the first reference to
/// them, destroyed after the last.
namespace vmrun::preloaded {

template <class Object>
class Resources {
 public:
  /// For the module's load function; false: no.
  bool open(ErlNifEnv* env, const char* name) {
    const auto destroy = [](ErlNifEnv*, void* object) { static_cast<Object*>(object)->~Object(); };
    type_ = enif_open_resource_type(env, nullptr, name, destroy,
                                    static_cast<ErlNifResourceFlags>(ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER),
                                    nullptr);
    return type_ != nullptr;
  }

  /// A fresh object, which `term` refers to.
  Object& make(ErlNifEnv* env, ERL_NIF_TERM* term) const {
    auto* object = new (enif_alloc_resource(type_, sizeof(Object))) Object;
    *term = enif_make_resource(env, object);
    enif_release_resource(object);
    return *object;
  }

  /// nullptr when the term is no reference to one.
  Object* find(ErlNifEnv* env, ERL_NIF_TERM term) const {
    void* object;
    return enif_get_resource(env, term, type_, &object) ? static_cast<Object*>(object) : nullptr;
  }

 private:
  ErlNifResourceType* type_ = nullptr;
};

}  // namespace vmrun::preloaded

// SPDX-License-Identifier: Apache-2.0
#include "vm/nif/resource.hpp"
#include "vm/nif/resource_select.hpp"
#include "vm/term/bits.hpp"

// The native interface: resources and their monitors.

using namespace vmrun;

namespace {

/// Returns the resource that a term stands for (a reference, or a binary that shows its memory), of
/// any type; nullptr: the term is not one.
Resource* resource_in(ERL_NIF_TERM term) {
  const Term t = to_term(term);
  if (t.is_boxed_sub(Term::Sub::kMagicRef)) return Resource::of_binary(magic_ref_of(t)->resource);
  if (!t.is_boxed_sub(Term::Sub::kRefcBinary)) return nullptr;
  Binary* b = reinterpret_cast<const RefcBinary*>(t.boxed_ptr())->binary;
  return b->is_native() ? Resource::of_binary(b) : nullptr;
}

}  // namespace

ErlNifResourceType* enif_open_resource_type(ErlNifEnv* env, const char* module, const char* name,
                                            void (*dtor)(ErlNifEnv*, void*), ErlNifResourceFlags flags,
                                            ErlNifResourceFlags* tried) {
  if (module) return nullptr;
  return open_resource_type(*env, name, {dtor, nullptr, nullptr, 1, nullptr}, flags, tried);
}

ErlNifResourceType* enif_open_resource_type_x(ErlNifEnv* env, const char* name,
                                              const ErlNifResourceTypeInit* init, ErlNifResourceFlags flags,
                                              ErlNifResourceFlags* tried) {
  return open_resource_type(*env, name, {init->dtor, init->stop, init->down, 3, nullptr}, flags, tried);
}

ErlNifResourceType* enif_init_resource_type(ErlNifEnv* env, const char* name,
                                            const ErlNifResourceTypeInit* init, ErlNifResourceFlags flags,
                                            ErlNifResourceFlags* tried) {
  const int n = init->members;
  const ErlNifResourceTypeInit callbacks{n > 0 ? init->dtor : nullptr, n > 1 ? init->stop : nullptr,
                                         n > 2 ? init->down : nullptr, n, n > 3 ? init->dyncall : nullptr};
  return open_resource_type(*env, name, callbacks, flags, tried);
}

void* enif_alloc_resource(ErlNifResourceType* type, size_t size) {
  Resource* r = new_resource(*type, size);
  return r ? r->object() : nullptr;
}
void enif_keep_resource(void* object) { Resource::of(object)->binary.retain(); }
void enif_release_resource(void* object) { Resource::of(object)->binary.release(); }
size_t enif_sizeof_resource(void* object) { return Resource::of(object)->binary.used_bytes; }

ERL_NIF_TERM enif_make_resource(ErlNifEnv* env, void* object) {
  return from_term(make_magic_ref(*env->heap, *Resource::of(object)));
}

int enif_get_resource(ErlNifEnv*, ERL_NIF_TERM term, ErlNifResourceType* type, void** object) {
  Resource* r = resource_in(term);
  if (!r || r->type != type) return 0;
  *object = r->object();
  return 1;
}

ERL_NIF_TERM enif_make_resource_binary(ErlNifEnv* env, void* object, const void* data, size_t size) {
  Resource* r = Resource::of(object);
  r->binary.retain();
  return from_term(
      make_refc_binary(*env->heap, &r->binary, static_cast<std::uint8_t*>(const_cast<void*>(data)), size));
}

int enif_dynamic_resource_call(ErlNifEnv*, ERL_NIF_TERM module, ERL_NIF_TERM name, ERL_NIF_TERM resource,
                               void* call_data) {
  Resource* r = resource_in(resource);
  if (!r || r->type->module != to_term(module) || r->type->name != to_term(name) || !r->type->dyncall)
    return 1;
  CallbackEnv callback(r->type->owner);
  r->type->dyncall(&callback, r->object(), call_data);
  return 0;
}

int enif_monitor_process(ErlNifEnv*, void* object, const ErlNifPid* target, ErlNifMonitor* monitor) {
  Resource* r = Resource::of(object);
  if (!r->type->down) return -1;
  RefKey key;
  const Term pid = to_term(target->pid);
  if (!pid.is_local_pid() || !start_resource_monitor(*r, pid, &key)) return 1;
  if (monitor) *monitor = monitor_of(key);
  return 0;
}

int enif_demonitor_process(ErlNifEnv*, void* object, const ErlNifMonitor* monitor) {
  return stop_resource_monitor(*Resource::of(object), monitor_key(*monitor)) ? 0 : 1;
}

int enif_compare_monitors(const ErlNifMonitor* a, const ErlNifMonitor* b) {
  return std::memcmp(a->data, b->data, sizeof a->data);
}

ERL_NIF_TERM enif_make_monitor_term(ErlNifEnv* env, const ErlNifMonitor* monitor) {
  Term* hp = env->heap->alloc(kRefWords);
  return from_term(make_ref(hp, monitor_key(*monitor)));
}

// ---- Descriptors ----

namespace {

int select(ErlNifEnv* env, ErlNifEvent fd, int mode, void* object, const ErlNifPid* to,
           ERL_NIF_TERM message) {
  Term pid = to ? to_term(to->pid) : env && env->process ? env->process->id : kNonValue;
  const bool waits = !(mode & (ERL_NIF_SELECT_STOP | ERL_NIF_SELECT_CANCEL));
  if (waits && !pid.is_local_pid()) return INT32_MIN | ERL_NIF_SELECT_FAILED;
  return select_for_resource(fd, mode, *Resource::of(object), pid, to_term(message));
}

}  // namespace

int enif_select(ErlNifEnv* env, ErlNifEvent fd, enum ErlNifSelectFlags mode, void* object,
                const ErlNifPid* pid, ERL_NIF_TERM ref) {
  return select(env, fd, mode & ~ERL_NIF_SELECT_CUSTOM_MSG, object, pid, ref);
}

int enif_select_x(ErlNifEnv* env, ErlNifEvent fd, enum ErlNifSelectFlags mode, void* object,
                  const ErlNifPid* pid, ERL_NIF_TERM message, ErlNifEnv* message_env) {
  const int result = select(env, fd, mode, object, pid, message);
  if (message_env && result >= 0) enif_clear_env(message_env);
  return result;
}

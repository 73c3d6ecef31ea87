// SPDX-License-Identifier: Apache-2.0
#include "vm/nif/resource.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "vm/base/allocate.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/message/receiver.hpp"
#include "vm/nif/guard.hpp"
#include "vm/nif/nif_library.hpp"
#include "vm/term/atom.hpp"

namespace vmrun {
namespace {

std::size_t resource_bytes(std::size_t bytes) {
  return std::max(sizeof(Resource), offsetof(Resource, data) + bytes);
}

struct KeyHash {
  std::size_t operator()(const RefKey& k) const { return hash_key(k); }
};

struct MonitorTarget {
  Resource* resource;
  Term pid;
};

/// Types and monitors. One lock suffices, since all of this is rare.
struct Registry {
  std::mutex mutex;
  std::vector<ErlNifResourceType*> types;
  std::unordered_map<RefKey, MonitorTarget, KeyHash> monitors;
  std::unordered_map<RefKey, Resource*, KeyHash> exposed;
};
std::atomic<unsigned> exposed_count{0};
Registry& registry() {
  static Registry& r = *new Registry;
  return r;
}

/// What a running load or upgrade has opened, in the thread that runs it.
struct Opened {
  ErlNifResourceType* type;  // a new type, or the one that is taken over, with one reference for being here
  ErlNifResourceTypeInit callbacks;
  bool is_new;
};
thread_local std::vector<Opened>* opened = nullptr;

/// Adds a reference, unless the last one is gone already.
bool retain_unless_gone(std::atomic<Word>& references) {
  Word n = references.load(std::memory_order_relaxed);
  while (n)
    if (references.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) return true;
  return false;
}
bool retain_unless_gone(Resource& r) { return retain_unless_gone(r.binary.references); }

/// Returns the type with a reference for the caller; nullptr when there is no such type. The caller
/// holds the lock.
ErlNifResourceType* retain_type(Term module, Term name) {
  for (ErlNifResourceType* t : registry().types)
    if (t->module == module && t->name == name && retain_unless_gone(t->references)) return t;
  return nullptr;
}

void drop_type(ErlNifResourceType* type) {
  if (type->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  NifLibrary* owner;
  {
    std::lock_guard lock(registry().mutex);
    std::erase(registry().types, type);
    owner = type->owner;
  }
  delete type;
  if (owner) release_library(owner);
}

/// A type that may call the library keeps it.
bool calls_library(const ErlNifResourceTypeInit& c) { return c.dtor || c.stop || c.down || c.dyncall; }

void set_callbacks(ErlNifResourceType& type, const ErlNifResourceTypeInit& c) {
  type.dtor = c.dtor;
  type.stop = c.stop;
  type.down = c.down;
  type.dyncall = c.dyncall;
}

/// Removes a monitor that is gone. The caller holds the lock.
void forget_monitor(Resource& r, RefKey key) {
  if (r.monitors) std::erase(*r.monitors, key);
}

void drop_monitors(Resource& r) {
  std::vector<std::pair<RefKey, Term>> mine;
  {
    std::lock_guard lock(registry().mutex);
    for (const RefKey& key : *r.monitors) {
      auto it = registry().monitors.find(key);
      mine.emplace_back(key, it->second.pid);
      registry().monitors.erase(it);
    }
  }
  delete r.monitors;
  r.monitors = nullptr;
  ProcessPointers guard;
  for (const auto& [key, pid] : mine) receiver_of(pid).demonitor(pid, kResourceWatcher, key);
}

void conceal(Resource& r) {
  std::lock_guard lock(registry().mutex);
  registry().exposed.erase(r.key);
  exposed_count.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

// ---- What terms need of resources ---------------------------------------------------------------

void destroy_resource(Binary* b) {
  Resource* r = Resource::of_binary(b);
  if (r->monitors) drop_monitors(*r);
  if (r->exposed.load(std::memory_order_acquire)) conceal(*r);
  ErlNifResourceType* type = r->type;
  if (type->dtor) {
    CallbackEnv env(type->owner);
    type->dtor(&env, r->object());
  }
  drop_type(type);
  count_memory_given(MemoryKind::kBinaries, resource_bytes(r->binary.used_bytes));
  free_bytes(r);
}

void expose_resource(Binary* resource) {
  Resource* r = Resource::of_binary(resource);
  if (r->exposed.exchange(true, std::memory_order_acq_rel)) return;
  std::lock_guard lock(registry().mutex);
  registry().exposed.emplace(r->key, r);
  exposed_count.fetch_add(1, std::memory_order_relaxed);
}

Term find_resource(const std::uint32_t* numbers, TermSpace& heap) {
  if (exposed_count.load(std::memory_order_relaxed) == 0) return kNonValue;
  Resource* r = nullptr;
  {
    std::lock_guard lock(registry().mutex);
    auto it = registry().exposed.find(RefKey{Word{numbers[1]} << 32 | numbers[0], numbers[2]});
    if (it == registry().exposed.end() || !retain_unless_gone(*it->second)) return kNonValue;
    r = it->second;
  }
  const Term ref = make_magic_ref(heap, *r);
  r->binary.release();
  return ref;
}

// ---- The end of a process that a resource monitors ----------------------------------------------

namespace {

void resource_down(RefKey monitor, Term pid) {
  Resource* r;
  {
    std::lock_guard lock(registry().mutex);
    auto it = registry().monitors.find(monitor);
    if (it == registry().monitors.end() || !retain_unless_gone(*it->second.resource)) return;
    r = it->second.resource;
    registry().monitors.erase(it);
    forget_monitor(*r, monitor);
  }
  if (r->type->down) {
    CallbackEnv env(r->type->owner);
    ErlNifPid target{from_term(pid)};
    ErlNifMonitor m = monitor_of(monitor);
    r->type->down(&env, r->object(), &target, &m);
  }
  r->binary.release();
}

Term monitoring_resource(RefKey monitor, Heap& heap) {
  Resource* r = nullptr;
  {
    std::lock_guard lock(registry().mutex);
    auto it = registry().monitors.find(monitor);
    if (it == registry().monitors.end() || !retain_unless_gone(*it->second.resource)) return kNonValue;
    r = it->second.resource;
  }
  const Term ref = make_magic_ref(heap, *r);
  r->binary.release();
  return ref;
}

/// Resources as receivers. They only monitor processes.
class ResourceReceiver final : public Receiver {
 public:
  void down(Term, const DownSignal& signal) override { resource_down(signal.key, signal.object); }
  Term as_watcher(Term, RefKey key, Heap& heap) override { return monitoring_resource(key, heap); }
};
constinit ResourceReceiver receiver;

}  // namespace

Receiver& resource_receiver() { return receiver; }

// ---- Types --------------------------------------------------------------------------------------

ResourceTypesOpened::ResourceTypesOpened(NifLibrary* library) : library_(library) {
  opened = new std::vector<Opened>;
}

void ResourceTypesOpened::commit() {
  for (Opened& o : *opened) {
    NifLibrary* owner = calls_library(o.callbacks) ? library_ : nullptr;
    if (owner) retain_library(owner);
    NifLibrary* before;
    bool was_owned;
    {
      std::lock_guard lock(registry().mutex);
      before = o.type->owner;
      was_owned = o.type->of_library && !o.is_new;
      o.type->owner = owner;
      o.type->of_library = library_;
      set_callbacks(*o.type, o.callbacks);
      if (o.is_new) registry().types.push_back(o.type);
    }
    if (was_owned) drop_type(o.type);  // it has its library's reference already
    if (before) release_library(before);
  }
  opened->clear();
}

ResourceTypesOpened::~ResourceTypesOpened() {
  for (Opened& o : *opened) {
    if (o.is_new) delete o.type;
    else drop_type(o.type);
  }
  delete opened;
  opened = nullptr;
}

void leave_resource_types(NifLibrary* library) {
  std::vector<ErlNifResourceType*> mine;
  {
    std::lock_guard lock(registry().mutex);
    // Types of which there are resources live on, with the library, and no library takes them over.
    std::erase_if(registry().types, [&](ErlNifResourceType* t) {
      if (t->of_library != library) return false;
      t->of_library = nullptr;
      mine.push_back(t);
      return true;
    });
  }
  for (ErlNifResourceType* t : mine) drop_type(t);
}

ErlNifResourceType* open_resource_type(ErlNifEnv& env, const char* name,
                                       const ErlNifResourceTypeInit& callbacks, ErlNifResourceFlags flags,
                                       ErlNifResourceFlags* tried) {
  if (tried) *tried = flags;    // the value if nothing is done
  if (!opened) return nullptr;  // only load and upgrade may
  const Term module = env.library->module, atom = intern_atom(name);
  ErlNifResourceType* type;
  for (const Opened& o : *opened)
    if (o.type->name == atom) return nullptr;  // twice in one load
  {
    std::lock_guard lock(registry().mutex);
    type = retain_type(module, atom);
  }
  const ErlNifResourceFlags action = type ? ERL_NIF_RT_TAKEOVER : ERL_NIF_RT_CREATE;
  if (!(flags & action)) {
    if (type) drop_type(type);
    return nullptr;
  }
  if (tried) *tried = action;
  const bool is_new = !type;
  if (is_new) type = &new_resource_type(module, atom);
  opened->push_back({type, callbacks, is_new});
  return type;
}

ErlNifResourceType& new_resource_type(Term module, Term name, ErlNifResourceDtor* dtor) {
  auto* const type = new ErlNifResourceType;
  type->module = module;
  type->name = name;
  type->dtor = dtor;
  return *type;
}

// ---- Objects ------------------------------------------------------------------------------------

namespace {

/// The data bytes are left as they are.
Resource* init_resource(void* memory, ErlNifResourceType& type, std::size_t bytes) {
  if (!memory) return nullptr;
  count_memory_taken(MemoryKind::kBinaries, resource_bytes(bytes));
  auto* r = new (memory) Resource;
  r->binary.references.store(1, std::memory_order_relaxed);
  r->binary.capacity_bytes = Binary::kNative;
  r->binary.used_bytes = bytes;
  r->type = &type;
  r->key = ref_key_in(RefSpace::kResources, next_unique_integer());
  type.references.fetch_add(1, std::memory_order_relaxed);
  return r;
}

}  // namespace

Resource* new_resource(ErlNifResourceType& type, std::size_t bytes) {
  return init_resource(try_allocate_bytes(resource_bytes(bytes)), type, bytes);
}

Resource* new_zeroed_resource(ErlNifResourceType& type, std::size_t bytes) {
  return init_resource(try_allocate_zeroed(resource_bytes(bytes)), type, bytes);
}

Term make_magic_ref(TermSpace& heap, Resource& r) {
  r.binary.retain();
  constexpr Word kWords = sizeof(MagicRefObject) / sizeof(Term);
  auto* m = reinterpret_cast<MagicRefObject*>(heap.alloc(kWords));
  m->header = Term::header(Term::Sub::kMagicRef, kWords - 1);
  m->resource = &r.binary;
  heap.link_off_heap(reinterpret_cast<OffHeapObject*>(m), words_for_bytes(r.binary.used_bytes));
  return Term::boxed(&m->header);
}

void* resource_object(Term ref, const ErlNifResourceType& type) {
  if (!ref.is_boxed_sub(Term::Sub::kMagicRef)) return nullptr;
  Resource* r = Resource::of_binary(magic_ref_of(ref)->resource);
  return r->type == &type ? r->object() : nullptr;
}

// ---- Monitors -----------------------------------------------------------------------------------

bool start_resource_monitor(Resource& r, Term pid, RefKey* key) {
  *key = next_ref_key();
  {
    std::lock_guard lock(registry().mutex);
    if (!r.monitors) r.monitors = new std::vector<RefKey>;
    r.monitors->push_back(*key);
    registry().monitors.emplace(*key, MonitorTarget{&r, pid});
  }
  ProcessPointers guard;
  if (receiver_of(pid).monitor(pid, kResourceWatcher, *key, Term::nil()) == Reached::kYes) return true;
  std::lock_guard lock(registry().mutex);
  if (registry().monitors.erase(*key)) forget_monitor(r, *key);
  return false;
}

bool stop_resource_monitor(Resource& r, RefKey key) {
  Term pid;
  {
    std::lock_guard lock(registry().mutex);
    auto it = registry().monitors.find(key);
    if (it == registry().monitors.end() || it->second.resource != &r) return false;
    pid = it->second.pid;
    registry().monitors.erase(it);
    forget_monitor(r, key);
  }
  ProcessPointers guard;
  receiver_of(pid).demonitor(pid, kResourceWatcher, key);
  return true;
}

}  // namespace vmrun

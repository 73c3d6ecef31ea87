// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

#include "vm/code/native_env.hpp"
#include "vm/process/reference.hpp"
#include "vm/term/layout.hpp"

/// Resources: memory of native code that terms (magic references, resource binaries) keep alive.
/// The last reference runs the type's destructor, in the thread that releases it. That is often a
/// thread that collects a heap.
/// collects a heap.
/// A resource is a Binary whose bytes only native code sees, so handles to it are kept and released
/// like those to binaries.
/// released like those to binaries.
struct enif_resource_type_t {
  vmrun::Term module, name;
  // the library of the callbacks, if there are any; retained while the type exists
  vmrun::NifLibrary* owner = nullptr;
  // the library that has opened it last, while its module's version exists; guarded by the
  // registry's lock
  vmrun::NifLibrary* of_library = nullptr;
  ErlNifResourceDtor* dtor = nullptr;
  ErlNifResourceStop* stop = nullptr;
  ErlNifResourceDown* down = nullptr;
  ErlNifResourceDynCall* dyncall = nullptr;
  std::atomic<vmrun::Word> references{1};  // its library's while of_library is set, and one for each resource
};

namespace vmrun {

struct Resource {
  Binary binary;  // is_native(); used_bytes: size of the data
  RefKey key;     // the key of its references
  ErlNifResourceType* type;
  std::atomic<bool> exposed{false};         // whether decoded references find it
  std::vector<RefKey>* monitors = nullptr;  // set up and not yet gone; guarded by the registry's lock
  alignas(16) unsigned char data[16];

  void* object() { return data; }
  static Resource* of(void* object) {
    return reinterpret_cast<Resource*>(static_cast<char*>(object) - offsetof(Resource, data));
  }
  static Resource* of_binary(Binary* b) { return reinterpret_cast<Resource*>(b); }
};
// A Resource begins as a ReferencedBinary does.
static_assert(offsetof(Resource, key) == offsetof(ReferencedBinary, numbers) && offsetof(RefKey, low) == 0 &&
              offsetof(RefKey, high) == 8 && std::endian::native == std::endian::little);

/// Makes a type that no library has opened. The machine's own types stay like that: they hold
/// themselves, are in no library's registry, and are never taken over or freed.
ErlNifResourceType& new_resource_type(Term module, Term name, ErlNifResourceDtor* dtor = nullptr);

/// Returns a new resource with one reference; nullptr when memory is exhausted.
Resource* new_resource(ErlNifResourceType& type, std::size_t bytes);
/// Returns a new resource with all bytes zero. Pages that are not used cost no memory.
Resource* new_zeroed_resource(ErlNifResourceType& type, std::size_t bytes);
/// Makes a reference term that keeps the resource.
Term make_magic_ref(TermSpace& heap, Resource& r);

// What terms need of resources (vm/term/term_upcalls.hpp says what they do). Any thread.

void destroy_resource(Binary* resource);
void expose_resource(Binary* resource);
Term find_resource(const std::uint32_t* numbers, TermSpace& heap);

/// Resources as receivers (message/receiver.hpp).
class Receiver;
Receiver& resource_receiver();

/// Returns the object of a reference to a resource of this type; nullptr: the term is not such a
/// reference.
void* resource_object(Term ref, const ErlNifResourceType& type);

/// The resource's `down` will be called when the process ends. Returns false when it has ended
/// already. Any thread.
[[nodiscard]] bool start_resource_monitor(Resource& r, Term pid, RefKey* key);
/// Returns false when there is no such monitor (any more).
bool stop_resource_monitor(Resource& r, RefKey key);

inline ErlNifMonitor monitor_of(RefKey key) {
  ErlNifMonitor m{};
  std::memcpy(m.data, &key.low, 8);
  std::memcpy(m.data + 8, &key.high, 4);
  return m;
}
inline RefKey monitor_key(const ErlNifMonitor& m) {
  RefKey key;
  std::memcpy(&key.low, m.data, 8);
  std::memcpy(&key.high, m.data + 8, 4);
  return key;
}

/// Opens, creates or takes over a type. Works only during load or upgrade of env's library;
/// otherwise returns nullptr.
ErlNifResourceType* open_resource_type(ErlNifEnv& env, const char* name,
                                       const ErlNifResourceTypeInit& callbacks, ErlNifResourceFlags flags,
                                       ErlNifResourceFlags* tried);

/// The types opened during load or upgrade. They, and takeovers, count only once that has
/// succeeded. Without commit everything stays as it was.
class ResourceTypesOpened {
 public:
  explicit ResourceTypesOpened(NifLibrary* library);
  ~ResourceTypesOpened();
  void commit();

 private:
  NifLibrary* library_;
};

/// Called when the library's module version is gone. Its types without resources are freed. Others
/// stay until their last resource is gone; a library that is loaded from then on has types of its
/// own.
void leave_resource_types(NifLibrary* library);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/nif/nif_library.hpp"

#include <dlfcn.h>

namespace vmrun {

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

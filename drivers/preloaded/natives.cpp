// SPDX-License-Identifier: Apache-2.0
#include "drivers/preloaded/natives.hpp"

#include "drivers/preloaded/modules.hpp"
#include "vm/nif/library.hpp"

namespace vmrun::preloaded {

void register_natives() {
  register_linked_in_nifs("prim_buffer", prim_buffer);
  register_linked_in_nifs("prim_tty", prim_tty);
  register_linked_in_nifs("zlib", zlib);
#ifdef VMRUN_ZSTD
  register_linked_in_nifs("zstd", zstd);
#endif
  register_linked_in_nifs("erl_tracer", erl_tracer);
}

}  // namespace vmrun::preloaded

// SPDX-License-Identifier: Apache-2.0
#include "vm/base/system_memory.hpp"

#ifdef VMRUN_MIMALLOC
#include <mimalloc.h>
#endif

namespace vmrun {

std::size_t bytes_from_system() {
  std::size_t committed = 0;
#ifdef VMRUN_MIMALLOC
  std::size_t unused[7];
  mi_process_info(&unused[0], &unused[1], &unused[2], &unused[3], &unused[4], &committed, &unused[5],
                  &unused[6]);
#endif
  return committed;
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/nif/load_nif.hpp"

#include "vm/process/bif.hpp"

// erlang:load_nif/2. The code that calls it is at p.ip.
namespace vmrun {

Term bif_erlang_load_nif_2(Process& p, const Term* a) { return load_nif_called_at(p, a, p.ip); }

}  // namespace vmrun

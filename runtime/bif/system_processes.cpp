// SPDX-License-Identifier: Apache-2.0
// System processes: processes that the machine itself starts besides the programs. OTP's init
// spares them when it ends all others.

#include <algorithm>
#include <vector>

#include "runtime/bif/support.hpp"
#include "runtime/bif/system_mode.hpp"

namespace vmrun {
namespace {

std::vector<Term> own_processes;

bool is_machines_own(Term pid) {
  return std::ranges::any_of(own_processes, [&](Term own) { return own == pid; });
}

}  // namespace

void note_system_process(Term pid) { own_processes.push_back(pid); }

/// Whether the machine itself started the process.
Term bif_erts_internal_is_system_process_1(Process& p, const Term* a) {
  if (!a[0].is_local_pid()) return raise_badarg(p);
  return bool_term(is_machines_own(a[0]));
}

}  // namespace vmrun

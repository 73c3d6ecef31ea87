// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "runtime/bif/support.hpp"
#include "vm/term/big.hpp"

/// What system_info, statistics and system_flag share: tables of items, and values that can be both
/// asked for and set.
namespace vmrun {

struct SystemItem {
  const char* name;
  Term (*value)(Process& p);
  int since = 0;  // the release
};

/// The value of the item of that name. Raises badarg if there is none.
template <std::size_t N>
Term answer_item(Process& p, const SystemItem (&items)[N], Term name) {
  if (!name.is_atom()) return raise_badarg(p);
  const std::string_view text = atom_text(name);
  for (const SystemItem& item : items)
    if (text == item.name && item.since <= release_number) return item.value(p);
  return raise_badarg(p);
}

inline Term number_term(Process& p, Word n) { return make_unsigned(p.heap, n); }

/// When the machine has started, on the monotonic clock.
extern const Word machine_start_ns;

Word default_min_heap_words();
/// Sums what all schedulers have executed, up to the slices that run. Any thread.
Word total_reductions();
/// Returns the number of ets tables. Any thread.
Word table_count();
/// #{error_logger => _, kill => _, size => _}, for processes that say nothing else.
Term default_max_heap_size(Process& p);
/// Whether the time offset can still change.
Term time_offset_state(bool is_preliminary);
/// How many processes OTP's system processes ask something at a time; they heed it by themselves.
Word outstanding_requests_limit();

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/process/trace_state.hpp"

#include "vm/process/process_upcalls.hpp"

namespace vmrun {

TraceState::~TraceState() {
  if (tracings || awaited_returns || saved_calls || calls) process_upcalls.release_tracing(*this);
}

void set_user_tag(Process& p, Term tag, Word flags) {
  p.observed &= ~(kHasTag | kTagSpreading);
  if (!tag.is_nil()) p.observed |= kHasTag | (flags & kTagFlagSpreading ? std::uint32_t{kTagSpreading} : 0);
  else if (!p.extra || !p.extra->trace_state) return;
  TraceState& c = trace_state_of(p);
  c.tag = tag;
  c.tag_is_own = flags & kTagFlagOwn;
}

}  // namespace vmrun

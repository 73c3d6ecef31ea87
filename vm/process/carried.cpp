#include "vm/process/carried.hpp"

namespace vmrun {

constinit ReleaseTracing release_tracing = nullptr;

Carried::~Carried() {
  if (tracer || awaited_returns || saved_calls || calls) release_tracing(*this);
}

void set_user_tag(Process& p, Term tag, Word flags) {
  p.observed &= ~(kCarriesTag | kTagSpreading);
  if (!tag.is_nil()) p.observed |= kCarriesTag | (flags & kTagFlagSpreading ? kTagSpreading : 0);
  else if (!p.extra || !p.extra->carried) return;
  Carried& c = carried_of(p);
  c.tag = tag;
  c.tag_is_own = flags & kTagFlagOwn;
}

}  // namespace vmrun

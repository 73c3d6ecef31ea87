#include "vm/message/carried.hpp"

#include "vm/process/code_view.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {

Carried::~Carried() {
  if (tracer) tracer->release();
  free_awaited_returns(awaited_returns);
}

void set_user_tag(Process& p, Term tag, Word flags) {
  p.observed &= ~(kCarriesTag | kTagOwn | kTagSpreading);
  if (!tag.is_nil()) p.observed |= kCarriesTag | static_cast<std::uint32_t>(flags) * kTagOwn;
  else if (!p.extra || !p.extra->carried) return;
  carried_of(p).tag = tag;
}

}  // namespace vmrun

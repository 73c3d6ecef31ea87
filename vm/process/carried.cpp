#include "vm/process/carried.hpp"

namespace vmrun {

constinit ReleaseTracing release_tracing = nullptr;

Carried::~Carried() {
  if (tracer || awaited_returns || saved_calls) release_tracing(*this);
}

void set_user_tag(Process& p, Term tag, Word flags) {
  p.observed &= ~(kCarriesTag | kTagOwn | kTagSpreading);
  if (!tag.is_nil()) p.observed |= kCarriesTag | static_cast<std::uint32_t>(flags) * kTagOwn;
  else if (!p.extra || !p.extra->carried) return;
  carried_of(p).tag = tag;
}

}  // namespace vmrun

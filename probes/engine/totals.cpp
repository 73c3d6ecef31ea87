// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/totals.hpp"

#include <algorithm>

#include "probes/engine/attach_protocol.hpp"

namespace vmrun::d {

const Totals::Total* Totals::find(std::string_view name) const {
  const auto found = std::ranges::find(totals, name, &Total::name);
  return found == totals.end() ? nullptr : &*found;
}

std::uint64_t Totals::value(std::string_view name) const {
  const Total* total = find(name);
  return total == nullptr ? 0 : total->value;
}

std::string pack_totals(const Totals& totals) {
  Packer out;
  out.u64(totals.at_ns).u32(static_cast<std::uint32_t>(totals.schedulers.size()));
  for (const auto& s : totals.schedulers) out.u32(s.queue).u64(s.idle_ns).u64(s.at_ns);
  for (const auto& t : totals.totals) out.text(t.name).u64(t.value).u64(t.limit);
  return std::move(out.bytes);
}

bool unpack_totals(std::string_view body, Totals& totals) {
  Unpacker in(body);
  totals = {};
  totals.at_ns = in.u64();
  for (std::uint32_t left = in.u32(); left > 0 && in.ok(); --left) {
    Totals::Scheduler& s = totals.schedulers.emplace_back();
    s.queue = in.u32();
    s.idle_ns = in.u64();
    s.at_ns = in.u64();
  }
  while (in.ok() && !in.at_end()) {
    Totals::Total total{in.text(), 0, 0};
    total.value = in.u64();
    total.limit = in.u64();
    totals.totals.push_back(std::move(total));
  }
  return in.ok();
}

}  // namespace vmrun::d

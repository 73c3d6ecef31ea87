// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/system_profile.hpp"

#include "runtime/bif/support.hpp"
#include "vm/trace/tracer.hpp"

/// erlang:system_profile: which process gets messages, and about what. See
/// vm/trace/system_profile.hpp.
namespace vmrun {
namespace {

/// In the order of system_profile/0.
struct Option {
  const char* name;
  std::uint32_t bit;
};
constexpr Option kOptions[] = {
    {"exclusive", kProfileExclusive},
    {"scheduler", kProfileSchedulers},
    {"runnable_procs", kProfileProcs},
    {"runnable_ports", kProfilePorts},
};
struct Stamp {
  const char* name;
  TraceStamp stamp;
};
constexpr Stamp kStamps[] = {
    {"timestamp", TraceStamp::kNow},
    {"monotonic_timestamp", TraceStamp::kMonotonic},
    {"strict_monotonic_timestamp", TraceStamp::kStrictMonotonic},
};

bool read_option(Term option, SystemProfile* to) {
  if (!option.is_atom()) return false;
  for (const Option& known : kOptions)
    if (atom_text(option) == known.name) {
      to->what |= known.bit;
      return true;
    }
  for (const Stamp& known : kStamps)
    if (atom_text(option) == known.name) {
      to->stamp = known.stamp;
      return true;
    }
  return false;
}

/// {Profiler, Options} or undefined.
Term profile_term(Process& p, const SystemProfile& profile) {
  if (!profile.to) return atoms::undefined;
  ListBuilder list(p.heap);
  for (const Option& known : kOptions)
    if (profile.what & known.bit) list.add(intern_atom(known.name));
  return new_tuple(p.heap, profile.to, list.finish());
}

}  // namespace

Term bif_erlang_system_profile_0(Process& p, const Term*) { return profile_term(p, system_profile()); }

Term bif_erlang_system_profile_2(Process& p, const Term* a) {
  SystemProfile wanted;
  Term options = a[1];
  if (a[0] != atoms::undefined && !options.is_nil()) {
    wanted.to = a[0];
    if (!a[0].is_local_pid() && !a[0].is_local_port()) return raise_badarg(p);
    if (!tracer_is_there(a[0])) return raise_badarg(p);
    for (; options.is_list(); options = options.tail())
      if (!read_option(options.head(), &wanted)) return raise_badarg(p);
    if (!options.is_nil()) return raise_badarg(p);
  }
  const Term before = profile_term(p, set_system_profile(wanted));
  p.reductions = 0;  // ends this slice, so that the next one is reported
  return before;
}

}  // namespace vmrun

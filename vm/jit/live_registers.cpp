// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/live_registers.hpp"

#include <utility>

namespace vmrun::jit {
namespace {

using op::Family;

constexpr RegisterSet kAll{~std::uint64_t{0}, ~std::uint64_t{0}};

std::uint64_t first(Word count) { return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

struct Effect {
  RegisterSet read, written;
  bool is_call = false, too_many = false;
};

class Effects {
 public:
  explicit Effects(const FunctionCode& code) : code_(code) {}

  Effect of(const Part& p) {
    Effect e;
    const auto operands = code_.operands(p);
    const OperandUse use = FunctionCode::use(p);
    for (unsigned n = 0; n < operands.size(); ++n) {
      if (use.read >> n & 1) add(operands[n], &e.read, &e);
      if (use.written >> n & 1) add(operands[n], &e.written, &e);
      if (use.live >> n & 1) e.read.x |= first(operands[n].value & 0x7FFF);
    }
    if (const int n = call_arity(p); n >= 0) {
      e.read.x |= first(static_cast<Word>(n));
      e.written = kAll;
      e.is_call = true;
      return e;
    }
    switch (p.family) {
      case Family::put_tuple:
      case Family::make_fun:
      case Family::make_record: add_sources(p, 0, 1, &e); break;
      case Family::update_tuple:
      case Family::create_native_record:
      case Family::update_native_record: add_sources(p, 1, 2, &e); break;
      case Family::put_map: add_sources(p, 0, 1, &e); break;
      case Family::get_record_elements:
        for (std::size_t n = 1; n < p.list.size(); n += 2) add(destination_of(p.list[n]), &e.written, &e);
        break;
      case Family::bs_create_bin:
        for (std::size_t n = 0; n + 2 < p.list.size(); n += 3)
          if (static_cast<BinarySegment>(p.list[n] & 0xFF) != BinarySegment::kString) {
            add(source_of(p.list[n + 1]), &e.read, &e);
            add(source_of(p.list[n + 2]), &e.read, &e);
          }
        break;
      case Family::return_:
      case Family::build_stacktrace:
      case Family::catch_end:
      case Family::wait_timeout_here:
      case Family::bs_init_writable: e.read.x |= first(1); break;
      case Family::send:
        e.read.x |= first(2);
        e.written = kAll;
        break;
      case Family::apply_fun_last: e.read.x |= first(2); break;
      case Family::raw_raise:
      case Family::apply_mfa_last: e.read.x |= first(3); break;
      case Family::try_case: e.read.x |= first(4); break;
      case Family::func_info: e.read.x |= first(code_.function().arity); break;
      default:
        if (stands_for_others(p.family)) e.read = kAll;
    }
    return e;
  }

 private:
  /// Whether it stands where there is no code of a function, or for another instruction.
  static bool stands_for_others(Family f) {
    switch (f) {
      case Family::machine_code:
      case Family::look_again:
      case Family::line_breakpoint:
      case Family::line_breakpoint_end:
      case Family::export_bif:
      case Family::call_nif:
      case Family::call_scheduled_nif:
      case Family::call_dirty_nif:
      case Family::call_debugger:
      case Family::export_undefined:
      case Family::apply_fun_entry:
      case Family::apply_mfa_entry:
      case Family::process_end:
      case Family::ends_calls:
      case Family::probed: return true;
      default: return false;
    }
  }

  int call_arity(const Part& p) const {
    const auto o = code_.operands(p);
    switch (p.family) {
      case Family::call:
      case Family::call_only: return header_of_entry(o[0].target())->arity;
      case Family::call_ext:
      case Family::call_ext_only: return reinterpret_cast<const Export*>(o[0].value)->arity;
      case Family::call_fun:
      case Family::call_fun_last: return static_cast<int>(o[0].value);
      case Family::apply:
      case Family::apply_last: return static_cast<int>(o[0].value) + 2;
      case Family::call_bif:
      case Family::call_located_bif: return static_cast<int>(o[1].value);
      default: return -1;
    }
  }

  static void add(const Operand& o, RegisterSet* to, Effect* e) {
    if (o.is_x()) {
      if (!has_place(o.value)) e->too_many = true;
      else to->x |= std::uint64_t{1} << place_of_x(o.value);
    } else if (o.kind == Operand::Kind::kFloat) {
      if (o.value >= kMostFloats) e->too_many = true;
      else to->floats |= std::uint64_t{1} << o.value;
    }
  }
  static void add_sources(const Part& p, std::size_t from, std::size_t step, Effect* e) {
    for (std::size_t n = from; n < p.list.size(); n += step) add(source_of(p.list[n]), &e->read, e);
  }

  const FunctionCode& code_;
};

bool ends_construction(Family f) {
  return f == Family::bs_end || f == Family::bs_end_fixed || f == Family::bs_end_append ||
         f == Family::bs_end_private_append;
}

}  // namespace

std::vector<RegisterSet> live_registers(const FunctionCode& code) {
  const auto parts = code.parts();
  std::vector<Effect> effects;
  effects.reserve(parts.size());
  Effects of_parts(code);
  for (const Part& p : parts) {
    effects.push_back(of_parts.of(p));
    if (effects.back().too_many) return {};
  }
  std::vector<RegisterSet> live(parts.size() + 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = parts.size(); n-- > 0;) {
      // What an instruction that jumps would have written is not written then.
      RegisterSet out, elsewhere;
      const auto row =
          op::kInstructions[op::kVariants[op::kFamilyStart[static_cast<unsigned>(parts[n].family)]]];
      if (!(row.flags & InstructionRow::kEnds)) out = live[n + 1];
      bool leaves = false;
      for_targets(code, parts[n], [&](const Word* to) {
        if (!code.holds(to)) leaves = true;  // a call, or function_clause
        else elsewhere = elsewhere | live[code.part_at(to)];
      });
      if (leaves) elsewhere.x |= first(code.function().arity);
      const Effect& e = effects[n];
      // Where an exception is caught, it has set the registers.
      if (e.is_call || parts[n].family == Family::begin_catch) elsewhere = {};
      // These go on behind the bs_create_bin that follows, when they have written their result.
      if (ends_construction(parts[n].family)) out = std::exchange(elsewhere, {});
      const RegisterSet in =
          RegisterSet{out.x & ~e.written.x, out.floats & ~e.written.floats} | elsewhere | e.read;
      if (in == live[n]) continue;
      changed |= parts[n].at != code.end();
      live[n] = in;
    }
    // Only jumps back make another round necessary; one more finds that nothing changes.
  }
  return live;
}

}  // namespace vmrun::jit

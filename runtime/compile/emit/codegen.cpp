#include "runtime/compile/emit/codegen.hpp"

#include <bit>

#include "runtime/compile/emit/asm_printer.hpp"
#include "runtime/compile/emit/beam_writer.hpp"
#include "runtime/compile/emit/codegen_frame.hpp"
#include "runtime/compile/emit/peephole.hpp"
#include "runtime/compile/ssa/liveness.hpp"
#include "runtime/compile/ssa/print_ssa.hpp"
#include "runtime/compile/ssa/ssa.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::compile {

std::uint32_t CodeBuilder::import(Term module, Term name, std::uint32_t arity) {
  const std::uint64_t key = (module.raw() >> 6) << 40 ^ (name.raw() >> 6) << 12 ^ arity;
  auto [it, fresh] = imports_.try_emplace(key, static_cast<std::uint32_t>(code_.imports.size()));
  if (fresh) code_.imports.push_back({module, name, arity});
  return it->second;
}

std::uint32_t CodeBuilder::line(Loc loc) {
  auto [it, fresh] = lines_.try_emplace(std::uint64_t{loc.file} << 32 | loc.line,
                                        static_cast<std::uint32_t>(code_.lines.size() + 1));
  if (fresh) code_.lines.push_back({loc.file, loc.line});
  return it->second;
}

std::uint32_t CodeBuilder::type(const ssa::Type& t) {
  namespace kind = ssa::kind;
  // The file format has unions, but of unrelated kinds like a pid and a map only "any".
  constexpr std::uint16_t kOthers =
      kind::kBitstring | kind::kFun | kind::kMap | kind::kPid | kind::kPort | kind::kReference;
  if (t.kinds == kind::kAny || t.kinds == 0 || std::popcount(static_cast<unsigned>(t.kinds & kOthers)) > 1)
    return 0;
  const bool ranged = t.may_be(kind::kInteger) && t.bounded();
  const std::int64_t low = ranged ? t.low : 0, high = ranged ? t.high : -1;
  if (code_.types.empty()) code_.types.push_back({kind::kAny, 0, -1});
  auto [it, fresh] = types_.try_emplace({t.kinds, low, high}, static_cast<std::uint32_t>(code_.types.size()));
  if (fresh) code_.types.push_back({t.kinds, low, high});
  return it->second;
}

std::uint32_t CodeBuilder::string(std::span<const std::uint8_t> bytes) {
  auto at = static_cast<std::uint32_t>(code_.strings.size());
  code_.strings.insert(code_.strings.end(), bytes.begin(), bytes.end());
  return at;
}

Generated generate(NodeArena& arena, core::Module& module, bool want_ssa, bool want_assembly) {
  Generated result;
  ssa::Program program{arena, module, {}, {}, {}};
  ssa::to_ssa(program);
  result.errors = program.errors;
  if (!result.errors.empty()) return result;
  for (ssa::Function& f : program.functions) {
    if (f.arity > 255) {
      result.errors.push_back("function " + std::string(atom_text(f.name)) +
                              " takes more than 255 arguments and outer variables");
      return result;
    }
    ssa::optimise(program, f);
  }
  ssa::reuse_contexts(program);
  for (ssa::Function& f : program.functions) {
    ssa::infer_types(program, f, ssa::analyse(f).order);
    ssa::optimise(program, f);
    ssa::unbox_floats(program, f, ssa::analyse(f).order);
    ssa::optimise(program, f);
  }
  if (want_ssa) result.ssa = ssa::print_ssa(program);
  Code code;
  CodeBuilder builder(code);
  std::vector<std::uint32_t> infos, entries;
  for (std::size_t i = 0; i < program.functions.size(); i++) {
    infos.push_back(builder.new_label());
    entries.push_back(builder.new_label());
  }
  for (std::uint32_t i = 0; i < program.functions.size(); i++) {
    ssa::Function& f = program.functions[i];
    Code::Fun fun{f.name, f.arity,          entries[i], static_cast<std::uint32_t>(code.code.size()),
                  0,      f.accepts_context};
    code.code.push_back({Bop::kLabel, {Operand::u(infos[i])}});
    if (f.loc.known()) code.code.push_back({Bop::kLine, {Operand::u(builder.line(f.loc))}});
    code.code.push_back(
        {Bop::kFuncInfo, {Operand::of(module.name), Operand::of(f.name), Operand::u(f.arity)}});
    code.code.push_back({Bop::kLabel, {Operand::u(entries[i])}});
    for (const core::FunDef* n : module.nifs)
      if (f.name == n->name && f.arity == n->arity) code.code.push_back({Bop::kNifStart, {}});
    if (module.on_load != nullptr && f.name == module.on_load->name && f.arity == 0)
      code.code.push_back({Bop::kOnLoad, {}});
    generate_function(builder, program, f, entries, infos[i]);
    peephole(code.code, fun.first, infos[i], entries[i]);
    // What the machine (and the encoding of stock BEAM) has registers for.
    for (std::size_t k = fun.first; k < code.code.size(); k++) {
      for (const Operand& o : code.code[k].args) {
        if (!o.is_reg() || o.n < 1023) continue;
        result.errors.push_back("function " + std::string(atom_text(f.name)) + "/" + std::to_string(f.arity) +
                                " keeps more than 1022 values at once; split it up");
        return result;
      }
    }
    fun.last = static_cast<std::uint32_t>(code.code.size());
    code.funs.push_back(fun);
    f.blocks.clear();
  }
  for (const ssa::LambdaEntry& l : program.lambdas) code.lambdas.push_back({l.function, l.free_count});
  code.code.push_back({Bop::kIntCodeEnd, {}});
  result.beam = write_beam(code, module);
  if (want_assembly) result.assembly = print_assembly(code, module);
  return result;
}

}  // namespace vmrun::compile

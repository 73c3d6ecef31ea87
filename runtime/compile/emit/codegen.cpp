// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/codegen.hpp"

#include <bit>

#include "runtime/compile/emit/asm_printer.hpp"
#include "runtime/compile/emit/beam_writer.hpp"
#include "runtime/compile/emit/function_gen.hpp"
#include "runtime/compile/emit/peephole.hpp"
#include "runtime/compile/lower/to_ssa.hpp"
#include "vm/ir/liveness.hpp"
#include "vm/ir/passes.hpp"
#include "vm/ir/print_ssa.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::compile {

namespace {

/// Lists the funs that the code makes. A fun that is only called where it stands is never made, and
/// the loaders of OTP 27 to 29 end the machine at one that is listed nevertheless.
void list_lambdas(Code& code, const std::vector<ir::LambdaEntry>& all) {
  std::vector<bool> made(all.size());
  for (const AsmInstr& i : code.code)
    if (i.op == Bop::kMakeFun3) made[i.args[0].n] = true;
  std::vector<std::uint32_t> index(all.size());
  for (std::size_t n = 0; n < all.size(); ++n) {
    index[n] = static_cast<std::uint32_t>(code.lambdas.size());
    if (made[n]) code.lambdas.push_back({all[n].function, all[n].free_count});
  }
  for (AsmInstr& i : code.code)
    if (i.op == Bop::kMakeFun3) i.args[0].n = index[i.args[0].n];
}

}  // namespace

Generated generate(NodeArena& arena, core::Module& module, int release, bool want_ssa, bool want_assembly) {
  Generated result;
  lower::Lowered lowered = lower::to_ssa(arena, module);
  result.errors = std::move(lowered.errors);
  if (!result.errors.empty()) return result;
  ir::Program& program = lowered.program;
  ir::place_receive_markers(program);
  for (ir::Function& f : program.functions) {
    if (f.arity > 255) {
      result.errors.push_back("function " + std::string(atom_text(f.name)) +
                              " takes more than 255 arguments and outer variables");
      return result;
    }
    ir::optimise(program, f);
  }
  ir::reuse_contexts(program);
  ir::infer_signatures(program);
  for (ir::Function& f : program.functions) {
    ir::infer_types(program, f, ir::analyse(f).order);
    ir::optimise(program, f);
    ir::unbox_floats(program, f, ir::analyse(f).order);
    ir::optimise(program, f);
  }
  if (want_ssa) result.ssa = ir::print_ssa(program);
  Code code{.release = release};
  CodeBuilder builder(code);
  std::vector<std::uint32_t> infos, entries;
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    infos.push_back(builder.new_label());
    entries.push_back(builder.new_label());
  }
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    ir::Function& f = program.functions[i];
    Code::Fun fun{f.name, f.arity,          entries[i], static_cast<std::uint32_t>(code.code.size()),
                  0,      f.accepts_context};
    code.code.push_back({Bop::kLabel, {Operand::u(infos[i])}});
    if (f.loc.known()) code.code.push_back({Bop::kLine, {Operand::u(builder.line(f.loc))}});
    code.code.push_back(
        {Bop::kFuncInfo, {Operand::of(module.name), Operand::of(f.name), Operand::u(f.arity)}});
    code.code.push_back({Bop::kLabel, {Operand::u(entries[i])}});
    if (f.is_native) code.code.push_back({Bop::kNifStart, {}});
    if (module.on_load && f.name == module.on_load->name && f.arity == 0)
      code.code.push_back({Bop::kOnLoad, {}});
    generate_function(builder, program, f, entries, infos[i]);
    peephole(code.code, fun.first, infos[i], entries[i]);
    // The limit of registers in the machine and in stock BEAM's encoding.
    for (std::size_t k = fun.first; k < code.code.size(); ++k) {
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
  list_lambdas(code, program.lambdas);
  code.code.push_back({Bop::kIntCodeEnd, {}});
  result.beam = write_beam(code, module);
  if (want_assembly) result.assembly = print_assembly(code, module, program.signatures);
  return result;
}

}  // namespace vmrun::compile

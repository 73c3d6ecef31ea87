// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/to_ssa.hpp"

#include <algorithm>
#include <utility>

#include "runtime/compile/lower/lower_cond.hpp"
#include "runtime/compile/lower/lower_control.hpp"
#include "runtime/compile/lower/lower_data.hpp"
#include "runtime/compile/lower/lower_expr.hpp"
#include "runtime/compile/lower/lower_fun.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::compile::lower {

using namespace core;

namespace {

Term named(const FunDef& f, const std::string& rest) {
  return intern_atom("-" + std::string(atom_text(f.name)) + "/" + std::to_string(f.arity) + "-" + rest + "-");
}

bool is_called_from_outside(const Module& module, const FunDef& f) {
  const auto is_it = [&](const Export& e) { return e.name == f.name && e.arity == f.arity; };
  return f.name == atoms::module_info || &f == module.on_load || std::ranges::any_of(module.exports, is_it);
}

/// Adds module_info/0,1, which pass their arguments on behind the module's name.
void add_module_info(Program& p, Term module, std::uint32_t arity) {
  Function& f = p.functions.emplace_back();
  f.name = atoms::module_info;
  f.arity = arity;
  f.is_exported = true;
  Block& b = f.blocks[f.new_block(kNone)];
  Instr i{.op = Op::kCallExt};
  std::vector<Arg> args{Arg::lit(atoms::erlang), Arg::lit(intern_atom("get_module_info")), Arg::lit(module)};
  for (std::uint32_t k = 0; k < arity; ++k) {
    f.params.push_back(f.new_value());
    args.push_back(Arg::of(f.params.back()));
  }
  i.args = p.arena.copy(args);
  ValueId v = f.new_value();
  i.dsts = p.arena.copy(&v, 1);
  b.code.push_back(i);
  b.end = BlockEnd::kReturn;
  b.subject = Arg::of(v);
}

/// Lowers one function, fun, or local function of a letrec; owns the classes that lower its parts.
class FunctionToSsa {
 public:
  FunctionToSsa(ModuleContext& module, Function& fn, FunNote& note)
      : c_{.module = module,
           .fn = fn,
           .note = note,
           .blocks = {module.program.arena, fn},
           .exprs = exprs_,
           .funs = funs_,
           .data = data_,
           .control = control_,
           .conds = conds_},
        blocks_(c_.blocks),
        fn_(fn) {}
  void run();

 private:
  LowerContext c_;
  BlockBuilder& blocks_;
  Function& fn_;
  LowerExpr exprs_{c_};
  LowerFun funs_{c_};
  LowerData data_{c_};
  LowerControl control_{c_};
  LowerCond conds_{c_};
};

void FunctionToSsa::run() {
  FunNote& note = c_.note;
  auto param = [&](Var* v) {
    const ValueId value = fn_.new_value();
    fn_.params.push_back(value);
    c_.bind(v, Arg::of(value));
  };
  for (Var* v : note.params) param(v);
  for (Var* v : note.free) param(v);
  fn_.arity = static_cast<std::uint32_t>(fn_.params.size());
  fn_.free_count = static_cast<std::uint32_t>(note.free.size());
  fn_.entry = blocks_.new_block();
  blocks_.start(fn_.entry);
  if (note.lambda && note.lambda->self && note.lambda->self->uses > 0)
    c_.bind(note.lambda->self, c_.funs.make_closure(&note));
  c_.exprs.to(note.body, {Dest::kReturn});
}

}  // namespace

Lowered to_ssa(NodeArena& arena, Module& module) {
  Lowered result{{arena, {}, {}, {}, {}}, {}};
  Program& p = result.program;
  ModuleContext context{p, result.errors, {}, {}, {}, {}};
  struct Work {
    FunDef* def;
    FunNote* root;
    std::vector<FunNote*> inner;
  };
  std::vector<Work> work;
  std::uint32_t slots = 0;
  auto own = [&](FunNote* n) { context.notes.emplace_back(n); };
  for (FunDef* def : module.functions) {
    auto* root = new FunNote;
    own(root);
    root->params = def->params;
    root->body = def->body;
    FunAnalysis analysis(root, slots);
    analysis.run();
    for (FunNote* n : analysis.found()) own(n);
    work.push_back({def, root, std::move(analysis.found())});
  }
  context.env.resize(slots);
  // All Function objects exist before the first is filled in, because they must not move.
  for (Work& w : work) {
    w.root->index = static_cast<std::uint32_t>(p.functions.size());
    context.local[ModuleContext::key(w.def->name, w.def->arity)] = w.root->index;
    Function& f = p.functions.emplace_back();
    f.name = w.def->name;
    f.loc = w.def->loc;
    f.is_exported = is_called_from_outside(module, *w.def);
    f.is_native = std::ranges::find(module.nifs, w.def) != module.nifs.end();
    std::uint32_t locals = 0;
    const auto local_name = [&](std::string_view name, const FunNote& n) {
      return named(
          *w.def, std::string(name) + "/" + std::to_string(n.params.size()) + "-" + std::to_string(locals++));
    };
    for (FunNote* n : w.inner) {
      n->index = static_cast<std::uint32_t>(p.functions.size());
      Function& g = p.functions.emplace_back();
      if (n->lambda) {
        const bool calls_itself = !n->lambda->name.empty() && n->lambda->self->uses > 0;
        g.name = calls_itself ? local_name(n->lambda->name, *n)
                              : named(*w.def, "fun-" + std::to_string(n->lambda->index));
        g.loc = n->lambda->loc;
        n->lambda_index = static_cast<std::uint32_t>(p.lambdas.size());
        p.lambdas.push_back({n->index, static_cast<std::uint32_t>(n->free.size())});
      } else {
        g.name = local_name(n->letrec->name, *n);
        g.loc = n->letrec->loc;
      }
    }
  }
  for (Work& w : work) {
    FunctionToSsa(context, p.functions[w.root->index], *w.root).run();
    for (FunNote* n : w.inner) FunctionToSsa(context, p.functions[n->index], *n).run();
  }
  for (std::uint32_t arity = 0; arity < 2; ++arity) {
    if (!context.local.contains(ModuleContext::key(atoms::module_info, arity)))
      add_module_info(p, module.name, arity);
  }
  return result;
}

}  // namespace vmrun::compile::lower

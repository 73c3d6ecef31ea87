#pragma once
// Turns the Core of one function into a graph of blocks. Three files: lower_core.cpp (expressions),
// lower_cond.cpp (tests and guards as control flow), lower_match.cpp (clauses to decision trees).
// One compilation, one thread.

#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/compile/ssa/bif_info.hpp"
#include "runtime/compile/ssa/fun_analysis.hpp"
#include "runtime/compile/ssa/ssa.hpp"

namespace vmrun::compile::ssa {

/// What the functions of one module share while they are lowered.
struct ModuleContext {
  Program& program;
  std::unordered_map<std::uint64_t, std::uint32_t> local;     // name and arity → index in functions
  std::unordered_map<std::uint64_t, std::uint32_t> wrappers;  // fun f/1 → index in lambdas
  std::vector<Arg> env;                                       // by Var::slot
  std::vector<std::unique_ptr<core::FunNote>> notes;
  static std::uint64_t key(Term name, std::uint32_t arity) { return name.raw() << 10 | arity; }
};

/// Where the value of an expression goes.
struct Dest {
  enum Kind : std::uint8_t { kReturn, kJoin } kind;
  // kJoin: the block, whose parameters take the values; none of them: only effects count
  BlockId join = kNone;
};

struct ClosureInfo {
  core::FunNote* note;
  std::span<Arg> env;
};

class Lowerer {
 public:
  Lowerer(ModuleContext& context, Function& fn) : m_(context), fn_(fn), arena_(context.program.arena) {}
  void function(core::FunNote& note);

 private:
  friend class MatchCompiler;

  // Blocks. cur_ is where instructions go; code after a jump goes to an unreachable block that is
  // dropped later.
  Block& cur() { return fn_.blocks[cur_]; }
  BlockId new_block() { return fn_.new_block(handler_); }
  BlockId new_join(std::size_t params);
  void start(BlockId b) { cur_ = b; }
  void jump(BlockId to, std::vector<Arg> args = {});
  void finish(Dest d, Arg value);
  void error(core::Fail kind, Arg subject, Loc loc);
  Instr& emit(Op op, std::vector<Arg> args, Loc loc = {});
  Arg emit_value(Op op, std::vector<Arg> args, Loc loc = {}, std::uint64_t imm = 0);
  /// Ends the current block with a test; starts none.
  void test(Test t, std::vector<Arg> args, BlockId yes, BlockId no, std::uint64_t imm = 0);
  /// Ends the current block with the fallible operation `i` and goes on in its success block.
  /// `fail` kNone: it raises.
  void fallible(Instr i, BlockId fail);

  // Expressions (lower_core.cpp). In guard mode (guard_fail_ set) what would raise goes there.
  void to(core::Expr* e, Dest d);
  Arg value(core::Expr* e);
  std::vector<Arg> values(core::ExprList es);
  Arg call_bif(const BifInfo* bif, std::vector<Arg> args, Loc loc);
  Arg call(core::Call& c);
  Arg call_function(Term module, Term function, std::vector<Arg> args, Loc loc);
  Arg lambda(core::Lambda& l);
  Arg make_closure(core::FunNote* note);
  Arg fun_ref(core::FunRef& r);
  Arg apply_value(Arg fun, std::vector<Arg> args, Loc loc);
  Arg apply_letrec(core::ApplyLetrec& a);
  Arg cons(core::Expr* e);
  Arg tuple(core::Tuple& t);
  Arg map(core::Map& m);
  Arg binary(core::Binary& b);
  Arg primop(core::Primop& p);
  bool literal_binary(core::Binary& b, Term& out);
  void case_of(core::Case& c, Dest d);
  bool boolean_case(core::Case& c, Dest d);
  void receive(core::Receive& r, Dest d);
  void try_of(core::Try& t, Dest d);
  void catch_of(core::Catch& c, Dest d);
  void let(core::Let& l);
  void multi_value(core::Expr* e, std::span<core::Var* const> vars);
  Arg lookup(core::Var* v);
  void bind(core::Var* v, Arg a) { m_.env[v->slot] = a; }
  const ClosureInfo* closure_of(Arg a) const;
  void marker_for(core::Receive& r);

  // Tests (lower_cond.cpp). Goes to `yes` or `no`; in guards what fails goes to `broken`; kNone: it
  // raises, and a value that is no boolean raises {badarg, V}.
  void cond(core::Expr* e, BlockId yes, BlockId no, BlockId broken);
  bool boolean(core::Expr* e) const;
  bool simple_test(core::Expr* e) const;
  void bool_value(Arg v, BlockId yes, BlockId no, BlockId broken, Loc loc);
  bool bif_test(core::Call& c, BlockId yes, BlockId no, BlockId broken);
  Arg cond_value(core::Expr* e);

  ModuleContext& m_;
  Function& fn_;
  NodeArena& arena_;
  BlockId cur_ = 0;
  BlockId handler_ = kNone;
  BlockId guard_fail_ = kNone;
  core::FunNote* note_ = nullptr;
  std::unordered_map<ValueId, ClosureInfo> closures_;
  // result of make_ref() and the like → where it was made
  std::unordered_map<ValueId, std::pair<BlockId, std::uint32_t>> fresh_refs_;
};

/// Literal helpers: words live in the arena.
Term literal_cons(NodeArena& a, Term head, Term tail);
Term literal_tuple(NodeArena& a, std::span<const Term> elements);

}  // namespace vmrun::compile::ssa

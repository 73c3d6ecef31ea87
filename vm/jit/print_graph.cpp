// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "vm/jit/allocation.hpp"
#include "vm/term/print.hpp"

namespace vmrun::jit {
namespace {

constexpr const char* kOps[] = {
    "const", "param", "load_x",     "load_y",  "store_x",  "store_y",    "load", "cons",
    "tuple", "fun",   "tuple_size", "map_get", "call_bif", "move_stack", "need", "add",
    "sub",   "mul",   "div",        "rem",     "and",      "or",         "xor",  "shl",
    "shr",   "abs",   "fparam",     "unbox",   "to_float", "fconst",     "fadd", "fsub",
    "fmul",  "fdiv",  "fneg",       "box",     "self"};
constexpr const char* kConditions[] = {
    "is_list",       "is_boxed",    "is_small",   "is_immediate", "is_atom",    "header_is",
    "header_masked", "same",        "differs",    "less",         "both_small", "header_at_least",
    "fun_arity",     "terms_equal", "terms_less", "float_less",   "float_same"};
constexpr const char* kEnds[] = {"jump",    "branch",   "switch", "exit", "call",
                                 "call_at", "call_fun", "return", "none"};

class Printer {
 public:
  Printer(const Graph& g, const Allocation* places) : g_(g), places_(places) {}

  std::string text() {
    if (places_)
      for (const BlockId id : places_->order) block(id);
    else
      for (BlockId id = 0; id < g_.blocks.size(); ++id) block(id);
    for (std::size_t n = 0; n < g_.exits.size(); ++n) {
      add("exit {} at {}:", n, static_cast<const void*>(g_.exits[n].at));
      for (const Exit::Register& r : g_.exits[n].registers) add(" x{}={}", r.x, name(r.value));
      for (const Exit::Register& r : g_.exits[n].floats) add(" f{}={}", r.x, name(r.value));
      add("\n");
    }
    return std::move(out_);
  }

 private:
  template <class... A>
  void add(fmt::format_string<A...> format, A&&... a) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<A>(a)...);
  }
  std::string name(ValueId v) const {
    if (v == kNone) return "?";
    if (g_.is_const(v)) return term_text(Term::from_raw(g_.imms[v]), 40);
    std::string s = fmt::format("v{}", v);
    if (!places_) return s;
    const Location l = places_->locations[v];
    const char* kinds[] = {"", ":r", ":f", ":s"};
    if (l.kind != Location::Kind::kNowhere)
      s += fmt::format("{}{}", kinds[static_cast<int>(l.kind)], l.number);
    return s;
  }
  void names(std::span<const ValueId> all) {
    for (const ValueId v : all) add(" {}", name(v));
  }
  void block(BlockId id) {
    const Block& b = g_.blocks[id];
    add("block {}", id);
    if (b.entry) add(" entry {}", static_cast<const void*>(b.entry));
    names(b.params);
    add("\n");
    for (const Inst& i : b.code) {
      add("  ");
      if (i.dst != kNone) add("{} = ", name(i.dst));
      add("{}", kOps[static_cast<unsigned>(i.op)]);
      names(g_.args_of(i));
      if (i.imm) add(" #{:x}", i.imm);
      if (i.exit != kNone) add(" exit {}", i.exit);
      add("\n");
    }
    add("  {}", kEnds[static_cast<unsigned>(b.end)]);
    if (b.end == BlockEnd::kBranch) add(" {}", kConditions[static_cast<unsigned>(b.condition)]);
    names(b.args);
    if (b.imm) add(" #{:x}", b.imm);
    for (const Block::Case& c : b.cases) add(" {:x}->{}", c.value, c.to);
    if (b.to != kNone) add(" ->{}", b.to);
    if (b.otherwise != kNone) add(" else {}", b.otherwise);
    if (b.exit != kNone) add(" exit {}", b.exit);
    add("\n");
  }

  const Graph& g_;
  const Allocation* places_;
  std::string out_;
};

}  // namespace

std::string text_of(const Graph& graph, const Allocation* places) { return Printer(graph, places).text(); }

}  // namespace vmrun::jit

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probes/d/match.hpp"
#include "probes/d/parser.hpp"
#include "probes/d/script.hpp"
#include "probes/d/tree.hpp"
#include "probes/d/types.hpp"

/// The third pass: what names mean, what types expressions have, whether statements make sense. It
/// listens to the parser, rewrites trees (constants are computed, inlines and translators put in)
/// and fills in the tables of the script; the clauses it keeps are what emit makes code of.
namespace vmrun::d::lang {

/// A variable, an enumerator or an inline.
struct Symbol {
  enum class Kind : std::uint8_t { kVariable, kFrame, kEnumerator, kInline } kind = Kind::kVariable;
  Place place;
  TypeId type = 0;
  std::uint32_t index = 0;  // of the program's variables; byte of the frame
  std::int64_t value = 0;   // of an enumerator
  bool associative = false;
  bool used_as_array = false;  // its keys are known
  std::vector<TypeId> keys;
  Node* inlined = nullptr;
  std::vector<std::string> parameters;
};

struct CheckedClause {
  ClauseTree tree;
  Matched matched;
  bool records = false;  // it makes records of its own
};

class Checker : public Listener {
 public:
  Checker(Tree& tree, Types& types, Script& script, const CompileOptions& options)
      : tree_(tree), types_(types), script_(script), options_(options) {}

  void begin_source(Source::Kind kind) { source_kind_ = kind; }
  std::vector<CheckedClause>& clauses() { return clauses_; }

  /// Whether every use of this key of an associative array is an argument of the probe as it is, of
  /// one kind, or one built-in: then what the machine has at hand serves, and no text is made.
  bool key_as_it_is(std::uint32_t variable, std::size_t key) const;
  /// Whether a pointer to this variable is made somewhere, so that less than 8 bytes may be
  /// written.
  bool address_taken(std::uint32_t number) const { return number < addressed_.size() && addressed_[number]; }

  std::int64_t constant(Node* expression, const char* tag) override;
  void enumerator(Place place, const std::string& name, std::int64_t value) override;
  void variable(const Declared& declared) override;
  void inlined(const Declared& declared, const std::vector<std::string>& parameters, Node* value) override;
  void translator(Place place, TypeId to, TypeId from, const std::string& variable,
                  std::vector<Member> members) override;
  void clause(ClauseTree clause) override;

 private:
  struct Translator {
    TypeId to, from;
    std::string variable;
    std::vector<Member> members;
  };
  struct Flags {
    bool committed = false, speculating = false, recorded = false;
  };
  class Deeper;

  // Expressions. Each may put another node in place of n.
  void check(Node*& n);
  void check_scalar(Node*& n, const char* what);
  void name(Node*& n);
  bool builtin(Node*& n);
  void known_symbol(Node*& n, const Symbol& symbol);
  void unary(Node*& n);
  void increment(Node*& n);
  void binary(Node*& n);
  void comparison(Node*& n);
  void assign(Node*& n);
  void conditional(Node*& n);
  void call(Node*& n);
  void call_subroutine(Node*& n);
  void copyinstr(Node*& n);
  void term_call(Node*& n, unsigned subroutine);
  void index(Node*& n);
  void probe_argument(Node*& n);
  void element(Node*& n, Symbol& symbol, TypeId value);
  void member(Node*& n);
  void translated(Node*& n, Node* xlate);
  void cast(Node*& n);
  void size_of(Node*& n);

  void target(Node*& n, TypeId value);
  void assignable(Node*& value, TypeId to, Place place);
  void fold(Node*& n);
  bool to_text(Node*& n);
  void need_text(Node*& n, const char* tag, const std::string& who);
  void need_integer(Node*& n, const char* tag, const std::string& who);
  Node* integer(Place place, std::uint64_t value, TypeId type);
  Node* cast_to(Node* n, TypeId type);
  Node* clone(const Node* n, const std::map<std::string, Node*>& bindings);
  TypeId kept_type(const Node* value);
  std::string described(const Node* n) const;

  Symbol* find(VariableScope scope, const std::string& name);
  Symbol& create(VariableScope scope, const std::string& name, TypeId type, bool associative, Place place);
  void take_keys(Symbol& symbol, const std::vector<TypeId>& keys) {
    symbol.keys = keys;
    symbol.used_as_array = true;
  }
  void note_key(const Symbol& symbol, std::size_t n, const Node* key);
  std::uint64_t argument_kinds(std::uint32_t argument) const;

  // Statements.
  void statements(std::vector<Statement>& list);
  void statement(Statement& s);
  void aggregation(Statement& s);
  void aggregating(Aggregation& a, std::uint32_t number, Node* function, bool is_new);
  void quantize_parameters(Aggregation& a, Node* function, bool is_new);
  void keys(std::vector<Node*>& keys, std::vector<Field>& fields, bool is_new, const std::string& what);
  bool action(Node* call);
  void action_of_text(ActionInfo& info, Node* call);
  void printa(ActionInfo& info, Node* call);
  void on_aggregation(ActionInfo& info, Node* call, const char* prefix, std::size_t least, std::size_t most);
  void tracemem(ActionInfo& info, Node* call);
  void data(Node* call, bool destructive = false);
  void arguments(const Node* call, std::size_t least, std::size_t most, const char* tag = "D_PROTO_LEN");
  Field field(Node*& n, const char* tag);
  std::uint32_t aggregation_of(Node* n, const char* tag_argument, const char* tag_unknown,
                               const std::string& who);
  ActionInfo& new_action(ActionKind kind, Node* call);

  Tree& tree_;
  Types& types_;
  Script& script_;
  const CompileOptions& options_;
  Source::Kind source_kind_ = Source::Kind::kFile;
  std::map<std::string, Symbol> globals_, selfs_, thises_;
  std::map<std::string, std::uint32_t> aggregations_;
  std::vector<Translator> translators_;
  std::vector<CheckedClause> clauses_;
  std::vector<std::vector<std::uint64_t>> key_kinds_;  // by variable, by key: kinds that were used
  std::vector<bool> addressed_;
  Matched* matched_ = nullptr;  // of the clause at hand; null in declarations
  std::string clause_text_;
  Flags flags_;
  unsigned depth_ = 0;
};

/// Names that are actions or aggregating functions, or are refused: never subroutines.
bool is_action(const std::string& name);

}  // namespace vmrun::d::lang

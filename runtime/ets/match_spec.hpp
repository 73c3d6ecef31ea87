#pragma once

#include <string>
#include <vector>

#include "vm/process/process.hpp"

/// Match specifications: [{Head, Guards, Body}], interpreted over the terms of the specification
/// itself. Patterns match exactly (=:=); a map in a pattern matches maps that have its keys. Guards
/// and bodies call the guard BIFs of module erlang through the export table, so there is one
/// implementation of each. The process's own thread; the specification and the object must stay
/// where they are while a MatchSpec is in use. Spec: "Match Specifications in Erlang" of the ERTS
/// user's guide.
///
/// There are two dialects: for tables, and for the arguments of a traced call. A specification of
/// the second has a list (or a variable) as its head, may call the functions of tracing, and what
/// its bodies evaluate to is of no interest: they act. Those for messages that are sent and
/// received are the same, with fewer functions.
namespace vmrun::ets {

/// Functions of tracing, in the order of kTraceFunctions (match_spec.cpp).
enum class TraceFunction : std::uint8_t {
  kMessage,
  kReturnTrace,
  kExceptionTrace,
  kIsSeqTrace,
  kSetSeqToken,
  kGetSeqToken,
  kDisplay,
  kProcessDump,
  kEnableTrace,
  kDisableTrace,
  kTrace,
  kCaller,
  kCallerLine,
  kSilent,
  kGetControlWord,
  kSetControlWord,
};

/// What those functions do, by whoever traces.
class TraceActions {
 public:
  /// The value, or kNonValue: it has failed, and the expression is 'EXIT'.
  virtual Term call(Process& p, TraceFunction function, const Term* arguments, Word count) = 0;

 protected:
  ~TraceActions() = default;
};

class MatchSpec {
 public:
  /// What match and match_object do: one clause without guards.
  enum class Result { kBody, kObject, kBindings };
  MatchSpec(Process& p, Term pattern, Result result);
  /// A whole specification; valid() tells whether it is one.
  enum class Dialect { kTable, kTrace, kSend, kReceive };
  explicit MatchSpec(Process& p, Term specification, Dialect dialect = Dialect::kTable);
  /// One without clauses: nothing matches it. A specification of a table may be so.
  static MatchSpec none(Process& p) { return MatchSpec(p); }
  bool valid() const { return errors_.empty(); }
  /// It is refused for being nested too deeply.
  bool exceeds_limit() const { return exceeds_limit_; }
  /// What is wrong with it, as OTP says it.
  const std::vector<std::string>& errors() const { return errors_; }

  /// The result for an object, or kNonValue if no clause matches. The result may point into the
  /// object; copy it before that goes.
  Term run(Term object);
  /// For the arguments of a call: whether a clause matches; its body has acted.
  bool run_for_call(Term arguments, TraceActions& actions);
  /// Whether the result is the object itself, as it is.
  bool gives_object() const { return clauses_.size() == 1 && clauses_[0].result == Result::kObject; }

  /// The keys that matching objects have (objects of arity `keypos` or more): what the clauses ask
  /// for in their order, each once; none if a clause leaves the key open.
  std::vector<Term> bound_keys(Word keypos) const;
  /// The pattern of the key, of which something is known and something is not; kNonValue: of more
  /// than one clause, or nothing is known.
  Term key_pattern(Word keypos) const;
  /// Whether, as is to be seen from them, all bodies give the object itself or one with its key.
  bool keep_key(Word keypos) const;

 private:
  explicit MatchSpec(Process& p) : p_(p) {}

  struct Clause {
    Term head, guards, body;
    Result result;
  };
  bool is_trace() const { return dialect_ != Dialect::kTable; }
  void refuse(std::string_view why);
  void check_clause(Clause& c);
  bool check_head(Term head);
  void check_expressions(Term list, bool in_guard);
  void note_variables(Term pattern);
  void check_expression(Term e, bool in_guard, int depth);
  void check_call(Term e, bool in_guard, int depth);
  bool check_name(Term call, bool in_guard);
  bool check_trace_function(TraceFunction f, Term call, bool in_guard);
  const Clause* first_match(Term object);
  bool head_matches(Term head, Term object);
  bool matches(Term pattern, Term value);
  bool guards_hold(Term guards);
  Term evaluate(Term e);
  Term evaluate_call(Term e);
  Term evaluate_junction(Term e);
  Term evaluate_list(Term e);
  Term evaluate_tuple(Term e);
  Term evaluate_map(Term e);
  Term all_bindings();
  Term* binding(Word number);

  Process& p_;
  Dialect dialect_ = Dialect::kTable;
  std::vector<std::string> errors_;
  bool exceeds_limit_ = false;
  TraceActions* actions_ = nullptr;  // while a call is looked at
  bool in_body_ = false;             // where a call that fails is 'EXIT' and all else goes on
  std::vector<Clause> clauses_;
  Term object_;
  // '$N' of the clause at hand: numbers are sparse, so a sorted list of pairs.
  struct Binding {
    Word number;
    Term value;
  };
  std::vector<Binding> bindings_;
  std::vector<Word> numbers_;  // scratch of note_variables
};

/// N of '$N', or -1.
SWord variable_number(Term atom);

/// The order of a key and those that a pattern may match: 0 where the first of what is not known
/// decides. Those for which it is 0 are next to each other.
int compare_to_pattern(Term key, Term pattern);

}  // namespace vmrun::ets

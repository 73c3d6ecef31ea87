// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "vm/process/process.hpp"

/// Match specifications: [{Head, Guards, Body}], interpreted over the terms of the specification
/// itself. Patterns match exactly (=:=); a map in a pattern matches maps that have its keys. Guards
/// and bodies call the guard BIFs of module erlang through the export table, so there is one
/// implementation of each. Used by the thread that runs the process; the specification and the
/// object must stay where they are while a MatchSpec is in use. Spec: "Match Specifications in
/// Erlang" of the ERTS user's guide.
///
/// There are two kinds of dialect: for tables, and for tracing. A specification for traced calls
/// has a list (or a variable) as its head and may call the functions of tracing. Its bodies are
/// evaluated for their effects; their values are ignored. The dialects for sent and received
/// messages are like that of calls, with fewer functions.
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
  kCurrentStacktrace,
  kSilent,
  kGetControlWord,
  kSetControlWord,
};

/// Implements the functions of tracing; the code that traces provides it.
class TraceActions {
 public:
  /// Returns the value, or kNonValue when the function has failed and the expression is 'EXIT'.
  virtual Term call(Process& p, TraceFunction function, const Term* arguments, Word count) = 0;

 protected:
  ~TraceActions() = default;
};

class MatchSpec {
 public:
  /// Makes the specification of match and match_object: one clause without guards.
  enum class Result { kBody, kObject, kBindings };
  MatchSpec(Process& p, Term pattern, Result result);
  /// Makes a whole specification; valid() tells whether it is correct.
  enum class Dialect { kTable, kTrace, kSend, kReceive };
  explicit MatchSpec(Process& p, Term specification, Dialect dialect = Dialect::kTable);
  /// A specification without clauses, which nothing matches. That of a table may be empty.
  static MatchSpec none(Process& p) { return MatchSpec(p); }
  bool valid() const { return errors_.empty(); }
  /// Whether it is refused because it is nested too deeply.
  bool exceeds_limit() const { return exceeds_limit_; }
  /// Says what is wrong with it, in OTP's words.
  const std::vector<std::string>& errors() const { return errors_; }

  /// Returns the result for an object, or kNonValue if no clause matches. The result may point into
  /// the object; copy it before the object is freed.
  Term run(Term object);
  /// For the arguments of a traced call. Returns whether a clause matches, whose body has been
  /// evaluated then.
  bool run_for_call(Term arguments, TraceActions& actions);
  /// Whether the result is the object itself, unchanged.
  bool gives_object() const { return clauses_.size() == 1 && clauses_[0].result == Result::kObject; }

  /// The keys that matching objects (of arity `keypos` or more) have, in the order of the clauses
  /// and each once. Empty if a clause leaves the key open.
  std::vector<Term> bound_keys(Word keypos) const;
  /// The pattern of the key when a part of it is known and a part is not. kNonValue when nothing is
  /// known, or when there is more than one clause.
  Term key_pattern(Word keypos) const;
  /// Whether it is evident from the clauses that all bodies return the object itself or one with
  /// its key.
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
  TraceActions* actions_ = nullptr;  // set while a traced call is matched
  bool in_body_ = false;             // in a body: a call that fails gives 'EXIT', and evaluation goes on
  std::vector<Clause> clauses_;
  Term object_;
  // '$N' of the current clause. Numbers are sparse, so this is a sorted list of pairs.
  struct Binding {
    Word number;
    Term value;
  };
  std::vector<Binding> bindings_;
  std::vector<Word> numbers_;  // scratch of note_variables
};

/// Returns N of '$N', or -1.
SWord variable_number(Term atom);

/// Compares a key with the keys that a pattern may match. Returns 0 when all parts in front of the
/// pattern's first open one are equal. The keys for which it returns 0 stand next to each other.
int compare_to_pattern(Term key, Term pattern);

}  // namespace vmrun::ets

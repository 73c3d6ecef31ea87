#pragma once

#include <array>
#include <deque>
#include <map>
#include <unordered_set>
#include <vector>

#include "runtime/dump/dump_file.hpp"
#include "vm/term/term.hpp"

/// Terms as a crash dump of Erlang/OTP has them (erts, "How to Interpret the Erlang Crash Dumps"):
/// one word in place, and the objects that it leads to in a section of their own, a line each.
namespace vmrun::dump {

/// A large binary, by where its bytes are: written once for the whole dump.
using Binaries = std::map<const std::uint8_t*, Word>;

class TermDump {
 public:
  TermDump(DumpFile& out, Binaries& binaries) : out_(out), binaries_(binaries) {}

  /// In place. What it leads to is written by the next `objects`.
  void word(Term t);
  /// {First, Second}, which is no object of the process's.
  void pair(Term first, Term second);
  /// Each object once.
  void objects();

 private:
  void object(Term t);

  DumpFile& out_;
  Binaries& binaries_;
  std::vector<Term> to_do_;
  std::deque<std::array<Term, 3>> pairs_;
  std::unordered_set<Word> seen_;
};

/// The sections =binary.
void write_binaries(DumpFile& out, const Binaries& binaries);

}  // namespace vmrun::dump

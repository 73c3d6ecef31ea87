// SPDX-License-Identifier: Apache-2.0
// Fuzz entry for the compiler of D. Whatever the text: a program that the engine takes, or
// errors with a tag, a text and, where there is one, a line; no crash, an end within seconds, and
// memory that does not grow with what the text asks for. Bytes are taken as they are, with two of
// their words exchanged, and as the seed of a program that is made from the grammar.
//   fuzz_d -runs=N test/d     (random_driver.cpp; best in a sanitizer build)
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "probes/d/compile.hpp"
#include "probes/engine/program.hpp"
#include "probes/engine/program_verifier.hpp"
#include "test/fuzz/words.hpp"

namespace {

using namespace vmrun::d;

constexpr unsigned kMostSeconds = 60;     // for one text, in a slow build
constexpr long kMostKilobytes = 3 << 20;  // of the whole run, a sanitizer's shadow included

const std::vector<ProbeInfo> kProbes = {
    {"erlang42",
     "vmrun",
     "message_send",
     "message-send",
     {{"sender", ArgumentKind::kPid}, {"receiver", ArgumentKind::kPid}, {"size", ArgumentKind::kUint32}}},
    {"erlang42",
     "vmrun",
     "process_exit",
     "process-exit",
     {{"pid", ArgumentKind::kPid}, {"reason", ArgumentKind::kTerm}}},
    {"erlang42",
     "vmrun",
     "function_return",
     "function-return",
     {{"pid", ArgumentKind::kPid}, {"mfa", ArgumentKind::kFunction}, {"depth", ArgumentKind::kInt}}}};

[[noreturn]] void found(const std::string& what, const std::string& text) {
  std::fprintf(stderr, "fuzz_d: %s\n---\n%s\n---\n", what.c_str(), text.c_str());
  std::abort();
}

void check(const std::string& text) {
  alarm(kMostSeconds);
  CompileOptions options;
  options.probes = &kProbes;
  options.default_arguments = true;
  options.arguments = {"fuzz.d", "one", "2"};
  options.macros = {{"target", 42}, {"pid", 7}};
  std::vector<CompileError> errors;
  const auto script = compile({{Source::Kind::kFile, "fuzz.d", text}}, options, errors);
  if (script == nullptr) {
    if (errors.empty()) found("no errors", text);
    for (const CompileError& e : errors)
      if (!e.tag.starts_with("D_") || e.text.starts_with("the compiler failed") || e.text.empty())
        found(to_text(e, true), text);
  } else {
    std::string why;
    if (!verify(script->program, kProbes.size(), why) && why.empty()) found("refused without a reason", text);
    if (disassemble(script->program).empty() && !script->program.clauses.empty()) found("no listing", text);
  }
  alarm(0);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  if (used.ru_maxrss > kMostKilobytes) found(std::to_string(used.ru_maxrss) + " KB of memory", text);
}

/// A program of D: right in its syntax, and often in its types.
class Made {
 public:
  explicit Made(std::uint64_t seed) : random_(seed) {}

  std::string program() {
    std::string out;
    for (auto n = below(4); n > 0; --n) out += declaration();
    for (auto n = 1 + below(4); n > 0; --n) out += clause();
    return out;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  template <std::size_t n>
  std::string one_of(const std::string_view (&list)[n]) {
    return std::string(list[below(n)]);
  }

  std::string type() {
    static constexpr std::string_view kTypes[] = {"int",    "char",   "unsigned long", "string", "int64_t",
                                                  "short",  "char *", "struct s0",     "void *", "uint8_t",
                                                  "enum e", "double", "union u1",      "void"};
    return one_of(kTypes);
  }

  std::string name() {
    static constexpr std::string_view kNames[] = {"x", "y", "z", "this->a", "this->s", "self->t", "a0", "v"};
    return one_of(kNames);
  }

  std::string declaration() {
    const std::string n = std::to_string(below(3));
    switch (below(7)) {
      case 0: return type() + " v" + n + ";\n";
      case 1: return type() + " a" + n + "[" + expression(1) + "];\n";
      case 2: return "struct s" + n + " { " + type() + " f; int g:" + std::to_string(below(70)) + "; };\n";
      case 3: return "typedef " + type() + " t" + n + ";\n";
      case 4: return "inline int i" + n + "[int p] = " + expression(2) + " + p;\n";
      case 5: return "enum e { A" + n + ", B" + n + " = " + expression(1) + " };\n";
      default: return "translator struct s" + n + " < " + type() + " p > { f = " + expression(1) + "; };\n";
    }
  }

  std::string leaf() {
    static constexpr std::string_view kLeaves[] = {"1",
                                                   "0",
                                                   "-1",
                                                   "0x7fffffffffffffff",
                                                   "'c'",
                                                   "\"text\"",
                                                   "\"\"",
                                                   "arg0",
                                                   "arg2",
                                                   "NULL",
                                                   "args[0]",
                                                   "args[2]",
                                                   "targs[1]",
                                                   "self",
                                                   "timestamp",
                                                   "probename",
                                                   "$1",
                                                   "$$2",
                                                   "A0",
                                                   "ustackdepth",
                                                   "execname",
                                                   "sizeof (int)",
                                                   "curthread",
                                                   "strtok(NULL, \",\")",
                                                   "speculation()"};
    return below(3) == 0 ? name() : one_of(kLeaves);
  }

  std::string expression(unsigned depth) {
    if (depth == 0) return leaf();
    static constexpr std::string_view kOperators[] = {
        "+", "-", "*",  "/",  "%",  "&",  "|",  "^", "<<", ">>",
        "<", ">", "==", "!=", "&&", "||", "^^", ",", "=",  "+="};
    static constexpr std::string_view kSigns[] = {"-",  "!",     "~",        "&",         "*",
                                                  "++", "(int)", "(char *)", "stringof ", "sizeof "};
    static constexpr std::string_view kCalls[] = {
        "strlen",  "substr",  "copyinstr", "strjoin",   "index",    "hd",        "element",
        "map_get", "json",    "copyin",    "htons",     "term2int", "is_tuple",  "alloca",
        "lltostr", "nothing", "ufunc",     "inet_ntoa", "bcopy",    "is_map_key"};
    switch (below(9)) {
      case 0: return one_of(kSigns) + expression(depth - 1);
      case 1: return one_of(kCalls) + "(" + expression(depth - 1) + ")";
      case 2: return one_of(kCalls) + "(" + expression(depth - 1) + ", " + expression(depth - 1) + ")";
      case 3: return expression(depth - 1) + " ? " + expression(depth - 1) + " : " + expression(depth - 1);
      case 4: return name() + "[" + expression(depth - 1) + "]";
      case 5: return name() + (below(2) != 0 ? "->" : ".") + "f";
      case 6: return "xlate <struct s0> (" + expression(depth - 1) + ").f";
      default:
        return "(" + expression(depth - 1) + " " + one_of(kOperators) + " " + expression(depth - 1) + ")";
    }
  }

  std::string statement(unsigned depth) {
    static constexpr std::string_view kFunctions[] = {"count()",
                                                      "sum(arg2)",
                                                      "quantize(arg2, 2)",
                                                      "avg(v0)",
                                                      "lquantize(arg2, 0, 10, 1)",
                                                      "max(1)",
                                                      "llquantize(arg2, 10, 0, 6, 20)",
                                                      "stddev(x)"};
    static constexpr std::string_view kActions[] = {
        "trace",    "print",    "printf(\"%s %d\", probename, 1), trace",
        "tracemem", "exit",     "ustack",
        "clear",    "printa",   "speculate",
        "commit",   "raise",    "system",
        "setopt",   "normalize"};
    switch (below(6)) {
      case 0:
        return "@g" + std::to_string(below(3)) + "[" + expression(2) + "] = " + one_of(kFunctions) + ";\n";
      case 1: return one_of(kActions) + "(" + expression(3) + ");\n";
      case 2: return name() + " = " + expression(3) + ";\n";
      case 3:
        if (depth == 0) return ";\n";
        return "if (" + expression(2) + ") {\n" + statement(depth - 1) + "} else " + statement(depth - 1);
      case 4:
        return "printf(\"%d %s %x\\n\", " + expression(2) + ", " + expression(2) + ", " + leaf() + ");\n";
      default: return expression(4) + ";\n";
    }
  }

  std::string clause() {
    static constexpr std::string_view kProbesOf[] = {"BEGIN",
                                                     "erlang*:::message-send",
                                                     "tick-1s",
                                                     "END, ERROR",
                                                     "erlang*:::process-exit",
                                                     "erlang*:lists::entry",
                                                     "erlang*:::function-return, BEGIN",
                                                     "nothing:::"};
    std::string out = one_of(kProbesOf) + "\n";
    if (below(3) == 0) out += "/" + expression(3) + "/\n";
    out += "{\n";
    for (auto n = below(5); n > 0; --n) out += statement(3);
    return out + "}\n";
  }

  std::mt19937_64 random_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  check(vmrun::fuzz::exchanged(text));
  Made made(vmrun::fuzz::hash_of(text));
  for (int i = 0; i < 4; ++i) check(made.program());
  return 0;
}

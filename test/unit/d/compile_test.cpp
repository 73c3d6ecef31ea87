// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "probes/d/compile.hpp"
#include "probes/engine/operations.hpp"
#include "probes/engine/program_verifier.hpp"

using namespace vmrun::d;

namespace {

const std::vector<ProbeInfo> kProbes = {
    {"erlang42",
     "vmrun",
     "-",
     "message-send",
     {{"sender", ArgumentKind::kPid}, {"receiver", ArgumentKind::kPid}, {"size", ArgumentKind::kUint32}}},
    {"erlang42",
     "vmrun",
     "-",
     "process-spawn",
     {{"pid", ArgumentKind::kPid}, {"mfa", ArgumentKind::kFunction}}},
    {"erlang42", "vmrun", "-", "gc", {{"pid", ArgumentKind::kPid}, {"need", ArgumentKind::kInt}}}};

CompileOptions options() {
  return {.probes = &kProbes, .arguments = {"vmtrace"}, .macros = {{"target", 42}}};
}

std::unique_ptr<Script> compiled(const std::string& text, CompileError* error = nullptr,
                                 CompileOptions with = options()) {
  std::vector<CompileError> errors;
  auto script = compile({{Source::Kind::kFile, "x.d", text}}, with, errors);
  CHECK((script == nullptr) == !errors.empty());
  if (!errors.empty() && error != nullptr) *error = errors[0];
  else if (!errors.empty()) FAIL(text << ": " << to_text(errors[0], true));
  if (script != nullptr) {
    // Whatever is compiled may run.
    INFO(text);
    Program program = script->program;
    std::string why;
    CHECK(verify(program, kProbes.size(), why));
    CHECK(why.empty());
    CHECK(script->actions.size() == script->program.actions.size());
    CHECK(script->aggregations.size() == script->program.aggregations.size());
    CHECK(script->clauses.size() == script->program.clauses.size());
  }
  return script;
}

/// The operations of the only clause's body, without the last ret.
std::string operations(const std::string& body, const std::string& probe = "message-send") {
  const auto script = compiled(probe + " { " + body + " }");
  if (script == nullptr) return "";
  std::string out;
  for (const Instruction& i : script->program.clauses[0].body) {
    if (i.operation == Operation::kRet) break;
    out += (out.empty() ? "" : " ") + std::string(kOperations[static_cast<unsigned>(i.operation)].name);
  }
  return out;
}

std::string tag(const std::string& text, CompileOptions with = options()) {
  CompileError error;
  INFO(text);
  return compiled(text, &error, std::move(with)) == nullptr ? error.tag : "compiles";
}

}  // namespace

TEST_CASE("common cases are short") {
  CHECK(operations("@[copyinstr(arg0)] = count();") == "load keyarg agg");
  CHECK(operations("@ = count();") == "load agg");
  CHECK(operations("@ = quantize(arg2);") == "arg load agg");
  CHECK(operations("printf(\"%s %d\", copyinstr(arg0), arg2);") == "begin farg arg fi");
  CHECK(operations("printf(\"%s\", args[0]);") == "begin farg");
  CHECK(operations("self->t = timestamp;") == "builtin stt");
  CHECK(operations("printf(\"%s\", arg1 != NULL ? copyinstr(arg1) : \"\");") ==
        "begin arg load sne jz farg jump text fs");
  CHECK(operations("trace(1 + 2 * 3);") == "begin load fi");
  CHECK(operations("@[ustack()] = count();") == "load keystack agg");
  CHECK(operations("@[execname, self] = sum(args[2]);") == "arg load keybuiltin keybuiltin agg");
  CHECK(operations("printf(\"%s\", term2str(targs[0]));") == "begin targ fterm");
  CHECK(operations("@[term2str(element(msg, 2))] = count();") == "tbuiltin load tcall load keyterm agg");
  const auto script = compiled("gc /arg0 > 5/ { }");
  REQUIRE(script->program.clauses[0].predicate.size() == 4);
  CHECK(script->program.clauses[0].predicate[2].operation == Operation::kSlt);
}

TEST_CASE("keys of associative arrays stay what the probe brings where all uses agree") {
  CHECK(operations("a[copyinstr(arg0)] = 1;") == "load keyarg sta");
  CHECK(operations("a[copyinstr(arg0)] = 1; a[\"x\"] = 2;").starts_with("load argtext keys sta"));
}

TEST_CASE("what the reader is told of actions") {
  const auto script = compiled(
      "#pragma D option quiet\n#pragma D option strsize=64\n"
      "BEGIN { printf(\"%*d %s\", 3, (short)1, \"x\"); @a[1, \"k\"] = lquantize(3, 0, 10, 2); printa(\"%d %s "
      "%@d\", @a); "
      "trunc(@a, 5); exit(2); }");
  REQUIRE(script->actions.size() == 4);
  CHECK(script->actions[0].kind == ActionKind::kPrintf);
  REQUIRE(script->actions[0].fields.size() == 3);
  CHECK(script->actions[0].fields[1].bytes == 2);
  CHECK(script->actions[0].fields[2].kind == Field::Kind::kText);
  CHECK(script->actions[0].fields[2].most == 65);
  CHECK(script->actions[1].aggregations == std::vector<std::uint32_t>{0});
  CHECK(script->actions[2].fields.size() == 1);
  CHECK(script->actions[3].kind == ActionKind::kExit);
  CHECK(script->aggregations[0].keys.size() == 2);
  CHECK(script->program.aggregations[0].parameters[2] == 2);
  CHECK(script->options[0].first == "quiet");
  CHECK(script->program.options.strsize == 65);
  CHECK(script->program.clauses[0].makes_record);
  CHECK_FALSE(compiled("BEGIN { x = 1; }")->program.clauses[0].makes_record);
  CHECK(compiled("BEGIN { }")->program.clauses[0].makes_record);
}

TEST_CASE("errors have the published tags") {
  const std::pair<const char*, const char*> kCases[] = {
      {"BEGIN { x = ; }", "D_SYNTAX"},
      {"BEGIN {", "D_SYNTAX"},
      {"BEGIN", "D_SYNTAX"},
      {"", "D_EMPTY"},
      {"no_such_probe { }", "D_PDESC_ZERO"},
      {"a:b:c:d:e { }", "D_PDESC_INVAL"},
      {"BEGIN /\"x\"/ { }", "D_PRED_SCALAR"},
      {"BEGIN { trace(y); }", "D_IDENT_UNDEF"},
      {"BEGIN { trace(curthread); }", "D_IDENT_UNDEF"},
      {"BEGIN { trace(this->y); }", "D_VAR_UNDEF"},
      {"BEGIN { nothing(); }", "D_FUNC_UNDEF"},
      {"BEGIN { copyout(1, 2, 3); }", "D_FUNC_UNDEF"},
      {"BEGIN { x = 1; x(); }", "D_FUNC_IDKIND"},
      {"BEGIN { 1(); }", "D_FUNC_IDENT"},
      {"BEGIN { x = trace(1); }", "D_OP_VFPTR"},
      {"BEGIN { x = count(); }", "D_CG_EXPR"},
      {"BEGIN { strlen(); }", "D_PROTO_LEN"},
      {"BEGIN { strlen(1); }", "D_PROTO_ARG"},
      {"struct s { int a; }; struct s v; BEGIN { copyinstr(v); }", "D_PROTO_ARG"},
      {"BEGIN { pid = 1; }", "D_OP_WRITE"},
      {"BEGIN { 1 = 2; }", "D_OP_LVAL"},
      {"BEGIN { x = 1; x = \"a\"; }", "D_OP_INCOMPAT"},
      {"BEGIN { trace(~\"a\"); }", "D_OP_INT"},
      {"BEGIN { trace(1 + \"a\"); }", "D_OP_ARITH"},
      {"BEGIN { trace(!\"a\"); }", "D_OP_SCALAR"},
      {"BEGIN { trace(1 / 0); }", "D_DIV_ZERO"},
      {"BEGIN { x = 1; trace(*x); }", "D_DEREF_NONPTR"},
      {"BEGIN { trace(*(void *)0); }", "D_DEREF_VOID"},
      {"BEGIN { x = 1; trace(x->a); }", "D_OP_PTR"},
      {"BEGIN { x = 1; trace(x.a); }", "D_OP_SOU"},
      {"struct s { int a; }; struct s v; BEGIN { trace(v.b); }", "D_TYPE_MEMBER"},
      {"BEGIN { trace(&1); }", "D_ADDROF_LVAL"},
      {"struct s { int a:2; }; struct s v; BEGIN { trace(&v.a); }", "D_ADDROF_BITFIELD"},
      {"struct s { int a:2; }; struct s v; BEGIN { trace(sizeof(v.a)); }", "D_SIZEOF_BITFIELD"},
      {"BEGIN { trace(sizeof(void)); }", "D_SIZEOF_TYPE"},
      {"BEGIN { trace(offsetof(int, a)); }", "D_OFFSETOF_TYPE"},
      {"BEGIN { trace(stringof(1)); }", "D_STRINGOF_TYPE"},
      {"struct s { int a; }; BEGIN { trace((struct s)1); }", "D_CAST_INVAL"},
      {"BEGIN { x = 1; trace(x[0]); }", "D_ARR_BADREF"},
      {"int v[2]; BEGIN { trace(v[2]); }", "D_ARR_BOUNDS"},
      {"BEGIN { this->a[1] = 2; }", "D_ARR_LOCAL"},
      {"this int a[int]; BEGIN { }", "D_DECL_LOCASSC"},
      {"BEGIN { a[1] = 2; a[1, 2] = 3; }", "D_PROTO_LEN"},
      {"BEGIN { a[1] = 2; a[\"x\"] = 3; }", "D_PROTO_ARG"},
      {"BEGIN { @a; }", "D_IDENT_UNDEF"},
      {"BEGIN { @a = 1; }", "D_AGG_FUNC"},
      {"BEGIN { @a = nothing(1); }", "D_FUNC_UNDEF"},
      {"BEGIN { @a = count(); @a = sum(1); }", "D_AGG_REDEF"},
      {"BEGIN { @a = sum(\"x\"); }", "D_AGG_SCALAR"},
      {"BEGIN { @a = sum(); }", "D_PROTO_LEN"},
      {"BEGIN { @a[1][2] = count(); }", "D_AGG_MDIM"},
      {"BEGIN { @a[@b] = count(); }", "D_KEY_TYPE"},
      {"BEGIN { @a[1] = count(); @a[1, 2] = count(); }", "D_PROTO_LEN"},
      {"BEGIN { @a[1] = count(); @a[\"x\"] = count(); }", "D_PROTO_ARG"},
      {"BEGIN { x = 1; @a = lquantize(1, x, 2); }", "D_LQUANT_BASETYPE"},
      {"BEGIN { @a = lquantize(1); }", "D_PROTO_LEN"},
      {"BEGIN { @a = lquantize(1, 10, 2); }", "D_LQUANT_MISMATCH"},
      {"BEGIN { @a = lquantize(1, 0, 10, 20); }", "D_LQUANT_STEPLARGE"},
      {"BEGIN { @a = lquantize(1, 0, 10, 2); @a = lquantize(1, 0, 10, 1); }", "D_LQUANT_MATCHSTEP"},
      {"BEGIN { @a = llquantize(1, 1, 0, 3, 10); }", "D_LLQUANT_FACTORVAL"},
      {"BEGIN { @a = llquantize(1, 10, 3, 0, 10); }", "D_LLQUANT_HMAGVAL"},
      {"BEGIN { printf(); }", "D_PROTO_LEN"},
      {"BEGIN { printf(\"\"); }", "D_PRINTF_FMT_EMPTY"},
      {"BEGIN { x = \"a\"; printf(x); }", "D_PRINTF_ARG_FMT"},
      {"BEGIN { printf(\"%d\"); }", "D_PRINTF_ARG_PROTO"},
      {"BEGIN { printf(\"%d\", \"x\"); }", "D_PRINTF_ARG_TYPE"},
      {"BEGIN { printf(\"%d\", 1, 2); }", "D_PRINTF_ARG_EXTRA"},
      {"BEGIN { printf(\"%*d\", \"x\", 2); }", "D_PRINTF_DYN_TYPE"},
      {"BEGIN { printf(\"%@d\", 1); }", "D_PRINTF_AGG_CONV"},
      {"BEGIN { printa(); }", "D_PROTO_LEN"},
      {"BEGIN { printa(1); }", "D_PRINTA_AGGARG"},
      {"BEGIN { printa(@a); }", "D_PRINTA_AGGBAD"},
      {"BEGIN { @a[1] = count(); @b[\"x\"] = count(); printa(@a, @b); }", "D_PRINTA_AGGPROTO"},
      {"BEGIN { @a[1] = count(); @b[\"x\"] = count(); printa(\"%@d %@d\", @a, @b); }", "D_PRINTA_AGGPROTO"},
      {"BEGIN { @a[1] = count(); @b = count(); printa(\"%@d %@d\", @a, @b); }", "D_PRINTA_AGGKEY"},
      {"BEGIN { trace(); }", "D_PROTO_LEN"},
      {"BEGIN { trace((void)1); }", "D_TRACE_VOID"},
      {"BEGIN { tracemem(1); }", "D_PROTO_LEN"},
      {"BEGIN { tracemem(1, 0); }", "D_TRACEMEM_SIZE"},
      {"BEGIN { ustack(1, 2, 3); }", "D_PROTO_LEN"},
      {"BEGIN { ustack(-1); }", "D_USTACK_FRAMES"},
      {"BEGIN { clear(); }", "D_PROTO_LEN"},
      {"BEGIN { clear(1); }", "D_CLEAR_AGGARG"},
      {"BEGIN { trunc(@a); }", "D_TRUNC_AGGBAD"},
      {"BEGIN { @a = count(); normalize(@a, \"x\"); }", "D_PROTO_ARG"},
      {"BEGIN { trace(1); commit(1); }", "D_COMM_DREC"},
      {"BEGIN { commit(1); trace(1); }", "D_DREC_COMM"},
      {"BEGIN { speculate(1); speculate(1); }", "D_SPEC_SPEC"},
      {"BEGIN { trace(1); speculate(1); }", "D_SPEC_DREC"},
      {"BEGIN { commit(1); speculate(1); }", "D_SPEC_COMM"},
      {"BEGIN { speculate(1); @a = count(); }", "D_AGG_SPEC"},
      {"BEGIN { commit(1); @a = count(); }", "D_AGG_COMM"},
      {"BEGIN { speculate(1); exit(0); }", "D_EXIT_SPEC"},
      {"BEGIN { speculate(1); system(\"ls\"); }", "D_ACT_SPEC"},
      {"BEGIN { trace(args[0]); }", "D_ARGS_IDX"},
      {"message-send { trace(args[9]); }", "D_ARGS_IDX"},
      {"message-send { trace(args[pid]); }", "D_ARGS_TYPE"},
      {"erlang42:::gc, erlang42:::process-spawn { trace(args[1]); }", "D_ARGS_MULTI"},
      {"message-send { x = targs[0]; }", "D_OP_DYN"},
      {"int a[3]; message-send /targs[0] == a/ { }", "D_OP_INCOMPAT"},
      {"message-send { x = msg; }", "D_OP_DYN"},
      {"message-send { msg = 1; }", "D_OP_WRITE"},
      {"message-send { trace(msg + 1); }", "D_OP_ARITH"},
      {"gc /is_tuple(msg)/ { }", "D_ARGS_NONE"},
      {"message-send, gc /is_tuple(msg)/ { }", "D_ARGS_NONE"},
      {"BEGIN { trace(term2str(msg)); }", "D_ARGS_NONE"},
      {"typedef int t; typedef long t; BEGIN { }", "D_DECL_IDRED"},
      {"int a; string a; BEGIN { }", "D_DECL_IDRED"},
      {"int a[]; BEGIN { }", "D_DECL_ARRNULL"},
      {"int a[pid]; BEGIN { }", "D_DECL_ARRSUB"},
      {"int a[99999999]; BEGIN { }", "D_DECL_ARRBIG"},
      {"unsigned string a; BEGIN { }", "D_DECL_SIGNINT"},
      {"long char a; BEGIN { }", "D_DECL_CHARATTR"},
      {"long void a; BEGIN { }", "D_DECL_VOIDATTR"},
      {"int char a; BEGIN { }", "D_DECL_COMBO"},
      {"self this int a; BEGIN { }", "D_DECL_CLASS"},
      {"static int a; BEGIN { }", "D_DECL_BADCLASS"},
      {"int; BEGIN { }", "D_DECL_USELESS"},
      {"void a; BEGIN { }", "D_DECL_VOIDOBJ"},
      {"struct s a; BEGIN { }", "D_DECL_INCOMPLETE"},
      {"struct s { int a:40; }; BEGIN { }", "D_DECL_BFSIZE"},
      {"struct s { string a:4; }; BEGIN { }", "D_DECL_BFTYPE"},
      {"enum e { A = 99999999999 }; BEGIN { }", "D_DECL_ENOFLOW"},
      {"struct s { int a; }; translator struct s < int v > { b = v; }; BEGIN { }", "D_XLATE_MEMB"},
      {"struct s { int a; }; BEGIN { trace(xlate<struct s>(1).a); }", "D_XLATE_NONE"},
      {"#pragma D option nothing\nBEGIN { }", "D_PRAGMA_OPTSET"},
      {"#pragma D nothing\nBEGIN { }", "D_PRAGMA_INVAL"},
      {"#pragma D option\nBEGIN { }", "D_PRAGMA_MALFORM"},
      {"BEGIN { trace($9); }", "D_MACRO_UNDEF"},
  };
  for (const auto& [text, expected] : kCases) {
    INFO(text);
    CHECK(tag(text) == expected);
  }
  CompileOptions more = options();
  more.arguments.push_back("5");
  CHECK(tag("BEGIN { }", more) == "D_MACRO_UNUSED");
}

TEST_CASE("errors name file and line, also those of the preprocessor's markers") {
  CompileError error;
  compiled("BEGIN\n{\n\n  trace(y);\n}", &error);
  CHECK(to_text(error, false) == "x.d: line 4: failed to resolve y: unknown variable name");
  CHECK(to_text(error, true).find("[D_IDENT_UNDEF]") != std::string::npos);
  compiled("# 20 \"inc.d\"\nBEGIN { trace(y); }", &error);
  CHECK(error.file == "inc.d");
  CHECK(error.line == 20);
}

namespace {

const char* const kScripts[] = {
    "typedef struct point { int x, y; unsigned f:3, :2, g:4; char name[8]; struct point *next; } point_t;\n"
    "point_t p; self point_t q; this point_t r; point_t m[int, string];\n"
    "BEGIN { p.x = 1; self->q.y = 2; this->r.f = 3; m[1, \"a\"].g = 4; p.next = &p; p.next->next->x++; "
    "p.name[0] = 'a'; print(p); trace(stringof(p.name)); tracemem(&p, 8); tracemem(&p, 16, 4); }",
    "union u { int i; char c[4]; struct { int inner; }; }; union u v; BEGIN { v.inner = 5; trace(v.c[0]); "
    "}",
    "enum color { RED, GREEN = 5, BLUE }; inline int k = BLUE * 2; BEGIN /k == 12 ^^ 0/ { "
    "trace(sizeof(enum color)); }",
    "inline int add[int a, int b] = a + b; inline string who = \"me\"; BEGIN { trace(add[1, 2]); "
    "trace(who); }",
    "struct info { int pid; string what; }; translator struct info < int a > { pid = a + 1; what = \"w\"; "
    "};\n"
    "BEGIN { trace(xlate<struct info>(5).pid); trace(xlate<struct info *>(5)->what); }",
    "BEGIN { x = 1; x += 2; x <<= 3; x %= 5; y = x++ + --x; z = (char)y | ~x & 3 ^ !y; trace((x ? y : z, "
    "1)); }",
    "BEGIN { s = \"a\"; trace(s == \"b\" || s < \"c\"); self->a[s, 1] = 2; self->a[s, 1]++; "
    "trace(self->a[s, 1]); }",
    "self x; this y; int *ptr; int n; int arr[3][2]; BEGIN { ptr = &n; *ptr = 5; arr[1][1] = *ptr; "
    "trace(ptr + 1 - ptr); }",
    "BEGIN { if (pid > 1) { trace(1); } else if (pid) trace(2); else { ; } ;; }",
    "BEGIN, END, profile:::tick-1s { self->spec = speculation(); } BEGIN { speculate(self->spec); "
    "trace(1); }",
    "BEGIN { @a = stddev(1); @b = avg(2); @c = llquantize(3, 10, 0, 6, 20); @d = quantize(1, 2); "
    "printa(\"%@d %@d\", @a, @b); }",
    "BEGIN { trace(strtok(\"a b\", \" \")); trace(strtok(NULL, \" \")); trace(substr(\"abc\", 1)); "
    "trace(index(\"a\", \"b\")); }",
    "message-send /copyinstr(arg0) == \"<0.1.0>\" && args[2] > 5/ { printf(\"%s %s\", copyinstr(args[1]), "
    "arg0 != 0 ? copyinstr(arg0) : \"\"); }",
    "message-send /is_tuple(targs[0]) && term2int(element(targs[0], 3)) > 100/ { "
    "@[term2str(hd(tl(targs[0])))] = count(); }",
    "ERROR { printf(\"%d %d\", arg1, arg4); } BEGIN { @x = count(); } END { printa(@x); }",
    "erlang$target:::gc { trace(arg0); }"};

}  // namespace

TEST_CASE("all of the language is taken") {
  for (const char* text : kScripts) {
    INFO(text);
    CHECK(compiled(text) != nullptr);
  }
}

TEST_CASE("bytes cannot make the compiler go deep") {
  const auto many = [](const std::string& before, const std::string& piece, const std::string& after) {
    std::string out = before;
    for (int i = 0; i < 20000; i++) out += piece;
    return out + after;
  };
  CHECK(tag(many("BEGIN { trace(", "(", "")) == "D_SYNTAX");
  CHECK(tag(many("BEGIN { trace(", "-", "1); }")) == "D_SYNTAX");
  CHECK(tag(many("BEGIN { trace(1", "+1", "); }")) == "D_SYNTAX");
  CHECK(tag(many("BEGIN { ", "if (1) { ", "")) == "D_SYNTAX");
  CHECK(tag(many("int ", "*", "x; BEGIN { }")) == "D_SYNTAX");
  CHECK(tag(many("int x", "[1]", "; BEGIN { }")) == "D_SYNTAX");
  CHECK(tag(many("", "struct { ", "")) == "D_SYNTAX");
  const auto repeated = compiled(many("BEGIN", ",erlang*:::message-send", " { }"));
  CHECK(repeated->program.clauses[0].probes.size() == 2);
  std::string inlines = "inline int i0 = pid;";
  for (int i = 1; i < 60; i++)
    inlines += "inline int i" + std::to_string(i) + " = i" + std::to_string(i - 1) + " + i" +
               std::to_string(i - 1) + ";";
  CHECK(tag(inlines + "BEGIN { trace(i59); }") == "D_SYNTAX");
}

TEST_CASE("texts that were damaged are refused or make programs that may run") {
  std::uint64_t state = 0x9e3779b97f4a7c15;
  const auto random = [&state](std::size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state >> 33) % below;
  };
  static constexpr std::string_view kPieces[] = {"[",        "]",  "(",  ")",  "{",  "}",      "@a",
                                                 ";",        "->", "*",  "&",  "=",  "?:",     "self->",
                                                 "\"",       "'",  "$1", "0x", "++", "struct", "copyinstr(",
                                                 "targs[0]", "/",  ",",  "#",  "\n"};
  std::size_t good = 0;
  for (int round = 0; round < 4000; round++) {
    std::string text = kScripts[random(std::size(kScripts))];
    for (std::size_t n = 1 + random(3); n > 0; n--) {
      const std::size_t at = random(text.size() + 1);
      switch (random(4)) {
        case 0: text.insert(at, kPieces[random(std::size(kPieces))]); break;
        case 1: text.erase(at, 1 + random(6)); break;
        case 2: text.insert(at, 1, static_cast<char>(random(256))); break;
        default: text.insert(at, text.substr(random(text.size() + 1), random(20))); break;
      }
    }
    std::vector<CompileError> errors;
    const auto script = compile({{Source::Kind::kFile, "x.d", text}}, options(), errors);
    if ((script == nullptr) == errors.empty()) FAIL(text);
    if (script == nullptr) continue;
    good++;
    std::string why;
    if (!verify(script->program, kProbes.size(), why)) FAIL(text << ": " << why);
  }
  CHECK(good > 100);
}

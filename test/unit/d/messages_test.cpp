// SPDX-License-Identifier: Apache-2.0
// What the compiler says of wrong scripts: all errors, their places, and what was meant.
#include <catch2/catch.hpp>

#include "probes/d/compile.hpp"

using namespace vmrun::d;

namespace {

const std::vector<ProbeInfo> kSpokenOf = {
    {"erlang42",
     "vmrun",
     "-",
     "message-send",
     {{"sender", ArgumentKind::kPid}, {"receiver", ArgumentKind::kPid}, {"size", ArgumentKind::kUint32}}},
    {"erlang42", "vmrun", "-", "gc-minor", {{"pid", ArgumentKind::kPid}, {"need", ArgumentKind::kInt}}}};

const std::vector<NamedFunction> kLoaded = {
    {"lists", "reverse", 1}, {"lists", "reverse", 2}, {"shop", "total", 0}, {"shop", "handle", 2}};

bool is_named(const std::string& pattern, const std::string& name) {
  return pattern.empty() || pattern == "*" || pattern == name;
}

std::vector<NamedFunction> loaded(const FunctionPattern& pattern) {
  std::vector<NamedFunction> out;
  for (const NamedFunction& f : kLoaded)
    if (is_named(pattern.module, f.module) && is_named(pattern.function, f.function) &&
        (pattern.arity < 0 || pattern.arity == static_cast<std::int32_t>(f.arity)))
      out.push_back(f);
  return out;
}

/// Returns a line for each error: `line:column+length text`.
std::string messages(const std::string& text, Source::Kind kind = Source::Kind::kName) {
  CompileOptions options{.probes = &kSpokenOf, .arguments = {"vmtrace"}, .macros = {{"target", 42}}};
  options.count_functions = [](const FunctionPattern& pattern) { return loaded(pattern).size(); };
  options.list_functions = loaded;
  std::vector<CompileError> errors;
  const auto script = compile({{kind, "-n", text}}, options, errors);
  CHECK((script == nullptr) == !errors.empty());
  std::string out;
  for (const CompileError& e : errors)
    out += (out.empty() ? "" : "\n") + std::to_string(e.line) + ":" + std::to_string(e.column) + "+" +
           std::to_string(e.length) + " " + e.text;
  return out;
}

struct Told {
  const char *text, *told;
};

void check_messages(const std::vector<Told>& cases) {
  for (const Told& c : cases) {
    INFO(c.text);
    CHECK(messages(c.text) == c.told);
  }
}

}  // namespace

TEST_CASE("misspelt names are answered with those that exist") {
  check_messages({
      {"BEGIN { trace(tiemstamp); }",
       "1:15+9 failed to resolve tiemstamp: unknown variable name, did you mean timestamp?"},
      {"BEGIN { count_of = 1; trace(countof); }",
       "1:29+7 failed to resolve countof: unknown variable name, did you mean count_of?"},
      {"BEGIN { trace(nope); }", "1:15+4 failed to resolve nope: unknown variable name"},
      {"message-send { trace(agr0); }",
       "1:22+4 failed to resolve agr0: unknown variable name, did you mean arg0?"},
      {"message-send { trace(agrs[0]); }",
       "1:22+4 failed to resolve agrs: unknown variable name, did you mean args?"},
      {"BEGIN { trace(agr0); }", "1:15+4 failed to resolve agr0: unknown variable name"},
      {"BEGIN { sefl->x = 1; }", "1:9+4 failed to resolve sefl: unknown variable name, did you mean self?"},
      {"BEGIN { this->total = 1; trace(this->totla); trace(self->total); trace(total); }",
       "1:32+4 this->totla has not yet been declared or assigned, did you mean this->total?\n"
       "1:52+4 self->total has not yet been declared or assigned, did you mean this->total?\n"
       "1:72+5 failed to resolve total: unknown variable name, did you mean this->total?"},
      {"BEGIN { pritnf(\"x\"); }", "1:9+6 undefined function name: pritnf, did you mean printf?"},
      {"BEGIN { x = strlne(\"x\"); }", "1:13+6 undefined function name: strlne, did you mean strlen?"},
      {"BEGIN { x = trcae(1); }", "1:13+5 undefined function name: trcae"},
      {"BEGIN { x = timestamp(); }",
       "1:13+9 undefined function name: timestamp: timestamp is a variable, which stands without ( )"},
      {"BEGIN { x = strlen; }",
       "1:13+6 failed to resolve strlen: unknown variable name: it is a function, which is called with ( )"},
      {"BEGIN { @ = coutn(); }", "1:13+5 undefined function name: coutn, did you mean count?"},
      {"BEGIN { coutn(); }", "1:9+5 undefined function name: coutn, did you mean @ = count( )?"},
      {"BEGIN { @ = count; }",
       "1:13+5 @ must be assigned the result of an aggregating function: count( ), sum( ) ..., did you mean "
       "count( )?"},
      {"BEGIN { @sizes = count(); printa(@size); }",
       "1:34+5 undefined aggregation: @size, did you mean @sizes?"},
      {"struct s { int first; }; struct s v; BEGIN { trace(v.fisrt); }",
       "1:54+5 fisrt is not a member of struct s, did you mean first?"},
      {"BEGIN { trace($tagret); }", "1:15+7 macro argument $tagret is not defined, did you mean $target?"},
      {"#pragma D optoin quiet\nBEGIN { }", "1:1+7 invalid #pragma D: optoin, did you mean option?"},
      {"#pragma D option bufsiz=1m\nBEGIN { }",
       "1:1+7 failed to set option 'bufsiz' to '1m': invalid option name, did you mean bufsize?"},
      {"#pargma D option quiet\nBEGIN { }",
       "1:1+7 invalid control directive: #pargma, did you mean #pragma?"},
      {"#define N 1\nBEGIN { }",
       "1:1+7 invalid control directive: #define: it is for the preprocessor, which -C runs"},
  });
}

TEST_CASE("misspelt probes are answered with descriptions that match") {
  const auto none = [](const std::string& text, const std::string& rest) {
    return "probe description " + text + " does not match any probes" + rest;
  };
  const std::pair<const char*, const char*> kCases[] = {
      {"BEGN", ", did you mean BEGIN?"},
      {"mesage-send", ", did you mean message-send?"},
      {"message_send", ", did you mean message-send?"},
      {"erlang*:::gc-mnior", ", did you mean erlang*:::gc-minor?"},
      {"erlagn*:::gc-minor", ", did you mean erlang*:::gc-minor?"},
      {"erlang7:::gc-minor", ", did you mean erlang*:::gc-minor?"},
      {"profil:::tick-1s", ", did you mean profile:::tick-1s?"},
      {"tik-1s", ", did you mean tick-1s?"},
      {"tick-5sce", ", did you mean tick-5sec?"},
      {"lsits:reverse:entry", ", did you mean lists:reverse:entry?"},
      {"lists:revrese/1:entry", ", did you mean lists:reverse/1:entry?"},
      {"lists:reverse/3:entry", ", did you mean lists:reverse/1:entry?"},
      {"lsits:revrese:entry", ", did you mean lists:reverse:entry?"},
      {"lists:reverse:enrty", ", did you mean lists:reverse:entry?"},
      {"something-else", ""},
  };
  for (const auto& [text, rest] : kCases) {
    INFO(text);
    const std::string told = messages(text);
    CHECK(told.substr(told.find(' ') + 1) == none(text, rest));
    CHECK(told.starts_with("1:1+" + std::to_string(std::string(text).size()) + " "));
  }
  CHECK(messages("lsits", Source::Kind::kModule).ends_with(", did you mean lists?"));
  CHECK(messages("erlnag42", Source::Kind::kProvider).ends_with(", did you mean erlang*?"));
}

TEST_CASE("a number where a text is needed says how the text is written") {
  check_messages({
      {"message-send { printf(\"%s\", arg0); }",
       "1:29+4 printf( ) argument #2 of type \"int64_t\" is incompatible with conversion #1 (%s), did you "
       "mean copyinstr(arg0) or args[0]?"},
      {"message-send { printf(\"%s\", arg2); }",
       "1:29+4 printf( ) argument #2 of type \"int64_t\" is incompatible with conversion #1 (%s), did you "
       "mean %d?"},
      {"message-send { printf(\"%d\", args[0]); }",
       "1:33+1 printf( ) argument #2 of type \"char *\" is incompatible with conversion #1 (%d), did you "
       "mean %s?"},
      {"message-send, gc-minor { strlen(arg1); }",
       "1:33+4 strlen( ) argument #1 must be a string, not of type \"int64_t\", did you mean "
       "copyinstr(arg1)?"},
      {"message-send /arg0 == \"<0.1.0>\"/ { }",
       "1:20+2 operands have incompatible types: \"int64_t\" and \"string\", did you mean copyinstr(arg0) or "
       "args[0]?"},
      {"BEGIN { printf(\"%D\", 1); }", "1:16+4 unknown conversion in format: %D, did you mean %d?"},
      {"BEGIN { printf(\"%hs\", \"x\"); }", "1:16+5 unknown conversion in format: %hs, did you mean %s?"},
  });
}

TEST_CASE("terms that a function by name does not have are refused") {
  CHECK(messages("shop:total/0:entry { trace(term2str(targs[0])); }") ==
        "1:42+1 index 0 is out of range for shop:total/0:entry targs[ ]: the function takes no arguments");
  CHECK(messages("shop:handle/2:entry { trace(term2str(targs[2])); }") ==
        "1:43+1 index 2 is out of range for shop:handle/2:entry targs[ ]: there are targs[0] to targs[1]");
  CHECK(messages("shop:total:return { trace(term2str(targs[1])); }") ==
        "1:41+1 index 1 is out of range for shop:total:return targs[ ]: there is only targs[0]");
  CHECK(messages("shop:total/0: { trace(term2str(targs[1])); }").empty());  // the exception has it
  CHECK(messages("shop:handle/2:entry { trace(term2str(targs[1])); }").empty());
  CHECK(messages("shop:handle:entry { trace(term2str(targs[5])); }").empty());
}

TEST_CASE("all errors are told, each once, in the order of the text") {
  check_messages({
      {"BEGIN { x = ; y = 2 z = 3; trace(q); }\nEND { trace(r); }",
       "1:13+1 syntax error near \";\": an expression is expected\n"
       "1:21+1 syntax error near \"z\": ; is expected before it\n"
       "1:34+1 failed to resolve q: unknown variable name\n"
       "2:13+1 failed to resolve r: unknown variable name"},
      {"BEGN { trace(nope1); }\nEND { trace(nope2); }",
       "1:1+4 probe description BEGN does not match any probes, did you mean BEGIN?\n"
       "1:14+5 failed to resolve nope1: unknown variable name\n"
       "2:13+5 failed to resolve nope2: unknown variable name"},
      // What an error has led to is not told.
      {"BEGIN { x = nope1; trace(x); @a = coutn(); printa(@a); }",
       "1:13+5 failed to resolve nope1: unknown variable name\n"
       "1:35+5 undefined function name: coutn, did you mean count?"},
      {"BEGIN { x = (1 + ; } END { trace(x); }", "1:18+1 syntax error near \";\": an expression is expected"},
      {"mesage-send { printf(\"%d\", args[0]); }",
       "1:1+11 probe description mesage-send does not match any probes, did you mean message-send?"},
      {"inline int f = 1 + nope1;\nint int x;\nBEGIN { if (1) { trace(nope2); } else { trace(nope3); "
       "} }",
       "1:20+5 failed to resolve nope1: unknown variable name\n"
       "2:5+3 invalid type combination: int\n"
       "3:24+5 failed to resolve nope2: unknown variable name\n"
       "3:47+5 failed to resolve nope3: unknown variable name"},
      {"BEGIN { for (x = 0; x < 5; x++) trace(1); trace(nope); }",
       "1:9+3 syntax error near \"for\": D has neither loops nor jumps\n"
       "1:49+4 failed to resolve nope: unknown variable name"},
      {"BEGIN { } }\nEND { trace(nope); }",
       "1:11+1 syntax error near \"}\"\n2:13+4 failed to resolve nope: unknown variable name"},
  });
}

TEST_CASE("what has no end says where it began") {
  check_messages({
      {"BEGIN {\n  trace(1);\n", "1:7+1 end of input: this { has no }"},
      {"BEGIN {\n  if (1) { trace(1);\n", "2:10+1 end of input: this { has no }"},
      {"BEGIN { trace(\"abc); }", "1:15+1 end of input inside a string or character constant: no \" follows"},
      {"BEGIN { trace(\"abc);\n}", "1:15+1 newline encountered in string literal"},
      {"BEGIN { }\n/* never", "2:1+1 end of input inside a comment: no */ follows"},
      {"BEGIN { /* a\n /* b */ }",
       "2:2+1 /* encountered inside a comment: the one that begins in line 1 has no */ before it"},
      {"BEGIN { x = / /* never", "1:13+1 syntax error near \"/\": an expression is expected"},
      {"BEGIN { trace((1 + 2); }", "1:22+1 syntax error near \";\": ) is expected before it"},
      {"BEGIN { trace((1 +\n2); }", "2:3+1 syntax error near \";\": the ( in line 1 has no )"},
      {"BEGIN /1 == 1 { }",
       "1:15+1 syntax error near \"{\": the predicate that begins in line 1 has no / at its end"},
  });
}

TEST_CASE("words of other languages are answered with D's") {
  check_messages({
      {"BEGIN { if (1) x = 1; esle x = 2; }",
       "1:28+1 syntax error near \"x\", did you mean else in place of esle?"},
      {"itn x;", "1:5+1 syntax error near \"x\", did you mean int in place of itn?"},
      {"trace(1);", "1:6+1 syntax error near \"(\": statements stand in the { } of a clause"},
      {"BEGIN /1 =< 2/ { }", "1:11+1 syntax error near \"<\", did you mean <=?"},
      {"BEGIN /1 =:= 2/ { }", "1:11+1 syntax error near \":\", did you mean ==?"},
      {"BEGIN /1 and 2/ { }", "1:10+3 syntax error near \"and\", did you mean &&?"},
      {"BEGIN { while (1) ; }", "1:9+5 syntax error near \"while\": D has neither loops nor jumps"},
  });
}

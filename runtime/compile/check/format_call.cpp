// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/format_call.hpp"

namespace vmrun::compile {

namespace {

/// Returns the number of arguments that a format string takes. Returns -1 when the string is bad,
/// and sets `problem`.
int format_arguments(std::u32string_view f, std::string& problem) {
  int count = 0;
  auto bad = [&](std::string what) {
    problem = std::move(what);
    return -1;
  };
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (f[i] != '~') continue;
    auto number = [&] {
      if (i < f.size() && f[i] == '-') ++i;
      if (i < f.size() && f[i] == '*') {
        ++count;
        ++i;
        return;
      }
      while (i < f.size() && f[i] >= '0' && f[i] <= '9') ++i;
    };
    ++i;
    number();
    if (i < f.size() && f[i] == '.') {
      ++i;
      number();
      if (i < f.size() && f[i] == '.') {
        ++i;
        if (i < f.size() && f[i] == '*') ++count;
        ++i;
      }
    }
    while (i < f.size() && (f[i] == 't' || f[i] == 'l' || f[i] == 'k' || f[i] == 'K')) {
      if (f[i] == 'K') ++count;
      ++i;
    }
    if (i >= f.size()) return bad("truncated");
    switch (f[i]) {
      case '~':
      case 'n': break;
      case 'c':
      case 'f':
      case 'e':
      case 'g':
      case 's':
      case 'w':
      case 'p':
      case 'b':
      case 'B':
      case '#':
      case '+':
      case 'i': count++; break;
      case 'W':
      case 'P':
      case 'x':
      case 'X': count += 2; break;
      default: {
        std::string c = "invalid control ~";
        append_utf8(c, f[i]);
        if (f[i] == 'd') c += ": an integer is written by ~b or ~p";
        return bad(c);
      }
    }
  }
  return count;
}

}  // namespace

void check_format_call(LintContext& c, const CallExpr& e, std::string_view module, std::string_view name) {
  if (c.tables.has_option("nowarn_format")) return;
  const bool io = module == "io" && (name == "format" || name == "fwrite");
  const bool lib = module == "io_lib" && (name == "format" || name == "fwrite");
  const std::size_t n = e.args.size();
  if ((!io && !lib) || n < 1 || n > 3 || (lib && n != 2)) return;
  const Expr* string = n == 3 ? e.args[1] : e.args[0];
  const Expr* args = n == 1 ? nullptr : e.args[n - 1];
  if (n == 2 && !string->is(ExprKind::kString) && e.args[1]->is(ExprKind::kString)) {
    string = e.args[1];  // io:format(Device, "text")
    args = nullptr;
  }
  if (!string->is(ExprKind::kString)) return;
  std::string problem;
  const int wanted = format_arguments(string->as<StringExpr>().chars, problem);
  if (wanted < 0) return c.warning(string->loc, "format string invalid (" + problem + ")");
  std::size_t given = 0;
  const Expr* at = args;
  while (at && at->is(ExprKind::kCons)) {
    given += at->as<ConsExpr>().elements.size();
    at = at->as<ConsExpr>().tail;
  }
  if (at && !at->is(ExprKind::kNil)) return;
  if (n == 2 && !args && wanted == 0) return;
  if (given != static_cast<std::size_t>(wanted))
    c.warning(string->loc,
              format_message(
                  "the format string requires an argument list with %d argument%s, but the argument "
                  "list contains %s%zu argument%s",
                  wanted, wanted == 1 ? "" : "s", given < static_cast<std::size_t>(wanted) ? "only " : "",
                  given, given == 1 ? "" : "s"));
}

}  // namespace vmrun::compile

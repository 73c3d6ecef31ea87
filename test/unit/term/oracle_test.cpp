// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/bif/bifs_generated.hpp"
#include "vm/base/release.hpp"
#include "vm/heap/literal.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/term/bits_append.hpp"
#include "vm/term/external.hpp"
#include "vm/term/print.hpp"

// Built-in functions against a stock Erlang: oracle.escript makes thousands of random calls with
// their answers.
using namespace vmrun;

namespace {

BifFn find_bif(Term module, Term function, Word arity) {
  for (std::size_t i = 0; i < kBifRowCount; ++i) {
    const BifRow& r = kBifRows[i];
    if (r.arity == arity && atom_text(module) == r.module && atom_text(function) == r.name) return r.fn;
  }
  return nullptr;
}

/// The '$bits' calls: value, bits to skip, width, flags.
Term bit_call(Process& p, std::string_view name, const Term* a) {
  const auto skip = static_cast<Word>(a[1].small_value()), width = static_cast<Word>(a[2].small_value());
  const auto flags = static_cast<unsigned>(a[3].small_value());
  const Term nomatch = intern_atom("nomatch");
  if (name.starts_with("get")) {
    MatchContext& m = *match_context(bs_start_match(p.heap, a[0]));
    Term r;
    if (!bs_skip(m, skip)) return nomatch;
    if (name == "get_int") r = bs_get_integer(p.heap, m, width, flags);
    else if (name == "get_float") r = bs_get_float(p.heap, m, width, flags);
    else if (name == "get_bits") r = bs_get_bits(p.heap, m, width);
    else if (name == "get_utf8") r = bs_get_utf8(m);
    else if (name == "get_utf16") r = bs_get_utf16(m, flags);
    else r = bs_get_utf32(m, flags);
    return r ? r : nomatch;
  }
  const Word bits = name == "put_utf8"    ? utf8_bits(a[0])
                    : name == "put_utf16" ? utf16_bits(a[0])
                    : name == "put_utf32" ? 32
                                          : width;
  BitBuilder b;
  const Term t = bs_new(p.heap, skip + bits, &b);
  bool ok = b.put_integer(Term::small(0), skip, 0);
  if (name == "put_int") ok = ok && b.put_integer(a[0], bits, flags);
  else if (name == "put_float") ok = ok && b.put_float(a[0], bits, flags);
  else if (name == "put_utf8") ok = ok && b.put_utf8(a[0]);
  else if (name == "put_utf16") ok = ok && b.put_utf16(a[0], flags);
  else ok = ok && b.put_utf32(a[0], flags);
  return ok ? t : raise_badarg(p);
}

struct Outcome {
  Term kind, value;
};

Outcome evaluate(Process& p, Term call) {
  Term args[8];
  Word n = 0;
  for (Term l = call.element(2); l.is_list(); l = l.tail()) args[n++] = l.head();
  Term value;
  if (atom_text(call.element(0)) == "$bits") {
    value = bit_call(p, atom_text(call.element(1)), args);
  } else {
    const BifFn fn = find_bif(call.element(0), call.element(1), n);
    if (!fn) return {atoms::undef, call.element(1)};
    do value = fn(p, args);
    while (!value && p.fiber);  // it has yielded in the middle, and goes on when called again
  }
  if (value) return {atoms::ok, value};
  return {atoms::error, p.exception_value};
}

std::string canonical(Term t) {
  EncodeOptions o;
  o.deterministic = true;
  return encode_external(t, o);
}

int run_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  Arena cases;
  const Decoded d = decode_external(cases, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  REQUIRE(d.error == nullptr);
  REQUIRE(d.used_bytes == bytes.size());
  int count = 0;
  for (Term l = d.term; l.is_list(); l = l.tail(), ++count) {
    Process p;
    const Term call = l.head(), expected = call.element(3);
    const Outcome got = evaluate(p, call);
    const bool same =
        got.kind == expected.element(0) && canonical(got.value) == canonical(expected.element(1));
    if (!same) {
      UNSCOPED_INFO(term_text(call.element(0), 100)
                    << ":" << term_text(call.element(1), 100) << " " << term_text(call.element(2), 2000));
      UNSCOPED_INFO("expected " << term_text(expected, 2000));
      UNSCOPED_INFO("got      " << term_text(got.kind) << " " << term_text(got.value, 2000));
    }
    CHECK(same);
  }
  return count;
}

/// The release whose answers these are: that of the installed stock Erlang.
int stock_release() {
  const char* const asked =
      "erl -noshell -eval 'io:format(\"~s\", [erlang:system_info(otp_release)]), halt().'";
  FILE* out = popen(asked, "r");
  int release = 0;
  REQUIRE(out);
  REQUIRE(fscanf(out, "%d", &release) == 1);
  pclose(out);
  return release;
}

}  // namespace

TEST_CASE("built-in functions answer as a stock Erlang does") {
  init_literal_area();
  dirty_thread = DirtyKind::kCpu;                       // here built-in functions run to their end
  if (const char* file = std::getenv("ORACLE_FILE")) {  // made by hand with some other seed
    CHECK(run_file(file) > 0);
    return;
  }
  if (std::system("command -v escript >/dev/null") != 0) {
    WARN("SKIPPED: no stock Erlang installed");
    return;
  }
  char path[] = "/tmp/vmrun-oracle-XXXXXX";
  const int fd = mkstemp(path);
  REQUIRE(fd >= 0);
  fclose(fdopen(fd, "w"));
  use_release(stock_release(), false);
  const char* root = std::getenv("SOURCE_ROOT");
  const std::string command =
      std::string("escript '") + (root ? root : ".") + "/test/unit/term/oracle.escript' " + path + " 1";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(run_file(path) > 3000);
  std::remove(path);
  use_release(kNewestRelease, false);
}

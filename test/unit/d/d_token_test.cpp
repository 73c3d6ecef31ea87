// SPDX-License-Identifier: Apache-2.0
#include "probes/d/syntax/d_token.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace vmrun::d::lang;

namespace {

struct TokenText {
  std::map<std::string, std::string, std::less<>> macros;
  std::vector<std::string> files{"first"};
  std::vector<std::string> pragmas;
  Macros callbacks{
      .find =
          [this](std::string_view name, std::string& value) {
            const auto at = macros.find(name);
            if (at != macros.end()) value = at->second;
            return at != macros.end();
          },
      .pragma = [this](const Pragma& p) { pragmas.push_back(p.words.empty() ? "" : p.words.back()); },
      .file_number =
          [this](const std::string& file) {
            files.push_back(file);
            return static_cast<std::uint32_t>(files.size() - 1);
          }};
};

std::vector<std::string> tokens(std::string_view text, TokenText&& source = {}) {
  Lexer lexer(text, 0, source.callbacks);
  std::vector<std::string> out;
  for (Token t = lexer.next(); t.kind != Token::Kind::kEnd; t = lexer.next())
    out.push_back(t.kind == Token::Kind::kInteger ? std::to_string(static_cast<std::int64_t>(t.value))
                                                  : t.text);
  return out;
}

std::string tag_of_tokens(std::string_view text, TokenText&& source = {}) {
  try {
    tokens(text, std::move(source));
  } catch (const Failure& failure) {
    return failure.tag;
  }
  return "";
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("operators are the longest there are, comments are nothing") {
  CHECK(tokens("a<<=b>>c->d/*x*/++ //y\n- -") ==
        Words{"a", "<<=", "b", ">>", "c", "->", "d", "++", "-", "-"});
  CHECK(tokens("x / y") == Words{"x", "/", "y"});
  CHECK(tokens("x / /* the body */ {") == Words{"x", "/{", "{"});
  CHECK(tokens("@a @ @_b1[") == Words{"a", "", "_b1", "["});
}

TEST_CASE("constants: bases, suffixes, characters, escapes") {
  CHECK(tokens("10 010 0x1F 7ul 0 18446744073709551615u") == Words{"10", "8", "31", "7", "0", "-1"});
  CHECK(tokens(R"('a' '\n' '\x41' '\101' 'ab')") == Words{"97", "10", "65", "65", "24930"});
  CHECK(tokens(R"("a\tb\"\\" "\060")") == Words{"a\tb\"\\", "0"});
}

TEST_CASE("bytes that are no tokens have their tags") {
  CHECK(tag_of_tokens("18446744073709551616") == "D_INT_OFLOW");
  CHECK(tag_of_tokens("089") == "D_INT_DIGIT");
  CHECK(tag_of_tokens("1abc") == "D_SYNTAX");
  CHECK(tag_of_tokens("0x") == "D_SYNTAX");
  CHECK(tag_of_tokens("1.5") == "D_SYNTAX");
  CHECK(tag_of_tokens("\"a\nb\"") == "D_STR_NL");
  CHECK(tag_of_tokens("'a\n'") == "D_CHR_NL");
  CHECK(tag_of_tokens("''") == "D_CHR_NULL");
  CHECK(tag_of_tokens("'123456789'") == "D_CHR_OFLOW");
  CHECK(tag_of_tokens("\"abc") == "D_SYNTAX");
  CHECK(tag_of_tokens("/* abc") == "D_SYNTAX");
  CHECK(tag_of_tokens("$nope") == "D_MACRO_UNDEF");
  CHECK(tag_of_tokens("\x01") == "D_SYNTAX");
  CHECK(tag_of_tokens("#wrong") == "D_PRAGCTL_INVAL");
  CHECK(tag_of_tokens("#error so") == "D_PRAGERR");
}

TEST_CASE("macro variables are numbers, names or texts") {
  CHECK(
      tokens("$1 $$1 $target $2", {.macros = {{"1", "-5"}, {"$1", "-5"}, {"target", "77"}, {"2", "name"}}}) ==
      Words{"-5", "-5", "77", "name"});
  CHECK(tag_of_tokens("$1", {.macros = {{"1", "a b"}}}) == "D_SYNTAX");
  CHECK(tag_of_tokens("$1", {.macros = {{"1", "99999999999999999999"}}}) == "D_INT_OFLOW");
}

TEST_CASE("markers of the preprocessor say where a token is") {
  TokenText source;
  Lexer lexer("a\nb\n# 12 \"other.d\"\nc\n#pragma D option quiet\nd", 0, source.callbacks);
  CHECK(lexer.next().place.line == 1);
  CHECK(lexer.next().place.line == 2);
  const Token c = lexer.next();
  CHECK(c.place.line == 12);
  CHECK(source.files[c.place.file] == "other.d");
  CHECK(lexer.next().place.line == 14);
  CHECK(source.pragmas == Words{"quiet"});
}

TEST_CASE("words of probe descriptions are told from declarations") {
  const auto is_type = [](const std::string& word) { return word == "my_t"; };
  const auto begins = [&](std::string_view text) {
    TokenText source;
    Lexer lexer(text, 0, source.callbacks);
    return lexer.at_description(is_type);
  };
  CHECK(begins("BEGIN"));
  CHECK(begins("erlang*:::message-send"));
  CHECK(begins(":::x"));
  CHECK(begins("self-test"));
  CHECK(begins("string:::x"));
  CHECK_FALSE(begins("self int x;"));
  CHECK_FALSE(begins("my_t x;"));
  CHECK_FALSE(begins("struct a;"));
  CHECK_FALSE(begins("{"));
  TokenText source{.macros = {{"target", "42"}}};
  Lexer lexer(" erlang$target:lists:rev[a-z]*/2:entry /x/", 0, source.callbacks);
  CHECK(lexer.description(false) == "erlang42:lists:rev[a-z]*/2:entry");
  CHECK(lexer.peek() == '/');
}

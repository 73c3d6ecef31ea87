// SPDX-License-Identifier: Apache-2.0
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/external_tags.hpp"
#include "vm/term/native_record.hpp"

namespace vmrun {
namespace {

/// Walks over the bytes and counts the terms that are still to come, so it needs no stack.
class Measurer {
 public:
  Measurer(const std::uint8_t* data, std::size_t size) : begin_(data), p_(data), end_(data + size) {}

  Measured run() {
    for (terms_ = 1; terms_ > 0; --terms_)
      if (!term()) return {0, position(), error_};
    return {words_, position(), nullptr};
  }

  bool has_at_most(Word words) {
    for (terms_ = 1; terms_ > 0 && words_ <= words; --terms_)
      if (!term()) return true;
    return words_ <= words;
  }

 private:
  std::size_t position() const { return static_cast<std::size_t>(p_ - begin_); }
  std::size_t left() const { return static_cast<std::size_t>(end_ - p_); }
  bool fail(const char* why) {
    error_ = why;
    return false;
  }
  bool need(std::size_t n) { return left() >= n || fail("ends in the middle of a term"); }
  bool skip(std::size_t n) {
    if (!need(n)) return false;
    p_ += n;
    return true;
  }
  /// Reads a length of so many bytes. Returns false when the data ends before.
  bool length(unsigned bytes, Word* n) {
    if (!need(bytes)) return false;
    for (*n = 0; bytes > 0; --bytes) *n = *n << 8 | *p_++;
    return true;
  }
  /// Expects n more terms, each of which takes at least one byte.
  bool expect(Word n) {
    if (n > left()) return fail("more elements than data");
    terms_ += n;
    return true;
  }

  bool term();
  bool atom();
  bool bits(bool last_byte_too);
  bool map();
  bool record();
  bool identifier(Word words, std::size_t bytes);
  bool reference(unsigned creation_bytes);
  bool fun();

  static constexpr Word kIdentifierWords = 4, kReferenceWords = 6, kFunWords = sizeof(FunObject) / 8;

  const std::uint8_t* begin_;
  const std::uint8_t* p_;
  const std::uint8_t* end_;
  Word terms_ = 0, words_ = 0;
  const char* error_ = nullptr;
};

bool Measurer::term() {
  if (!need(1)) return false;
  Word n;
  switch (*p_++) {
    case etf::kAtomReference:
    case etf::kSmallInteger: return skip(1);
    case etf::kInteger: return skip(4);
    case etf::kNewFloat: words_ += 2; return skip(8);
    case etf::kFloat: words_ += 2; return skip(31);
    case etf::kSmallBig:
      if (!length(1, &n)) return false;
      words_ += 1 + words_for_bytes(n);
      return skip(n + 1);
    case etf::kLargeBig:
      if (!length(4, &n)) return false;
      words_ += 1 + words_for_bytes(n);
      return skip(n + 1);
    case etf::kShortAtomNumber:
    case etf::kAtomNumber:
    case etf::kSmallAtom:
    case etf::kSmallAtomUtf8:
    case etf::kAtom:
    case etf::kAtomUtf8: --p_; return atom();
    case etf::kNil: return true;
    case etf::kString:
      if (!length(2, &n)) return false;
      words_ += 2 * n;
      return skip(n);
    case etf::kList:
      if (!length(4, &n) || !expect(n)) return false;
      words_ += 2 * n;
      ++terms_;  // the tail
      return true;
    case etf::kSmallTuple:
      if (!length(1, &n) || !expect(n)) return false;
      words_ += n + 1;
      return true;
    case etf::kLargeTuple:
      if (!length(4, &n) || !expect(n)) return false;
      words_ += n + 1;
      return true;
    case etf::kMap: return map();
    case etf::kRecord: return record();
    case etf::kBinary: return bits(false);
    case etf::kBitBinary: return bits(true);
    case etf::kPid: return identifier(kIdentifierWords, 8 + 1);
    case etf::kNewPid: return identifier(kIdentifierWords, 8 + 4);
    case etf::kPort: return identifier(kIdentifierWords, 4 + 1);
    case etf::kNewPort: return identifier(kIdentifierWords, 4 + 4);
    case etf::kV4Port: return identifier(kIdentifierWords, 8 + 4);
    case etf::kReference: return identifier(kReferenceWords, 4 + 1);
    case etf::kNewReference: return reference(1);
    case etf::kNewerReference: return reference(4);
    case etf::kExport: words_ += kFunWords; return expect(3);
    case etf::kNewFun: return fun();
  }
  --p_;
  return fail("an unknown tag");
}

bool Measurer::atom() {
  Word n;
  if (!need(1)) return false;
  switch (*p_++) {
    case etf::kAtomReference: return skip(1);
    case etf::kShortAtomNumber: return skip(2);
    case etf::kAtomNumber: return skip(3);
    case etf::kSmallAtom:
    case etf::kSmallAtomUtf8: return length(1, &n) && skip(n);
    case etf::kAtom:
    case etf::kAtomUtf8: return length(2, &n) && skip(n);
  }
  return fail("an atom was expected");
}

bool Measurer::bits(bool last_byte_too) {
  Word n;
  if (!length(4, &n) || (last_byte_too && !skip(1)) || !skip(n)) return false;
  words_ += new_bits_words(n * 8 - (last_byte_too && n ? 1 : 0));
  return true;
}

bool Measurer::map() {
  Word n;
  if (!length(4, &n) || !expect(n) || !expect(n)) return false;
  // A flat map has a tuple of keys, and the values. A large map has a cell for each pair. For keys
  // whose hashes differ well, the nodes above take rarely more than one further word for each pair.
  words_ += n <= kFlatMapMax ? 4 + 2 * n : 2 * n + n + n / 4 + 40;
  return true;
}

bool Measurer::record() {
  Word n;
  if (!length(4, &n) || !skip(1) || !expect(2 + n) || !expect(n)) return false;
  words_ += record_definition_words(n) + record_words(n);
  return true;
}

/// Skips a node's name and so many bytes.
bool Measurer::identifier(Word words, std::size_t bytes) {
  words_ += words;
  return atom() && skip(bytes);
}

bool Measurer::reference(unsigned creation_bytes) {
  Word count;
  if (!length(2, &count)) return false;
  return count <= 5 ? identifier(kReferenceWords, 4 * count + creation_bytes)
                    : fail("a reference of impossible length");
}

bool Measurer::fun() {
  constexpr std::size_t kFixed = 4 + 1 + 16 + 4;
  Word free_count;
  if (!skip(kFixed) || !length(4, &free_count)) return false;
  words_ += kFunWords + free_count;
  return expect(4) && expect(free_count);  // module, index, uniq, pid
}

}  // namespace

Measured measure_external(const std::uint8_t* data, std::size_t size) { return Measurer(data, size).run(); }

bool takes_few_words(const std::uint8_t* data, std::size_t size, Word most) {
  return Measurer(data, size).has_at_most(most);
}

}  // namespace vmrun

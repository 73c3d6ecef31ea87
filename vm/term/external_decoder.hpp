// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/work_stack.hpp"
#include "vm/term/external.hpp"

/// The implementation of decode_external, included by its own files only.
namespace vmrun {

/// Reads one term. Work in progress is a stack of frames; each is a run of term slots that are
/// still to be filled. A slot belongs to an object in the heap that has been filled with [] before,
/// so that a failure leaves well-formed (if meaningless) words behind.
class Decoder {
 public:
  Decoder(TermSpace& heap, const std::uint8_t* data, std::size_t size, const DecodeOptions& options)
      : heap_(heap), begin_(data), p_(data), end_(data + size), options_(options), is_local_(options.local) {}
  ~Decoder();

  Decoded run();

 private:
  struct Frame {
    Term* next;
    std::uint32_t remaining;
    std::uint16_t stride;
    bool ends_map;  // it ends the last one of maps_
  };
  /// A map, which is built when all its pairs have been read.
  struct MapFrame {
    Term* result;
    Term* pairs;  // owned
    Word count;
  };

  std::size_t position() const { return static_cast<std::size_t>(p_ - begin_); }
  std::size_t left() const { return static_cast<std::size_t>(end_ - p_); }
  bool fail(const char* why) {
    error_ = why;
    return false;
  }
  bool need(std::size_t n) { return left() >= n || fail("ends in the middle of a term"); }
  /// Puts the slots in front: they are filled next.
  void push(Term* slots, Word count, std::uint16_t stride, bool ends_map = false) {
    if (now_.remaining || now_.ends_map) later_.push(now_);
    now_ = {slots, static_cast<std::uint32_t>(count), stride, ends_map};
  }

  std::uint8_t u8() { return *p_++; }
  Word unsigned_be(unsigned bytes) {
    Word v = 0;
    for (unsigned i = 0; i < bytes; ++i) v = v << 8 | *p_++;
    return v;
  }
  Term* nil_filled(Word words);

  bool read(Term* slot);
  /// Reads a term that was encoded as local and is part of another one.
  bool read_local(Term* slot);
  bool read_float_text(Term* slot);
  bool read_big(Word bytes, Term* slot);
  bool read_binary(Term* slot);
  bool read_bits(Term* slot);
  bool read_string(Term* slot);
  bool read_list(Term* slot);
  bool read_tuple(Word arity, Term* slot);
  bool read_map(Term* slot);
  bool finish_map();

  // Functions for what has names: external_decode_names.cpp.
  bool read_utf8_atom(std::size_t bytes, Term* out);
  bool read_latin1_atom(std::size_t bytes, Term* out);
  bool read_atom_reference(Term* out);
  /// Reads an atom that is given by its place in the table of atoms.
  bool read_numbered_atom(unsigned bytes, Term* out);
  /// Reads an atom where only an atom may stand (node, module and function names).
  bool read_atom(Term* out);
  /// Reads a non-negative integer where only one may stand (old fun identities).
  bool read_plain_integer(Word* out);
  bool read_creation(unsigned bytes, std::uint32_t* out);
  /// Whether an identifier with these is this node's.
  bool is_own(Term node, std::uint32_t creation) const;
  bool read_pid(unsigned creation_bytes, Term* slot);
  bool read_port(unsigned id_bytes, unsigned creation_bytes, Term* slot);
  bool read_reference(Word count, unsigned creation_bytes, bool creation_first, Term* slot);
  bool local_reference(const std::uint32_t* numbers, Word count, Term* slot);
  bool read_external_fun(Term* slot);
  bool read_fun(Term* slot);
  bool read_record(Term* slot);

  TermSpace& heap_;
  const std::uint8_t* begin_;
  const std::uint8_t* p_;
  const std::uint8_t* end_;
  const DecodeOptions& options_;
  bool is_local_;  // this machine has written some of it as local
  const char* error_ = nullptr;
  Frame now_{};
  WorkStack<Frame> later_;
  WorkStack<MapFrame, 4> maps_;
};

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/term/term.hpp"

/// Boxed objects as they lie in a heap. Their sizes in words are part of the probe contract
/// (message sizes count them), so they are pinned below. Every object starts with a header. Its
/// arity is the number of words that follow, except in maps. The objects are read-only once built,
/// except for the append bookkeeping of the refc binary.
namespace vmrun {

struct Binary;
struct FunEntry;
struct Export;
struct Node;

inline constexpr Word words_for_bytes(Word bytes) { return (bytes + 7) / 8; }

struct FloatObject {
  Term header;
  double value;
};

/// Magnitude in little-endian limbs; the subtag holds the sign. A big never holds what fits a
/// small, and has no leading zero limbs.
struct BigObject {
  Term header;
  Word limbs[1];
};

/// Up to kHeapBinaryMaxBytes bytes kept in the heap itself.
struct HeapBinary {
  Term header;
  Word size_bytes;
  std::uint8_t data[8];
};
inline constexpr Word kHeapBinaryMaxBytes = 64;

/// Every object that refers to something outside the heap, which must be released with it, starts
/// like this. The heap's off-heap list runs through `next` (see heap.hpp). A collection unlinks and
/// releases what it did not move.
struct OffHeapObject {
  Term header;
  Word first;
  OffHeapObject* next;
};

/// A process's handle to a reference-counted binary: 6 words, without the contents.
struct RefcBinary {
  Term header;
  Word size_bytes;
  OffHeapObject* next;
  Binary* binary;                       // owns one reference
  std::uint8_t* bytes;                  // inside *binary
  Word flags;                           // kWritable…
  static constexpr Word kWritable = 1;  // may be appended to in place through the newest sub-binary
  static constexpr Word kActiveWriter = 2;
};

/// A window on a heap or refc binary, which may begin and end within a byte. `original` is never
/// itself a sub-binary.
struct SubBinary {
  Term header;
  Word size_bytes;  // whole bytes
  Word offset_bytes;
  std::uint8_t bit_size;     // 0…7 further bits
  std::uint8_t bit_offset;   // 0…7
  std::uint8_t is_writable;  // this sub-binary is the end of its writable original
  std::uint8_t unused[5];
  Term original;
};

/// The state of a match in progress. Compilers keep it in registers. Read as a term it is the bit
/// string from `offset_bits` to the end, and a copy of it is that bit string.
struct MatchContext {
  Term header;
  Term original;             // heap or refc binary
  const std::uint8_t* base;  // first byte of original (refreshed by collections)
  Word offset_bits;          // next bit, counted from base
  Word size_bits;            // end, counted from base
};

/// A function value, local (`entry`) or `fun m:f/a` (`exported`).
struct FunObject {
  Term header;
  union {
    FunEntry* entry;
    Export* exported;
  };
  std::uint8_t arity;  // arguments a caller passes
  std::uint8_t is_external;
  std::uint8_t unused[2];
  std::uint32_t free_count;
  Term creator;   // pid
  Word reserved;  // 0: must not look like a term
  Term* environment() { return reinterpret_cast<Term*>(this + 1); }
  const Term* environment() const { return reinterpret_cast<const Term*>(this + 1); }
};

/// A local reference of 96 significant bits. Alias references carry the owner's pid in a fourth
/// word (header arity 3).
struct RefObject {
  Term header;
  std::uint32_t numbers[3];
  std::uint32_t unused;
  Term owner;  // only if is_alias()
  bool is_alias() const { return header.header_arity() == 3; }
};

/// A local reference that keeps a resource of native code alive (vm/nif/resource.hpp).
struct MagicRefObject {
  Term header;
  Binary* resource;  // owns one reference; a ReferencedBinary
  OffHeapObject* next;
};

/// A pid, port or reference of another node.
struct ExternalObject {
  Term header;
  Node* node;  // owns one reference
  OffHeapObject* next;
  Word data[1];  // pid, port: the 64-bit number; reference: as RefObject::numbers
};

/// Maps. Header: subtag kMap; bits 6-7 say which kind:
///   kFlat      up to 32 keys: [header][size][keys: tuple, by compare_flat_keys][values…]
///   kHashRoot  [header][size][node…]  root of a hash array mapped trie, header carries the 16-bit
///              population mask in bits 8-23
///   kHashNode  [header][node…]        inner node; mask as above
/// Leaves of the trie are cons cells [Key|Value]; equal hashes deeper than the last level continue
/// with a rehash.
enum class MapKind : Word { kFlat = 0, kHashRoot = 1, kHashNode = 2 };
struct MapObject {
  Term header;
  Word size;
  static constexpr Term make_header(MapKind kind, Word mask, Word words_after) {
    return Term::from_raw(words_after << 24 | mask << 8 | static_cast<Word>(kind) << 6 |
                          static_cast<Word>(Term::Sub::kMap) << 2);
  }
};
inline constexpr MapKind map_kind(Term header) { return static_cast<MapKind>(header.raw() >> 6 & 3); }
inline constexpr Word map_mask(Term header) { return header.raw() >> 8 & 0xFFFF; }
inline constexpr Word map_words_after(Term header) { return header.raw() >> 24; }  // words after the header
inline constexpr Word kFlatMapMax = 32;

struct FlatMap {
  Term header;
  Word size;
  Term keys;  // tuple
  Term* values() { return reinterpret_cast<Term*>(this + 1); }
  const Term* values() const { return reinterpret_cast<const Term*>(this + 1); }
};

/// Returns the words of any boxed object, including the header.
inline Word object_words(Term header) {
  return 1 + (header.header_sub() == Term::Sub::kMap ? map_words_after(header) : header.header_arity());
}

static_assert(sizeof(MagicRefObject) == 3 * 8 && sizeof(RefcBinary) == 6 * 8 && sizeof(SubBinary) == 5 * 8 &&
              sizeof(MatchContext) == 5 * 8);
static_assert(sizeof(FunObject) == 5 * 8 && sizeof(FlatMap) == 3 * 8 && sizeof(FloatObject) == 2 * 8);

inline FloatObject* float_of(Term t) {
  assert(t.is_float());
  return reinterpret_cast<FloatObject*>(t.boxed_ptr());
}
inline FunObject* fun_of(Term t) {
  assert(t.is_fun());
  return reinterpret_cast<FunObject*>(t.boxed_ptr());
}
inline RefObject* ref_of(Term t) {
  assert(t.is_boxed_sub(Term::Sub::kRef));
  return reinterpret_cast<RefObject*>(t.boxed_ptr());
}
inline MagicRefObject* magic_ref_of(Term t) {
  assert(t.is_boxed_sub(Term::Sub::kMagicRef));
  return reinterpret_cast<MagicRefObject*>(t.boxed_ptr());
}
inline bool is_alias(Term local_ref) {
  return local_ref.is_boxed_sub(Term::Sub::kRef) && ref_of(local_ref)->is_alias();
}
inline FlatMap* flatmap_of(Term t) { return reinterpret_cast<FlatMap*>(t.boxed_ptr()); }

/// Writes a float into two words at hp, which moves on.
inline Term make_float(Term*& hp, double value) {
  auto* f = reinterpret_cast<FloatObject*>(hp);
  f->header = Term::header(Term::Sub::kFloat, 1);
  f->value = value;
  hp += 2;
  return Term::boxed(hp - 2);
}

/// Bytes shared between processes, freed with the last reference. The count is thread-safe.
struct Binary {
  std::atomic<Word> references;
  Word capacity_bytes;  // kNative: memory of native code, see is_native
  Word used_bytes;      // append in place: bytes already in use
  std::uint8_t data[8];
  static Binary* create(
      Word capacity_bytes);  // one reference, used_bytes = capacity_bytes; nullptr when memory is exhausted
  static Binary* resize(Binary* b, Word capacity_bytes);  // sole owner only
  /// Makes a binary (b is nullptr) or moves one, for a caller that fills it without knowing how
  /// much there will be. It stays private until it is announced. Sole owner only.
  [[nodiscard]] static Binary* reserve(Binary* b, Word capacity_bytes);
  void announce();
  static void drop_reserved(Binary* b);  // one that has not been announced
  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release();
  /// A resource of native code: the last reference calls term_upcalls.destroy_resource.
  static constexpr Word kNative = ~Word{0};
  bool is_native() const { return capacity_bytes == kNative; }
};

/// A resource of native code, as far as its references need it: they have its numbers.
struct ReferencedBinary {
  Binary binary;
  std::uint32_t numbers[3];
};

/// Returns the numbers of a local reference, magic or not.
inline const std::uint32_t* local_ref_numbers(Term t) {
  return t.is_boxed_sub(Term::Sub::kRef)
             ? ref_of(t)->numbers
             : reinterpret_cast<const ReferencedBinary*>(magic_ref_of(t)->resource)->numbers;
}

}  // namespace vmrun

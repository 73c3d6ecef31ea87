// SPDX-License-Identifier: Apache-2.0
#include "vm/term/atom.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "vm/base/debugger_facts.hpp"
#include "vm/base/halt.hpp"
#include "vm/base/small_limits.hpp"

namespace vmrun {
namespace {

struct AtomEntry {
  const char* text;
  std::uint32_t bytes;
  std::uint32_t hash;
};

constexpr std::size_t kChunkBits = usual_or_small<std::size_t>(12, 4), kChunkSize = 1u << kChunkBits;

std::uint32_t hash_text(std::string_view text) {
  std::uint32_t h = 2166136261u;  // FNV-1a
  for (unsigned char c : text) h = (h ^ c) * 16777619u;
  return h;
}

/// Finds atoms by their text: open addressing with linear probing over indexes + 1, at most half
/// full.
struct AtomIndex {
  explicit AtomIndex(std::size_t size) : mask(size - 1), places(new std::atomic<std::uint32_t>[size]()) {}
  const std::size_t mask;
  const std::unique_ptr<std::atomic<std::uint32_t>[]> places;
};

/// Entries lie in chunks that never move. A chunk pointer is published with release after the entry
/// is written, and an atom's index reaches another thread only through something that synchronises,
/// so readers need no lock. A lookup by text needs none either: a place in the index is filled,
/// with release, once its entry is complete, and never changes. When an index has become too small,
/// one of twice the size replaces it. The old one stays for the threads that are reading it; all
/// old ones together take as much as the last. Atoms are added under a lock.
class AtomTable {
 public:
  AtomTable() {
    indexes_.push_back(std::make_unique<AtomIndex>(kFirstIndex));
    index_.store(indexes_.back().get(), std::memory_order_release);
    for (const char* text : atoms::kWellKnownTexts) add(text, hash_text(text));
  }

  Term find(std::string_view text, std::uint32_t hash) const {
    const AtomIndex& index = *index_.load(std::memory_order_acquire);
    for (std::size_t i = hash & index.mask;; i = (i + 1) & index.mask) {
      const std::uint32_t place = index.places[i].load(std::memory_order_acquire);
      if (!place) return kNonValue;
      const AtomEntry& e = entry(place - 1);
      if (e.hash == hash && std::string_view(e.text, e.bytes) == text) return Term::atom(place - 1);
    }
  }

  Term intern(std::string_view text, std::size_t limit) {
    const std::uint32_t hash = hash_text(text);
    if (Term t = find(text, hash)) return t;
    std::lock_guard lock(mutex_);
    if (Term t = find(text, hash)) return t;
    if (count_.load(std::memory_order_relaxed) >= limit) return kNonValue;
    return add(text, hash);
  }

  const AtomEntry& entry(std::uint32_t i) const {
    return chunks_[i >> kChunkBits].load(std::memory_order_acquire)[i & (kChunkSize - 1)];
  }
  std::size_t count() const { return count_.load(std::memory_order_acquire); }
  void tell_debuggers() const {
    add_debugger_fact("atoms.chunks", chunks_);
    add_debugger_fact("atoms.chunk_entries", kChunkSize);
    add_debugger_fact("Atom.size", sizeof(AtomEntry));
    add_debugger_fact("Atom.text", offsetof(AtomEntry, text));
    add_debugger_fact("Atom.bytes", offsetof(AtomEntry, bytes));
  }

 private:
  static constexpr std::size_t kFirstIndex = usual_or_small<std::size_t>(1 << 13, 16);

  static void enter(AtomIndex& index, std::uint32_t atom, std::uint32_t hash) {
    std::size_t i = hash & index.mask;
    while (index.places[i].load(std::memory_order_relaxed)) i = (i + 1) & index.mask;
    index.places[i].store(atom + 1, std::memory_order_release);
  }

  Term add(std::string_view text, std::uint32_t hash) {
    const auto i = static_cast<std::uint32_t>(count_.load(std::memory_order_relaxed));
    AtomEntry* chunk = chunks_[i >> kChunkBits].load(std::memory_order_relaxed);
    if (!chunk) {
      chunk = new AtomEntry[kChunkSize];
      chunks_[i >> kChunkBits].store(chunk, std::memory_order_release);
    }
    char* copy = new char[text.size() + 1];
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = 0;
    chunk[i & (kChunkSize - 1)] = {copy, static_cast<std::uint32_t>(text.size()), hash};
    if (2 * (std::size_t{i} + 1) > indexes_.back()->mask + 1) grow(i);
    enter(*indexes_.back(), i, hash);
    count_.store(i + 1, std::memory_order_release);
    return Term::atom(i);
  }

  void grow(std::uint32_t count) {
    indexes_.push_back(std::make_unique<AtomIndex>(2 * (indexes_.back()->mask + 1)));
    for (std::uint32_t i = 0; i < count; ++i) enter(*indexes_.back(), i, entry(i).hash);
    index_.store(indexes_.back().get(), std::memory_order_release);
  }

  std::mutex mutex_;                                 // held to add an atom
  std::vector<std::unique_ptr<AtomIndex>> indexes_;  // the last is the one in use
  std::atomic<AtomIndex*> index_{nullptr};
  std::atomic<AtomEntry*> chunks_[kAtomCapacity / kChunkSize] = {};
  std::atomic<std::size_t> count_{0};
};

// A function of its own, so that table() saves no registers and needs no stack protector.
[[gnu::noinline, gnu::cold]] AtomTable& new_table() { return *new AtomTable; }

// Never destroyed: threads that outlive main may still read atoms.
AtomTable& table() {
  static AtomTable& t = new_table();
  return t;
}

std::size_t program_limit = kDefaultAtomLimit;
thread_local bool reserve_allowed = false;

}  // namespace

Term try_intern_atom(std::string_view utf8) {
  return table().intern(utf8, reserve_allowed ? program_limit + kAtomReserve : program_limit);
}

Term intern_atom(std::string_view utf8) {
  const Term atom = table().intern(utf8, program_limit + kAtomReserve);
  if (atom) [[likely]]
    return atom;
  std::fprintf(stderr, "vmrun: the atom table is full (limit %zu, and as many again as the machine needs)\n",
               program_limit);
  std::fflush(stderr);
  dump_before_end("The atom table is full");
  std::_Exit(1);  // other threads are running: no destructors
}

ReservedAtoms::ReservedAtoms(bool wanted) : before_(reserve_allowed) { reserve_allowed |= wanted; }
ReservedAtoms::~ReservedAtoms() { reserve_allowed = before_; }

void tell_debuggers_of_atoms() { table().tell_debuggers(); }

Term existing_atom(std::string_view utf8) { return table().find(utf8, hash_text(utf8)); }
std::string_view atom_text(Term atom) {
  const AtomEntry& e = table().entry(atom.atom_index());
  return {e.text, e.bytes};
}
std::uint32_t atom_hash(Term atom) { return table().entry(atom.atom_index()).hash; }
std::size_t atom_count() { return table().count(); }
std::size_t atom_limit() { return program_limit; }
void set_atom_limit(std::size_t limit) { program_limit = limit; }

}  // namespace vmrun

#include "vm/term/atom.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace vmrun {
namespace {

struct AtomEntry {
  const char* text;
  std::uint32_t bytes;
  std::uint32_t hash;
};

constexpr std::size_t kChunkBits = 12, kChunkSize = 1u << kChunkBits;

std::uint32_t hash_text(std::string_view text) {
  std::uint32_t h = 2166136261u;  // FNV-1a
  for (unsigned char c : text) h = (h ^ c) * 16777619u;
  return h;
}

/// Entries sit in chunks that never move. A chunk pointer is published with release after the entry
/// is written, and an atom's index reaches another thread only through something that synchronises,
/// so readers need no lock.
class AtomTable {
 public:
  AtomTable() {
    for (const char* text : atoms::kWellKnownTexts) add(text);
  }

  Term find(std::string_view text) {
    std::shared_lock lock(mutex_);
    auto it = index_.find(text);
    return it == index_.end() ? kNonValue : Term::atom(it->second);
  }

  Term intern(std::string_view text, std::size_t limit) {
    if (Term t = find(text)) return t;
    std::unique_lock lock(mutex_);
    auto it = index_.find(text);
    if (it != index_.end()) return Term::atom(it->second);
    if (count_.load(std::memory_order_relaxed) >= limit) return kNonValue;
    return add(text);
  }

  const AtomEntry& entry(std::uint32_t i) const {
    return chunks_[i >> kChunkBits].load(std::memory_order_acquire)[i & (kChunkSize - 1)];
  }
  std::size_t count() const { return count_.load(std::memory_order_acquire); }

 private:
  Term add(std::string_view text) {
    const auto i = static_cast<std::uint32_t>(count_.load(std::memory_order_relaxed));
    AtomEntry* chunk = chunks_[i >> kChunkBits].load(std::memory_order_relaxed);
    if (!chunk) {
      chunk = new AtomEntry[kChunkSize];
      chunks_[i >> kChunkBits].store(chunk, std::memory_order_release);
    }
    char* copy = new char[text.size() + 1];
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = 0;
    chunk[i & (kChunkSize - 1)] = {copy, static_cast<std::uint32_t>(text.size()), hash_text(text)};
    index_.emplace(std::string_view(copy, text.size()), i);
    count_.store(i + 1, std::memory_order_release);
    return Term::atom(i);
  }

  std::shared_mutex mutex_;
  std::unordered_map<std::string_view, std::uint32_t> index_;
  std::atomic<AtomEntry*> chunks_[kAtomCapacity / kChunkSize] = {};
  std::atomic<std::size_t> count_{0};
};

// Never destroyed: threads that outlive main may still read atoms.
AtomTable& table() {
  static AtomTable& t = *new AtomTable;
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
  std::_Exit(1);  // other threads are running: no destructors
}

ReservedAtoms::ReservedAtoms(bool wanted) : before_(reserve_allowed) { reserve_allowed |= wanted; }
ReservedAtoms::~ReservedAtoms() { reserve_allowed = before_; }

Term existing_atom(std::string_view utf8) { return table().find(utf8); }
std::string_view atom_text(Term atom) {
  const AtomEntry& e = table().entry(atom.atom_index());
  return {e.text, e.bytes};
}
std::uint32_t atom_hash(Term atom) { return table().entry(atom.atom_index()).hash; }
std::size_t atom_count() { return table().count(); }
std::size_t atom_limit() { return program_limit; }
void set_atom_limit(std::size_t limit) { program_limit = limit; }

}  // namespace vmrun

#pragma once

#include <memory>

#include "vm/base/flat_table.hpp"
#include "vm/heap/fragment.hpp"
#include "vm/process/reference.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/hash.hpp"
#include "vm/term/term.hpp"

/// Whom a process or port has links and monitors with. No collection visits these tables, so what
/// stands in them must not lie in a heap: identifiers of this node are immediates, those of another
/// node (and names there) are kept as copies, which belong to the entry. Touched by the owner's
/// thread only.
namespace vmrun {

inline std::size_t hash_key(Term t) { return t.raw() * 0x9E3779B97F4A7C15u >> 29; }
struct NoValue {};

// ---- Identifiers that are kept ------------------------------------------------------------------

Term copy_identifier(Term identifier);
void free_identifier(Term kept);
/// What a table may hold: the identifier itself or a copy.
inline Term keep_identifier(Term t) { return t.is_immed() ? t : copy_identifier(t); }
/// It has left its table.
inline void drop_identifier(Term kept) {
  if (!kept.is_immed()) [[unlikely]]
    free_identifier(kept);
}

/// One of another node as a key.
struct KeptIdentifier {
  Term term;
  bool operator==(const KeptIdentifier& other) const {
    if (!term || !other.term) return !term && !other.term;
    return equal_exact(term, other.term);
  }
};
inline std::size_t hash_key(const KeptIdentifier& key) { return hash_term(key.term); }

// ---- Links --------------------------------------------------------------------------------------

/// Which settings of a link a side knows of: the last of its own, the last that the other side has
/// told of; 0: none. Both may set a link at once, and one may give it up while the other sets it.
/// Who gives up says which settings it knew of, and the other side forgets those alone: a setting
/// that was under way stays, on both sides. So there is a link on both sides or on neither once all
/// signals have arrived, without acknowledgements.
struct LinkSettings {
  std::uint32_t own = 0, others = 0;
};

/// Oldest first, those to other nodes after the others. The settings of links to other nodes are
/// the business of the channel there: set answers 1, and giving up knows of none.
class Links {
 public:
  Links() = default;
  ~Links() {
    if (remote_) [[unlikely]]
      clear_remote();
  }

  bool empty() const { return here_.empty() && !remote_; }
  bool contains(Term other) {
    if (!other.is_immed()) [[unlikely]]
      return remote_ && remote_->find({other});
    return here_.find(other) != nullptr;
  }
  /// By this side. The number of the setting, which the other side must be told; 0: there was a
  /// link.
  std::uint32_t set(Term other) {
    if (!other.is_immed()) [[unlikely]]
      return insert_remote(other);
    if (!++settings_) ++settings_;
    return here_.insert(other, {.own = settings_}) ? settings_ : 0;
  }
  /// By the other side, which has told the number.
  void set_by_other(Term other, std::uint32_t setting) {
    if (!other.is_immed()) [[unlikely]]
      return void(insert_remote(other));
    if (LinkSettings* link = here_.find(other)) link->others = setting;
    else here_.insert(other, {.others = setting});
  }
  /// By this side. False when there was none; known: what the other side must be told.
  bool give_up(Term other, LinkSettings* known) {
    if (!other.is_immed()) [[unlikely]]
      return erase_remote(other);
    FlatTable<Term, LinkSettings>::Entry link;
    if (!here_.take(other, &link)) return false;
    *known = link.value;
    return true;
  }
  /// By the other side, which knew of these settings.
  void given_up_by_other(Term other, LinkSettings known) {
    if (!other.is_immed()) [[unlikely]]
      return void(erase_remote(other));
    LinkSettings* link = here_.find(other);
    if (!link) return;
    if (link->others == known.own) link->others = 0;
    if (link->own == known.others) link->own = 0;
    if (!link->own && !link->others) here_.erase(other);
  }
  /// Whoever has set it: one side is at its end. False when it is not there.
  bool erase(Term other) {
    if (!other.is_immed()) [[unlikely]]
      return erase_remote(other);
    return here_.erase(other);
  }
  void clear() {
    here_.clear();
    if (remote_) clear_remote();
  }

  template <class F>
  void for_each(F&& visit) const {
    here_.for_each([&](Term other, LinkSettings) { visit(other); });
    if (remote_) remote_->for_each([&](const KeptIdentifier& other, NoValue) { visit(other.term); });
  }
  /// Takes the oldest out and tells it; false when there is none.
  template <class F>
  bool take_oldest(F&& tell) {
    FlatTable<Term, LinkSettings>::Entry link;
    if (here_.take_oldest(&link)) [[likely]] {
      tell(link.key);
      return true;
    }
    if (!remote_) [[likely]]
      return false;
    const Term other = take_oldest_remote();
    tell(other);
    free_identifier(other);
    return true;
  }
  std::size_t memory_bytes() const { return here_.memory_bytes() + (remote_ ? remote_->memory_bytes() : 0); }

 private:
  using Remote = FlatTable<KeptIdentifier, NoValue>;
  bool insert_remote(Term other);
  bool erase_remote(Term other);
  Term take_oldest_remote();  // the caller frees it
  void clear_remote();

  FlatTable<Term, LinkSettings> here_;
  std::unique_ptr<Remote> remote_;  // nullptr while empty
  std::uint32_t settings_ = 0;      // so far, by this side
};
/// A link of two whose tables are both at hand.
inline void set_on_both_sides(Links& a, Term of_a, Links& b, Term of_b) {
  if (const std::uint32_t setting = a.set(of_b)) b.set_by_other(of_a, setting);
}

// ---- Monitors -----------------------------------------------------------------------------------

enum class AliasMode : std::uint8_t { kNone, kExplicitUnalias, kDemonitor, kReplyDemonitor, kReply };

/// A monitor this process has set.
struct MonitorOut {
  // kept: pid or port, {Name, Node} of another node; or the atom given, when nothing had that name
  Term target;
  Term name;                // atom, when set by name; else nil
  Fragment* tag = nullptr;  // option {tag, T}: T in its own fragment
  AliasMode alias = AliasMode::kNone;
  bool is_port = false;  // monitor(port, …)

  /// It has left its table.
  void release() const {
    drop_identifier(target);
    if (tag) Fragment::destroy(tag);
  }
};
/// A monitor another process has set on this one.
struct MonitorIn {
  // kept: pid; or kResourceWatcher: a resource of native code, found by the monitor's reference
  // (nif/resource.hpp)
  Term watcher;
  Term name;  // as it asked; nil when by pid
};
inline constexpr Term kResourceWatcher = Term::nil();

/// Those a process or port has been set, by reference.
class Watchers {
 public:
  ~Watchers() { clear(); }
  void insert(RefKey key, Term watcher, Term name) { table_.insert(key, {keep_identifier(watcher), name}); }
  void erase(RefKey key) {
    FlatTable<RefKey, MonitorIn>::Entry entry;
    if (table_.take(key, &entry)) drop_identifier(entry.value.watcher);
  }
  void clear() {
    table_.for_each([](const RefKey&, const MonitorIn& m) { drop_identifier(m.watcher); });
    table_.clear();
  }
  template <class F>
  void for_each(F&& visit) const {
    table_.for_each(visit);
  }
  /// Takes the oldest out and tells it, as (key, monitor); false when there is none.
  template <class F>
  bool take_oldest(F&& tell) {
    FlatTable<RefKey, MonitorIn>::Entry entry;
    if (!table_.take_oldest(&entry)) return false;
    tell(entry.key, entry.value);
    drop_identifier(entry.value.watcher);
    return true;
  }
  std::size_t memory_bytes() const { return table_.memory_bytes(); }

 private:
  FlatTable<RefKey, MonitorIn> table_;
};

}  // namespace vmrun

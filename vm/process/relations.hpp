// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "vm/base/flat_table.hpp"
#include "vm/heap/fragment.hpp"
#include "vm/process/reference.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/hash.hpp"
#include "vm/term/term.hpp"

/// The links and monitors of a process or port. Collections do not visit these tables, so their
/// terms must not lie in a heap. Identifiers of this node are immediates; those of another node
/// (and names there) are kept as copies, which belong to the entry. Used by the owner's thread
/// only.
namespace vmrun {

inline std::size_t hash_key(Term t) { return t.raw() * 0x9E3779B97F4A7C15u >> 29; }
struct NoValue {};

// ---- Identifiers that are kept ------------------------------------------------------------------

Term copy_identifier(Term identifier);
void free_identifier(Term kept);
/// Returns what a table may hold: the identifier itself or a copy.
inline Term keep_identifier(Term t) { return t.is_immed() ? t : copy_identifier(t); }
/// Frees the copy of an identifier that has left its table.
inline void drop_identifier(Term kept) {
  if (!kept.is_immed()) [[unlikely]]
    free_identifier(kept);
}

/// An identifier of another node as a key.
struct KeptIdentifier {
  Term term;
  bool operator==(const KeptIdentifier& other) const {
    if (!term || !other.term) return !term && !other.term;
    return equal_exact(term, other.term);
  }
};
inline std::size_t hash_key(const KeptIdentifier& key) { return hash_term(key.term); }

// ---- Links --------------------------------------------------------------------------------------

/// Which settings of a link a side knows of: the last one of its own, and the last one that the
/// other side has sent; 0: none. Both sides may set a link at once, and one may remove it while the
/// other sets it. A side that removes the link says which settings it knew of, and the other side
/// removes only those: a setting that was under way stays, on both sides. So once all signals have
/// arrived, the link exists on both sides or on neither, without acknowledgements.
struct LinkSettings {
  std::uint32_t own = 0, others = 0;
};

/// The links of one process or port, oldest first, those to other nodes after the others. The
/// channel to another node handles the settings of links to it: for these, set returns 1, and
/// give_up reports no known settings.
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
  /// Sets a link by this side. Returns the number of the setting, which must be sent to the other
  /// side; 0: there was a link already.
  std::uint32_t set(Term other) {
    if (!other.is_immed()) [[unlikely]]
      return insert_remote(other);
    if (!++settings_) ++settings_;
    return here_.insert(other, {.own = settings_}) ? settings_ : 0;
  }
  /// Sets a link by the other side, which has sent the number.
  void set_by_other(Term other, std::uint32_t setting) {
    if (!other.is_immed()) [[unlikely]]
      return void(insert_remote(other));
    if (LinkSettings* link = here_.find(other)) link->others = setting;
    else here_.insert(other, {.others = setting});
  }
  /// Removes a link by this side. Returns false when there was none. *known must be sent to the
  /// other side.
  bool give_up(Term other, LinkSettings* known) {
    if (!other.is_immed()) [[unlikely]]
      return erase_remote(other);
    FlatTable<Term, LinkSettings>::Entry link;
    if (!here_.take(other, &link)) return false;
    *known = link.value;
    return true;
  }
  /// Removes a link by the other side, which knew of these settings.
  void given_up_by_other(Term other, LinkSettings known) {
    if (!other.is_immed()) [[unlikely]]
      return void(erase_remote(other));
    LinkSettings* link = here_.find(other);
    if (!link) return;
    if (link->others == known.own) link->others = 0;
    if (link->own == known.others) link->own = 0;
    if (!link->own && !link->others) here_.erase(other);
  }
  /// Removes a link, whichever side has set it, because one side ends. Returns false when there is
  /// none.
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
  /// Takes the oldest link out and passes it to `tell`. Returns false when there are no links.
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
  std::uint32_t settings_ = 0;      // settings made so far by this side
};
/// Links two processes or ports whose tables the caller may both change.
inline void set_on_both_sides(Links& a, Term of_a, Links& b, Term of_b) {
  if (const std::uint32_t setting = a.set(of_b)) b.set_by_other(of_a, setting);
}

// ---- Monitors -----------------------------------------------------------------------------------

enum class AliasMode : std::uint8_t { kNone, kExplicitUnalias, kDemonitor, kReplyDemonitor, kReply };

/// A monitor that this process has set.
struct MonitorOut {
  // Kept: a pid or port, or {Name, Node} of another node; or the given atom, when nothing had that
  // name.
  Term target;
  Term name;                // atom, when set by name; else nil
  Fragment* tag = nullptr;  // option {tag, T}: T in its own fragment
  AliasMode alias = AliasMode::kNone;
  bool is_port = false;  // monitor(port, …)

  /// Frees the parts of an entry that has left its table.
  void release() const {
    drop_identifier(target);
    if (tag) Fragment::destroy(tag);
  }
};
/// A monitor that another process has set on this one.
struct MonitorIn {
  // Kept: a pid; or kResourceWatcher for a resource of native code, which is found by the monitor's
  // reference (nif/resource.hpp).
  Term watcher;
  Term name;  // the name that was monitored; nil when it was a pid
};
inline constexpr Term kResourceWatcher = Term::nil();

/// The monitors on a process or port, by reference.
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
  /// Takes the oldest out and passes it to `tell` as (key, monitor). Returns false when there are
  /// no monitors.
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

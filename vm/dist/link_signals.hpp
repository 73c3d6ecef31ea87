// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/dist/remote_relations.hpp"

/// Links and unlinks of processes of another node that are on their way to processes of this one:
/// the relations over the connection (remote_relations.hpp) have changed, and the process is told
/// by a signal. If the process itself links or unlinks before it handles that signal, its own
/// change is the newer one, and the signal must not undo it. The state of the relations does not
/// tell that: a later signal, such as the end of the other process, may have changed it again. So
/// the signals about one link are numbered, and a process that links or unlinks overtakes those
/// that are on the way.
///
/// It belongs to a channel and is guarded by its lock, under which the relations change as well. It
/// outlives the connection, as the signals do.
namespace vmrun::dist {

class LinkSignals {
 public:
  LinkSignals() = default;
  ~LinkSignals();
  LinkSignals(const LinkSignals&) = delete;

  /// Returns the number of a signal to `here` that is about to be sent.
  std::uint32_t leaves(Term here, Term there);
  /// The process unlinks: it ignores the links that are on the way.
  void overtake_links(Term here, Term there);
  /// The process links: it ignores the unlinks that are on the way.
  void overtake_unlinks(Term here, Term there);

  enum class Kind : std::uint8_t { kLink, kUnlink };
  /// The process handles the signal of this number. Returns false if it has overtaken it.
  bool arrives(Term here, Term there, Kind kind, std::uint32_t number);

  bool empty() const { return under_way_.empty(); }

 private:
  /// Signals of one link, as their numbers: the last one that left, and the last ones overtaken.
  struct UnderWay {
    std::uint32_t last = 0, overtaken_links = 0, overtaken_unlinks = 0;
  };
  FlatTable<LinkKey, UnderWay> under_way_;  // each entry holds a reference to the node
};

}  // namespace vmrun::dist

// SPDX-License-Identifier: Apache-2.0
#include "vm/term/fun.hpp"

#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "vm/term/atom.hpp"
#include "vm/term/term_upcalls.hpp"

namespace vmrun {
namespace {

struct ExportKey {
  Term module, function;
  unsigned arity;
  bool operator==(const ExportKey&) const = default;
};
struct ExportKeyHash {
  std::size_t operator()(const ExportKey& k) const { return export_hash(k.module, k.function, k.arity); }
};

/// Exports lie in blocks that never move, so that an address can be recognised as one inside a
/// stub.
class ExportTable {
 public:
  Export* find(const ExportKey& key) {
    if (Export* e = recent_export(key.module, key.function, key.arity)) return e;
    std::shared_lock lock(mutex_);
    auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    recent_exports[ExportKeyHash()(key) % kRecentExports].store(it->second, std::memory_order_release);
    return it->second;
  }
  Export* find_or_add(const ExportKey& key) {
    if (Export* e = find(key)) return e;
    std::unique_lock lock(mutex_);
    auto it = index_.find(key);
    return it == index_.end() ? add(key) : it->second;
  }
  Export* add_hidden(const ExportKey& key) {
    std::unique_lock lock(mutex_);
    return add_unlisted(key);
  }
  const Export* holding(const Word* address) {
    std::shared_lock lock(mutex_);
    const auto* p = reinterpret_cast<const char*>(address);
    for (const auto& block : blocks_) {
      const auto* first = reinterpret_cast<const char*>(block);
      if (p >= first && p < first + sizeof(Export) * kBlock) return block + (p - first) / sizeof(Export);
    }
    return nullptr;
  }
  std::vector<Export*> all() {
    std::shared_lock lock(mutex_);
    std::vector<Export*> out;
    for (auto& [key, e] : index_) out.push_back(e);
    return out;
  }

 private:
  static constexpr std::size_t kBlock = 512;

  Export* add_unlisted(const ExportKey& key) {
    if (used_ == kBlock) {
      blocks_.push_back(new Export[kBlock]);
      used_ = 0;
    }
    Export* e = &blocks_.back()[used_++];
    e->module = key.module;
    e->function = key.function;
    e->arity = static_cast<std::uint8_t>(key.arity);
    e->stub.header = {0, static_cast<std::uint16_t>(key.arity), 0, key.module, key.function};
    e->stub.self = e;
    term_upcalls.make_stub(*e);
    e->address.store(e->stub_code(), std::memory_order_release);
    return e;
  }
  Export* add(const ExportKey& key) {
    Export* e = add_unlisted(key);
    index_.emplace(key, e);
    return e;
  }

  std::shared_mutex mutex_;
  std::unordered_map<ExportKey, Export*, ExportKeyHash> index_;
  std::vector<Export*> blocks_;
  std::size_t used_ = kBlock;
};

ExportTable& exports() {
  static ExportTable& t = *new ExportTable;
  return t;
}

struct FunTable {
  std::mutex mutex;
  std::unordered_map<std::string, FunEntry*> entries;
};
FunTable& funs() {
  static FunTable& t = *new FunTable;
  return t;
}

}  // namespace

constinit std::atomic<Export*> recent_exports[kRecentExports] = {};

Export* export_entry(Term module, Term function, unsigned arity) {
  return exports().find_or_add({module, function, arity});
}
Export* hidden_export(Term module, Term function, unsigned arity) {
  return exports().add_hidden({module, function, arity});
}
Export* find_export(Term module, Term function, unsigned arity) {
  return exports().find({module, function, arity});
}
std::vector<Export*> all_exports() { return exports().all(); }
const Export* export_of_stub(const Word* address) { return exports().holding(address); }

FunEntry* fun_entry(Term module, const std::uint8_t* uniq, std::uint32_t index, std::uint32_t old_uniq,
                    unsigned arity, std::uint32_t free_count) {
  std::string key(reinterpret_cast<const char*>(uniq), 16);
  for (Word w : {module.raw(), Word{index}, Word{old_uniq}}) key.append(reinterpret_cast<const char*>(&w), 8);
  FunTable& t = funs();
  std::lock_guard lock(t.mutex);
  FunEntry*& e = t.entries[key];
  if (!e) {
    e = new FunEntry;
    e->module = module;
    e->function = atoms::undefined;
    std::memcpy(e->uniq, uniq, 16);
    e->index = index;
    e->old_uniq = old_uniq;
    e->arity = static_cast<std::uint8_t>(arity);
    e->free_count = free_count;
  }
  return e;
}

}  // namespace vmrun

#include "vm/code/module.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "vm/code/instructions.hpp"
#include "vm/code/reclaim.hpp"

namespace vmrun {
namespace {

struct ExportKey {
  Term module, function;
  unsigned arity;
  bool operator==(const ExportKey&) const = default;
};
struct ExportKeyHash {
  std::size_t operator()(const ExportKey& k) const {
    Word h = k.module.raw() * 0x9E3779B97F4A7C15ull ^ (k.function.raw() + k.arity) * 0xC2B2AE3D27D4EB4Full;
    return h ^ h >> 29;
  }
};

/// Exports sit in blocks that never move, so that an address inside a stub can be told to be one.
class ExportTable {
 public:
  ExportTable() {
    // The two functions that are instructions themselves.
    add({atoms::erlang, atoms::apply, 2})->stub.operation = op::apply_fun_entry;
    add({atoms::erlang, atoms::apply, 3})->stub.operation = op::apply_mfa_entry;
  }
  Export* find(const ExportKey& key) {
    // Exports neither move nor go, so what was found once is found again without the lock: calls
    // with a module or function in a variable come here. The release makes the fields that are
    // compared visible to who reads the slot.
    std::atomic<Export*>& recent = recent_[ExportKeyHash()(key) % kRecent];
    Export* e = recent.load(std::memory_order_acquire);
    if (e && e->module == key.module && e->function == key.function && e->arity == key.arity) return e;
    std::shared_lock lock(mutex_);
    auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    recent.store(it->second, std::memory_order_release);
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
    e->stub.header = {op::func_info_cc, static_cast<std::uint16_t>(key.arity), 0, key.module, key.function};
    e->stub.operation = op::export_undefined;
    e->stub.self = e;
    e->address.store(e->stub_code(), std::memory_order_release);
    return e;
  }
  Export* add(const ExportKey& key) {
    Export* e = add_unlisted(key);
    index_.emplace(key, e);
    return e;
  }

  static constexpr std::size_t kRecent = 1024;
  std::atomic<Export*> recent_[kRecent] = {};
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

/// All code ranges, sorted. Replaced as a whole; readers take no lock, former versions are retired.
struct CodeRanges {
  std::vector<const Module*> modules;
};

namespace {

std::atomic<const CodeRanges*> code_ranges{new CodeRanges};
std::mutex code_ranges_mutex;
std::atomic<std::uint32_t> code_versions{0};

}  // namespace

const Module* module_at(const Word* address) {
  const auto& modules = code_ranges.load(std::memory_order_acquire)->modules;
  auto it = std::upper_bound(modules.begin(), modules.end(), address,
                             [](const Word* a, const Module* m) { return a < m->begin(); });
  if (it == modules.begin()) return nullptr;
  const Module* m = *--it;
  return address < m->end() ? m : nullptr;
}

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

bool is_defined(const Export& e) {
  return e.address.load(std::memory_order_acquire) != e.stub_code() ||
         e.stub.operation != op::export_undefined;
}

void set_export_code(Export& e, const Word* address) {
  if (!e.bif) e.address.store(address ? address : e.stub_code(), std::memory_order_release);
}

void register_bifs(const BifRow* rows, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) {
    Export* e = export_entry(intern_atom(rows[i].module), intern_atom(rows[i].name), rows[i].arity);
    if (e->stub.operation == op::apply_fun_entry || e->stub.operation == op::apply_mfa_entry) continue;
    e->bif = rows[i].fn;
    e->bif_flags = rows[i].flags;
    e->stub.operation = op::export_bif;
    e->address.store(e->stub_code(), std::memory_order_release);
  }
}

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

void register_code(Module& m) {
  const CodeRanges* before;
  {
    std::lock_guard lock(code_ranges_mutex);
    before = code_ranges.load(std::memory_order_relaxed);
    auto* next = new CodeRanges(*before);
    auto at = std::upper_bound(next->modules.begin(), next->modules.end(), m.begin(),
                               [](const Word* a, const Module* o) { return a < o->begin(); });
    next->modules.insert(at, &m);
    m.version = code_versions.load(std::memory_order_relaxed) + 1;
    code_ranges.store(next, std::memory_order_release);
    // After the range: who reads the number has not seen it in an address yet.
    code_versions.store(m.version, std::memory_order_release);
  }
  retire(sizeof *before + before->modules.size() * sizeof(Module*), [before] { delete before; });
}

const CodeRanges* unregister_code(const Module& m) {
  std::lock_guard lock(code_ranges_mutex);
  const CodeRanges* before = code_ranges.load(std::memory_order_relaxed);
  auto* next = new CodeRanges(*before);
  std::erase(next->modules, &m);
  code_ranges.store(next, std::memory_order_release);
  return before;
}

void free_code_ranges(const CodeRanges* ranges) { delete ranges; }

std::uint32_t newest_code() { return code_versions.load(std::memory_order_acquire); }

Word module_bytes(const Module& m) {
  return sizeof m + m.code.size() * sizeof(Word) +
         (m.functions.size() + m.native.size()) * sizeof(std::uint32_t) +
         m.lines.size() * sizeof(Module::LineEntry) + m.exports.size() * sizeof(Module::ExportedFunction) +
         m.funs.size() * 2 * sizeof(void*) + m.strings.size();
}

void delete_module_code(Module* m) {
  if (m->literals) free_literals(m->literals);
  delete m;
}

const FunctionHeader* function_header_at(const Word* address) {
  if (const Module* m = module_at(address)) {
    const auto word = static_cast<std::uint32_t>(address - m->begin());
    auto it = std::upper_bound(m->functions.begin(), m->functions.end(), word);
    return it == m->functions.begin() ? nullptr : reinterpret_cast<const FunctionHeader*>(m->begin() + *--it);
  }
  const Export* e = exports().holding(address);
  return e ? &e->stub.header : nullptr;
}

SourceLocation location_at(const Word* address) {
  const Module* m = module_at(address);
  const FunctionHeader* header = m ? function_header_at(address) : nullptr;
  if (!header) return {};
  const auto word = static_cast<std::uint32_t>(address - m->begin());
  const auto first = static_cast<std::uint32_t>(reinterpret_cast<const Word*>(header) - m->begin());
  auto it = std::upper_bound(m->lines.begin(), m->lines.end(), word,
                             [](std::uint32_t w, const Module::LineEntry& l) { return w < l.word; });
  if (it == m->lines.begin() || (--it)->word < first) return {};
  return {&m->files[it->file], it->line};
}

}  // namespace vmrun

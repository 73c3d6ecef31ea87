#include "probes/attach/functions.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>

#include <fnmatch.h>

#include "probes/attach/firing.hpp"
#include "probes/inside.hpp"
#include "vm/probes/arguments.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::attach {
namespace {

constexpr std::size_t kMostFilters = 1024;
constexpr std::size_t kRemembered = 4096;  // functions, of each filter

bool matches(const std::string& pattern, Term atom) {
  if (pattern.empty()) return true;
  const std::string_view text = atom_text(atom);
  char name[4 * kAtomMaxCharacters + 1];
  std::memcpy(name, text.data(), text.size());
  name[text.size()] = 0;
  return fnmatch(pattern.c_str(), name, 0) == 0;
}

class Filter {
 public:
  Filter(std::uint32_t probe, unsigned argument, std::string module, std::string function, std::int32_t arity)
      : probe(probe),
        argument_(argument),
        module_(std::move(module)),
        function_(std::move(function)),
        arity_(arity) {}

  bool passes(const d::Firing& f) {
    const auto& a = *reinterpret_cast<const probe::FunctionArgument*>(f.arguments[argument_]);
    if (!a.module) return false;
    // The whole function and the answer in a word, so that no order matters between threads.
    const std::uint64_t key = std::uint64_t{a.module.atom_index()} << 31 |
                              std::uint64_t{a.function.atom_index()} << 9 |
                              std::uint64_t{a.arity & 0xFF} << 1;
    std::atomic<std::uint64_t>& place = remembered_[(key * 0x9E3779B97F4A7C15 >> 52) % kRemembered];
    const std::uint64_t known = place.load(std::memory_order_relaxed);
    if ((known & ~std::uint64_t{1}) == key) [[likely]]
      return known & 1;
    const bool yes = (arity_ < 0 || static_cast<unsigned>(arity_) == a.arity) && matches(module_, a.module) &&
                     matches(function_, a.function);
    place.store(key | yes, std::memory_order_relaxed);
    return yes;
  }

  const std::uint32_t probe;

 private:
  const unsigned argument_;
  const std::string module_, function_;
  const std::int32_t arity_;
  std::array<std::atomic<std::uint64_t>, kRemembered> remembered_{};
};
static_assert(kAtomCapacity <= std::size_t{1} << 22);

std::atomic<Filter*> filters[kMostFilters];

}  // namespace

std::uint32_t add_filter(std::uint32_t probe, unsigned argument, const std::string& module,
                         const std::string& function, std::int32_t arity) {
  for (std::uint32_t i = 0; i < kMostFilters; ++i) {
    if (filters[i].load(std::memory_order_relaxed)) continue;
    filters[i].store(new Filter(probe, argument, module, function, arity), std::memory_order_release);
    probe::raise_inside(probe);
    return i + 1;
  }
  return 0;
}

void remove_filter(std::uint32_t filter) {
  const std::unique_ptr<Filter> gone(filters[filter - 1].exchange(nullptr, std::memory_order_seq_cst));
  if (!gone) return;
  probe::lower_inside(gone->probe);
  wait_for_firings();
}

bool filter_passes(std::uint32_t filter, const d::Firing& f) {
  Filter* it = filters[filter - 1].load(std::memory_order_acquire);
  return it && it->passes(f);
}

}  // namespace vmrun::attach

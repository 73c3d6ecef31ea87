// SPDX-License-Identifier: Apache-2.0
// The table of what stood where `probed` stands now, replaced while others look things up in it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "vm/code/instructions.hpp"
#include "vm/code/patches.hpp"

using namespace vmrun;

namespace {

constexpr Word kOperands = 0xABCD'EF01'2345'0000;

/// Any operation but those that stand in the place of others.
std::uint16_t some_operation(std::size_t n) {
  const auto operation = static_cast<std::uint16_t>(n % op::kOpCount);
  const bool stands_for_another = operation == op::probed || operation == op::machine_code;
  return stands_for_another ? std::uint16_t{op::call_nif} : operation;
}

/// Instructions of one word each, and the tables that were replaced, for nobody looks at them once
/// this is gone.
class Code {
 public:
  explicit Code(std::size_t size) : words_(size) {
    for (std::size_t n = 0; n < size; ++n) words_[n] = kOperands | some_operation(n);
  }
  ~Code() {
    patch({});
    for (const PatchTable* table : former_) free_patches(table);
  }

  std::size_t size() const { return words_.size(); }
  Word* at(std::size_t n) { return &words_[n]; }
  /// These are patched and no others; an instruction's number is its function's.
  void patch(const std::vector<std::size_t>& which) {
    std::vector<Patch> patches;
    for (const std::size_t n : which) {
      Patch p;
      p.at = at(n);
      p.function = static_cast<std::uint32_t>(n);
      p.fires = Patch::kEntry;
      patches.push_back(p);
    }
    former_.push_back(set_patches(patches));
  }
  bool has_its_own_operations() const {
    for (std::size_t n = 0; n < size(); ++n)
      if (words_[n] != (kOperands | some_operation(n))) return false;
    return true;
  }

 private:
  std::vector<Word> words_;
  std::vector<const PatchTable*> former_;
};

std::vector<std::size_t> some_of(std::size_t size, std::mt19937& random) {
  std::vector<std::size_t> which;
  const unsigned one_in = 1 + random() % 4;
  for (std::size_t n = 0; n < size; ++n)
    if (random() % one_in == 0) which.push_back(n);
  return which;
}

}  // namespace

TEST_CASE("Every patch is found, whatever their number; the others are none, and all goes back") {
  for (const std::size_t size : {1, 2, 3, 64, 1000, 2000, 4000, 8000, 131072}) {
    Code code(size + 1);  // the last is never patched
    std::vector<std::size_t> all(size);
    for (std::size_t n = 0; n < size; ++n) all[n] = n;
    code.patch(all);
    std::size_t wrong = 0;
    for (std::size_t n = 0; n < size; ++n) {
      const Patch p = patch_at(code.at(n));
      wrong += p.at != code.at(n) || p.function != n || p.operation != some_operation(n) ||
               !is_patched(code.at(n)) || operation_at(code.at(n)) != some_operation(n);
    }
    CHECK(wrong == 0);
    CHECK(all_patches().size() == size);
    CHECK(!patch_at(code.at(size)).at);
    CHECK(operation_at(code.at(size)) == some_operation(size));
    code.patch({});
    CHECK(all_patches().empty());
    CHECK(code.has_its_own_operations());
  }
}

TEST_CASE("An operation that is changed while it is patched stands there when the patch is gone") {
  Code code(3);
  code.patch({0, 1});
  const std::vector<NewOperation> natives = {
      {code.at(0), op::call_nif}, {code.at(1), op::call_dirty_nif}, {code.at(2), op::call_nif}};
  set_operations(natives);
  CHECK(is_patched(code.at(0)));
  CHECK(operation_at(code.at(0)) == op::call_nif);
  CHECK(patch_at(code.at(1)).function == 1);
  code.patch({1, 2});
  CHECK(!is_patched(code.at(0)));
  CHECK(*code.at(0) == (kOperands | op::call_nif));
  CHECK(operation_at(code.at(1)) == op::call_dirty_nif);
  CHECK(operation_at(code.at(2)) == op::call_nif);
  const std::vector<NewOperation> originals = {
      {code.at(0), some_operation(0)}, {code.at(1), some_operation(1)}, {code.at(2), some_operation(2)}};
  set_operations(originals);
  code.patch({});
  CHECK(code.has_its_own_operations());
}

TEST_CASE("Whoever reads an instruction finds what stands there, while patches come and go") {
  constexpr int kReaders = 3, kTables = 2000;
  constexpr std::size_t kSize = 200, kChanged = 0;
  Code code(kSize);
  std::atomic<bool> done{false};
  std::atomic<std::size_t> wrong{0}, found{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < kReaders; ++r)
    readers.emplace_back([&] {
      do {
        for (std::size_t n = 0; n < kSize; ++n) {
          const std::uint16_t operation = operation_at(code.at(n));
          const Patch p = patch_at(code.at(n));
          if (p.at) found.fetch_add(1, std::memory_order_relaxed);
          const auto is_right = [&](std::uint16_t o) {
            return o == some_operation(n) || (n == kChanged && o == op::call_nif);
          };
          const bool right = is_right(operation) &&
                             (!p.at || (p.at == code.at(n) && p.function == n && is_right(p.operation)));
          if (!right) wrong.fetch_add(1, std::memory_order_relaxed);
        }
      } while (!done.load(std::memory_order_relaxed) || found.load(std::memory_order_relaxed) == 0);
    });
  std::mt19937 random(7);
  std::thread changer([&] {
    for (int n = 0; n < kTables; ++n) {
      const NewOperation native{code.at(kChanged), op::call_nif};
      set_operations({&native, 1});
      const NewOperation original{code.at(kChanged), some_operation(kChanged)};
      set_operations({&original, 1});
    }
  });
  for (int n = 0; n < kTables; ++n) code.patch(some_of(kSize, random));
  changer.join();
  code.patch({0});  // for a reader that has not found any
  done.store(true, std::memory_order_relaxed);
  for (std::thread& t : readers) t.join();
  CHECK(wrong == 0);
  code.patch({});
  CHECK(code.has_its_own_operations());
}

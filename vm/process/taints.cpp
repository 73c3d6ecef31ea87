// SPDX-License-Identifier: Apache-2.0
#include "vm/process/taints.hpp"

#include <algorithm>
#include <mutex>

namespace vmrun {
namespace {

std::mutex lock;
std::vector<Term>& names = *new std::vector<Term>;

}  // namespace

void note_taint(Term name) {
  const std::lock_guard guard(lock);
  if (!std::ranges::count(names, name)) names.push_back(name);
}

std::vector<Term> taints() {
  const std::lock_guard guard(lock);
  return names;
}

}  // namespace vmrun

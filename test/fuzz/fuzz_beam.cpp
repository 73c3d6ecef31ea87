// SPDX-License-Identifier: Apache-2.0
// Fuzz entry for everything that reads .beam bytes: parser, literals, loader, disassembler. Then
// the same file with a few labels exchanged for others, which changed bytes seldom do: whatever is
// loaded, no loop of its instructions goes round without a reduction being counted. With clang:
// -fsanitize=fuzzer,address.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vm/code/code_server.hpp"
#include "vm/code/loader.hpp"
#include "vm/code/walk.hpp"
#include "vm/heap/literal.hpp"
#include "vm/machine.hpp"

namespace {

using namespace vmrun;

/// Fused instructions have the names of their parts.
bool is_counted(std::string_view name) {
  for (const char* part : {"call", "apply", "send", "loop_rec_end", "wait"})
    if (name.find(part) != std::string_view::npos && name.find("wait_timeout") == std::string_view::npos)
      return true;
  return false;
}

/// Where an instruction may go on, calls and waits apart.
std::vector<const Word*> ways_on(const Word* at, const InstructionRow& row) {
  std::vector<const Word*> ways;
  if (is_counted(row.name)) return ways;
  const std::string_view kinds = row.kinds, name = row.name;
  const bool waits = name.find("wait_timeout") != std::string_view::npos;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (kinds[k] == 'f' && !waits)
      if (const auto distance = field<std::int32_t>(at, row.fields[k])) ways.push_back(at + distance);
    if (kinds[k] == '*' && name.find("select_") != std::string_view::npos) {
      const auto count = field<std::uint32_t>(at, row.fields[k]);
      const bool pairs = name.find("select_dense") == std::string_view::npos;
      for (std::uint32_t n = pairs; n < count; n += pairs ? 2 : 1)
        if (const Word* word = at + row.words + n; !pairs || word[-1] != 0)
          ways.push_back(at + static_cast<SWord>(*word));
    }
  }
  if (!(row.flags & InstructionRow::kEnds)) ways.push_back(next_instruction(at, row));
  return ways;
}

void check_loops(const Module& m) {
  enum State { kNew, kOnPath, kDone };
  std::unordered_map<const Word*, State> states;
  struct Step {
    const Word* at;
    std::vector<const Word*> ways;
  };
  for (const std::uint32_t function : m.functions) {
    const Word* const begin = m.begin() + function + sizeof(FunctionHeader) / 8;
    std::vector<Step> path;
    const auto enter = [&](const Word* at) {
      if (at < m.begin() || at >= m.end()) return;
      State& state = states[at];
      if (state == kOnPath) {
        std::fprintf(stderr, "fuzz_beam: a loop without a count at %s\n%s\n",
                     op::kInstructions[operation_at(at)].name, disassemble(m).c_str());
        std::abort();
      }
      if (state == kDone) return;
      state = kOnPath;
      path.push_back({at, ways_on(at, op::kInstructions[operation_at(at)])});
    };
    enter(begin);
    while (!path.empty()) {
      if (path.back().ways.empty()) {
        states[path.back().at] = kDone;
        path.pop_back();
        continue;
      }
      const Word* next = path.back().ways.back();
      path.back().ways.pop_back();
      enter(next);
    }
  }
}

void load(const BeamFile& file) {
  BeamError error;
  if (Module* m = build_module(file, &error)) {
    (void)disassemble(*m);
    check_loops(*m);
    delete m;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool once = (connect_machine(), init_literal_area(), true);
  (void)once;
  BeamFile file;
  BeamError error;
  if (!parse_beam(data, size, &file, &error)) return 0;
  load(file);
  std::vector<Arg*> labels;
  for (std::vector<Arg>* args : {&file.operands, &file.extra})
    for (Arg& a : *args)
      if (a.kind == Arg::Kind::kLabel && a.value != 0) labels.push_back(&a);
  if (labels.size() < 2) return 0;
  std::minstd_rand random(static_cast<unsigned>(size + data[size / 2]));
  for (int n = 0; n < 20; ++n) {
    Arg* const a = labels[random() % labels.size()];
    const Arg before = *a;
    *a = *labels[random() % labels.size()];
    load(file);
    if (random() % 4) *a = before;
  }
  return 0;
}

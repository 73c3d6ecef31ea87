// SPDX-License-Identifier: Apache-2.0
// The notes of this very binary against probes.tab: every row is there once, with exactly the types
// of its row.
#include "probes/probe_notes.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>
#include <cstring>
#include <utility>
#include <vector>

#include "probes/inside.hpp"
#include "probes/probes.hpp"
#include "probes/sites.hpp"

using namespace vmrun::probe;

namespace {

std::vector<ProbeNote> own_notes() {
  if (!kCompiledIn) return {};
  // Refers to a site, so that the linker keeps the object that holds all of them.
  site::message_send("<0.1.0>", "<0.2.0>", 3, 0, 0, 0);
  std::vector<ProbeNote> notes;
  std::string error;
  REQUIRE(read_probe_notes("/proc/self/exe", notes, error));
  return notes;
}

std::string types_of(const ProbeNote& note) {
  std::string text;
  for (auto& type : note.arguments) text += type + ";";
  return text;
}

std::string types_of(const ProbeRow& row) {
  std::string text;
  for (auto& argument : row.arguments) {
    text += std::strcmp(argument.type, "char*") == 0 ? "char *" : argument.type;
    text += ";";
  }
  return text;
}

}  // namespace

TEST_CASE("every row of the table is one note with the row's types") {
  if (!kCompiledIn) return;
  auto notes = own_notes();
  for (auto& row : probe_rows()) {
    INFO(row.name);
    int found = 0;
    for (auto& note : notes) {
      if (note.name != row.name) continue;
      found++;
      CHECK(note.provider == "erlang");
      CHECK(types_of(note) == types_of(row));
      CHECK(note.semaphore_address != 0);
      CHECK_FALSE(note.function.empty());
    }
    CHECK(found == 1);
  }
}

TEST_CASE("no probe is enabled while no tracer is attached") {
  CHECK_FALSE(message_send_enabled());
  CHECK_FALSE(process_heap_shrink_enabled());
}

namespace {

unsigned number_of(const char* name) {
  unsigned n = 0;
  while (std::strcmp(probe_rows()[n].name, name) != 0) ++n;
  return n;
}

struct Raised {
  explicit Raised(const char* name) : number(number_of(name)) { raise_inside(number); }
  ~Raised() { lower_inside(number); }
  const unsigned number;
};

}  // namespace

TEST_CASE("a consumer in the machine makes one probe fire, alone or in a group") {
  if (!kCompiledIn) return;
  {
    const Raised raised("message__queued"), another("user_trace__n950");
    CHECK(inside_count(raised.number) == 1);
    CHECK(message_queued_enabled());
    CHECK(sending_enabled());
    CHECK(receiving_enabled());
    CHECK_FALSE(message_send_enabled());
    CHECK_FALSE(message_receive_enabled());
    CHECK_FALSE(copy_struct_enabled());
    CHECK(user_trace_n_enabled(950));
    CHECK_FALSE(user_trace_n_enabled(949));
    CHECK_FALSE(slice_enabled());
  }
  {
    const Raised raised("message__receive"), twice("message__receive"), another("nif__return");
    CHECK(inside_count(raised.number) == 2);
    CHECK(message_receive_enabled());
    CHECK(receiving_enabled());
    CHECK_FALSE(sending_enabled());
    CHECK(calls_enabled());
    CHECK(nif_return_enabled());
    CHECK_FALSE(bif_entry_enabled());
  }
  for (unsigned n = 0; n < probe_rows().size(); ++n) {
    raise_inside(n);
    CHECK(inside_count(n) == 1);
    lower_inside(n);
    CHECK(inside_count(n) == 0);
  }
  CHECK_FALSE((sending_enabled() || receiving_enabled() || slice_enabled() || calls_enabled()));
}

TEST_CASE("a probe that is only counted adds to its number in the counts of the thread") {
  if (!kCompiledIn) return;
  std::vector<std::uint64_t> counts(probe_rows().size());
  std::uint64_t* const others = std::exchange(firing_counts, counts.data());
  const unsigned receive = number_of("message__receive"), open = number_of("port__open");
  count_message_receive();
  CHECK(counts[receive] == 0);
  for (const unsigned n : {receive, open}) count_inside(n);
  CHECK(inside_count(receive) == 0);
  CHECK((message_receive_enabled() && receiving_enabled() && port_open_enabled()));
  CHECK_FALSE((message_receive_in_full() || port_open_in_full() || message_queued_enabled()));
  count_message_receive();
  count_message_receive();
  count_port_open();
  CHECK((counts[receive] == 2 && counts[open] == 1));
  raise_inside(receive);
  CHECK(message_receive_in_full());
  lower_inside(receive);
  CHECK_FALSE(message_receive_in_full());
  for (const unsigned n : {receive, open}) stop_counting_inside(n);
  CHECK_FALSE((message_receive_enabled() || receiving_enabled() || port_open_enabled()));
  // All of a group at once leave the others' half of the word alone.
  for (unsigned n = 0; n < probe_rows().size(); ++n) count_inside(n);
  for (unsigned n = 0; n < probe_rows().size(); ++n) CHECK(inside_count(n) == 0);
  CHECK_FALSE((message_send_in_full() || function_return_in_full() || user_trace_n_in_full(17)));
  CHECK(calls_enabled());
  for (unsigned n = 0; n < probe_rows().size(); ++n) stop_counting_inside(n);
  CHECK_FALSE((sending_enabled() || receiving_enabled() || slice_enabled() || calls_enabled()));
  firing_counts = others;
}

#if defined(__linux__) && !defined(VMRUN_NATIVE_DTRACE)
TEST_CASE("tracers and consumers in the machine add to halves of their own") {
  if (!kCompiledIn) return;
  std::vector<ProbeNote> notes = own_notes();
  // The image may lie elsewhere than the notes say: one symbol tells by how much.
  const ProbeNote* known = nullptr;
  for (auto& note : notes)
    if (note.name == "port__open") known = &note;
  REQUIRE(known);
  const std::uint64_t moved =
      reinterpret_cast<std::uintptr_t>(&erlang_port__open_watch) - known->semaphore_address;
  for (auto& note : notes) {
    INFO(note.name);
    auto* tracers = reinterpret_cast<volatile std::uint16_t*>(note.semaphore_address + moved);
    const unsigned number = number_of(note.name.c_str());
    raise_inside(number);
    CHECK(*tracers == 0);
    *tracers = 0xFFFF;  // and what the kernel adds does not spill over
    CHECK(inside_count(number) == 1);
    lower_inside(number);
    CHECK(*tracers == 0xFFFF);
    *tracers = 0;
  }
}
#endif

TEST_CASE("the listing shows names as DTrace does and the names of arguments") {
  if (!kCompiledIn) return;
  auto text = format_probe_notes("/usr/bin/vmrun", own_notes());
  CHECK(text.find("PROVIDER") != std::string::npos);
  CHECK(text.find(" process-exit_signal ") != std::string::npos);
  CHECK(text.find("(char *sender, char *receiver, uint32_t size, int label, int previous, int current)") !=
        std::string::npos);
  CHECK(text.find("__") == std::string::npos);
}

TEST_CASE("arguments are read as each architecture's assembler writes them") {
  const std::vector<std::string> types{"char *", "int", "uint32_t", "int64_t"};
  CHECK(argument_types("8@%rdi -4@$-3 4@-16(%rbp,%rax,8) -8@8(%rsp)") == types);
  CHECK(argument_types("8@x19 -4@-3 4@[x29, -16] -8@[sp]") == types);
  CHECK(argument_types("8@[sp, 16] -4@w0 4@[x1, x0, lsl 3] -8@xzr") == types);
  CHECK(argument_types("8@[x0, 8] -4@#7 4@[x2] -8@[sp, 248]") == types);
  CHECK(argument_types("8@counter+8(%rip) -4@%eax 4@%r8d -8@$9") == types);
  CHECK(argument_types("").empty());
  CHECK(argument_types("8@[sp, 16") == std::vector<std::string>{"char *"});  // cut off
}

TEST_CASE("what is no ELF file is an error with the file's name") {
  std::vector<ProbeNote> notes;
  std::string error;
  CHECK_FALSE(read_probe_notes("/nowhere/at/all", notes, error));
  CHECK(error == "/nowhere/at/all: No such file or directory");
  CHECK_FALSE(read_probe_notes("/etc/passwd", notes, error));
  CHECK(error == "/etc/passwd: not an ELF file with sections");
}

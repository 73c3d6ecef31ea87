// The notes of this very binary against probes.tab: every row is there once, with exactly the types
// of its row.
#include "probes/listing.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>
#include <cstring>

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

TEST_CASE("the listing shows names as DTrace does and the names of arguments") {
  if (!kCompiledIn) return;
  auto text = format_probe_notes("/usr/bin/vmrun", own_notes());
  CHECK(text.find("PROVIDER") != std::string::npos);
  CHECK(text.find(" process-exit_signal ") != std::string::npos);
  CHECK(text.find("(char *sender, char *receiver, uint32_t size, int label, int previous, int current)") !=
        std::string::npos);
  CHECK(text.find("__") == std::string::npos);
}

TEST_CASE("what is no ELF file is an error with the file's name") {
  std::vector<ProbeNote> notes;
  std::string error;
  CHECK_FALSE(read_probe_notes("/nowhere/at/all", notes, error));
  CHECK(error == "/nowhere/at/all: No such file or directory");
  CHECK_FALSE(read_probe_notes("/etc/passwd", notes, error));
  CHECK(error == "/etc/passwd: not an ELF file with sections");
}

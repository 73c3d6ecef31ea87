#include "runtime/cli/code_finder.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <sys/stat.h>

#include "runtime/lib/embedded.hpp"

namespace vmrun::cli {
namespace {

bool has_suffix(std::string_view text, std::string_view suffix) {
  return text.size() > suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

bool exists(const std::string& path) {
  struct stat st;
  return ::stat(path.c_str(), &st) == 0 && !S_ISDIR(st.st_mode);
}

FoundCode broken(std::string path, std::string why) {
  FoundCode code;
  code.kind = FoundCode::Kind::kBroken;
  code.path = std::move(path);
  code.messages = std::move(why);
  return code;
}

FoundCode bytes_found(std::string path, std::vector<std::uint8_t> bytes, std::string messages) {
  FoundCode code;
  code.kind = FoundCode::Kind::kCode;
  code.owned = std::move(bytes);
  code.begin = code.owned.data();
  code.end = code.begin + code.owned.size();
  code.path = std::move(path);
  code.messages = std::move(messages);
  return code;
}

}  // namespace

bool read_file(const std::string& path, std::vector<std::uint8_t>* bytes, std::string* error) {
  const auto fail = [&](int code) {
    *error = "cannot read '" + path + "': " + std::strerror(code);
    return false;
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return fail(errno);
  struct stat st;
  if (::fstat(::fileno(file.get()), &st) == 0 && S_ISDIR(st.st_mode)) return fail(EISDIR);
  bytes->clear();
  std::uint8_t chunk[65536];
  while (std::size_t n = std::fread(chunk, 1, sizeof chunk, file.get()))
    bytes->insert(bytes->end(), chunk, chunk + n);
  return std::ferror(file.get()) ? fail(errno) : true;
}

FoundCode CodeFinder::load_file(const std::string& path, bool script) const {
  std::vector<std::uint8_t> bytes;
  std::string error;
  if (!read_file(path, &bytes, &error)) return broken(path, "vmrun: " + error + "\n");
  if (has_suffix(path, ".beam")) return bytes_found(path, std::move(bytes), "");
  compile::CompileOptions options = compile_options_;
  options.script = script;
  auto result = compile::compile_source(path, std::string(bytes.begin(), bytes.end()), options);
  if (!result.ok) return broken(path, std::move(result.messages));
  return bytes_found(path, std::move(result.beam), std::move(result.messages));
}

FoundCode CodeFinder::find(std::string_view module) const {
  if (const EmbeddedModule* m = find_embedded_module(module)) {
    FoundCode code;
    code.kind = FoundCode::Kind::kCode;
    code.begin = m->begin;
    code.end = m->end;
    code.path = "embedded:" + std::string(module);
    return code;
  }
  for (const std::string& directory : directories_)
    for (const char* suffix : {".beam", ".act", ".erl"}) {
      std::string path = directory + "/" + std::string(module) + suffix;
      if (exists(path)) return load_file(path, /*script=*/false);
    }
  return {};
}

}  // namespace vmrun::cli

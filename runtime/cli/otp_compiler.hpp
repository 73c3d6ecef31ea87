#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// The compiler of an installed Erlang/OTP, for what ours does not do: parse transforms of others.
/// It runs in a machine of its own, which is this program under the name `erlc`, so that nothing of
/// it is seen in the program that is compiled. Any thread; it waits for that machine's end.
namespace vmrun::cli {

struct OtpCompilation {
  std::string path;    // of the text, for messages and stack traces; -include looks beside it first
  std::string module;  // its name
  std::string text;    // complete
  std::string otp_root;
  std::vector<std::string> code_path, include_path;  // directories
  std::vector<std::pair<std::string, std::string>> macros;
  /// Modules to be found besides, by name: transforms whose text ours has compiled.
  std::vector<std::pair<std::string, std::vector<std::uint8_t>>> modules;
};

struct OtpCompiled {
  std::vector<std::uint8_t> beam;  // empty: messages say why
  std::string messages;
};

OtpCompiled compile_by_otp(const OtpCompilation& what);

}  // namespace vmrun::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// The compiler of an installed Erlang/OTP, for what vmrun's own compiler does not do: parse
/// transforms of other projects. It runs in a machine of its own, which is this program under the
/// name `erlc`, so it does not affect the program that is compiled. Any thread; the call waits for
/// the end of that machine.
namespace vmrun::cli {

struct OtpCompilation {
  std::string path;    // of the text, for messages and stack traces; -include searches its folder first
  std::string module;  // the module's name
  std::string text;    // the whole text
  std::string otp_root;
  std::vector<std::string> code_path, include_path;  // directories
  std::vector<std::pair<std::string, std::string>> macros;
  /// More modules that are found, by name: transforms compiled by vmrun's own compiler.
  std::vector<std::pair<std::string, std::vector<std::uint8_t>>> modules;
};

struct OtpCompiled {
  std::vector<std::uint8_t> beam;  // empty on failure; messages say why
  std::string messages;
};

OtpCompiled compile_by_otp(const OtpCompilation& what);

}  // namespace vmrun::cli

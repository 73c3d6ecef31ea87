#include "runtime/epmd/command.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>

#include <fmt/core.h>

#include "runtime/epmd/service.hpp"

namespace vmrun::epmd {
namespace {

constexpr int kFailed = 1;
constexpr std::size_t kLongestName = 1000;

constexpr const char* kUsage = R"(usage: epmd [-daemon] [-port No] [-address List] [-relaxed_command_check]
       epmd [-port No] -names | -kill | -stop Name

The service that tells the ports of this host's Erlang nodes, or a question to it.

    -daemon                 be the service in the background
    -port No                its port; default: ERL_EPMD_PORT, else 4369
    -address List           listen at these addresses, parted by commas, and the loopback ones
    -relaxed_command_check  let -kill end it while nodes are registered, and -stop take names out
    -names                  list the nodes that are registered
    -kill                   end the service
    -stop Name              take a name out

-debug, -d, -packet_timeout, -delay_accept and -delay_write are taken, without an effect.
)";

// ---- Questions to the service ----

class Connection {
 public:
  Connection() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in service{};
    service.sin_family = AF_INET;
    service.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    service.sin_port = htons(service_port());
    open_ = fd_ >= 0 && connect(fd_, reinterpret_cast<const sockaddr*>(&service), sizeof service) == 0;
  }
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_open() const { return open_; }

  /// Returns all that epmd answers until it closes the connection; "" when it has refused the
  /// request.
  std::string ask(std::string_view request) {
    std::string framed{static_cast<char>(request.size() >> 8), static_cast<char>(request.size() & 0xff)};
    framed += request;
    if (send(fd_, framed.data(), framed.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(framed.size()))
      return {};
    std::string answer;
    char bytes[4096];
    for (ssize_t n; (n = read(fd_, bytes, sizeof bytes)) > 0;)
      answer.append(bytes, static_cast<std::size_t>(n));
    return answer;
  }

 private:
  int fd_;
  bool open_ = false;
};

std::optional<std::string> ask(std::string_view request) {
  Connection service;
  if (service.is_open()) return service.ask(request);
  std::fputs("epmd: Cannot connect to local epmd\n", stderr);
  return {};
}

int say(std::string_view text, int status) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return status;
}

/// The answer begins with the service's port in four bytes.
int show_names() {
  constexpr std::size_t kPortSize = 4;
  const std::optional<std::string> answer = ask("n");
  if (!answer) return kFailed;
  if (answer->size() < kPortSize) return say("epmd: no response from local epmd\n", kFailed);
  std::uint32_t port = 0;
  for (const char c : answer->substr(0, kPortSize)) port = port << 8 | static_cast<std::uint8_t>(c);
  return say(fmt::format("epmd: up and running on port {} with data:\n{}", port, answer->substr(kPortSize)),
             0);
}

int kill_service() {
  const std::optional<std::string> answer = ask("k");
  if (!answer) return kFailed;
  if (*answer == "OK") return say("Killed\n", 0);
  if (*answer == "NO") return say("Killing not allowed - living nodes in database.\n", kFailed);
  return say(fmt::format("epmd: local epmd responded with <{}>\n", *answer), kFailed);
}

int stop_name(const std::string& name) {
  if (name.size() > kLongestName) return say("epmd: Name too long!\n", kFailed);
  const std::optional<std::string> answer = ask("s" + name);
  if (!answer) return kFailed;
  if (answer->empty()) return say("epmd: local epmd responded with <>\n", kFailed);
  return say(*answer + "\n", 0);
}

// ---- The command line ----

int usage() {
  std::fputs(kUsage, stderr);
  return kFailed;
}

/// Flags with a value that the service reads from the environment; nullptr: accepted without
/// effect.
struct Setting {
  std::string_view flag;
  const char* variable;
};
constexpr Setting kSettings[] = {
    {"-port", "ERL_EPMD_PORT"}, {"-address", "ERL_EPMD_ADDRESS"}, {"-packet_timeout", nullptr},
    {"-delay_accept", nullptr}, {"-delay_write", nullptr},
};

}  // namespace

int run_command(const std::vector<std::string>& words) {
  bool in_background = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t left = words.size() - i - 1;
    const auto* setting = std::ranges::find(kSettings, word, &Setting::flag);
    if (setting != std::end(kSettings)) {
      if (left == 0) return usage();
      ++i;
      if (setting->variable) ::setenv(setting->variable, words[i].c_str(), 1);
    } else if (word == "-daemon") {
      in_background = true;
    } else if (word == "-relaxed_command_check") {
      ::setenv("ERL_EPMD_RELAXED_COMMAND_CHECK", "true", 1);
    } else if (word == "-names" && left == 0) {
      return show_names();
    } else if (word == "-kill" && left == 0) {
      return kill_service();
    } else if (word == "-stop" && left == 1) {
      return stop_name(words[i + 1]);
    } else if (word != "-debug" && word != "-d") {
      return usage();
    }
  }
  if (Connection().is_open()) return 0;  // one is enough
  return serve(in_background);
}

}  // namespace vmrun::epmd

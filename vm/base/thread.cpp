#include "vm/base/thread.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "vm/base/signal_stack.hpp"

namespace vmrun {

namespace {
constexpr std::size_t kLongestName = 15;
}

std::thread start_thread(std::string name, std::function<void()> body) {
  name.resize(std::min(name.size(), kLongestName));
  return std::thread([name = std::move(name), body = std::move(body)] {
    pthread_setname_np(pthread_self(), name.c_str());
    const SignalStack for_handlers;
    body();
  });
}

std::thread start_needed_thread(std::string name, std::function<void()> body) {
  const std::string called = name;
  try {
    return start_thread(std::move(name), std::move(body));
  } catch (const std::system_error& e) {
    std::fprintf(stderr, "vmrun: cannot start the thread %s: %s\n", called.c_str(),
                 e.code().message().c_str());
    std::_Exit(1);
  }
}

}  // namespace vmrun

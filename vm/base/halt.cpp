#include "vm/base/halt.hpp"

#include <condition_variable>
#include <mutex>

namespace vmrun {
namespace {

std::mutex mutex;
std::condition_variable requested;
bool is_requested = false;
HaltRequest request{};

}  // namespace

void request_halt(int status, bool flush) {
  std::lock_guard guard(mutex);
  if (is_requested) return;
  is_requested = true;
  request = {status, flush};
  requested.notify_all();
}

HaltRequest wait_for_halt() {
  std::unique_lock lock(mutex);
  requested.wait(lock, [] { return is_requested; });
  return request;
}

}  // namespace vmrun

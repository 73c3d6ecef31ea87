// SPDX-License-Identifier: Apache-2.0
#include "drivers/efile/file_driver.hpp"

#include <cstdlib>

#include "drivers/efile/port_state.hpp"
#include "vm/port/driver.hpp"

namespace vmrun::efile {
namespace {

FilePort& port_of(ErlDrvData data) { return *reinterpret_cast<FilePort*>(data); }

int init() {
  ErlDrvSysInfo info;
  driver_system_info(&info, sizeof info);
  settings.has_threads = info.async_threads > 0;
  const char* level = std::getenv("ERL_EFILE_THREAD_SHORT_CIRCUIT");
  settings.inline_level = level ? std::atoi(level) : 0;
  return 0;
}

ErlDrvData start(ErlDrvPort port, char*) { return reinterpret_cast<ErlDrvData>(new FilePort(port)); }
void stop(ErlDrvData data) { delete &port_of(data); }
void outputv(ErlDrvData data, ErlIOVec* bytes) { port_of(data).command(*bytes); }
void ready_async(ErlDrvData data, ErlDrvThreadData op) {
  port_of(data).ready(OperationPtr(reinterpret_cast<Operation*>(op)));
}
void timeout(ErlDrvData data) { port_of(data).timeout(); }
void flush(ErlDrvData data) { port_of(data).flush(); }

}  // namespace

ErlDrvEntry* driver_entry() {
  static ErlDrvEntry entry = [] {
    ErlDrvEntry e = own_driver_entry("efile");
    e.init = init;
    e.start = start;
    e.stop = stop;
    e.timeout = timeout;
    e.outputv = outputv;
    e.ready_async = ready_async;
    e.flush = flush;
    return e;
  }();
  return &entry;
}

}  // namespace vmrun::efile

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "vm/include/erl_driver.h"
#include "vm/term/term.hpp"

/// Every call of a driver's callback goes through here. The probe fires first; then the callback
/// runs, with the driver's lock if the driver needs one, and with current_port set. The caller
/// holds the port (except for call_init, call_finish and call_stop_select, which have no port). A
/// callback may close the port, so the caller checks the state afterwards. Errors of a driver
/// inside a callback (a crash, a longjmp) are not caught. Firing rules: docs/probes.md, family
/// driver.
namespace vmrun {

struct Driver;
struct Port;
struct PortOptions;

/// What probes report as the caller if it is not a process.
inline constexpr Term kRawCaller = kNonValue;

ErlDrvData call_start(Port& p, Term caller, const PortOptions& options);
void call_stop(Port& p);
void call_flush(Port& p);
/// One of these for each command: outputv if the driver has it (Port::takes), else output.
void call_output(Port& p, Term caller, char* bytes, std::size_t size);
void call_outputv(Port& p, Term caller, ErlIOVec* vector);
/// Like these, for data of a connection to that node, which no process has sent. They fire
/// dist-output(v) instead.
void call_output_to(Port& p, Term node, char* bytes, std::size_t size);
void call_outputv_to(Port& p, Term node, ErlIOVec* vector);
/// Also fires port-control.
ErlDrvSSizeT call_control(Port& p, Term caller, unsigned command, char* bytes, std::size_t size,
                          char** answer, std::size_t answer_size);
ErlDrvSSizeT call_call(Port& p, Term caller, unsigned command, char* bytes, std::size_t size, char** answer,
                       std::size_t answer_size, unsigned* flags);
void call_ready_input(Port& p, ErlDrvEvent event);
void call_ready_output(Port& p, ErlDrvEvent event);
void call_event(Port& p, ErlDrvEvent event, ErlDrvEventData data);
void call_timeout(Port& p);
void call_ready_async(Port& p, void* data);
void call_process_exit(Port& p, ErlDrvMonitor* monitor);

/// A port that a driver has created belongs to its creator until the creator's callback ends: no
/// other thread calls the driver for it before. Takes over the hold.
void keep_created(Port& p);

/// Returns false when init reports an error. Does nothing without an init callback.
bool call_init(Driver& d);
void call_finish(Driver& d);
/// Any thread.
void call_stop_select(Driver& d, ErlDrvEvent event);

}  // namespace vmrun

/* SPDX-License-Identifier: Apache-2.0 */
/* What a sampling clock costs a thread that does nothing but count: the least that any profiler of
   this kernel costs. Prints processor time and signals; the ratio of two runs is the cost.
     cc -O2 -o floor clock_floor.c && ./floor none 800000000 && ./floor trap 800000000
   none: no clock; event: the kernel's clock without a signal; signal: with one (F_SETSIG); trap: with
   SIGTRAP by the event itself (Linux 6.11 and later); timer: timer_create. The last argument is the
   interval, in nanoseconds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long signals;

static void handle(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  ++signals;
}

static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void start_event(int is_trap, int is_signal, long interval) {
  struct perf_event_attr a;
  memset(&a, 0, sizeof a);
  a.size = sizeof a;
  a.type = PERF_TYPE_SOFTWARE;
  a.config = PERF_COUNT_SW_TASK_CLOCK;
  a.sample_period = (unsigned long)interval;
  a.disabled = a.exclude_hv = 1;
  a.sigtrap = a.remove_on_exec = is_trap != 0;
  const int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) perror("perf_event_open"), exit(1);
  const struct f_owner_ex owner = {F_OWNER_TID, getpid()};
  if (is_signal) {
    fcntl(fd, F_SETSIG, SIGRTMIN);
    fcntl(fd, F_SETOWN_EX, &owner);
    fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
  }
  ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

static void start_timer(long interval) {
  struct sigevent e;
  memset(&e, 0, sizeof e);
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = SIGRTMIN;
  e._sigev_un._tid = getpid();
  timer_t t;
  timer_create(CLOCK_THREAD_CPUTIME_ID, &e, &t);
  const struct itimerspec every = {{0, interval}, {0, interval}};
  timer_settime(t, 0, &every, NULL);
}

int main(int count, char** arguments) {
  if (count < 3) return fprintf(stderr, "none|event|signal|trap|timer COUNT [NANOSECONDS]\n"), 2;
  const char* mode = arguments[1];
  const unsigned long n = strtoul(arguments[2], NULL, 0);
  const long interval = count > 3 ? atol(arguments[3]) : 1003009;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGRTMIN, &action, NULL);
  sigaction(SIGTRAP, &action, NULL);
  if (strcmp(mode, "timer") == 0) start_timer(interval);
  else if (strcmp(mode, "none") != 0)
    start_event(strcmp(mode, "trap") == 0, strcmp(mode, "signal") == 0, interval);
  const double before = processor_seconds();
  unsigned long x = 1;
  for (unsigned long i = 0; i < n; ++i) {
    x = x * 6364136223846793005ul + 1442695040888963407ul;
    __asm__ volatile("" : "+r"(x));
  }
  printf("%s: %.4f s, %lu signals\n", mode, processor_seconds() - before, signals);
  return 0;
}

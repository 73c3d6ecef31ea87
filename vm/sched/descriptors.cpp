// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/descriptors.hpp"

#include <sys/epoll.h>

#include <cerrno>

#include "vm/sched/poll.hpp"

namespace vmrun {

constinit ByDescriptor<Descriptor> descriptors;
constexpr std::uint32_t Descriptor::kSilent = EPOLLONESHOT;

namespace {

Word tag_of(const Descriptor& d) { return Word{d.generation} << 32 | static_cast<std::uint32_t>(d.fd); }

bool can_come(std::uint32_t armed) { return armed & ~Descriptor::kSilent; }

int register_descriptor(Descriptor& d, std::uint32_t events) {
  // A descriptor that was closed and opened again is not registered, though we believe it is.
  int error = poll_control(d.registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, d.fd, events, tag_of(d));
  if (error == ENOENT) error = poll_control(EPOLL_CTL_ADD, d.fd, events, tag_of(d));
  else if (error == EEXIST) error = poll_control(EPOLL_CTL_MOD, d.fd, events, tag_of(d));
  return error;
}

}  // namespace

int arm(Descriptor& d, std::uint32_t events) {
  if (events == d.armed) return 0;
  // It is counted before it is registered (see poll_claim).
  const bool was_counted = can_come(d.armed), is_counted = can_come(events);
  if (is_counted && !was_counted) registered_descriptors.fetch_add(1, std::memory_order_relaxed);
  int error = 0;
  if (events) error = register_descriptor(d, events);
  else poll_forget(d.fd);
  d.registered = events && !error;
  d.armed = error ? 0 : events;
  if ((is_counted || was_counted) && !can_come(d.armed))
    registered_descriptors.fetch_sub(1, std::memory_order_relaxed);
  return error;
}

void forget_registration(Descriptor& d) {
  if (can_come(d.armed)) registered_descriptors.fetch_sub(1, std::memory_order_relaxed);
  d.armed = 0;
  d.registered = false;
}

std::unique_ptr<FormerUser> begin_use(Descriptor& d, DescriptorUser& user) {
  if (d.user == &user) return nullptr;
  std::unique_ptr<FormerUser> former;
  if (d.user) former = d.user->give_up();
  forget_registration(d);
  ++d.generation;
  d.user = &user;
  return former;
}

std::unique_ptr<FormerUser> end_use(Descriptor& d) {
  if (!d.user) return nullptr;
  if (d.registered) arm(d, 0);
  ++d.generation;
  std::unique_ptr<FormerUser> former = d.user->give_up();
  d.user = nullptr;
  return former;
}

void descriptor_ready(Word tag, std::uint32_t events) {
  Descriptor& d = *descriptors.at(static_cast<int>(tag & 0xFFFFFFFF));
  std::unique_lock lock(d.lock);
  if (d.generation != tag >> 32 || !can_come(d.armed)) return;  // given up in the meantime
  if (d.armed & EPOLLONESHOT) {
    d.armed = Descriptor::kSilent;
    registered_descriptors.fetch_sub(1, std::memory_order_relaxed);
  }
  d.user->ready(events, lock);
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/channels.hpp"

#include <climits>
#include <list>
#include <map>

#include "vm/base/clock.hpp"
#include "vm/base/incremental_sweep.hpp"
#include "vm/dist/connection.hpp"
#include "vm/dist/node_events.hpp"
#include "vm/dist/outgoing.hpp"
#include "vm/lifecycle/exit.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/registry.hpp"

namespace vmrun::dist {
namespace {

// Channels are found without a lock by hashing, under an epoch; everything else happens under the
// lock. What is unlinked waits until that epoch has passed and nothing refers to it. None of this
// is ever destroyed, since threads may outlive main.
constexpr std::size_t kBuckets = 1024;
struct Place {
  explicit Place(Term name, Word number) : channel(name, number) {}
  Channel channel;
  std::atomic<Place*> next{nullptr};  // in the bucket
  Word unused_since = 0;              // ns; 0: it was in use at the last look
  Word stamp = 0;                     // the epoch's stamp, once it is unlinked
};
std::atomic<Place*> buckets[kBuckets];
std::mutex& table_mutex = *new std::mutex;
std::map<Word, Place*>& places = *new std::map<Word, Place*>;  // by number
std::list<Place*>& unlinked = *new std::list<Place*>;          // oldest first
Word last_number = 0;
Word next_look = 0;  // the next channel to be examined has this number or a higher one

constexpr unsigned kLooksPerNew = 4;    // channels that are examined for each new one
constexpr unsigned kLooksAtOnce = 100;  // while the lock is held

std::atomic<Place*>& bucket_of(Term name) { return buckets[name.atom_index() % kBuckets]; }

Channel* find(Term name) {
  for (Place* p = bucket_of(name).load(std::memory_order_acquire); p;
       p = p->next.load(std::memory_order_acquire))
    if (p->channel.name == name) return &p->channel;
  return nullptr;
}

// ---- Giving back, under the lock ----------------------------------------------------------------

void unlink(Place& place) {
  std::atomic<Place*>* at = &bucket_of(place.channel.name);
  while (at->load(std::memory_order_relaxed) != &place) at = &at->load(std::memory_order_relaxed)->next;
  at->store(place.next.load(std::memory_order_relaxed), std::memory_order_release);
  place.stamp = epoch_stamp();
  unlinked.push_back(&place);
}

void free_unlinked() {
  if (unlinked.empty()) return;
  const Word passed = epoch_passed(unlinked.back()->stamp);
  for (auto it = unlinked.begin(); it != unlinked.end() && (*it)->stamp <= passed;) {
    if ((*it)->channel.is_referred_to()) {
      ++it;
      continue;
    }
    delete *it;
    it = unlinked.erase(it);
  }
}

bool is_taken_out(Place& place, Word now) {
  if (place.channel.is_unused())
    return is_unused_long_enough(place.unused_since, now) &&
           place.channel.leave_table([&place] { unlink(place); });
  place.unused_since = 0;
  return false;
}

/// Examines the next `count` channels. Returns false after the last channel.
bool look_at_some(unsigned count) {
  const Word now = monotonic_ns();
  const bool more =
      sweep_some(places, &next_look, count, [now](Place& place) { return is_taken_out(place, now); });
  free_unlinked();
  return more;
}

Channel& make_channel(Term name) {
  if (Channel* found = find(name)) return *found;
  (void)look_at_some(kLooksPerNew);
  auto* const made = new Place(name, ++last_number);
  std::atomic<Place*>& bucket = bucket_of(name);
  made->next.store(bucket.load(std::memory_order_relaxed), std::memory_order_relaxed);
  bucket.store(made, std::memory_order_release);
  places.emplace(last_number, made);
  return made->channel;
}

// ---- Channels of nodes --------------------------------------------------------------------------

/// Returns the node's channel. The entry of a node refers to it from the first call on.
Channel& channel_of_node(Node& node) {
  if (void* known = node.channel.load(std::memory_order_acquire)) [[likely]]
    return *static_cast<Channel*>(known);
  std::lock_guard lock(table_mutex);
  if (void* known = node.channel.load(std::memory_order_relaxed)) return *static_cast<Channel*>(known);
  Channel& channel = make_channel(node.name);
  channel.retain();
  node.channel.store(&channel, std::memory_order_release);
  return channel;
}

std::atomic<Word> net_kernel{0};  // while the node is alive

}  // namespace

Channel* find_channel_to(Term name) { return find(name); }

Channel& channel_to(Term name) {
  if (Channel* found = find(name)) [[likely]]
    return *found;
  std::lock_guard lock(table_mutex);
  return make_channel(name);
}

Channel& channel_of(Term identifier) {
  if (identifier.is_tuple()) return channel_to(identifier.element(1));
  return channel_of_node(*reinterpret_cast<const ExternalObject*>(identifier.boxed_ptr())->node);
}

Channel* channel_at(Word number) {
  std::lock_guard lock(table_mutex);
  const auto found = places.find(number);
  return found == places.end() ? nullptr : &found->second->channel;
}

Channel* channel_after(Word number) {
  std::lock_guard lock(table_mutex);
  const auto found = places.upper_bound(number);
  return found == places.end() ? nullptr : &found->second->channel;
}

void give_back_unused() {
  give_back_nodes();
  {
    std::lock_guard lock(table_mutex);
    next_look = 0;
  }
  for (bool more = true; more;) {
    std::lock_guard lock(table_mutex);
    more = look_at_some(kLooksAtOnce);
  }
}

Node* connected_node(Word number) {
  Node* found = nullptr;
  for_each_channel([&](Channel& channel) {
    if (found || channel.name.atom_index() != number) return;
    if (const auto connection = channel.connection()) found = node_entry(channel.name, connection->creation);
  });
  return found;
}

// ---- Handles ------------------------------------------------------------------------------------

Channel* find_channel(Term handle, Word* connection) {
  if (!handle.is_tuple() || handle.tuple_arity() != 2 || !handle.element(0).is_small() ||
      !handle.element(1).is_local_ref())
    return nullptr;
  const RefKey key = ref_key(handle.element(1));
  if (!is_in(RefSpace::kChannels, key)) return nullptr;
  *connection = static_cast<Word>(handle.element(0).small_value());
  return channel_at(gathered_count(key.low));
}

Term make_handle(Term*& hp, const Channel& channel, Word connection) {
  const Term ref = make_ref(hp, ref_key_in(RefSpace::kChannels, channel.number));
  return make_tuple(hp, Term::small(static_cast<SWord>(connection)), ref);
}

// ---- This node ----------------------------------------------------------------------------------

bool come_alive(Term name, std::uint32_t creation, Term kernel) {
  {
    std::lock_guard lock(table_mutex);
    if (is_alive()) return false;
    net_kernel.store(kernel.raw(), std::memory_order_relaxed);
    set_local_node(name, creation);
  }
  tell_node_event({.node = name, .up = true, .visible = true, .connection = 0, .reason = Term::nil()});
  return true;
}

bool can_connect() { return is_alive() && whereis(atoms::net_kernel); }

void ask_for_connection(const Channel& channel, Word connection) {
  Fragment* f = new_fragment(4 + kHandleWords);
  Term* hp = fragment_alloc(*f, kHandleWords);
  const Term handle = make_handle(hp, channel, connection);
  hp = fragment_alloc(*f, 4);
  f->message = make_tuple(hp, atoms::auto_connect, channel.name, handle);
  const Term kernel = whereis(atoms::net_kernel);
  if (kernel) (void)send_from_vm(kernel, f);
  else Fragment::destroy(f);
}

namespace {

/// Without net_kernel the node has no name and no connections.
void leave_network() {
  net_kernel.store(0, std::memory_order_relaxed);
  for_each_channel([](Channel& channel) {
    if (const std::shared_ptr<Connection> c = channel.connection()) c->end(atoms::net_kernel_terminated);
    const Route pending = channel.route();
    if (!pending.pending) return;
    if (const auto down = channel.abort(pending.connection)) down->tell(INT_MAX);
  });
  const Term name = local_node_name();
  set_local_node(atoms::nonode_at_nohost, 0);
  tell_node_event(
      {.node = name, .up = false, .visible = true, .connection = 0, .reason = atoms::net_kernel_terminated});
}

/// Removes what the process has set up with monitor_node and monitor_nodes.
void forget_process(const Process& p) {
  unsubscribe(p.id);
  for_each_channel([&](Channel& channel) {
    channel.change(channel.route(), [&](Relations& r) { r.forget_watcher(p.id); });
  });
}

}  // namespace

bool leave_distribution(Process& p) {
  if (net_kernel.load(std::memory_order_relaxed) == p.id.raw()) [[unlikely]]
    leave_network();
  if (p.extra && p.extra->in_distribution) [[unlikely]]
    forget_process(p);
  return true;
}

}  // namespace vmrun::dist

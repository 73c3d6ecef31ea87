#include "vm/dist/channels.hpp"

#include <climits>
#include <deque>

#include "vm/dist/connection.hpp"
#include "vm/dist/node_events.hpp"
#include "vm/dist/outgoing.hpp"
#include "vm/lifecycle/exit.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/registry.hpp"

namespace vmrun::dist {
namespace {

// Found without a lock by hashing, never removed. Neither is destroyed: threads may outlive main.
constexpr std::size_t kBuckets = 1024;
struct Place {
  explicit Place(Term name, Word number, Place* next) : channel(name, number), next(next) {}
  Channel channel;
  Place* const next;
};
std::atomic<Place*> buckets[kBuckets];
std::mutex& table_mutex = *new std::mutex;
std::deque<Place>& places = *new std::deque<Place>;
std::atomic<Word> place_count{0};

std::atomic<Place*>& bucket_of(Term name) { return buckets[name.atom_index() % kBuckets]; }

Channel* find(Term name) {
  for (Place* p = bucket_of(name).load(std::memory_order_acquire); p; p = p->next)
    if (p->channel.name == name) return &p->channel;
  return nullptr;
}

Channel& channel_of_node(Node& node) {
  if (void* known = node.channel.load(std::memory_order_acquire)) [[likely]]
    return *static_cast<Channel*>(known);
  Channel& channel = channel_to(node.name);
  node.channel.store(&channel, std::memory_order_release);
  return channel;
}

std::atomic<Word> net_kernel{0};  // while the node is alive

}  // namespace

Channel& channel_to(Term name) {
  if (Channel* found = find(name)) [[likely]]
    return *found;
  std::lock_guard lock(table_mutex);
  if (Channel* found = find(name)) return *found;
  std::atomic<Place*>& bucket = bucket_of(name);
  Place& made = places.emplace_back(name, places.size() + 1, bucket.load(std::memory_order_relaxed));
  bucket.store(&made, std::memory_order_release);
  place_count.store(places.size(), std::memory_order_release);
  return made.channel;
}

Channel& channel_of(Term identifier) {
  if (identifier.is_tuple()) return channel_to(identifier.element(1));
  return channel_of_node(*reinterpret_cast<const ExternalObject*>(identifier.boxed_ptr())->node);
}

Word channel_count() { return place_count.load(std::memory_order_acquire); }

Channel& channel_at(Word number) {
  std::lock_guard lock(table_mutex);
  return places[number - 1].channel;
}

Node* connected_node(Word number) {
  Node* found = nullptr;
  for_each_channel([&](Channel& channel) {
    if (found) return;
    const auto connection = channel.connection();
    if (!connection) return;
    Node* node = node_entry(channel.name, connection->creation);
    if (node->number == number) found = node;
  });
  return found;
}

// ---- Handles ------------------------------------------------------------------------------------

Channel* find_channel(Term handle, Word* connection) {
  if (!handle.is_tuple() || handle.tuple_arity() != 2 || !handle.element(0).is_small() ||
      !handle.element(1).is_local_ref())
    return nullptr;
  const RefKey key = ref_key(handle.element(1));
  if (!is_in(RefSpace::kChannels, key) || key.low == 0 || key.low > channel_count()) return nullptr;
  *connection = static_cast<Word>(handle.element(0).small_value());
  return &channel_at(key.low);
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

/// Without net_kernel the node has no name, and no connections.
void leave_network() {
  net_kernel.store(0, std::memory_order_relaxed);
  for_each_channel([](Channel& channel) {
    if (const std::shared_ptr<Connection> c = channel.connection()) c->end(atoms::net_kernel_terminated);
    const Route pending = channel.route();
    if (!pending.pending) return;
    if (const auto loss = channel.abort(pending.connection)) loss->tell(INT_MAX);
  });
  const Term name = local_node_name();
  set_local_node(atoms::nonode_at_nohost, 0);
  tell_node_event(
      {.node = name, .up = false, .visible = true, .connection = 0, .reason = atoms::net_kernel_terminated});
}

/// What it has set up with monitor_node and monitor_nodes.
void forget_process(const Process& p) {
  unsubscribe(p.id);
  for_each_channel([&](Channel& channel) {
    channel.change(channel.route(), [&](Relations& r) { r.forget_watcher(p.id); });
  });
}

bool end_of_process(Process& p) {
  if (net_kernel.load(std::memory_order_relaxed) == p.id.raw()) [[unlikely]]
    leave_network();
  if (p.extra && p.extra->in_distribution) [[unlikely]]
    forget_process(p);
  return true;
}

[[maybe_unused]] const bool filled_in = [] {
  receivers.elsewhere = &elsewhere;
  add_exit_hook(end_of_process);
  return true;
}();

}  // namespace

}  // namespace vmrun::dist

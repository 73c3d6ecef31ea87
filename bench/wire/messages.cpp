// SPDX-License-Identifier: Apache-2.0
// What messages to and from other nodes cost as bytes: encoding one and making its packets, taking
// the packets and building the term. Google Benchmark; ./dev bench wire builds and runs it.
#include <benchmark/benchmark.h>

#include <vector>

#include "vm/dist/wire/wire.hpp"
#include "vm/heap/literal.hpp"
#include "vm/machine.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/node.hpp"

using namespace vmrun;
using namespace vmrun::dist;

namespace {

constexpr Flags kFlags = flag::kDistHdrAtomCache | flag::kFragments;

/// {22, From, To}, with a pid of another node, as in `Pid ! Message`.
Term control_term(Heap& heap) {
  auto* o = reinterpret_cast<ExternalObject*>(heap.alloc(4));
  o->header = Term::header(Term::Sub::kExternalPid, 3);
  o->node = node_entry(intern_atom("other@host"), 77);
  o->data[0] = 99;
  heap.link_off_heap(reinterpret_cast<OffHeapObject*>(o), 0);
  Term* hp = heap.alloc(4);
  return make_tuple(hp, Term::small(22), Term::pid(5), Term::boxed(&o->header));
}

Term binary_term(Heap& heap, Word size) {
  std::uint8_t* bytes;
  const Term t = new_binary(heap, size, &bytes);
  std::fill_n(bytes, size, 7);
  return t;
}

/// [{ok, N, <<"hello">>}, …], a hundred of them.
Term tuples_term(Heap& heap) {
  Term list = Term::nil();
  for (int i = 0; i < 100; ++i) {
    const Term hello = make_binary(heap, "hello", 5);
    Term* hp = heap.alloc(6);
    const Term t = make_tuple(hp, atoms::ok, Term::small(i), hello);
    list = make_cons(hp, t, list);
  }
  return list;
}

Term payload_term(Heap& heap, int which) {
  switch (which) {
    case 0: return binary_term(heap, 16);
    case 1: return binary_term(heap, 1024);
    case 2: return binary_term(heap, 1 << 20);
    default: return tuples_term(heap);
  }
}
const char* const kNames[] = {"16 bytes", "1 KB", "1 MB", "100 tuples"};

void encode(benchmark::State& state) {
  init_literal_area();
  Arena heap;
  const Term control = control_term(heap), payload = payload_term(heap, static_cast<int>(state.range(0)));
  OutputCache cache(kFlags);
  Packet packet;
  for (auto _ : state) {
    const auto m = encode_message(control, payload, kFlags, INT64_MAX);
    while (cache.next_packet(*m.message, &packet)) {}
    benchmark::DoNotOptimize(packet.parts.data());
  }
  state.SetLabel(kNames[state.range(0)]);
}

void decode(benchmark::State& state) {
  init_literal_area();
  Arena heap;
  const Term control = control_term(heap), payload = payload_term(heap, static_cast<int>(state.range(0)));
  OutputCache cache(kFlags);
  std::vector<Binary*> packets;
  Packet packet;
  // Twice: the second time the atoms are in the cache.
  Input in(kFlags);
  for (int i = 0; i < 2; ++i) {
    const auto m = encode_message(control, payload, kFlags, INT64_MAX);
    packets.clear();
    for (bool more = true; more;) {
      more = cache.next_packet(*m.message, &packet);
      Binary* b = packets.emplace_back(Binary::create(packet.bytes));
      std::uint8_t* p = b->data;
      for (const BinaryPart& part : packet.parts) p = std::copy_n(part.data(), part.size(), p);
      (void)in.take(b->data, b->capacity_bytes, b);
    }
  }
  for (auto _ : state) {
    for (Binary* b : packets) (void)in.take(b->data, b->capacity_bytes, b);
    const DecodedPayload d = decode_payload(in.payload(), 0);
    benchmark::DoNotOptimize(d.fragment);
    Fragment::destroy(d.fragment);
  }
  state.SetLabel(kNames[state.range(0)]);
}

BENCHMARK(encode)->DenseRange(0, 3);
BENCHMARK(decode)->DenseRange(0, 3);

}  // namespace

int main(int argc, char** argv) {
  connect_machine();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}

// SPDX-License-Identifier: Apache-2.0
// Functions for drivers: memory, reference-counted binaries, the port's queue.

#include <algorithm>
#include <cstring>

#include "vm/base/allocate.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/task.hpp"

using namespace vmrun;

namespace {

/// True until the port is gone; a thread that has the port data lock may call later than that.
bool has_queue(ErlDrvPort port) { return port && !port_of(port).inbox.is_closed(); }

}  // namespace

extern "C" {

// ---- Memory -------------------------------------------------------------------------------------

void* driver_alloc(ErlDrvSizeT size) { return try_allocate_bytes(size ? size : 1); }
void* driver_realloc(void* ptr, ErlDrvSizeT size) {
  return ptr ? try_reallocate_bytes(ptr, size ? size : 1) : driver_alloc(size);
}
void driver_free(void* ptr) {
  if (ptr) free_bytes(ptr);
}

// ---- Binaries -----------------------------------------------------------------------------------

ErlDrvBinary* driver_alloc_binary(ErlDrvSizeT size) {
  Binary* b = Binary::create(size);
  return b ? driver_binary(b) : nullptr;
}

ErlDrvBinary* driver_realloc_binary(ErlDrvBinary* bin, ErlDrvSizeT size) {
  if (!bin) return driver_alloc_binary(size);
  Binary* b = binary_of(bin);
  if (b->references.load(std::memory_order_acquire) == 1) {
    if (Binary* moved = Binary::resize(b, size)) {
      moved->used_bytes = size;
      return driver_binary(moved);
    }
    return nullptr;
  }
  // The binary is shared: other references keep the old bytes.
  Binary* copy = Binary::create(size);
  if (!copy) return nullptr;
  std::memcpy(copy->data, b->data, std::min<Word>(size, b->used_bytes));
  b->release();
  return driver_binary(copy);
}

void driver_free_binary(ErlDrvBinary* bin) {
  if (bin) binary_of(bin)->release();
}

ErlDrvSInt driver_binary_get_refc(ErlDrvBinary* bin) {
  return static_cast<ErlDrvSInt>(binary_of(bin)->references.load(std::memory_order_acquire));
}
ErlDrvSInt driver_binary_inc_refc(ErlDrvBinary* bin) {
  return static_cast<ErlDrvSInt>(binary_of(bin)->references.fetch_add(1, std::memory_order_relaxed) + 1);
}
ErlDrvSInt driver_binary_dec_refc(ErlDrvBinary* bin) {
  return static_cast<ErlDrvSInt>(binary_of(bin)->references.fetch_sub(1, std::memory_order_acq_rel) - 1);
}

// ---- The queue ----------------------------------------------------------------------------------

int driver_enq(ErlDrvPort port, char* buf, ErlDrvSizeT len) {
  if (!has_queue(port)) return -1;
  port_of(port).queue.append(buf, len);
  return 0;
}

int driver_pushq(ErlDrvPort port, char* buf, ErlDrvSizeT len) {
  if (!has_queue(port)) return -1;
  port_of(port).queue.prepend(buf, len);
  return 0;
}

int driver_enq_bin(ErlDrvPort port, ErlDrvBinary* bin, ErlDrvSizeT offset, ErlDrvSizeT len) {
  if (!has_queue(port)) return -1;
  port_of(port).queue.append(binary_of(bin), offset, len);
  return 0;
}

int driver_pushq_bin(ErlDrvPort port, ErlDrvBinary* bin, ErlDrvSizeT offset, ErlDrvSizeT len) {
  if (!has_queue(port)) return -1;
  port_of(port).queue.prepend(binary_of(bin), offset, len);
  return 0;
}

int driver_enqv(ErlDrvPort port, ErlIOVec* ev, ErlDrvSizeT skip) {
  if (!has_queue(port) || skip > ev->size) return -1;
  IoQueue& queue = port_of(port).queue;
  for (int i = 0; i < ev->vsize; ++i) {
    const ErlDrvSizeT size = ev->iov[i].iov_len, begin = std::min(skip, size);
    skip -= begin;
    if (begin == size) continue;
    const char* bytes = static_cast<const char*>(ev->iov[i].iov_base);
    if (ErlDrvBinary* bin = ev->binv[i])
      queue.append(binary_of(bin), static_cast<std::size_t>(bytes - bin->orig_bytes) + begin, size - begin);
    else queue.append(bytes + begin, size - begin);
  }
  return 0;
}

int driver_pushqv(ErlDrvPort port, ErlIOVec* ev, ErlDrvSizeT skip) {
  if (!has_queue(port) || skip > ev->size) return -1;
  IoQueue& queue = port_of(port).queue;
  ErlDrvSizeT left = ev->size - skip;
  for (int i = ev->vsize - 1; i >= 0 && left; --i) {
    const ErlDrvSizeT size = ev->iov[i].iov_len, take = std::min(left, size), begin = size - take;
    left -= take;
    const char* bytes = static_cast<const char*>(ev->iov[i].iov_base);
    if (ErlDrvBinary* bin = ev->binv[i])
      queue.prepend(binary_of(bin), static_cast<std::size_t>(bytes - bin->orig_bytes) + begin, take);
    else queue.prepend(bytes + begin, take);
  }
  return 0;
}

ErlDrvSizeT driver_deq(ErlDrvPort port, ErlDrvSizeT size) {
  if (!has_queue(port) || size > port_of(port).queue.size()) return static_cast<ErlDrvSizeT>(-1);
  return port_of(port).queue.consume(size);
}

ErlDrvSizeT driver_sizeq(ErlDrvPort port) {
  return has_queue(port) ? port_of(port).queue.size() : static_cast<ErlDrvSizeT>(-1);
}

SysIOVec* driver_peekq(ErlDrvPort port, int* vlen) {
  if (!has_queue(port)) {
    *vlen = -1;
    return nullptr;
  }
  std::size_t count;
  const iovec* vectors = port_of(port).queue.vectors(&count);
  *vlen = static_cast<int>(count);
  return count ? reinterpret_cast<SysIOVec*>(const_cast<iovec*>(vectors)) : nullptr;
}

/// The vectors belong to the queue.
ErlDrvSizeT driver_peekqv(ErlDrvPort port, ErlIOVec* ev) {
  if (!has_queue(port) || !ev) return static_cast<ErlDrvSizeT>(-1);
  IoQueue& queue = port_of(port).queue;
  std::size_t count;
  const iovec* vectors = queue.vectors(&count);
  *ev = {static_cast<int>(count), queue.size(), nullptr, nullptr};
  if (count) {
    ev->iov = reinterpret_cast<SysIOVec*>(const_cast<iovec*>(vectors));
    ev->binv = queue.binaries();
  }
  return queue.size();
}

ErlDrvSizeT driver_vec_to_buf(ErlIOVec* ev, char* buf, ErlDrvSizeT len) {
  ErlDrvSizeT written = 0;
  for (int i = 0; i < ev->vsize && written < len; ++i) {
    const ErlDrvSizeT take = std::min<ErlDrvSizeT>(ev->iov[i].iov_len, len - written);
    if (take) std::memcpy(buf + written, ev->iov[i].iov_base, take);
    written += take;
  }
  return written;
}

}  // extern "C"

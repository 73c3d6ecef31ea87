// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "probes/engine/null_host.hpp"
#include "probes/engine/trace_clock.hpp"
#include "probes/vmtrace/target.hpp"

// The target for neither -p nor -c: the engine runs in vmtrace itself, on a host without probes of
// its own.
namespace vmrun::d {
namespace {

class SelfTarget : public Target {
 public:
  const std::vector<ProbeInfo>& probes() const override { return host_.probes(); }
  std::int64_t pid() const override { return getpid(); }

  bool open(const Program& program, std::string& why) override {
    adjust_clock();
    all_.resize(program.aggregations.size());
    std::iota(all_.begin(), all_.end(), 0U);
    session_ = Session::open(program, host_, why);
    return session_ != nullptr;
  }
  bool begin(std::string&) override {
    session_->begin();
    return true;
  }
  std::uint64_t work(std::uint64_t most_ns) override {
    const std::uint64_t due = session_->next_tick();
    if (due == 0) return most_ns;
    std::uint64_t now = timestamp();
    if (due <= now) {
      session_->tick();
      now = timestamp();
    }
    const std::uint64_t next = session_->next_tick();
    return next == 0 ? most_ns : next <= now ? 0 : std::min(most_ns, next - now);
  }
  void end() override { session_->end(); }
  std::vector<Ring*> rings() override { return session_->rings(); }
  std::size_t rings_reported() override { return rings().size(); }
  std::vector<Element> aggregations() override { return session_->aggregations(all_); }
  std::uint64_t drops(Drop kind) override { return session_->drops(kind); }
  bool exiting(int& status) override { return session_->exiting(status); }
  Names names() override { return {}; }
  std::unique_ptr<Target> again(std::string&) override { return make_self_target(); }

 private:
  NullHost host_;
  std::vector<std::uint32_t> all_;
  std::unique_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<Target> make_self_target() { return std::make_unique<SelfTarget>(); }

}  // namespace vmrun::d

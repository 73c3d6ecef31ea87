// SPDX-License-Identifier: Apache-2.0
#include "vm/base/processors.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace vmrun;

namespace {

namespace fs = std::filesystem;

/// A root with files as of /proc and /sys; goes with the test.
class Root {
 public:
  Root() {
    char name[] = "/tmp/vmrun-processors-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Root() { fs::remove_all(path_); }

  Root& file(const std::string& name, const std::string& text) {
    const fs::path path = path_ + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
    return *this;
  }
  Root& processor(int logical, int node, int package, int core) {
    const std::string cpu = "cpu" + std::to_string(logical);
    file("/sys/devices/system/cpu/" + cpu + "/topology/physical_package_id", std::to_string(package));
    file("/sys/devices/system/cpu/" + cpu + "/topology/core_id", std::to_string(core));
    return file("/sys/devices/system/node/node" + std::to_string(node) + "/" + cpu + "/online", "1");
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const char* const kBothVersions =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "32 31 0:29 / /cg/cpu,cpuacct rw,relatime shared:6 - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 / /cg/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
    "41 31 0:38 / /cg/unified rw,relatime - cgroup2 cgroup2 rw";

std::vector<int> logical(const std::vector<ProcessorPlace>& places) {
  std::vector<int> numbers;
  for (const ProcessorPlace& place : places) numbers.push_back(place.logical);
  return numbers;
}

}  // namespace

TEST_CASE("the quota of a cgroup of version 2") {
  Root root;
  root.file("/proc/self/mountinfo",
            "41 31 0:38 / /cg rw,nosuid shared:4 master:1 - cgroup2 cgroup2 rw,nsdelegate");
  root.file("/proc/self/cgroup", "0::/system.slice/some.service");
  const std::string file = "/cg/system.slice/some.service/cpu.max";
  CHECK(cpu_quota(root.path(), 8) == std::nullopt);  // no controller of processors there
  CHECK(cpu_quota(root.file(file, "max 100000").path(), 8) == 8u);
  CHECK(cpu_quota(root.file(file, "300000 100000").path(), 8) == 3u);
  CHECK(cpu_quota(root.file(file, "199999 100000").path(), 8) == 1u);
  CHECK(cpu_quota(root.file(file, "5000 100000").path(), 8) == 1u);
  CHECK(cpu_quota(root.file(file, "1600000 100000").path(), 8) == 8u);
  CHECK(cpu_quota(root.file(file, "").path(), 8) == std::nullopt);
}

TEST_CASE("the quota of a cgroup of version 1, beside one of version 2") {
  Root root;
  root.file("/proc/self/mountinfo", kBothVersions);
  root.file("/proc/self/cgroup", "9:name=systemd:/other\n3:cpuset:/\n1:cpu,cpuacct:/mine\n0::/also");
  const std::string folder = "/cg/cpu,cpuacct/mine";
  root.file("/cg/unified/also/cpu.max", "400000 100000").file(folder + "/cpu.cfs_period_us", "50000");
  CHECK(cpu_quota(root.path(), 8) == std::nullopt);
  CHECK(cpu_quota(root.file(folder + "/cpu.cfs_quota_us", "100000").path(), 8) == 2u);
  CHECK(cpu_quota(root.file(folder + "/cpu.cfs_quota_us", "-1").path(), 8) == 8u);
}

TEST_CASE("a cgroup that is mounted itself, as in a container") {
  Root root;
  root.file("/proc/self/mountinfo", "32 31 0:29 /docker/12 /cg/cpu ro - cgroup cgroup rw,cpu");
  root.file("/cg/cpu/cpu.cfs_quota_us", "100000").file("/cg/cpu/cpu.cfs_period_us", "100000");
  CHECK(cpu_quota(root.file("/proc/self/cgroup", "1:cpu:/docker/12").path(), 8) == 1u);
  CHECK(cpu_quota(root.file("/proc/self/cgroup", "1:cpu:/docker/123").path(), 8) == std::nullopt);
  root.file("/cg/cpu/inner/cpu.cfs_quota_us", "200000").file("/cg/cpu/inner/cpu.cfs_period_us", "100000");
  CHECK(cpu_quota(root.file("/proc/self/cgroup", "1:cpu:/docker/12/inner").path(), 8) == 2u);
}

TEST_CASE("no cgroups") {
  Root root;
  CHECK(cpu_quota(root.path(), 8) == std::nullopt);
  root.file("/proc/self/mountinfo", "22 27 0:21 / /proc rw - proc proc rw\nbroken\n1 2 3 4 5 - cgroup2");
  CHECK(cpu_quota(root.file("/proc/self/cgroup", "broken").path(), 8) == std::nullopt);
}

TEST_CASE("processors of one node are sorted by package and core") {
  Root root;
  root.processor(0, 0, 0, 0).processor(1, 0, 0, 1).processor(2, 0, 0, 0).processor(10, 0, 1, 0);
  const std::vector<ProcessorPlace> places = processor_places(root.path());
  CHECK(logical(places) == std::vector{0, 2, 1, 10});
  CHECK(places[0] == ProcessorPlace{-1, 0, -1, 0, 0});
}

TEST_CASE("a node lies around its packages, or is a part of one that has several") {
  Root root;
  root.processor(0, 0, 0, 0).processor(1, 1, 0, 1).processor(2, 0, 0, 2).processor(3, 1, 7, 0);
  const std::vector<ProcessorPlace> places = processor_places(root.path());
  CHECK(logical(places) == std::vector{0, 2, 1, 3});
  CHECK(places[1] == ProcessorPlace{-1, 0, 0, 2, 2});
  CHECK(places[2] == ProcessorPlace{-1, 0, 1, 1, 1});
  CHECK(places[3] == ProcessorPlace{1, 7, -1, 0, 3});
}

TEST_CASE("no processors are known where the system does not tell") {
  Root root;
  CHECK(processor_places(root.path()).empty());
  root.file("/sys/devices/system/node/node0/cpu0/online", "1");
  CHECK(processor_places(root.path()).empty());
}

TEST_CASE("no more processors are usable than there are") {
  const Processors now = processors();
  CHECK(now.configured >= now.online);
  CHECK(now.online >= now.available);
  CHECK(now.available >= now.usable());
  CHECK(now.usable() >= 1);
  CHECK(!update_processors());
}

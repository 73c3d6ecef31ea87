// SPDX-License-Identifier: Apache-2.0
#include "runtime/code_path/installed_otp.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

using namespace vmrun;

namespace {

/// A folder that looks like an installation; goes with the test.
struct Installation {
  std::string root;
  Installation() {
    char name[] = "/tmp/vmrun-otp-XXXXXX";
    root = ::mkdtemp(name);
  }
  ~Installation() { std::filesystem::remove_all(root); }
  void application(const char* folder) { std::filesystem::create_directories(root + "/lib/" + folder); }
};

}  // namespace

TEST_CASE("versions are compared number by number") {
  CHECK(compare_versions("8.10", "8.9") > 0);
  CHECK(compare_versions("8.9", "8.9.1") < 0);
  CHECK(compare_versions("4.2", "4.2") == 0);
  CHECK(compare_versions("", "1") < 0);
}

TEST_CASE("the newest version of each application counts") {
  Installation otp;
  for (const char* folder : {"stdlib-4.2", "stdlib-4.10", "kernel-8.5.3", "my-app", "my-app-1.0"})
    otp.application(folder);
  const auto found = otp_applications(otp.root);
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "kernel");
  CHECK(found[1].directory == otp.root + "/lib/my-app-1.0");
  CHECK(found[2].version == "4.10");
  CHECK(otp_application_directory(otp.root, "kernel") == otp.root + "/lib/kernel-8.5.3");
  CHECK(!otp_application_directory(otp.root, "nothing"));
}

TEST_CASE("a root that is given must be one; none is none") {
  Installation otp;
  std::string error;
  CHECK(find_otp_root(otp.root, &error).empty());
  CHECK(error == "no Erlang/OTP in '" + otp.root + "': expected " + otp.root + "/lib/stdlib-VERSION");
  otp.application("stdlib-4.2");
  error.clear();
  CHECK(find_otp_root(otp.root, &error) == otp.root);
  CHECK(find_otp_root("none", &error).empty());
  CHECK(error.empty());
  ::setenv("VMRUN_OTP", otp.root.c_str(), 1);
  CHECK(find_otp_root("", &error) == otp.root);
  ::setenv("VMRUN_OTP", "none", 1);
  CHECK(find_otp_root("", &error).empty());
  ::unsetenv("VMRUN_OTP");
}

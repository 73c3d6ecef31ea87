// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// Numbers with their units, as people read them: three digits that matter. It keeps no state.
namespace vmrun::d {

/// 830 ns, 1.23 ms, 12.3 s
std::string time_text(double ns);
/// 512 B, 1.2 KB, 34 MB; of 1024
std::string bytes_text(double bytes);
/// 999, 12.3k, 4.5M
std::string count_text(double n);
/// 4.5%, 100%
std::string share_text(double part);

}  // namespace vmrun::d

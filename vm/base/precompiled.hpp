// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The part of the standard library that most files use, compiled once for each large library of
/// the build. Files do not include it: they include what they use, and compile without it.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

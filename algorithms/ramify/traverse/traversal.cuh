// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The arguments of traverse() that define the tree and the reduction.

#include <ramify/runtime/build.hpp>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// References to the caller's arguments; see traverse().
template <class Node, class Expand, class Visit, class Reduce, class Value>
struct traversal {
  const Node& root;
  const Expand& expand;
  const Visit& visit;
  const Reduce& reduce;
  const Value& identity;
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The launch tree of a run on the CPU executor: as text, and for questions of a check.

#include <ramify/runtime/cuda.hpp>

#if !RAMIFY_ON_CUDA
#include <algorithm>
#include <ostream>
#include <ramify/cpu/grid_log.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace exercise {

using ramify::launch_trace;
using ramify::traced_grid;

/// The grids of a run.
class grid_list {
 public:
  explicit grid_list(launch_trace trace) : grids_(std::move(trace.grids)) {}

  /// Returns the grids of a kernel, in the order in which they began.
  [[nodiscard]] std::vector<traced_grid> of(std::string_view kernel) const {
    std::vector<traced_grid> result;
    for (const traced_grid& g : grids_) {
      if (g.kernel == kernel) result.push_back(g);
    }
    return result;
  }
  [[nodiscard]] std::size_t count(std::string_view kernel) const { return of(kernel).size(); }

  /// Returns whether each grid of `first`, with its descendants, was complete before any grid of
  /// `second` began.
  [[nodiscard]] bool in_order(std::string_view first, std::string_view second) const {
    std::uint64_t complete = 0;
    for (const traced_grid& g : of(first)) complete = std::max(complete, g.complete);
    const auto later = of(second);
    return later.empty() || complete < later.front().begin;
  }

  /// Returns whether a grid of `one` and a grid of `other` were open at the same time.
  [[nodiscard]] bool overlap(std::string_view one, std::string_view other) const {
    for (const traced_grid& g : of(one)) {
      for (const traced_grid& h : of(other)) {
        if (g.begin < h.complete && h.begin < g.complete) return true;
      }
    }
    return false;
  }

 private:
  std::vector<traced_grid> grids_;
};

/// Writes a launch tree as text.
class tree_printer {
 public:
  tree_printer(std::ostream& out, const launch_trace& trace) : out_(out), grids_(trace.grids) {
    children_.resize(grids_.size() + 1);
    for (std::size_t i = 0; i < grids_.size(); ++i) {
      const std::size_t parent = grids_[i].parent;
      children_[parent == traced_grid::no_grid ? grids_.size() : parent].push_back(i);
    }
  }

  /// Writes the grids that the host launched, each with its descendants.
  void print() {
    if (!grids_.empty()) out_ << "the launch tree of this run (times are steps of the schedule):\n";
    print_children(grids_.size(), "  ");
    if (left_ == 0) out_ << "  ...\n";
  }

 private:
  static constexpr std::size_t max_alike = 4;  // siblings of a kind; one line stands for more

  static std::string extent(const std::array<std::uint32_t, 3>& d) {
    std::string text = std::to_string(d[0]);
    for (std::size_t i = 1; i < 3 && (d[1] > 1 || d[2] > 1); ++i)
      text += 'x' + std::to_string(d[i]);
    return text;
  }

  /// Returns a line's text of a grid: kernel, shape, stream and times.
  static std::string text(const traced_grid& g) {
    std::string line = g.kernel + " <" + extent(g.blocks) + ", " + extent(g.threads) + "> ";
    if (g.stream == ramify::launch_stream::host) {
      line += "by the host";
    } else {
      line += std::string(to_string(g.stream)) + ", by block " + std::to_string(g.parent_block) +
              ", launched " + std::to_string(g.launched);
    }
    line += ", began " + std::to_string(g.begin);
    return line + (g.complete == 0 ? ", not complete" : ", complete " + std::to_string(g.complete));
  }

  void print_children(std::size_t parent, const std::string& indent) {
    using kind = std::tuple<std::string, std::array<std::uint32_t, 3>, ramify::launch_stream>;
    std::vector<std::pair<kind, std::size_t>> seen;
    for (const std::size_t i : children_[parent]) {
      const traced_grid& g = grids_[i];
      const kind mine{g.kernel, g.blocks, g.stream};
      auto same = std::ranges::find(seen, mine, &std::pair<kind, std::size_t>::first);
      if (same == seen.end()) same = seen.insert(seen.end(), {mine, 0});
      if (++same->second > max_alike) continue;
      if (left_ == 0) return;
      --left_;
      out_ << indent << text(g) << '\n';
      print_children(i, indent + "  ");
    }
    for (const auto& [which, count] : seen) {
      if (count > max_alike && left_ > 0) {
        out_ << indent << count - max_alike << " more of " << std::get<0>(which) << '\n';
      }
    }
  }

  std::ostream& out_;
  const std::vector<traced_grid>& grids_;
  std::vector<std::vector<std::size_t>> children_;  // of each grid; the last entry is the host
  std::size_t left_ = 40;                           // lines that may be written
};

inline void print_launch_tree(std::ostream& out, const launch_trace& trace) {
  tree_printer(out, trace).print();
}

}  // namespace exercise
#endif

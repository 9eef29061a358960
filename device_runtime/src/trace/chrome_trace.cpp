// SPDX-License-Identifier: BSD-3-Clause
// Writes the Trace Event Format, which ui.perfetto.dev and chrome://tracing read.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "writing.hpp"

namespace ramify::inline RAMIFY_ABI {
namespace {

using nlohmann::json;

/// Assigns each grid the first track on which no grid runs. The grids are in order of their begin.
std::vector<std::size_t> assign_tracks(const std::vector<traced_grid>& grids) {
  using busy = std::pair<std::uint64_t, std::size_t>;  // end, track
  std::priority_queue<busy, std::vector<busy>, std::greater<>> running;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free;
  std::vector<std::size_t> tracks(grids.size());
  for (std::size_t i = 0; i < grids.size(); ++i) {
    while (!running.empty() && running.top().first <= grids[i].begin) {
      free.push(running.top().second);
      running.pop();
    }
    tracks[i] = running.size();  // a new track, if no track is free
    if (!free.empty()) {
      tracks[i] = free.top();
      free.pop();
    }
    running.emplace(std::max(grids[i].end, grids[i].begin), tracks[i]);
  }
  return tracks;
}

json arguments(const launch_trace& trace, std::size_t i) {
  const traced_grid& g = trace.grids[i];
  json args{{"grid", i},
            {"depth", g.depth},
            {"blocks", shape_text(g.blocks)},
            {"threads", shape_text(g.threads)},
            {"dynamic shared bytes", g.dynamic_shared},
            {"stream", to_string(g.stream)},
            {"launched", g.launched},
            {"begin", g.begin},
            {"end", g.end},
            {"complete", g.complete}};
  if (const std::size_t parent = parent_of(trace, i); parent != traced_grid::no_grid) {
    args["parent"] = parent;
    args["parent's kernel"] = trace.grids[parent].kernel;
    args["parent's block"] = g.parent_block;
  }
  return args;
}

/// Writes the events of a trace.
class event_writer {
 public:
  event_writer(std::ostream& out, const launch_trace& trace)
      : out_(out), trace_(trace), tracks_(assign_tracks(trace.grids)) {}

  /// Writes the names and the order of the tracks.
  void write_tracks() {
    const std::size_t track_count =
        tracks_.empty() ? 0 : *std::max_element(tracks_.begin(), tracks_.end()) + 1;
    for (std::size_t track = 0; track < track_count; ++track) {
      const auto describe = [&](const char* what, const json& args) {
        event({{"ph", "M"}, {"pid", 1}, {"tid", track}, {"name", what}, {"args", args}});
      };
      describe("thread_name", {{"name", "track " + std::to_string(track)}});
      describe("thread_sort_index", {{"sort_index", track}});
    }
  }

  /// Writes one slice for each grid.
  void write_slices() {
    for (std::size_t i = 0; i < trace_.grids.size(); ++i) {
      const traced_grid& g = trace_.grids[i];
      event({{"ph", "X"},
             {"pid", 1},
             {"tid", tracks_[i]},
             {"name", g.kernel},
             {"cat", to_string(g.stream)},
             {"ts", time(g.begin)},
             {"dur", time(std::max(g.end, g.begin) - g.begin)},
             {"args", arguments(trace_, i)}});
    }
  }

  /// Writes one arrow for each launch by a kernel.
  void write_arrows() {
    for (std::size_t i = 0; i < trace_.grids.size(); ++i) {
      const std::size_t p = parent_of(trace_, i);
      if (p == traced_grid::no_grid) continue;
      const traced_grid& child = trace_.grids[i];
      const traced_grid& parent = trace_.grids[p];
      // A viewer attaches an arrow to the slice that is open at its time, so it must begin before
      // the end.
      const std::uint64_t last = std::max(parent.begin + 1, parent.end) - 1;
      json arrow{{"cat", "launch"}, {"name", to_string(child.stream)}, {"id", i}, {"pid", 1}};
      arrow["ph"] = "s";
      arrow["tid"] = tracks_[p];
      arrow["ts"] = time(std::clamp(child.launched, parent.begin, last));
      event(arrow);
      arrow["ph"] = "f";
      arrow["bp"] = "e";  // attach to the slice around this time, not to the next one
      arrow["tid"] = tracks_[i];
      arrow["ts"] = time(child.begin);
      event(arrow);
    }
  }

 private:
  void event(const json& e) { out_ << json_text(e) << ",\n"; }

  /// The unit of the format is a microsecond.
  [[nodiscard]] double time(std::uint64_t t) const {
    return trace_.counts_steps ? double(t) : double(t) / 1000;
  }

  std::ostream& out_;
  const launch_trace& trace_;
  std::vector<std::size_t> tracks_;
};

}  // namespace

void write_chrome_trace(std::ostream& out, const launch_trace& trace) {
  out << "{\"displayTimeUnit\": \"ns\",\n\"otherData\": "
      << json_text({{"route", to_string(trace.taken)},
                    {"backend", to_string(trace.ran_on)},
                    {"grids", trace.grids.size()},
                    {"lost grids", trace.lost},
                    {"times", trace.counts_steps ? "steps of the schedule" : "nanoseconds"},
                    {"device clock at 0", trace.origin}})
      << ",\n\"traceEvents\": [\n";
  event_writer writer(out, trace);
  writer.write_tracks();
  // Slices come before arrows: viewers order events of the same time by their position in the file.
  writer.write_slices();
  writer.write_arrows();
  // This event is always written, so it is the last one, which no comma may follow.
  out << json_text({{"ph", "M"},
                    {"pid", 1},
                    {"name", "process_name"},
                    {"args",
                     {{"name", "Ramify, route " + std::string(to_string(trace.taken)) +
                                   ", backend " + std::string(to_string(trace.ran_on))}}}})
      << "\n]}\n";
  require_written(out);
}

}  // namespace ramify::inline RAMIFY_ABI

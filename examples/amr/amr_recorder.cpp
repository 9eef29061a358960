// SPDX-License-Identifier: BSD-3-Clause
#include "amr_recorder.hpp"

#include <algorithm>
#include <cmath>

namespace common {
namespace {

/// Returns the time of a frame. The first frame has number 0.
double time_of_frame(const amr_settings& s, double number) {
  return s.frames == 0 ? INFINITY : s.framed_until * number / double(s.frames);
}

}  // namespace

std::vector<std::string> names_of_totals(const ramify::amr_setup& flow) {
  auto names = field_names(flow, ramify::amr_fields::conserved);
  if (names.front() == "density") names.front() = "mass";
  return names;
}

double cells_of_a_block(const ramify::amr_setup& flow) {
  return flow.dimensions == 2 ? 16 * 16 : 8 * 8 * 8;
}

double next_frame_time(const amr_settings& s, double now) {
  if (s.frames == 0) return s.flow.end_time;
  double number = std::floor(now / s.framed_until * double(s.frames));
  // Rounding may give a frame that is not after `now`. Beyond 2^53 there may be no next number.
  for (int i = 0; i < 2 && time_of_frame(s, number) <= now; ++i) ++number;
  const double next = time_of_frame(s, number);
  return next > now ? std::min(next, s.flow.end_time) : s.flow.end_time;
}

}  // namespace common

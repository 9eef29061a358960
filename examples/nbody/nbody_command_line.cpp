// SPDX-License-Identifier: BSD-3-Clause
#include "nbody_command_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/cli.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"

namespace common {
namespace {

/// Declares the bodies, and the number and the size of the steps.
void declare_bodies(CLI::App& app, nbody_command_line& o) {
  auto* input =
      o.files.add_input(app, "--input", o.input,
                        "Text file with one body x,y,z,vx,vy,vz,m in each line; a header line may "
                        "name these columns among others");
  add_whole_number(app, "--plummer", o.plummer,
                   "Number of bodies of a generated star cluster, a Plummer sphere")
      ->excludes(input);
  add_whole_number(app, "--seed", o.seed, "Seed of the generated cluster")->excludes(input);
  add_whole_number(app, "--steps", o.steps, "Number of leapfrog steps");
  add_number(app, "--dt", o.dt, {-1e30, 1e30}, "Time step; a negative one goes back in time");
}

void declare_gravity(CLI::App& app, nbody_command_line& o) {
  auto* theta =
      add_number(app, "--theta", o.gravity.theta, {0, 2}, "Opening angle; 0 sums all pairs");
  add_number(
      app, "--tolerance", o.gravity.tolerance, {1e-5, 10},
      "Instead of --theta: the root mean square of the relative errors of the accelerations, in "
      "per cent")
      ->default_str("")
      ->excludes(theta);
  app.add_option("--order", o.gravity.order,
                 "1: a node acts by its mass; 2: by its quadrupole, too")
      ->check(CLI::IsMember({1, 2}))
      ->capture_default_str();
  o.gravity.softening = 0.05;
  add_number(app, "--softening", o.gravity.softening, {0, 1e30}, "Softening length");
  auto* levels = app.add_option("--step-levels", o.gravity.step_levels,
                                "Levels of block time steps: a body on level k takes steps of "
                                "dt / 2^k; 1: all bodies take steps of dt")
                     ->transform(whole_number(1, 20))
                     ->capture_default_str();
  add_number(app, "--step-accuracy", o.gravity.step_accuracy, {1e-30, 1e30},
             "The number eta of block time steps: a body takes the longest step of at most "
             "sqrt(2 eta softening / |acceleration|), or that of the last level")
      ->needs(levels);
  add_number(app, "--gravity", o.gravity.gravitational_constant, {-1e30, 1e30},
             "The gravitational constant G");
  add_choice(app, "--method", ramify::parse_nbody_method, o.gravity.method,
             "tree, or direct: all pairs");
  app.add_option("--precision", o.precision, "float or double")
      ->check(CLI::IsMember({"float", "double"}))
      ->capture_default_str();
}

/// Declares the external field.
void declare_field(CLI::App& app, nbody_command_line& o) {
  constexpr number_range any{-1e30, 1e30};
  const auto add_vector = [&](const char* name, std::vector<double>& target, const char* about) {
    return app.add_option(name, target, about)
        ->type_name("FLOAT")
        ->delimiter(',')
        ->expected(3)
        ->check(number_in(any.least, any.most))
        ->capture_default_str();
  };
  add_vector("--uniform", o.uniform, "Acceleration X,Y,Z of all bodies by an external field");
  add_number(app, "--stiffness", o.field.stiffness, any,
             "Square of the angular frequency of a harmonic field");
  auto* mass = add_number(app, "--point-mass", o.field.point_mass, any,
                          "Mass of a point that attracts the bodies and does not move");
  add_number(app, "--core-radius", o.field.core_radius, {0, 1e30},
             "Softening length of the point mass")
      ->needs(mass);
  add_vector("--center", o.center, "Center X,Y,Z of the harmonic field and of the point mass");
}

void declare_output(CLI::App& app, nbody_command_line& o) {
  o.files.add_output(app, "--output", o.output, "CSV file for the final bodies");
  auto* image = o.files.add_output(app, "--image", o.image, "PNG file for the final density");
  image->check([](const std::string& file) -> std::string {
    if (has_extension(file, ".png")) return {};
    return "'" + file + "' must end in .png, the only format of images";
  });
  app.add_option("--image-size", o.image_size, "Width and height in pixels, without the scale")
      ->transform(whole_number(1, 16384))
      ->capture_default_str()
      ->needs(image);
  add_number(app, "--image-side", o.image_side, {0, 1e30},
             "Width and height in length units; 0: contains nine bodies in ten")
      ->needs(image);
  auto* collide = add_number(app, "--collide", o.collide, {0, 1e15},
                             "Count the pairs of final bodies closer than this distance");
  o.files.add_output(app, "--collisions", o.collisions, "CSV file for these pairs: first, second")
      ->needs(collide);
  add_whole_number(app, "--energy-every", o.energy_every,
                   "Steps between lines of energies; 0: only the first and the last line");
  app.add_flag("--quiet", o.quiet, "No progress display, and no table");
  o.files.add_report(app, o.report);
}

/// Checks what depends on the type of the numbers, with a simulation of no bodies.
template <class Real>
void check_numbers(const nbody_command_line& o) {
  const double least = std::numeric_limits<Real>::min();
  const std::string small = " is too small for --precision " + o.precision + "; it must be 0 or ";
  if (o.dt != 0 && std::abs(o.dt) < least) {
    throw std::invalid_argument("--dt" + small + "a normal number of that type");
  }
  if (o.collide != 0 && o.collide < 3 * std::sqrt(least)) {
    throw std::invalid_argument("--collide" + small + "a number with a normal square of that type");
  }
  (void)ramify::nbody_simulation<Real>({}, {}, {}, o.field, o.gravity,
                                       {.backend = ramify::backend::cpu});
}

}  // namespace

void declare(CLI::App& app, nbody_command_line& o) {
  declare_bodies(app, o);
  declare_gravity(app, o);
  declare_field(app, o);
  add_launch_options(app, o.env);
  add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.env.flat_loop,
             "What launches the levels of the tree on the flat route: automatic, host, graph");
  add_trace_option(app, o.files, o.trace);
  declare_output(app, o);
}

void check(nbody_command_line& o) {
  validate(o.gravity);
  std::ranges::copy(o.uniform, o.field.uniform.begin());
  std::ranges::copy(o.center, o.field.center.begin());
  o.precision == "float" ? check_numbers<float>(o) : check_numbers<double>(o);
  if (o.plummer >> 31 != 0) throw std::invalid_argument("--plummer must be less than 2^31");
  o.files.check();
}

}  // namespace common

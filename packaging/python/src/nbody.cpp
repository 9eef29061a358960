// SPDX-License-Identifier: BSD-3-Clause
// Gravity of bodies on one another: forces, collisions and simulations.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <memory>
#include <optional>
#include <ramify/nbody.hpp>
#include <string>
#include <variant>

#include "arrays.hpp"

namespace ramify::python {

namespace {

template <class Real>
using vector = std::array<Real, 3>;

template <class Real>
std::span<const vector<Real>> vectors(const input& array) {
  const std::span<const Real> numbers = elements<const Real>(array);
  return {reinterpret_cast<const vector<Real>*>(numbers.data()), numbers.size() / 3};
}

template <class Real>
std::span<vector<Real>> vectors(const output& array) {
  const std::span<Real> numbers = elements<Real>(array);
  return {reinterpret_cast<vector<Real>*>(numbers.data()), numbers.size() / 3};
}

bool is_float(const input& array) { return array.dtype() == nb::dtype<float>(); }

/// With `starts`, it returns before the call is complete.
template <bool starts>
auto forces(const input& positions, const input& masses, const output& accelerations,
            const output& potentials, const nbody_options& options, const environment& env) {
  const auto run = [&]<class Real>(Real) {
    const auto x = vectors<Real>(positions);
    const auto m = elements<const Real>(masses);
    const auto a = vectors<Real>(accelerations);
    const auto phi = elements<Real>(potentials);
    if constexpr (starts) {
      return gravity_async<Real>(x, m, a, phi, options, env);
    } else {
      return gravity<Real>(x, m, a, phi, options, env);
    }
  };
  return outcome_of([&] { return is_float(positions) ? run(0.0f) : run(0.0); });
}

/// Returns the number of all pairs, and the report.
nb::tuple collisions(const input& positions, const input& radii, const output& pairs,
                     const environment& env) {
  const std::span<std::int32_t> numbers = elements<std::int32_t>(pairs);
  const std::span<body_pair> room(reinterpret_cast<body_pair*>(numbers.data()), numbers.size() / 2);
  const auto run = [&]<class Real>(Real) {
    return find_collisions<Real>(vectors<Real>(positions), elements<const Real>(radii), room, env);
  };
  const nbody_collisions found =
      without_lock([&] { return is_float(positions) ? run(0.0f) : run(0.0); });
  return nb::make_tuple(found.collisions, text_of(found));
}

class simulation {
 public:
  simulation(const input& positions, const input& velocities, const input& masses,
             const nbody_options& options, const std::optional<nbody_field>& field,
             const environment& env) {
    const auto make = [&]<class Real>(Real) {
      using bodies = nbody_simulation<Real>;
      const auto x = vectors<Real>(positions);
      const auto v = vectors<Real>(velocities);
      const auto m = elements<const Real>(masses);
      bodies_ = field ? std::make_unique<bodies>(x, v, m, *field, options, env)
                      : std::make_unique<bodies>(x, v, m, options, env);
    };
    const nb::gil_scoped_release other_threads_may_run;
    is_float(positions) ? make(0.0f) : make(0.0);
  }

  void step(double dt, std::uint64_t count) {
    visit([&](auto& bodies) { bodies.step(dt, count); });
  }

  nb::tuple conserved() {
    nbody_conserved c{};
    visit([&](auto& bodies) { c = bodies.conserved(); });
    const auto three = [](const double* v) { return nb::make_tuple(v[0], v[1], v[2]); };
    return nb::make_tuple(c.kinetic, c.potential, three(c.momentum), three(c.angular_momentum));
  }

  /// Writes those arrays that have elements.
  void download(const output& positions, const output& velocities, const output& accelerations,
                const output& potentials) {
    visit([&]<class Real>(nbody_simulation<Real>& bodies) {
      bodies.download(vectors<Real>(positions), vectors<Real>(velocities),
                      vectors<Real>(accelerations), elements<Real>(potentials));
    });
  }

  std::string report() {
    std::string text;
    visit([&](auto& bodies) { text = text_of(bodies.report()); });
    return text;
  }

 private:
  /// Calls `run` with the bodies, without Python's global lock.
  template <class Run>
  void visit(Run run) {
    const nb::gil_scoped_release other_threads_may_run;
    std::visit([&](auto& bodies) { run(*bodies); }, bodies_);
  }

  std::variant<std::unique_ptr<nbody_simulation<float>>, std::unique_ptr<nbody_simulation<double>>>
      bodies_;
};

void set_method(nbody_options& options, const std::string& name) {
  options.method = parse_nbody_method(name);
}

}  // namespace

void add_nbody(nb::module_& module) {
  nb::class_<nbody_options>(module, "NBodyOptions")
      .def(nb::init<>())
      .def_rw("theta", &nbody_options::theta)
      .def_rw("tolerance", &nbody_options::tolerance)
      .def_rw("order", &nbody_options::order)
      .def_rw("softening", &nbody_options::softening)
      .def_rw("gravitational_constant", &nbody_options::gravitational_constant)
      .def_rw("step_levels", &nbody_options::step_levels)
      .def_rw("step_accuracy", &nbody_options::step_accuracy)
      .def_rw("leaf_size", &nbody_options::leaf_size)
      .def("set_method", &set_method, nb::arg("name"));
  nb::class_<nbody_field>(module, "NBodyField")
      .def(nb::init<>())
      .def_rw("uniform", &nbody_field::uniform)
      .def_rw("stiffness", &nbody_field::stiffness)
      .def_rw("point_mass", &nbody_field::point_mass)
      .def_rw("core_radius", &nbody_field::core_radius)
      .def_rw("center", &nbody_field::center);
  const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
  const auto define_forces = [&](const char* name, auto function) {
    module.def(name, function, array("positions"), array("masses"), array("accelerations"),
               array("potentials"), nb::arg("options"), nb::arg("env"));
  };
  define_forces("gravity", &forces<false>);
  define_forces("gravity_async", &forces<true>);
  module.def("find_collisions", &collisions, array("positions"), array("radii"), array("pairs"),
             nb::arg("env"));
  nb::class_<simulation>(module, "NBodySimulation")
      .def(nb::init<const input&, const input&, const input&, const nbody_options&,
                    const std::optional<nbody_field>&, const environment&>(),
           array("positions"), array("velocities"), array("masses"), nb::arg("options"),
           nb::arg("field").none(), nb::arg("env"), nb::keep_alive<1, 7>())
      .def("step", &simulation::step, nb::arg("dt"), nb::arg("count"))
      .def("conserved", &simulation::conserved)
      .def("download", &simulation::download, array("positions"), array("velocities"),
           array("accelerations"), array("potentials"))
      .def("report", &simulation::report);
}

}  // namespace ramify::python

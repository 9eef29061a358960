// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// mhd: the physics of ideal magnetohydrodynamics, with divergence cleaning. <ramify/amr.cuh>
/// includes this header.
///
///     using plasma = mhd<double, 2>;
///     amr_run run(plasma{}, gradient_criterion<plasma>{}, orszag_tang<double>{}, options);
///
/// Dedner: A. Dedner, F. Kemm, D. Kroener, C.-D. Munz, T. Schnitzer, M. Wesenberg, Hyperbolic
/// divergence cleaning for the MHD equations, J. Comput. Phys. 175 (2002) 645. Mignone: A. Mignone,
/// P. Tzeferacos, A second-order unsplit Godunov scheme for cell-centered MHD: the CTU-GLM scheme,
/// J. Comput. Phys. 229 (2010) 2117. The flux is HLLD, see hlld.cuh.

#include <cmath>
#include <ramify/amr/physics/floors.cuh>
#include <ramify/amr/physics/hlld.cuh>
#include <ramify/amr/rounding.cuh>
#include <ramify/amr/state.cuh>
#include <string>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// The equations of a plasma without resistance and viscosity, for `dim` = 2 or 3 dimensions of the
/// mesh. Velocity and magnetic field always have three components.
///
/// The conserved values of a cell are density r, momentum r v, total energy
/// E = p / (gamma - 1) + r v^2 / 2 + B^2 / 2, magnetic field B, and the cleaning field psi. The
/// primitive values, in the same order, are density, velocity, pressure p, field and psi. The unit
/// of the field is such that its pressure is B^2 / 2, without 4 pi.
///
///     d/dt r   + div (r v) = 0
///     d/dt r v + div (r v v + (p + B^2 / 2) 1 - B B) = 0
///     d/dt E   + div ((E + p + B^2 / 2) v - B (v B)) = 0
///     d/dt B   + div (v B - B v) + c grad psi = 0
///     d/dt psi + c div B = -damping c / h psi
///
/// The last two are the mixed divergence cleaning of Dedner (GLM), with psi in the unit of B:
/// waves carry errors of div B away at the speed c, and a source damps them. c is the same
/// everywhere, the largest speed that the time step dt allows, so cleaning does not shorten steps:
/// c = cfl / (dt (1/hx + 1/hy [+ 1/hz])), with amr_options::step.cfl and the edges of the finest
/// cells. h is the shortest edge of a cell. In a periodic domain mass, momentum, energy and field
/// are conserved up to rounding, and psi is not. The energy
/// contains no part of psi.
///
/// The flux takes psi and the field through the face from the exact solution of the linear problem
/// of these two (Dedner 42), and everything else from HLLD, with this field on both sides.
///
/// At boundary::reflecting the field through the wall is zero: a perfect conductor. An initial
/// state needs a field without divergence; a divergence that it has is cleaned, too.
///
/// Floors, rounding and symmetry are those of euler.
template <class Real, int dim>
struct mhd {
  static_assert(dim == 2 || dim == 3);
  using real = Real;                             ///< the number type
  static constexpr int dimensions = dim;         ///< dimensions of space
  static constexpr int variables = 9;            ///< values of a cell
  static constexpr int density = 0;              ///< index of the density
  static constexpr int first_momentum = 1;       ///< first velocity, among the primitive values
  static constexpr int velocity_components = 3;  ///< also in two dimensions
  static constexpr int energy = 4;               ///< index of the total energy per volume
  static constexpr int pressure = 4;             ///< among the primitive values
  static constexpr int first_magnetic = 5;       ///< first component of the field
  static constexpr int psi = 8;                  ///< index of the cleaning field
  using values = state<Real, variables>;         ///< the values of a cell

  Real gamma = Real(5) / 3;           ///< ratio of specific heats, > 1
  Real density_floor = Real(1e-12);   ///< > 0; replaces smaller densities
  Real pressure_floor = Real(1e-12);  ///< > 0; replaces smaller pressures
  Real cleaning = 1;                  ///< part of the largest speed that c has, in [0, 1]; 0: none
  Real damping = Real(0.1);           ///< of psi, >= 0; Mignone's alpha; he recommends 0.1

  /// Returns the name of a conserved value.
  static constexpr const char* field_name(int which) {
    constexpr const char* names[] = {"density",    "momentum_x", "momentum_y",
                                     "momentum_z", "energy",     "magnetic_x",
                                     "magnetic_y", "magnetic_z", "psi"};
    return names[which];
  }

  /// Returns the primitive values. Floors replace smaller densities and pressures; the velocity is
  /// the momentum divided by the density after the floor. NaN stays NaN.
  [[nodiscard]] __host__ __device__ values to_primitive(const values& conserved) const {
    using detail::amr::at_least, detail::amr::reciprocal, detail::amr::times;
    values primitive = conserved;
    primitive[density] = at_least(density_floor, conserved[density]);
    const Real volume = reciprocal(primitive[density]);
    for (int i = first_momentum; i < energy; ++i) primitive[i] = times(conserved[i], volume);
    const Real internal =
        (conserved[energy] - magnetic_energy(primitive)) - kinetic_energy(primitive);
    primitive[pressure] = at_least(pressure_floor, times(gamma - 1, internal));
    return primitive;
  }

  /// Returns the conserved values of a cell with these primitive values.
  [[nodiscard]] __host__ __device__ values to_conserved(const values& primitive) const {
    values conserved = primitive;
    for (int i = first_momentum; i < energy; ++i) {
      conserved[i] = detail::amr::times(primitive[density], primitive[i]);
    }
    conserved[energy] = total_energy(primitive);
    return conserved;
  }

  /// Returns whether the values, without floors, are those of a plasma: finite, density > 0 and
  /// pressure > 0.
  [[nodiscard]] __host__ __device__ bool is_valid(const values& conserved) const {
    for (int i = 0; i < variables; ++i) {
      if (!std::isfinite(conserved[i])) return false;
    }
    return conserved[density] > 0 &&
           detail::amr::without_floors(*this).to_primitive(conserved)[pressure] > 0;
  }

  /// Returns whether the floors leave the density and the pressure unchanged, as euler does.
  [[nodiscard]] __host__ __device__ bool is_above_floors(const values& conserved) const {
    return detail::amr::is_above_floors_of(*this, conserved);
  }
  /// Returns a text with the density, the pressure and their floors.
  [[nodiscard]] std::string describe_floors(const values& conserved) const {
    return detail::amr::description_of_floors(*this, conserved);
  }

  /// Returns whether primitive values can be those of a plasma: density > 0 and pressure > 0.
  [[nodiscard]] __host__ __device__ bool is_positive(const values& primitive) const {
    return primitive[density] > 0 && primitive[pressure] > 0;
  }

  /// Sets the largest speed that the time step allows, from which c follows. A run calls it in
  /// kernels before it computes fluxes.
  __host__ __device__ void set_step_speed(Real speed) { cleaning_speed_ = cleaning * speed; }

  /// Returns the largest wave speed along `axis`: |velocity| + speed of the fast magnetosonic wave,
  /// or c if it is set and larger. The position and the time are not read.
  [[nodiscard]] __host__ __device__ Real max_wave_speed(const values& primitive, int axis,
                                                        const Real (&/*where*/)[dim],
                                                        Real /*time*/) const {
    const values u = rotated(primitive, axis);
    const Real speed = std::fabs(u[first_momentum]) + fast_speed(u);
    return speed < cleaning_speed_ ? cleaning_speed_ : speed;
  }

  /// Returns the flux through a face orthogonal to `axis`, per area and time. `left` and `right`
  /// are the primitive states on its two sides; their densities and pressures must be positive. The
  /// position and the time are not read.
  [[nodiscard]] __host__ __device__ values flux(const values& left, const values& right, int axis,
                                                const Real (&/*where*/)[dim], Real /*time*/) const {
    values from = rotated(left, axis);
    values to = rotated(right, axis);
    // Dedner 42; psi has the unit of the field.
    const Real half = Real(0.5);
    const Real through = half * ((from[normal] + to[normal]) - (to[psi] - from[psi]));
    const Real potential = half * ((from[psi] + to[psi]) - (to[normal] - from[normal]));
    from[normal] = to[normal] = through;
    const auto flow = detail::amr::hlld_flux(plasma_of(from), plasma_of(to));
    values all;
    all[density] = flow.density;
    all[energy] = flow.energy;
    RAMIFY_UNROLL
    for (int k = 0; k < 3; ++k) {
      all[first_momentum + k] = flow.momentum[k];
      all[first_magnetic + k] = flow.magnetic[k];
    }
    all[normal] = detail::amr::times(cleaning_speed_, potential);
    all[psi] = detail::amr::times(cleaning_speed_, through);
    return rotated(all, axis);
  }

  /// Returns the mirror image of a cell at a wall orthogonal to `axis`: momentum and field through
  /// the wall change their signs.
  [[nodiscard]] __host__ __device__ values reflected(values conserved, int axis) const {
    for (int k = 0; k < 3; ++k) {
      Real& momentum = conserved[first_momentum + k];
      Real& field = conserved[first_magnetic + k];
      momentum = k == axis ? -momentum : momentum;
      field = k == axis ? -field : field;
    }
    return conserved;
  }

  /// Returns the values after psi is damped during `dt`: exp(-damping c dt / h) times as large.
  [[nodiscard]] __host__ __device__ values implicit_source(values u, const Real (&/*where*/)[dim],
                                                           const Real (&edges)[dim], Real /*time*/,
                                                           Real dt) const {
    Real shortest = edges[0];
    for (int axis = 1; axis < dim; ++axis) {
      shortest = edges[axis] < shortest ? edges[axis] : shortest;
    }
    u[psi] *= std::exp(-damping * (cleaning_speed_ * dt / shortest));
    return u;
  }

 private:
  Real cleaning_speed_ = 0;  ///< c

  static constexpr int normal = first_magnetic;  ///< the field through a face

  /// Returns the values with the x axis and `axis` exchanged.
  [[nodiscard]] __host__ __device__ static values rotated(const values& u, int axis) {
    values other = u;
    RAMIFY_UNROLL
    for (int a = 1; a < dim; ++a) {
      for (const int first : {first_momentum, first_magnetic}) {
        other[first] = axis == a ? u[first + a] : other[first];
        other[first + a] = axis == a ? u[first] : u[first + a];
      }
    }
    return other;
  }

  /// Returns the sum of the squares of three entries. x and y can be exchanged bit by bit.
  [[nodiscard]] __host__ __device__ static Real squares(const values& u, int first) {
    using detail::amr::times;
    return (times(u[first], u[first]) + times(u[first + 1], u[first + 1])) +
           times(u[first + 2], u[first + 2]);
  }
  [[nodiscard]] __host__ __device__ static Real magnetic_energy(const values& u) {
    return Real(0.5) * squares(u, first_magnetic);
  }
  [[nodiscard]] __host__ __device__ static Real kinetic_energy(const values& primitive) {
    return detail::amr::times(Real(0.5) * primitive[density], squares(primitive, first_momentum));
  }
  [[nodiscard]] __host__ __device__ Real total_energy(const values& primitive) const {
    using detail::amr::reciprocal, detail::amr::times;
    return (times(primitive[pressure], reciprocal(gamma - 1)) + kinetic_energy(primitive)) +
           magnetic_energy(primitive);
  }

  /// Returns the speed of the fast wave along the x axis.
  [[nodiscard]] __host__ __device__ Real fast_speed(const values& u) const {
    using detail::amr::reciprocal, detail::amr::times;
    const Real across2 = times(u[normal + 1], u[normal + 1]) + times(u[normal + 2], u[normal + 2]);
    const Real volume = reciprocal(u[density]);
    return detail::amr::fast_speed_of(times(gamma * u[pressure], volume),
                                      times(times(u[normal], u[normal]) + across2, volume),
                                      times(across2, volume));
  }

  /// Returns the state on a side of a face orthogonal to the x axis.
  [[nodiscard]] __host__ __device__ detail::amr::plasma<Real> plasma_of(const values& u) const {
    return {u[density],
            {u[1], u[2], u[3]},
            {u[normal], u[normal + 1], u[normal + 2]},
            u[pressure] + magnetic_energy(u),
            total_energy(u),
            fast_speed(u)};
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END

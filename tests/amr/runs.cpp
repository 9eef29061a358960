// SPDX-License-Identifier: BSD-3-Clause
// Runs on meshes for the tests: the instantiations of amr_run.
#include "runs.hpp"

#include <cmath>
#include <optional>
#include <ramify/amr.cuh>
#include <ramify/runtime/captured_graph.cuh>

#include "device_vectors.cuh"
#include "functors.cuh"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;

namespace {

// ---- runs --------------------------------------------------------------------------------------

template <class Physics, int n>
class run_of final : public any_run {
 public:
  using run_type = amr_run<Physics, criterion_of<Physics>, n>;

  explicit run_of(const setting& s)
      : setting_(s),
        run_(physics_of(s, static_cast<const Physics*>(nullptr)), criterion_of<Physics>{s},
             initial_state<Physics>{s}, s.options, environment_of(s)) {}
  run_of(const setting& s, const amr_state& state)
      : setting_(s),
        run_(physics_of(s, static_cast<const Physics*>(nullptr)), criterion_of<Physics>{s}, state,
             s.options, environment_of(s)) {}

  void advance(std::uint64_t steps) override {
    [[maybe_unused]] const shrinking_pool pool(setting_.pool_shrinks_to);
    run_.advance(steps);
  }
  void advance_to(double time) override { run_.advance_to(time); }
  amr_report advance_async(std::uint64_t steps, const std::function<void()>& meanwhile) override {
    auto under_way = run_.advance_async(steps);
    auto moved = std::move(under_way);
    meanwhile();
    return moved.get();
  }
  [[nodiscard]] std::unique_ptr<captured_steps> capture(
      [[maybe_unused]] std::uint64_t steps) override {
#if RAMIFY_ON_CUDA
    return std::make_unique<graph_of_steps>(run_, steps, stream_->get());
#else
    throw unavailable("the CPU executor has no graphs");
#endif
  }
  void reserve(std::size_t blocks) override { run_.reserve(blocks); }
  [[nodiscard]] double time() const override { return run_.time(); }
  [[nodiscard]] std::uint64_t steps() const override { return run_.steps(); }
  [[nodiscard]] const amr_report& report() const override { return run_.report(); }
  [[nodiscard]] std::vector<double> totals() const override { return run_.totals(); }
  [[nodiscard]] mesh_snapshot snapshot() const override { return run_.snapshot(); }
  [[nodiscard]] amr_state save() const override { return run_.save(); }

 private:
#if RAMIFY_ON_CUDA
  class graph_of_steps final : public captured_steps {
   public:
    graph_of_steps(run_type& run, std::uint64_t steps, cudaStream_t stream)
        : stream_(stream),
          graph_(stream, [&] { static_cast<void>(steps_.emplace(run.advance_async(steps))); }) {}
    void launch() override { graph_.launch(stream_); }
    amr_report get() override { return steps_->get(); }

   private:
    cudaStream_t stream_;
    std::optional<async_run<amr_report>> steps_;  // before the graph, whose constructor sets it
    captured_graph graph_;
  };
#endif

  environment environment_of(const setting& s) {
    environment env = s.env;
    if (s.own_stream) env.stream = stream_.emplace();
    return env;
  }

  setting setting_;
  std::optional<host_stream> stream_;  // before the run, which frees memory in it
  run_type run_;
};

/// While a lease is held, only the runs themselves release slots.
void keep_lease() { static const slot_lease lease(2048); }

template <class... Arguments>
std::unique_ptr<any_run> make_run(const setting& s, const Arguments&... arguments) {
  switch (s.matter) {
    case matter::scalar_2d: return std::make_unique<run_of<scalar_of<2>, 4>>(s, arguments...);
    case matter::scalar_3d: return std::make_unique<run_of<scalar_of<3>, 4>>(s, arguments...);
    case matter::gas_2d: return std::make_unique<run_of<euler<double, 2>, 8>>(s, arguments...);
    case matter::gas_3d: return std::make_unique<run_of<euler<double, 3>, 8>>(s, arguments...);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<any_run> start_run(const setting& s) {
  keep_lease();
  return make_run(s);
}
std::unique_ptr<any_run> resume_run(const setting& s, const amr_state& state) {
  keep_lease();
  return make_run(s, state);
}

namespace {

/// Averages over cells by three Gauss points along each axis.
template <class Physics>
std::vector<double> averages_of(const setting& s, const mesh_snapshot& mesh, double time) {
  constexpr int dim = Physics::dimensions;
  const initial_state<Physics> exact{s};
  const Physics physics = physics_of(s, static_cast<const Physics*>(nullptr));
  const double offset[3] = {-0.3872983346207417, 0, 0.3872983346207417};
  const double weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  std::vector<double> all(mesh.values.size());
  const auto cells = static_cast<int>(mesh.cells_of_a_block());
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const block_position& place = mesh.leaves[leaf];
    for (int cell = 0; cell < cells; ++cell) {
      typename Physics::values sum{};
      for (int point = 0; point < (dim == 2 ? 9 : 27); ++point) {
        double where[dim];
        double share = 1;
        for (int axis = 0, rest = cell, digits = point; axis < dim; ++axis) {
          const auto a = static_cast<std::size_t>(axis);
          where[axis] = mesh.lower[a] + (double(place.index[a]) * mesh.cells + rest % mesh.cells +
                                         0.5 + offset[digits % 3]) *
                                            mesh.spacing(place.level, axis);
          share *= weight[digits % 3];
          rest /= mesh.cells;
          digits /= 3;
        }
        sum += share * physics.to_conserved(exact.at(where, time));
      }
      for (int v = 0; v < Physics::variables; ++v) {
        all[(leaf * mesh.fields.size() + std::size_t(v)) * std::size_t(cells) + std::size_t(cell)] =
            sum[v];
      }
    }
  }
  return all;
}

}  // namespace

std::vector<double> exact_averages(const setting& s, const mesh_snapshot& mesh, double time) {
  switch (s.matter) {
    case matter::scalar_2d: return averages_of<scalar_of<2>>(s, mesh, time);
    case matter::scalar_3d: return averages_of<scalar_of<3>>(s, mesh, time);
    case matter::gas_2d: return averages_of<euler<double, 2>>(s, mesh, time);
    case matter::gas_3d: return averages_of<euler<double, 3>>(s, mesh, time);
  }
  return {};
}

void without_slots(const std::function<void()>& run) {
  const all_slots_taken taken(*current_launch_limits().pending_launches);
  run();
}

unsigned launch_slots_in_use() {
  keep_lease();
  return slots_in_use();
}

}  // namespace tests::inline RAMIFY_BUILD

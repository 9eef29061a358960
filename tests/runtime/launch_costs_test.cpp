// SPDX-License-Identifier: BSD-3-Clause
// Launch costs: their file, their measurement, and the route that they select.
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <ramify/launch_costs.hpp>
#include <ramify/runtime/detail/launch_costs.cuh>
#include <ramify/runtime/detail/launch_costs_file.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/route_plan.hpp>
#include <sstream>

#include "effort.hpp"
#include "printing.hpp"
#include "slot_checks.cuh"
#include "work_folder.hpp"

using ramify::launch_costs;
using namespace ramify::detail::runtime;
using ramify::route;
using ramify::route_plans;

namespace {

/// Synthetic costs, all different.
constexpr launch_costs synthetic{1, 10, 2, 5, 7, 9, 0.5, 3, 20};

const launch_costs_origin origin{"GPU 1/3", "580.1", 13000};

std::string text_of(const launch_costs& costs) {
  std::ostringstream text;
  text << costs;
  return text.str();
}

/// Sets an environment variable for a scope, or unsets it if the value is null.
class scoped_variable {
 public:
  scoped_variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~scoped_variable() { set(old_ ? old_->c_str() : nullptr); }
  scoped_variable(const scoped_variable&) = delete;
  scoped_variable& operator=(const scoped_variable&) = delete;

 private:
  void set(const char* value) { value == nullptr ? ::unsetenv(name_) : ::setenv(name_, value, 1); }
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(launch_costs_and_routes)

BOOST_AUTO_TEST_CASE(the_time_of_a_plan_is_the_sum_of_its_launches) {
  BOOST_TEST(microseconds({}, synthetic) == 0);
  BOOST_TEST(microseconds({.host_launches = 2}, synthetic) == 2);
  BOOST_TEST(microseconds({.host_round_trips = 2}, synthetic) == 20);
  BOOST_TEST(microseconds({.device_launches = 2}, synthetic) == 4);
  BOOST_TEST(microseconds({.nested_levels = 2}, synthetic) == 10);
  BOOST_TEST(microseconds({.named_levels = 2}, synthetic) == 14);
  BOOST_TEST(microseconds({.tail_launches = 2}, synthetic) == 18);
  BOOST_TEST(microseconds({.graph_iterations = 2}, synthetic) == 6);
  BOOST_TEST(microseconds({.graph_loops = 2}, synthetic) == 40);
  BOOST_TEST(microseconds({.extra_us = 2}, synthetic) == 2);
  BOOST_TEST(microseconds({1, 1, 1, 1, 1, 1, 1, 1, 1}, synthetic) ==
             1 + 10 + 2 + 5 + 7 + 9 + 3 + 20 + 1);
  using ramify::child_streams;
  BOOST_TEST(microseconds(plan_of_levels(3, child_streams::named), synthetic) == 21);
  BOOST_TEST(microseconds(plan_of_levels(3, child_streams::fire_and_forget), synthetic) == 15);
}

BOOST_AUTO_TEST_CASE(the_cheaper_route_is_taken) {
  // 6 levels: 6 host round trips of 10 us, or 6 nested levels of 5 us.
  const route_plans deep{{.host_round_trips = 6}, {.nested_levels = 6}, route::flat};
  const auto choice = cheaper_route(deep, synthetic);
  BOOST_TEST(choice.taken == route::device);
  BOOST_TEST(choice.reason == "flat: about 60 us of launches, device about 30 us");
  // Flat if both take equally long, and device for any smaller time.
  const auto with_extra = [&](double us) {
    route_plans plans = deep;
    plans.device.extra_us = us;
    return cheaper_route(plans, synthetic).taken;
  };
  BOOST_TEST(with_extra(29.99) == route::device);
  BOOST_TEST(with_extra(30) == route::flat);
  BOOST_TEST(with_extra(30.01) == route::flat);
  // The reason states whether the routes are equal, up to 5 % of launches and work: here 3 us.
  const auto reason_of = [&](double extra_us, double work_us) {
    route_plans plans = deep;
    plans.device.extra_us = extra_us;
    plans.work_us = work_us;
    return cheaper_route(plans, synthetic).reason;
  };
  BOOST_TEST(reason_of(26.9, 0) == "flat: about 60 us of launches, device about 57 us");
  BOOST_TEST(reason_of(27.1, 0) ==
             "flat: about 60 us of launches, device about 57 us: equal within 5 %");
  BOOST_TEST(reason_of(33.2, 0) == "flat: about 60 us of launches, device about 63 us");
  BOOST_TEST(reason_of(0, 500) == "flat: about 60 us of launches, device about 30 us");
  BOOST_TEST(reason_of(0, 1000) ==
             "flat: about 60 us of launches, device about 30 us, beside about 1000 us of work: "
             "equal within 5 %");
  // On another device, the other route is cheaper.
  launch_costs slow_kernels = synthetic;
  slow_kernels.nested_level = 10.5;
  BOOST_TEST(cheaper_route(deep, slow_kernels).taken == route::flat);
}

BOOST_AUTO_TEST_CASE(costs_are_printed_with_descriptions) {
  launch_costs costs = synthetic;
  costs.graph_iteration = 0;
  costs.host_launch = 3.21456;
  BOOST_TEST(text_of(costs).find("launch by the host: 3.21 us\n") == 0u);
  BOOST_TEST(text_of(costs).find("graph iteration: not on this device\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(implausible_costs_are_detected) {
  BOOST_TEST(are_plausible(synthetic));
  for (const ramify::launch_cost_field& field : ramify::launch_cost_fields) {
    launch_costs costs = synthetic;
    for (const double bad : {-1.0, 1e6, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
      costs.*field.value = bad;
      BOOST_TEST(!are_plausible(costs), field.name << " " << bad);
    }
    costs.*field.value = 0;
    BOOST_TEST(are_plausible(costs) == field.can_be_missing);
  }
}

// ---- the file -----------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(saved_costs_are_loaded) {
  const tests::work_folder work;
  const auto folder = work / "deep/er";  // it is created
  BOOST_TEST(!load_launch_costs(folder, origin).has_value());
  launch_costs costs = synthetic;
  costs.host_launch = 1.0 / 3;
  costs.nested_level = 1e-3;
  for (const double last : {0.0, 1.0}) {  // the second save replaces the file
    costs.graph_loop = last;
    save_launch_costs(folder, origin, costs);
    const auto kept = load_launch_costs(folder, origin);
    BOOST_REQUIRE(kept.has_value());
    for (const ramify::launch_cost_field& field : ramify::launch_cost_fields) {
      BOOST_TEST(((*kept).*field.value == costs.*field.value), field.name);
    }
  }
  BOOST_TEST(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
}

BOOST_AUTO_TEST_CASE(costs_of_another_device_or_version_are_ignored) {
  const tests::work_folder work;
  const auto folder = work / "cache";
  save_launch_costs(folder, origin, synthetic);
  const std::string text = tests::content(launch_costs_path(folder, origin));
  BOOST_REQUIRE(parse_launch_costs(text, origin).has_value());
  for (const launch_costs_origin& other :
       {launch_costs_origin{"GPU 2", origin.driver, origin.runtime},
        launch_costs_origin{origin.gpu, "580.2", origin.runtime},
        launch_costs_origin{origin.gpu, origin.driver, 13010}}) {
    BOOST_TEST((launch_costs_path(folder, other) != launch_costs_path(folder, origin)));
    BOOST_TEST(!load_launch_costs(folder, other).has_value());
    BOOST_TEST(!parse_launch_costs(text, other).has_value());
  }
  // Device names that differ only in characters that a file name omits have the same file.
  const launch_costs_origin similar{"GPU 1 3", origin.driver, origin.runtime};
  BOOST_REQUIRE((launch_costs_path(folder, similar) == launch_costs_path(folder, origin)));
  BOOST_TEST(!load_launch_costs(folder, similar).has_value());
}

BOOST_AUTO_TEST_CASE(a_malformed_file_is_ignored_and_replaced) {
  const tests::work_folder work;
  const auto folder = work / "cache";
  save_launch_costs(folder, origin, synthetic);
  const auto path = launch_costs_path(folder, origin);
  const std::string good = tests::content(path);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    BOOST_REQUIRE(text.find(from) != text.npos);
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& bad :
       {std::string(), good.substr(0, good.size() - 1), good.substr(0, good.size() / 2), good + "x",
        good + good, with("costs 1", "costs 2"), with("host_launch: 1", "host_launch: "),
        with("host_launch: 1", "host_launch: one"), with("host_launch: 1", "host_launch: 1us"),
        with("host_launch: 1", "host_launch: -1"), with("host_launch: 1", "host_launch: nan"),
        with("host_launch: 1", "host_launch: 0"), with("host_launch: 1", "host_launch: 1e999"),
        with("host_launch: 1\n", ""), with("tail_launch", "tall_launch"),
        std::string(1 << 20, '\0')}) {
    tests::set_content(path, bad);
    BOOST_TEST(!load_launch_costs(folder, origin).has_value(), bad.substr(0, 300));
    save_launch_costs(folder, origin, synthetic);
    BOOST_TEST(tests::content(path) == good);
  }
}

BOOST_AUTO_TEST_CASE(an_unwritable_folder_is_ignored) {
  const tests::work_folder work;
  tests::set_content(work / "file", "text");
  for (const auto& folder : {std::filesystem::path(), work / "file", work / "file/below",
                             std::filesystem::path("/proc/none")}) {
    save_launch_costs(folder, origin, synthetic);
    BOOST_TEST(!load_launch_costs(folder, origin).has_value());
  }
  BOOST_TEST(tests::content(work / "file") == "text");
  // If a folder has the name of the file, the folder stays, and no temporary file is left.
  const std::filesystem::path taken = launch_costs_path(work / "cache", origin);
  std::filesystem::create_directories(taken / "in use");
  save_launch_costs(work / "cache", origin, synthetic);
  BOOST_TEST(!load_launch_costs(work / "cache", origin).has_value());
  BOOST_TEST(std::distance(std::filesystem::directory_iterator(work / "cache"), {}) == 1);
}

BOOST_AUTO_TEST_CASE(the_folder_comes_from_the_environment) {
  const auto folder = [](const char* own, const char* xdg, const char* home) {
    const scoped_variable a("RAMIFY_CACHE_DIR", own);
    const scoped_variable b("XDG_CACHE_HOME", xdg);
    const scoped_variable c("HOME", home);
    return launch_costs_folder();
  };
  BOOST_TEST(folder("own", "/xdg", "/home") == "own");
  BOOST_TEST(folder("", "/xdg", "/home") == "/xdg/ramify");
  BOOST_TEST(folder(nullptr, "not/absolute", "/home") == "/home/.cache/ramify");
  BOOST_TEST(folder(nullptr, nullptr, "/home") == "/home/.cache/ramify");
  BOOST_TEST(folder(nullptr, nullptr, nullptr) == "");
}

BOOST_AUTO_TEST_CASE(the_version_of_the_driver_is_parsed) {
  BOOST_TEST(driver_version_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04"
                               "  Release Build\nGCC version:  gcc version 12.2.0 (Debian)\n") ==
             "580.159.04");
  BOOST_TEST(driver_version_in("580.1") == "580.1");
  BOOST_TEST(driver_version_in("no version x.1 . end").find_first_of("x1") == std::string::npos);
  BOOST_TEST(driver_version_in("") == "");
}

// ---- the device ---------------------------------------------------------------------------------

#if RAMIFY_ON_CUDA

BOOST_AUTO_TEST_CASE(measured_costs_of_a_device_are_saved) {
  const tests::work_folder work;
  const auto folder = work / "cache";
  const launch_costs_origin device = current_launch_costs_origin();
  const auto saved = [&] {
    const auto costs = load_launch_costs(folder, device);
    BOOST_REQUIRE(costs.has_value());
    return *costs;
  };
  const launch_costs measured = measure_launch_costs();
  save_launch_costs(folder, device, measured);
  BOOST_TEST_MESSAGE(measured);
  BOOST_TEST(are_plausible(measured));
  // The file is read again: a change in it is a change of the costs.
  BOOST_REQUIRE(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  BOOST_TEST(text_of(saved()) == text_of(measured));
  const auto path = std::filesystem::directory_iterator(folder)->path();
  std::string text = tests::content(path);
  const auto value = text.find("host_launch: ") + 13;
  tests::set_content(path, text.replace(value, text.find('\n', value) - value, "4321"));
  BOOST_TEST(saved().host_launch == 4321);
  // The measurement has released its slots.
  BOOST_TEST(tests::slots_in_use() == 0u);
}

#endif

BOOST_AUTO_TEST_CASE(the_facade_returns_costs_or_throws) {
  try {
    const launch_costs costs = ramify::launch_costs_of_device();
    BOOST_TEST(are_plausible(costs));
    BOOST_TEST(text_of(ramify::launch_costs_of_device()) == text_of(costs));
#if RAMIFY_ON_CUDA
    BOOST_TEST(load_launch_costs(launch_costs_folder(), current_launch_costs_origin()).has_value());
#endif
  } catch (const ramify::unavailable& e) {
    BOOST_TEST(RAMIFY_ON_CUDA == 0);  // this machine may have no GPU
    BOOST_TEST(std::string(e.what()).find("the cuda backend cannot run") == 0u);
  }
}

BOOST_AUTO_TEST_CASE(the_facade_names_the_gpu_and_its_driver_or_throws) {
  try {
    const ramify::gpu_identity device = ramify::gpu_and_driver();
#if RAMIFY_ON_CUDA
    BOOST_TEST(device.gpu == current_launch_costs_origin().gpu);
#endif
    BOOST_TEST(!device.gpu.empty());
    BOOST_TEST(device.driver.find('.') != device.driver.npos);  // a version such as 550.54.15
  } catch (const ramify::unavailable& e) {
    BOOST_TEST(RAMIFY_ON_CUDA == 0);  // this machine may have no GPU
    BOOST_TEST(std::string(e.what()).find("the cuda backend cannot run") == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: BSD-3-Clause
#include "cli.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/notice.hpp>
#include <ramify/version.hpp>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "cli_messages.hpp"
#include "output_file.hpp"
#include "stop_request.hpp"
#include "text_file.hpp"

namespace common {
namespace {

using namespace std::string_view_literals;

constexpr auto out_of_memory = "not enough memory"sv;

constexpr auto footer =
    "Numbers are decimal. Whole numbers may be written as 1e6, 1M (10^6) or 1Mi (2^20).\n"
    "The file - is standard input or standard output. If the output goes to standard output, the\n"
    "report goes to standard error.\n"
    "\n"
    "Exit status: 0 success; 1 failure; 2 a bad option; 3 the input cannot be read or is "
    "malformed;\n"
    "4 this machine or build cannot run the backend or the route; 5 the output cannot be written;\n"
    "128 + n: stopped by signal n.\n"
    "\n"
    "Environment:\n"
    "  RAMIFY_CPU_SCHEDULE   how the CPU executor runs grids: parallel[:threads] (the default),\n"
    "                        eager, late, random[:seed]\n"
    "  RAMIFY_CACHE_DIR      folder for measured launch costs of GPUs; default:\n"
    "                        $XDG_CACHE_HOME/ramify, or ~/.cache/ramify\n"
    "  CUDA_VISIBLE_DEVICES  the GPUs that CUDA may use\n";

/// The threads and the GPU that the options --threads and --device select, while the program runs.
class selected_processor {
 public:
  explicit selected_processor(const CLI::App& app) {
    ramify::cpu::executor_config config;
    if (const char* const schedule = std::getenv("RAMIFY_CPU_SCHEDULE")) {
      try {
        config = ramify::cpu::parse_executor_config(schedule);
      } catch (const std::invalid_argument& e) {
        throw std::invalid_argument(std::string("environment variable RAMIFY_CPU_SCHEDULE: ") +
                                    e.what());
      }
    }
    if (const auto* const threads = app.get_option_no_throw("--threads");
        threads != nullptr && threads->count() > 0) {
      if (config.order != ramify::cpu::schedule::parallel) {
        throw std::invalid_argument("--threads: the schedule " +
                                    std::string(std::getenv("RAMIFY_CPU_SCHEDULE")) +
                                    " of RAMIFY_CPU_SCHEDULE has one thread");
      }
      config.workers = threads->as<unsigned>();
      config_.emplace(config);
    }
    if (const auto* const device = app.get_option_no_throw("--device");
        device != nullptr && device->count() > 0) {
      select_gpu(device->as<unsigned>());
    }
  }

 private:
  /// Makes one GPU visible to CUDA, which has not started yet. The number counts the GPUs that are
  /// visible now.
  static void select_gpu(unsigned number) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    std::string chosen = std::to_string(number);
    if (visible != nullptr) {
      std::istringstream list(visible);
      for (unsigned i = 0; i <= number; ++i) {
        if (!std::getline(list, chosen, ',')) {
          throw ramify::unavailable("--device " + std::to_string(number) +
                                    ": CUDA_VISIBLE_DEVICES names only " + std::to_string(i) +
                                    " devices");
        }
      }
    }
    ::setenv("CUDA_VISIBLE_DEVICES", chosen.c_str(), 1);
  }

  std::optional<ramify::cpu::scoped_executor_config> config_;
};

/// Opens /dev/null in place of standard input, output and error if they are closed. Otherwise the
/// next file that is opened would get the program's messages.
void open_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Reading from a closed input, and writing to a closed output, still fails.
    if (::fcntl(file, F_GETFD) < 0) {
      static_cast<void>(::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
}

}  // namespace

std::string program_version() {
  return std::to_string(RAMIFY_VERSION_MAJOR) + '.' + std::to_string(RAMIFY_VERSION_MINOR) + '.' +
         std::to_string(RAMIFY_VERSION_PATCH);
}

void add_launch_options(CLI::App& app, ramify::environment& env) {
  ramify::backend& backend = env.backend;
  add_choice(app, "--backend", ramify::parse_backend, backend, "automatic, cuda or cpu");
  add_choice(app, "--route", ramify::parse_route, env.route, "automatic, device or flat");
  add_whole_number(app, "--pending-launches", env.pending_launches,
                   "Pending-launch limit of the device runtime; without the option it is unchanged",
                   1)
      ->default_str("");
  const unsigned max_threads = std::max(std::thread::hardware_concurrency(), 1u);
  auto* const threads =
      app.add_option("--threads", "Threads of the CPU executor; default: one per core")
          ->type_name("UINT")
          ->transform(whole_number(1, max_threads));
  auto* const device =
      app.add_option("--device", "Number of the GPU; selects the cuda backend, too")
          ->type_name("UINT")
          ->transform(whole_number(0, 4096));
  app.final_callback([=, &backend] {
    if (threads->count() > 0 && backend == ramify::backend::cuda) {
      throw CLI::ValidationError("--threads", "the cuda backend does not use CPU threads");
    }
    if (device->count() == 0) return;
    if (backend == ramify::backend::cpu) {
      throw CLI::ValidationError("--device", "the cpu backend does not use a GPU");
    }
    if (threads->count() > 0) {
      throw CLI::ValidationError("--device", "excludes --threads, which is of the cpu backend");
    }
    backend = ramify::backend::cuda;
  });
}

namespace {

/// Returns whether mpirun has started more processes than this one.
bool has_other_processes() {
  // Open MPI; MPICH, Intel MPI and srun; MVAPICH.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    const char* const size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1) return true;
  }
  return false;
}

/// Returns the description of the positional argument that a command line lacks: what it may be.
/// Empty: the message is about something else.
std::string missing_argument(const CLI::App& app, std::string_view message) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && option->count() == 0 &&
        message == option->get_name() + " is required") {
      return ": " + option->get_description();
    }
  }
  return {};
}

/// Returns how the program ends because of the exception that is being handled.
/// \throws std::bad_alloc
program_end end_by_exception(const CLI::App& app) {
  const std::string name = app.get_name() + ": ";
  const auto end = [](exit_status status, std::string_view what) {
    return program_end{static_cast<int>(status), escaped(what)};
  };
  // A message of the library may begin with the name of its family, which may be the program's.
  const auto message_of = [&](const std::exception& e) {
    const std::string_view what = e.what();
    return what.starts_with(name) ? what.substr(name.size()) : what;
  };
  const auto message_about_options = [&](const std::exception& e) {
    return in_terms_of_options(app, message_of(e));
  };
  try {
    throw;
  } catch (const CLI::Success& e) {  // --help, --version
    std::ostringstream text;
    app.exit(e, text, text);
    return {0, text.str()};
  } catch (const CLI::ParseError& e) {
    // An unknown argument comes first, because it may be the option that another one requires.
    return end(exit_status::bad_option,
               app.remaining().empty()
                   ? message_about_options(e) + missing_argument(app, message_of(e))
                   : unknown_argument(app));
  } catch (const std::invalid_argument& e) {
    return end(exit_status::bad_option, message_about_options(e));
  } catch (const bad_input& e) {
    return end(exit_status::bad_input, message_about_options(e));
  } catch (const ramify::unavailable& e) {
    return end(exit_status::cannot_run, message_of(e));
  } catch (const bad_output& e) {
    return end(exit_status::bad_output, e.what());
  } catch (const stopped& e) {
    return {static_cast<int>(exit_status::failed), escaped(e.what()), e.signal()};
  } catch (const std::bad_alloc&) {
    return end(exit_status::failed, out_of_memory);
  } catch (const std::exception& e) {
    return end(exit_status::failed, message_about_options(e));
  }
}

/// Prints the last line of a program, and returns its exit status, or ends it by its signal.
int finish(const CLI::App& app, const program_end& end) {
  if (end.status == 0) {
    std::cout << end.text;
    flush_standard_output();
    return 0;
  }
  std::cerr << app.get_name() << ": " << end.text << '\n';
  if (end.signal == 0) return end.status;
  std::cout.flush();
  end_by_signal(end.signal);
}

/// Does what run_program() does. \throws std::bad_alloc if no memory is left for a message
int parse_and_run(const char* name, const char* about, int argc, char** argv,
                  const std::function<void(CLI::App&)>& declare, const std::function<void()>& body,
                  const rank_agreement& agree) {
  ramify::set_notice_handler([](std::string_view notice) { std::cerr << notice << '\n'; });
  CLI::App app(about, name);
  std::optional<selected_processor> selected;
  std::optional<program_end> end;
  try {
    app.set_version_flag("--version", std::string(name) + " (Ramify) " + program_version(),
                         "Print the version and exit");
    app.footer(footer);
    declare(app);
    app.parse(argc, argv);
    if (!agree && has_other_processes()) {
      throw std::invalid_argument(
          "mpirun has started several processes, but this program runs as one process");
    }
    selected.emplace(app);
  } catch (const std::exception&) {
    end = end_by_exception(app);
  }
  try {
    if (agree) end = agree(app, end);
    if (!end) {
      body();
      end.emplace();
    }
    if (end->status == 0) return finish(app, *end);
  } catch (const std::exception&) {
    end = end_by_exception(app);
  }
  return finish(app, *end);
}

}  // namespace

int run_program(const char* name, const char* about, int argc, char** argv,
                const std::function<void(CLI::App&)>& declare, const std::function<void()>& body,
                const rank_agreement& agree) {
  open_standard_files();
  handle_stop_signals();
  try {
    return parse_and_run(name, about, argc, argv, declare, body, agree);
  } catch (const std::exception&) {  // std::bad_alloc
  }
  for (const std::string_view part : {std::string_view(name), ": "sv, out_of_memory, "\n"sv}) {
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  }
  return static_cast<int>(exit_status::failed);
}

}  // namespace common

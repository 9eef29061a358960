// SPDX-License-Identifier: BSD-3-Clause
#include "cli.hpp"

#include <iostream>
#include <new>
#include <ramify/runtime/error.hpp>
#include <stdexcept>

#include "output_file.hpp"
#include "text_file.hpp"

namespace common {

int run_program(const char* name, const char* about, int argc, char** argv,
                const std::function<void(CLI::App&)>& declare, const std::function<void()>& body) {
  const auto report_error = [name](exit_status status, const char* what) {
    std::cerr << name << ": " << what << '\n';
    return static_cast<int>(status);
  };
  CLI::App app(about);
  try {
    declare(app);
    app.parse(argc, argv);
    body();
    return static_cast<int>(exit_status::done);
  } catch (const CLI::Success& e) {  // --help
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return report_error(exit_status::bad_option, e.what());
  } catch (const std::invalid_argument& e) {
    return report_error(exit_status::bad_option, e.what());
  } catch (const bad_input& e) {
    return report_error(exit_status::bad_input, e.what());
  } catch (const ramify::unavailable& e) {
    return report_error(exit_status::cannot_run, e.what());
  } catch (const bad_output& e) {
    return report_error(exit_status::bad_output, e.what());
  } catch (const std::bad_alloc&) {
    return report_error(exit_status::failed, "not enough memory");
  } catch (const std::exception& e) {
    return report_error(exit_status::failed, e.what());
  }
}

}  // namespace common

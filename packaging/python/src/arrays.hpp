// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Arrays of Python programs as spans, and reports of calls. The Python layer has checked their types, shapes and
/// devices, so these functions only select the instance of a template.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <ramify/runtime/async_run.hpp>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ramify::python {

namespace nb = nanobind;

/// An array of a library. If it is on a GPU, the conversion from Python lets no stream wait: the
/// Python layer has ordered the stream of the call after the work on the array.
template <class... Properties>
struct array : nb::ndarray<Properties...> {};

/// An array that a call reads: contiguous, in the memory of the host or of a GPU.
using input = array<nb::ro, nb::c_contig>;
/// An array that a call writes. (An argument of this type must be declared with noconvert(), so
/// that the call does not write to a copy.)
using output = array<nb::c_contig>;

/// Returns the DLPack capsule of an array on a GPU, or the array itself. \throws nb::python_error,
/// an exception of the array's methods
[[nodiscard]] inline nb::object capsule_of(nb::handle source) {
  constexpr int cuda = 2, managed = 13;  // kinds of devices in DLPack
  if (!nb::hasattr(source, "__dlpack_device__")) return nb::borrow(source);
  const auto kind = nb::cast<int>(source.attr("__dlpack_device__")()[0]);
  if (kind != cuda && kind != managed) return nb::borrow(source);
  return source.attr("__dlpack__")(nb::arg("stream") = -1);  // no stream waits
}

/// Returns the elements of an array. An array without elements may have no address.
/// \throws std::invalid_argument if the array has another type of elements
template <class T, class Array>
[[nodiscard]] std::span<T> elements(const Array& array) {
  if (array.dtype() != nb::dtype<std::remove_const_t<T>>()) {
    throw std::invalid_argument("an array has elements of another type");
  }
  return {static_cast<T*>(const_cast<void*>(static_cast<const void*>(array.data()))), array.size()};
}

/// Returns an array of 32-bit integers as unsigned ones, for indices of which -1 means none.
[[nodiscard]] inline std::span<std::uint32_t> indices(const output& array) {
  const std::span<std::int32_t> found = elements<std::int32_t>(array);
  return {reinterpret_cast<std::uint32_t*>(found.data()), found.size()};
}

/// Calls `visit` with a span of the elements, whose type is one of Types.
/// \throws std::invalid_argument if it is none of them
template <class... Types, class Array, class Visit>
void visit_elements(const Array& array, Visit visit) {
  const bool found = ((array.dtype() == nb::dtype<std::remove_const_t<Types>>()
                           ? (visit(elements<Types>(array)), true)
                           : false) ||
                      ...);
  if (!found) throw std::invalid_argument("an array has elements of another type");
}

/// Returns the lines of a report.
template <class Report>
[[nodiscard]] std::string text_of(const Report& report) {
  std::ostringstream text;
  text << report;
  return text.str();
}

/// Calls `run` without Python's global lock, and returns its result.
template <class Run>
auto without_lock(Run run) {
  const nb::gil_scoped_release other_threads_may_run;
  return run();
}

/// Calls `run` as without_lock() does. Its std::length_error, which a limit of the result raises,
/// becomes a MemoryError. \throws nb::python_error
template <class Run>
auto within_limit(Run run) {
  try {
    return without_lock(run);
  } catch (const std::length_error& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
    throw nb::python_error();
  }
}

/// A call that has started, of any family. Several threads may call get().
class started_run {
 public:
  started_run() = default;
  template <class Report>
  started_run(async_run<Report> run)
      : captured_(run.captured()), state_(std::make_unique<state_of<Report>>(std::move(run))) {}
  started_run(started_run&&) = default;
  started_run& operator=(started_run&&) = default;
  /// Keeps an object until this run is destroyed. Garbage collection does not see the reference, so
  /// it does not finalize the object before. `waits_at_end`: whether the destructor waits for the
  /// call, because another stream releases memory of the object. A call that a graph has captured
  /// is not waited for.
  void keep(nb::object used, bool waits_at_end) {
    used_ = std::move(used);
    waits_at_end_ = waits_at_end && !captured_;
  }

  /// Other threads of Python may run during the wait.
  ~started_run() {
    if (state_ == nullptr) return;
    std::optional<nb::gil_scoped_release> other_threads_may_run;
    if (PyGILState_Check() != 0) other_threads_may_run.emplace();
    if (waits_at_end_) state_->wait();
    state_.reset();
  }

  /// Waits for the call, and returns the text of its report. \throws what async_run::get() throws
  [[nodiscard]] std::string get() const {
    return without_lock([&] { return state_->get(); });
  }
  /// Returns whether a graph has captured the call.
  [[nodiscard]] bool captured() const { return captured_; }

 private:
  struct state {
    virtual ~state() = default;
    virtual std::string get() = 0;
    /// Waits, if get() has not done it.
    virtual void wait() noexcept = 0;
  };

  template <class Report>
  struct state_of final : state {
    explicit state_of(async_run<Report> of) : run(std::move(of)) {}

    std::string get() override {
      const std::lock_guard lock(mutex);
      if (!text || run.captured()) text = text_of(run.get());
      return *text;
    }
    void wait() noexcept override {
      if (text) return;
      try {
        static_cast<void>(run.get());
      } catch (...) {  // get() was not called, so nothing is reported
      }
    }

    async_run<Report> run;
    std::mutex mutex;
    std::optional<std::string> text;  // of the last report
  };

  nb::object used_;  // released last
  bool captured_ = false;
  bool waits_at_end_ = false;
  std::unique_ptr<state> state_;
};

/// Calls `run` without Python's global lock. Returns the text of the report that it returns, or, if
/// it returns an async_run, the call that has started.
template <class Run>
[[nodiscard]] auto outcome_of(Run run) {
  return without_lock([&] {
    auto made = run();
    if constexpr (requires { started_run(std::move(made)); }) {
      return started_run(std::move(made));
    } else {
      return text_of(made);
    }
  });
}

/// Returns an array of NumPy that owns the elements, each of which is some numbers of type T.
template <class T, class Element>
[[nodiscard]] nb::object array_of(std::vector<Element> elements,
                                  const std::vector<std::size_t>& shape) {
  auto* const owned = new std::vector<Element>(std::move(elements));
  const nb::capsule owner(owned,
                          [](void* p) noexcept { delete static_cast<std::vector<Element>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(reinterpret_cast<T*>(owned->data()), shape.size(),
                                            shape.data(), owner));
}

}  // namespace ramify::python

/// Converts an array from Python as nanobind does, except for the stream that may wait, and for an
/// exception that a method of the array raises: the call raises it, too.
template <class... Properties>
struct nanobind::detail::type_caster<ramify::python::array<Properties...>> {
  using inner = make_caster<nanobind::ndarray<Properties...>>;
  using Value = ramify::python::array<Properties...>;
  static constexpr auto Name = inner::Name;
  template <class T>
  using Cast = movable_cast_t<T>;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    try {
      inner found;
      const object exported = ramify::python::capsule_of(source);
      if (!found.from_python(exported, flags, cleanup)) {
        // nanobind has cleared an exception of this method, so the method is called again.
        if (hasattr(source, "__dlpack__") && exported.is(source)) source.attr("__dlpack__")();
        return false;
      }
      static_cast<nanobind::ndarray<Properties...>&>(value_) =
          static_cast<nanobind::ndarray<Properties...>&&>(std::move(found.value));
    } catch (...) {
      error_ = std::current_exception();
    }
    return true;
  }

  /// \throws nb::python_error, an exception of the array's methods
  explicit operator Value&() {
    if (error_ != nullptr) std::rethrow_exception(error_);
    return value_;
  }
  explicit operator Value&&() { return std::move(static_cast<Value&>(*this)); }

 private:
  Value value_;
  std::exception_ptr error_;
};

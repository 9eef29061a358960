// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of the types that a caller passes to a function template. Plain C++.
///
/// A family has a struct argument_types, whose member are_valid states whether the types meet the
/// requirements, and a struct checked_types with an assertion for each requirement:
///
///     template <class Key>
///     run_if<argument_types<Key>, sort_run<Key>> sort_async(Key* keys) {
///       if constexpr (checked_types<Key>::are_valid) {
///         return {keys};
///       }
///     }
///
/// For a wrong type the first error of the compiler is the sentence of an assertion, and no kernel
/// is instantiated. Not a concept: nvcc does not state which part of a concept is not satisfied.
/// The assertions are in the body, so overload resolution alone does not evaluate them.

#include <ramify/version.hpp>
#include <type_traits>

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// Whether device memory can hold objects of type T, and kernels can declare them.
template <class T>
inline constexpr bool is_plain =
    std::is_trivially_copyable_v<T>&& std::is_default_constructible_v<T>;

/// Whether nvcc replaces objects of this type, extended `__device__` lambdas, on the host. The host
/// does not have the type of their result.
#if defined(__CUDACC_EXTENDED_LAMBDA__)
template <class Functor>
inline constexpr bool is_device_lambda = __nv_is_extended_device_lambda_closure_type(Functor);
#else
template <class>
inline constexpr bool is_device_lambda = false;
#endif

/// Whether kernels can have a functor of this type as an argument. nvcc replaces an extended lambda
/// on the host by a class with the same members, which has a copy constructor if it is a
/// `__host__ __device__` lambda. A launch copies its bits all the same. So the type that the device
/// has decides, and nvcc compiles for the device first.
#if defined(__CUDACC_EXTENDED_LAMBDA__) && !defined(__CUDA_ARCH__)
template <class>
inline constexpr bool is_kernel_argument = true;
#else
template <class Functor>
inline constexpr bool is_kernel_argument = std::is_trivially_copyable_v<Functor>;
#endif

/// Whether a const functor can be called with these arguments and returns a Result, as far as the
/// host can check it.
template <class Result, class Functor, class... Arguments>
inline constexpr bool is_callable =
    is_device_lambda<Functor> || std::is_invocable_r_v<Result, const Functor&, Arguments...>;

/// The result of a function that has reported wrong types.
struct no_run {
  void get() const {}
};

/// The type Run, or no_run for wrong types, with which Run may not be instantiated.
template <class Types, class Run>
using run_if = std::conditional_t<Types::are_valid, Run, no_run>;

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI

namespace ramify::detail {
using namespace runtime;
}

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// region_exchange: exchanges regions of blocks between the ranks that have parts of a mesh.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_amr/part_kernels.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/error.hpp>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Copies a vector to device memory. Waits for the stream. \throws cuda_error
template <class T>
[[nodiscard]] device_buffer<T> to_device(const std::vector<T>& from, cudaStream_t stream) {
  device_buffer<T> to(from.size(), stream);
  if (!from.empty()) {
    check(cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice,
                          stream),
          "copying a list of blocks");
    check(cudaStreamSynchronize(stream), "copying a list of blocks");
  }
  return to;
}

/// Lists of regions in device memory.
struct region_messages {
  region_messages() = default;
  region_messages(const region_lists& lists, cudaStream_t stream)
      : send(to_device(lists.send, stream)),
        receive(to_device(lists.receive, stream)),
        send_counts(lists.send_counts),
        receive_counts(lists.receive_counts) {}

  device_buffer<block_region> send, receive;
  std::vector<unsigned> send_counts, receive_counts;  ///< for each rank
};

/// Exchanges regions, one kind at a time. `View` is the run_view of a mesh_part.
template <class View>
class region_exchange {
  using real = typename View::real;

 public:
  using grids_type = part_communication::grids_type;

  region_exchange(communicator& ranks, cudaStream_t stream) : ranks_(&ranks), stream_(stream) {}

  /// Packs the regions to send, and starts the exchange. Does nothing if there are no regions.
  /// \throws cluster_error, cuda_error
  template <class Kind>
  void begin(grids_type& grids, const View& view, const Kind& kind,
             const region_messages& messages) {
    if (messages.send.size() == 0 && messages.receive.size() == 0) return;
    const auto size = static_cast<std::size_t>(kind.size());
    reserve(sent_, messages.send.size() * size);
    reserve(received_, messages.receive.size() * size);
    grids(pack_regions<View, Kind>, {unsigned(messages.send.size()), pack_threads}, view, kind,
          messages.send.data(), sent_.data());
    std::vector<outgoing_message<real>> out;
    std::vector<incoming_message<real>> in;
    const real* from = sent_.data();
    real* to = received_.data();
    for (int peer = 0; peer < ranks_->size(); ++peer) {
      const std::size_t sends = messages.send_counts[std::size_t(peer)] * size;
      const std::size_t receives = messages.receive_counts[std::size_t(peer)] * size;
      if (sends > 0) out.push_back({peer, from, sends});
      if (receives > 0) in.push_back({peer, to, receives});
      from += sends;
      to += receives;
    }
    under_way_ = ranks_->begin_exchange<real>(out, in, stream_);
  }

  /// Unpacks the regions that were received, after the exchange, in the order of `stream`, into
  /// which `grids` launches. Does nothing if none is under way. Later work in the other stream must
  /// wait for `stream`. The host waits with communicator::synchronize(). \throws cluster_error
  template <class Kind>
  void end(grids_type& grids, const View& view, const Kind& kind, const region_messages& messages,
           cudaStream_t stream) {
    if (!under_way_) return;
    under_way_->end_in_stream(stream);
    under_way_.reset();
    grids(unpack_regions<View, Kind>, {unsigned(messages.receive.size()), pack_threads}, view, kind,
          messages.receive.data(), static_cast<const real*>(received_.data()));
  }

  /// Exchanges regions in the order of the stream, as begin() and end() do.
  /// \throws cluster_error, cuda_error
  template <class Kind>
  void run(grids_type& grids, const View& view, const Kind& kind, const region_messages& messages) {
    begin(grids, view, kind, messages);
    end(grids, view, kind, messages, stream_);
  }

  [[nodiscard]] bool is_under_way() const { return under_way_.has_value(); }
  [[nodiscard]] std::size_t bytes() const {
    return (sent_.size() + received_.size()) * sizeof(real);
  }

 private:
  void reserve(device_buffer<real>& buffer, std::size_t count) {
    if (buffer.size() < count) buffer = device_buffer<real>(count, stream_);
  }

  communicator* ranks_;
  cudaStream_t stream_;
  device_buffer<real> sent_, received_;
  std::optional<message_exchange> under_way_;  // destroyed before the buffers
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

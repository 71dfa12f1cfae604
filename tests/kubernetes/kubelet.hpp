#pragma once
/// @file
/// The side of the kubelet, for tests of device plugins.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <grpcpp/grpcpp.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device_plugin.grpc.pb.h"

namespace kubelet_of_tests {

constexpr std::chrono::seconds answer_time{60};  // of a busy machine

/// Takes registrations, and refuses the first few if told so.
class kubelet final : public v1beta1::Registration::Service {
 public:
  explicit kubelet(const std::filesystem::path& in, int refusals = 0) : refusals_(refusals) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + (in / "kubelet.sock").string(), grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~kubelet() override { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::Status Register(grpc::ServerContext*, const v1beta1::RegisterRequest* of, v1beta1::Empty*) override {
    const std::lock_guard lock(mutex_);
    if (refusals_-- > 0) return {grpc::StatusCode::UNAVAILABLE, "not yet"};
    registered_.push_back(*of);
    return grpc::Status::OK;
  }
  [[nodiscard]] std::vector<v1beta1::RegisterRequest> registered() const {
    const std::lock_guard lock(mutex_);
    return registered_;
  }

 private:
  mutable std::mutex mutex_;
  int refusals_;
  std::vector<v1beta1::RegisterRequest> registered_;
  std::unique_ptr<grpc::Server> server_;
};

/// A connection of the kubelet to the plugin, with the lists that have come.
class connection {
 public:
  explicit connection(const std::filesystem::path& in)
      : stub_(v1beta1::DevicePlugin::NewStub(
            grpc::CreateChannel("unix:" + (in / "kaisched-gpu.sock").string(), grpc::InsecureChannelCredentials()))),
        watch_([this] {
          const auto reader = stub_->ListAndWatch(&context_, v1beta1::Empty());
          v1beta1::ListAndWatchResponse one;
          while (reader->Read(&one)) {
            const std::lock_guard lock(mutex_);
            last_ = one;
            ++lists_;
          }
          ended_ = true;
        }) {}
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() {
    context_.TryCancel();
    watch_.join();
  }

  [[nodiscard]] v1beta1::ListAndWatchResponse last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  [[nodiscard]] int lists() const {
    const std::lock_guard lock(mutex_);
    return lists_;
  }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::map<std::string, std::string> health() const {
    std::map<std::string, std::string> made;
    const v1beta1::ListAndWatchResponse now = last();
    for (const v1beta1::Device& one : now.devices()) made[one.id()] = one.health();
    return made;
  }
  v1beta1::DevicePlugin::Stub& operator*() { return *stub_; }

 private:
  std::unique_ptr<v1beta1::DevicePlugin::Stub> stub_;
  grpc::ClientContext context_;
  mutable std::mutex mutex_;
  v1beta1::ListAndWatchResponse last_;
  int lists_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread watch_;
};

inline grpc::Status allocate(v1beta1::DevicePlugin::Stub& from, const std::vector<std::vector<std::string>>& containers,
                             v1beta1::AllocateResponse& to) {
  v1beta1::AllocateRequest request;
  for (const auto& ids : containers) {
    auto& one = *request.add_containers();
    for (const std::string& id : ids) one.add_ids(id);
  }
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + answer_time);
  return from.Allocate(&context, request, &to);
}

}  // namespace kubelet_of_tests

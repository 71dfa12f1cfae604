#include "cycle/session_recording.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace shim {

session_recording::session_recording(recording_settings by, std::function<void(const std::string&)> log)
    : by_(std::move(by)), log_(std::move(log)) {
  begin();
}

void session_recording::begin() {
  file_.close();
  std::error_code fault;
  std::filesystem::path before = by_.file;
  before += ".1";
  if (std::filesystem::exists(by_.file, fault)) std::filesystem::rename(by_.file, before, fault);
  file_.clear();
  errno = 0;
  file_.open(by_.file, std::ios::binary | std::ios::trunc);
  if (fault || !file_) {
    const std::string why = fault ? fault.message() : std::generic_category().message(errno);
    log_(fmt::format("sessions are not recorded: {}: {}", by_.file.string(), why));
    recorder_.reset();
    return;
  }
  bytes_ = 0;
  recorder_.emplace();
}

void session_recording::add(const kaisched::abi::engine& with, const kaisched::abi::session& of, std::int64_t now) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  if (recorder_ && bytes_ >= by_.most_mib * mib) begin();
  if (!recorder_) return;
  std::string why;
  try {
    const std::string_view bytes = recorder_->add(with, of, now);
    errno = 0;
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
    bytes_ += bytes.size();
    if (file_) return;
    why = std::generic_category().message(errno);
  } catch (const kaisched::abi::failure& refused) {
    why = refused.what();
  }
  log_(fmt::format("sessions are recorded no longer: {}: {}", by_.file.string(), why));
  recorder_.reset();
}

}  // namespace shim

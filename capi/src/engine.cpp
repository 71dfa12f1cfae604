#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kaisched/engine.hpp>

#include "guard.hpp"
#include "handles.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

/// Threads of a host behind C functions. The host may leave calls out or make some twice: each piece is done once.
class host_threads final : public executor {
 public:
  explicit host_threads(const kaisched_executor& host) : host_(host) {}
  host_threads(const host_threads&) = delete;
  host_threads& operator=(const host_threads&) = delete;
  ~host_threads() override {
    if (host_.destroy != nullptr) host_.destroy(host_.state);
  }

  void run(std::size_t count, const std::function<void(std::size_t)>& work) override {
    pieces all{work, std::vector<std::atomic<bool>>(count)};
    host_.run(host_.state, count, [](void* of, std::size_t index) { static_cast<pieces*>(of)->call(index); }, &all);
    for (std::size_t i = 0; i < count; ++i) all.call(i);
  }
  [[nodiscard]] std::size_t width() const override { return host_.width; }

 private:
  struct pieces {
    const std::function<void(std::size_t)>& work;
    std::vector<std::atomic<bool>> taken;

    void call(std::size_t index) {
      if (index < taken.size() && !taken[index].exchange(true, std::memory_order_relaxed)) work(index);
    }
  };
  kaisched_executor host_;
};

/// Texts of one option that end with a NUL.
struct option_texts {
  std::string name, fallback, choices, doc;
};

/// Written once, by whoever asks first, and never changed.
const std::vector<option_texts>& all_option_texts() {
  static const std::vector<option_texts> texts = [] {
    std::vector<option_texts> list;
    for (const option_info& o : option_list()) {
      list.push_back({std::string(o.name), std::string(o.fallback), std::string(o.choices), std::string(o.doc)});
    }
    return list;
  }();
  return texts;
}

}  // namespace

result<void> kaisched::capi::check_abi(std::uint32_t caller) {
  constexpr std::uint32_t own = KAISCHED_ABI_VERSION;
  if (caller >> 16U == own >> 16U && (caller & 0xFFFFU) <= (own & 0xFFFFU)) return {};
  const auto text = [](std::uint32_t v) { return std::to_string(v >> 16U) + "." + std::to_string(v & 0xFFFFU); };
  return error{status::abi, "the caller was built for ABI " + text(caller) + ", this library has " + text(own), {}};
}

result<std::unique_ptr<kaisched_engine>> kaisched::capi::make_engine(std::uint32_t abi, const kaisched_kv* options,
                                                                     std::size_t count) {
  if (auto r = check_abi(abi); !r) return r.take_failure();
  if (options == nullptr && count > 0) return bad_argument("options is NULL");
  auto made = std::make_unique<kaisched_engine>();
  result<std::shared_ptr<const device_catalog>> catalog = shipped_device_catalog();
  if (!catalog) return catalog.take_failure();
  made->catalog = *catalog;
  made->body.set_device_catalog(std::move(*catalog));
  for (std::size_t i = 0; i < count; ++i) {
    if (auto r = require({{options[i].key, "the key of an option"}, {options[i].value, "the value of an option"}}); !r)
      return r.take_failure();
    if (auto r = made->body.set(options[i].key, options[i].value); !r) return r.take_failure();
  }
  return made;
}

kaisched_status kaisched_engine_create(std::uint32_t abi, const kaisched_kv* options, std::size_t count,
                                       kaisched_engine** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_ENGINE_CREATE, [&]() -> result<void> {
    if (auto r = require({{out, "out"}}); !r) return r;
    result<std::unique_ptr<kaisched_engine>> made = make_engine(abi, options, count);
    if (!made) return made.take_failure();
    *out = kaisched_engine::make(std::move(*made));
    return {};
  });
}

void kaisched_engine_destroy(kaisched_engine* engine) noexcept { kaisched_engine::give_back(engine); }

kaisched_status kaisched_engine_set(kaisched_engine* engine, const char* option, const char* value,
                                    kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_ENGINE_SET, [&]() -> result<void> {
    if (auto r = require({{engine, "engine"}, {option, "option"}, {value, "value"}}); !r) return r;
    return engine->body.set(option, value);
  });
}

kaisched_status kaisched_engine_add_vendors(kaisched_engine* engine, const char* json, std::size_t size,
                                            const char* source, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_ENGINE_ADD_VENDORS, [&]() -> result<void> {
    if (auto r = require({{engine, "engine"}, {json, "json"}}); !r) return r;
    result<std::shared_ptr<const device_catalog>> more =
        extended_device_catalog(*engine->catalog, {json, size}, source == nullptr ? "vendors" : source);
    if (!more) return more.take_failure();
    engine->catalog = *more;
    engine->body.set_device_catalog(std::move(*more));
    return {};
  });
}

result<std::shared_ptr<executor>> kaisched::capi::make_executor(const kaisched_executor* given) {
  if (given == nullptr) return std::shared_ptr<executor>();
  if (given->struct_size < sizeof(kaisched_executor)) {
    return error{status::struct_size, "struct_size of the executor is " + std::to_string(given->struct_size), {}};
  }
  if (given->run == nullptr) return bad_argument("run of the executor is NULL");
  return std::shared_ptr<executor>(std::make_shared<host_threads>(*given));
}

kaisched_status kaisched_engine_set_executor(kaisched_engine* engine, const kaisched_executor* executor,
                                             kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_ENGINE_SET_EXECUTOR, [&]() -> result<void> {
    if (auto r = require({{engine, "engine"}}); !r) return r;
    result<std::shared_ptr<kaisched::executor>> made = make_executor(executor);
    if (!made) return made.take_failure();
    engine->body.set_executor(std::move(*made));
    return {};
  });
}

kaisched_status kaisched_engine_get(const kaisched_engine* engine, const char* option, char* buffer,
                                    std::size_t capacity, std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_ENGINE_GET, [&]() -> result<void> {
    if (auto r = require({{engine, "engine"}, {option, "option"}}); !r) return r;
    result<std::string> value = engine->body.get(option);
    if (!value) return value.take_failure();
    return deliver(*value, true, buffer, capacity, needed);
  });
}

kaisched_status kaisched_engine_warning(const kaisched_engine* engine, std::size_t index, char* buffer,
                                        std::size_t capacity, std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_ENGINE_WARNING, [&]() -> result<void> {
    if (auto r = require({{engine, "engine"}}); !r) return r;
    return deliver_warning(engine->body.options().warnings, index, buffer, capacity, needed);
  });
}

kaisched_status kaisched_option_info(std::size_t index, kaisched_option* out, kaisched_error* err) noexcept {
  clear_description(out, offsetof(kaisched_option, applies_to));
  return guard(err, KAISCHED_FN_OPTION_INFO, [&]() -> result<void> {
    if (auto r = check_description(out, offsetof(kaisched_option, applies_to), "the option"); !r) return r;
    if (index >= option_list().size()) {
      return error{status::not_found, "there are " + std::to_string(option_list().size()) + " options", {}};
    }
    const option_info& info = option_list()[index];
    const option_texts& texts = all_option_texts()[index];
    fill_description(out, kaisched_option{out->struct_size, static_cast<std::uint32_t>(info.type), texts.name.c_str(),
                                          texts.fallback.c_str(), info.least, info.most, texts.choices.c_str(),
                                          texts.doc.c_str(), static_cast<std::uint32_t>(info.applies_to), 0});
    return {};
  });
}

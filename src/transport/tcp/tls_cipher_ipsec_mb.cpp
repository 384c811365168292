// AES-256-GCM of Intel's Multi-Buffer Crypto for IPsec Library, found by dlopen: it may be absent where HAM runs.
#include <cpuid.h>
#include <dlfcn.h>
#include <intel-ipsec-mb.h>
#include <openssl/crypto.h>

#include "base/program_file.hpp"
#include "transport/tcp/tls_cipher.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

/// Whether the system keeps all registers that the processor has. The library does not ask (its issue 153): it would
/// end the process.
bool registers_are_kept() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const bool wide = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX512F) != 0;
  return __builtin_cpu_supports("avx2") != 0 && (!wide || __builtin_cpu_supports("avx512f") != 0);
}

/// Its functions for the processor at hand. What they share is an error number that nobody reads.
struct library {
  aes_gcm_pre_t expand = nullptr;
  aes_gcm_init_t init = nullptr;
  aes_gcm_enc_dec_update_t encrypt = nullptr;
  aes_gcm_enc_dec_finalize_t encrypt_end = nullptr;
  aes_gcm_enc_dec_update_t decrypt = nullptr;
  aes_gcm_enc_dec_finalize_t decrypt_end = nullptr;

  [[nodiscard]] bool usable() const noexcept { return expand != nullptr; }

  static library look() {
    library found;
    if (!registers_are_kept() || base::is_fully_static()) return found;
    void* const loaded = ::dlopen("libIPSec_MB.so.1", RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) return found;
    const auto version = reinterpret_cast<decltype(&imb_get_version)>(::dlsym(loaded, "imb_get_version"));
    const auto allocate = reinterpret_cast<decltype(&alloc_mb_mgr)>(::dlsym(loaded, "alloc_mb_mgr"));
    const auto choose = reinterpret_cast<decltype(&init_mb_mgr_auto)>(::dlsym(loaded, "init_mb_mgr_auto"));
    const auto release = reinterpret_cast<decltype(&free_mb_mgr)>(::dlsym(loaded, "free_mb_mgr"));
    // The layout of a manager may change from version to version.
    if (version == nullptr || allocate == nullptr || choose == nullptr || release == nullptr ||
        version() != IMB_VERSION_NUM) {
      ::dlclose(loaded);
      return found;
    }
    if (IMB_MGR* const manager = allocate(0)) {
      IMB_ARCH chosen = IMB_ARCH_NONE;
      choose(manager, &chosen);
      constexpr std::uint64_t tested = IMB_FEATURE_SELF_TEST | IMB_FEATURE_SELF_TEST_PASS;
      if (chosen >= IMB_ARCH_AVX2 && (manager->features & tested) == tested) {
        found = {manager->gcm256_pre,          manager->gcm256_init,       manager->gcm256_enc_update,
                 manager->gcm256_enc_finalize, manager->gcm256_dec_update, manager->gcm256_dec_finalize};
      }
      release(manager);
    }
    if (!found.usable()) ::dlclose(loaded);
    return found;
  }

  static const library& here() {
    static const library found = look();
    return found;
  }
};

class ipsec_mb_cipher final : public tls_cipher {
 public:
  explicit ipsec_mb_cipher(const library& with) : with_(with) {}
  ~ipsec_mb_cipher() override {
    OPENSSL_cleanse(&key_, sizeof key_);
    OPENSSL_cleanse(&state_, sizeof state_);
  }

  [[nodiscard]] std::string made_by() const override { return "intel-ipsec-mb " IMB_VERSION_STR; }

  bool use(const cipher_key& key) override {
    with_.expand(key.data(), &key_);
    return true;
  }

  bool seal(const cipher_nonce& nonce, std::span<const std::byte> head, std::span<const std::byte> content,
            std::byte last, std::byte* to) override {
    std::byte* const behind = to + content.size();
    with_.init(&key_, &state_, nonce.data(), raw(head.data()), head.size());
    if (!content.empty()) with_.encrypt(&key_, &state_, raw(to), raw(content.data()), content.size());
    with_.encrypt(&key_, &state_, raw(behind), raw(&last), 1);
    with_.encrypt_end(&key_, &state_, raw(behind + 1), tag_bytes);
    return true;
  }

  bool open(const cipher_nonce& nonce, std::span<const std::byte> head, std::span<std::byte> sealed, std::byte* to,
            std::byte& last) override {
    const std::size_t content = sealed.size() - tag_bytes - 1;
    std::byte* const body = sealed.data();
    std::array<unsigned char, tag_bytes> tag;  // NOLINT: decrypt_end fills it
    with_.init(&key_, &state_, nonce.data(), raw(head.data()), head.size());
    if (content != 0) with_.decrypt(&key_, &state_, raw(to == nullptr ? body : to), raw(body), content);
    with_.decrypt(&key_, &state_, raw(&last), raw(body + content), 1);
    with_.decrypt_end(&key_, &state_, tag.data(), tag.size());
    return CRYPTO_memcmp(tag.data(), body + content + 1, tag.size()) == 0;
  }

 private:
  static std::uint8_t* raw(std::byte* at) noexcept { return reinterpret_cast<std::uint8_t*>(at); }
  static const std::uint8_t* raw(const std::byte* at) noexcept { return reinterpret_cast<const std::uint8_t*>(at); }

  const library& with_;
  gcm_context_data state_{};  // of one record: nothing of it stays on the stack
  // It is written with aligned instructions; without LINUX defined its declaration says nothing of that.
  alignas(64) gcm_key_data key_{};
};

}  // namespace

std::unique_ptr<tls_cipher> make_ipsec_mb_cipher() {
  const library& with = library::here();
  if (!with.usable()) return nullptr;
  return std::make_unique<ipsec_mb_cipher>(with);
}

}  // namespace ham::transport::tcp

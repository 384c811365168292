// OpenSSL's AES-256-GCM.
#include <openssl/evp.h>

#include <cstring>

#include "transport/tcp/tls_cipher.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

/// Up to here a copy is cheaper than a further call for the byte behind the content.
constexpr std::size_t short_content = 1024;

unsigned char* raw(std::byte* at) noexcept { return reinterpret_cast<unsigned char*>(at); }
const unsigned char* raw(const std::byte* at) noexcept { return reinterpret_cast<const unsigned char*>(at); }

class openssl_cipher final : public tls_cipher {
 public:
  [[nodiscard]] bool usable() const noexcept { return context_ != nullptr; }

  bool use(const cipher_key& key) override {
    // Which way it is used is said again with each record.
    return EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr, key.data(), nullptr, 1) == 1;
  }

  bool seal(const cipher_nonce& nonce, std::span<const std::byte> head, std::span<const std::byte> content,
            std::byte last, std::byte* to) override {
    EVP_CIPHER_CTX* const context = context_.get();
    std::byte* const behind = to + content.size();
    const int size = static_cast<int>(content.size());
    int done = 0;
    if (EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) != 1 ||
        EVP_EncryptUpdate(context, nullptr, &done, raw(head.data()), static_cast<int>(head.size())) != 1) {
      return false;
    }
    if (content.size() <= short_content) {
      if (!content.empty()) std::memcpy(to, content.data(), content.size());
      *behind = last;
      if (EVP_EncryptUpdate(context, raw(to), &done, raw(to), size + 1) != 1) return false;
    } else if (EVP_EncryptUpdate(context, raw(to), &done, raw(content.data()), size) != 1 ||
               EVP_EncryptUpdate(context, raw(behind), &done, raw(&last), 1) != 1) {
      return false;
    }
    return EVP_EncryptFinal_ex(context, raw(behind + 1), &done) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, tag_bytes, behind + 1) == 1;
  }

  bool open(const cipher_nonce& nonce, std::span<const std::byte> head, std::span<std::byte> sealed, std::byte* to,
            std::byte& last) override {
    EVP_CIPHER_CTX* const context = context_.get();
    const std::size_t content = sealed.size() - tag_bytes - 1;
    std::byte* const body = sealed.data();
    std::byte* const tag = body + content + 1;
    const int size = static_cast<int>(content);
    int done = 0;
    bool good = EVP_DecryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
                EVP_DecryptUpdate(context, nullptr, &done, raw(head.data()), static_cast<int>(head.size())) == 1;
    if (to == nullptr) {
      good = good && EVP_DecryptUpdate(context, raw(body), &done, raw(body), size + 1) == 1;
      last = body[content];
    } else {
      good = good && EVP_DecryptUpdate(context, raw(to), &done, raw(body), size) == 1 &&
             EVP_DecryptUpdate(context, raw(&last), &done, raw(body + content), 1) == 1;
    }
    std::byte none{};
    return good && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, tag_bytes, tag) == 1 &&
           EVP_DecryptFinal_ex(context, raw(&none), &done) == 1;
  }

 private:
  struct freed {  // which wipes it
    void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, freed> context_{EVP_CIPHER_CTX_new()};
};

}  // namespace

std::unique_ptr<tls_cipher> make_openssl_cipher() {
  auto made = std::make_unique<openssl_cipher>();
  if (!made->usable()) return nullptr;
  return made;
}

std::unique_ptr<tls_cipher> make_cipher() {
  if (auto quicker = make_ipsec_mb_cipher()) return quicker;
  return make_openssl_cipher();
}

}  // namespace ham::transport::tcp

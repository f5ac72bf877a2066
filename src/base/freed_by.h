// Owners of objects of C libraries: std::unique_ptr<X509, FreedBy<X509_free>>.
#pragma once

namespace kyanite {

template <auto Free>
struct FreedBy {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

}  // namespace kyanite

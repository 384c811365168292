// make: an object that lives on a target, and is called through a handle.
// expect: deposited 150, withdrew 30, left 120
// expect: not enough money
// expect: the target of the transfer has 100
#include <ham/offload.hpp>

#include <iostream>
#include <stdexcept>

using namespace ham;

class account {
 public:
  explicit account(int balance) : balance_(balance) {}
  int deposit(int amount) { return balance_ += amount; }
  int withdraw(int amount) {
    if (amount > balance_) throw std::runtime_error("not enough money");
    return balance_ -= amount;
  }
  int balance() const { return balance_; }

 private:
  int balance_;
};

// Runs on the node of one account and is given the handle of another one, which may live elsewhere.
void transfer(offload::remote_ref<account> from, offload::remote_ref<account> to, int amount) {
  from.local().withdraw(amount);
  to.call<&account::deposit>(amount);
}

int main() {
  const auto mine = offload::make<account>(1, 100);  // constructed on node 1
  const auto yours = offload::make<account>(0, 0);   // here

  const int before = mine.call<&account::deposit>(50);
  const int after = mine.async<&account::withdraw>(30).get();
  std::cout << "deposited " << before << ", withdrew 30, left " << after << '\n';

  try {
    mine.call<&account::withdraw>(1000);
  } catch (const std::runtime_error& problem) {
    std::cout << problem.what() << '\n';
  }

  offload::sync(1, fn<&transfer>, mine, yours, 100);
  std::cout << "the target of the transfer has " << yours.call<&account::balance>() << '\n';
}  // destroyed where they live

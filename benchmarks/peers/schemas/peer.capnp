# What Cap'n Proto calls: the functions of common/protocol.hpp.
@0xb3f6c1a5e0d94c27;

interface Peer {
  call @0 (what :UInt32, argument :Data) -> (value :UInt64);
}

#include "communicator.h"

#include <utility>

#include "failure.h"

namespace simulator::hccl {

Communicator::Communicator(std::shared_ptr<Segment> segment, uint32_t rank, Identity identity, Place place,
                           Duration execution_timeout, Rejoin rejoin)
    : rank_(rank),
      ranks_(segment->ranks()),
      identity_(std::move(identity)),
      place_(place),
      execution_timeout_(execution_timeout),
      rejoin_(std::move(rejoin)),
      membership_(Enter(std::move(segment))) {}

std::shared_ptr<Membership> Communicator::Enter(std::shared_ptr<Segment> segment) const {
  segment->Enter(rank_, place_.physical);
  return std::make_shared<Membership>(std::move(segment), rank_, identity_, execution_timeout_);
}

std::shared_ptr<Membership> Communicator::Latest() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return membership_;
}

std::shared_ptr<Membership> Communicator::Current() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Require(!suspended_, HCCL_E_SUSPENDING, "communicator " + name() + " is suspended");
  return membership_;
}

HcclResult Communicator::AsyncError() {
  const HcclResult broken = Latest()->status();
  return broken == HCCL_E_REMOTE || broken == HCCL_E_PARA ? broken : HCCL_SUCCESS;
}

void Communicator::Suspend() {
  const std::lock_guard<std::mutex> lock(mutex_);
  suspended_ = true;
  membership_->Break(HCCL_E_SUSPENDING);
}

void Communicator::Resume() {
  Suspend();
  auto membership = Enter(rejoin_(generation_ + 1));
  const std::lock_guard<std::mutex> lock(mutex_);
  ++generation_;
  membership_ = std::move(membership);
  suspended_ = false;
}

void Communicator::Close() { Latest()->Close(); }

}  // namespace simulator::hccl

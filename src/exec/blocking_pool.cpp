// SPDX-License-Identifier: Apache-2.0
#include <horae/exec/blocking_pool.hpp>

#include <pthread.h>
#include <system_error>

namespace horae {

blocking_pool::blocking_pool(std::uint32_t limit, std::string name) : limit_(limit), name_(std::move(name)) {
    threads_.reserve(limit);
}

blocking_pool::~blocking_pool() {
    std::deque<blocking_job*> left;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        left.swap(jobs_);
    }
    wake_.notify_all();
    for (blocking_job* job : left)
        job->abandon();
    for (auto& each : threads_)
        each.join();
}

void blocking_pool::submit(blocking_job& job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
    // Each waiting job is matched with one sleeping thread; only those without a match need a new one.
    if (jobs_.size() <= idle_) {
        wake_.notify_one();
        return;
    }
    if (threads_.size() >= limit_)
        return; // a busy thread takes it when it comes back
    try {
        const auto index = static_cast<std::uint32_t>(threads_.size());
        threads_.emplace_back([this, index] { loop(index); });
    } catch (const std::system_error&) {
        if (!threads_.empty())
            return; // one of those will come to it
        jobs_.pop_back();
        throw;
    }
}

std::uint32_t blocking_pool::threads() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::uint32_t>(threads_.size());
}

void blocking_pool::loop(std::uint32_t index) noexcept {
    pthread_setname_np(pthread_self(), (name_ + std::to_string(index)).substr(0, 15).c_str());
    std::unique_lock lock(mutex_);
    for (;;) {
        while (jobs_.empty() && !stopping_) {
            ++idle_;
            wake_.wait(lock);
            --idle_;
        }
        if (jobs_.empty())
            return;
        blocking_job* job = jobs_.front();
        jobs_.pop_front();
        lock.unlock();
        job->run();
        lock.lock();
    }
}

} // namespace horae

// SPDX-License-Identifier: Apache-2.0
//
// Threads for calls that block. Started when work arrives and none is idle, up to a limit; more work waits in
// order. One queue, one mutex: a job costs microseconds anyway, and the thread that goes to sleep looks at
// the queue under the mutex that the sender holds, so none sleeps beside work.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace horae {

class blocking_job {
public:
    blocking_job() = default;
    blocking_job(const blocking_job&) = delete;
    blocking_job& operator=(const blocking_job&) = delete;
    virtual void run() noexcept = 0;     // on a thread of the pool
    virtual void abandon() noexcept = 0; // instead of run(): the pool ends first
protected:
    ~blocking_job() = default;
};

class blocking_pool {
public:
    blocking_pool(std::uint32_t limit, std::string name);
    blocking_pool(const blocking_pool&) = delete;
    blocking_pool& operator=(const blocking_pool&) = delete;
    // Waits for jobs that run, abandons those that wait.
    ~blocking_pool();

    // Any thread. Throws std::bad_alloc, or std::system_error when there is no thread at all to run it; the
    // job is then still the caller's.
    void submit(blocking_job& job);

    std::uint32_t threads() const;

private:
    void loop(std::uint32_t index) noexcept;

    const std::uint32_t limit_;
    const std::string name_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<blocking_job*> jobs_;
    std::vector<std::thread> threads_;
    std::uint32_t idle_ = 0; // threads asleep that no submit has counted on yet
    bool stopping_ = false;
};

} // namespace horae

// SPDX-License-Identifier: Apache-2.0
#include <horae/coro/frame_cache.hpp>

#include <horae/base/cache_line.hpp>
#include <horae/base/sanitizer.hpp>

#include <bit>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace horae {
namespace {

constexpr std::size_t span_bytes = std::size_t{64} << 10U;
constexpr std::size_t chunk_bytes = std::size_t{1} << 20U; // what is asked of the system at once
constexpr std::size_t span_head = 64;
constexpr std::size_t small_step = 32;
constexpr std::size_t small_limit = 1024;
constexpr std::size_t large_limit = 16384; // above: the heap
constexpr std::size_t small_classes = small_limit / small_step;
constexpr std::size_t class_count = small_classes + 16; // four steps to each doubling above 1 KiB

struct size_class {
    std::size_t index;
    std::size_t bytes;
};

size_class class_of(std::size_t bytes) noexcept {
    if (bytes <= small_limit) {
        const std::size_t index = bytes == 0 ? 0 : (bytes - 1) / small_step;
        return {index, (index + 1) * small_step};
    }
    const auto top = static_cast<unsigned>(std::bit_width(bytes - 1)); // 2^(top-1) < bytes <= 2^top
    const std::size_t step = std::size_t{1} << (top - 3);              // a quarter of the half below
    const std::size_t quarter = (bytes - 1 - (std::size_t{1} << (top - 1))) / step;
    return {small_classes + (top - 11) * 4 + quarter, (std::size_t{1} << (top - 1)) + (quarter + 1) * step};
}

using block = detail::free_block<>;

class cache;

struct span {
    cache* owner;
    std::size_t block_bytes;
};

span* span_of(void* frame) noexcept {
    return reinterpret_cast<span*>(reinterpret_cast<std::uintptr_t>(frame) & ~(span_bytes - 1));
}

class alignas(false_sharing_bytes) cache {
public:
    void* allocate(size_class wanted) {
        if (fail_after_ != 0 && --fail_after_ == 0)
            throw std::bad_alloc();
        block* first = free_[wanted.index];
        if (first == nullptr) {
            collect_remote();
            first = free_[wanted.index];
            if (first == nullptr)
                first = refill(wanted);
        }
        detail::unpoison(first, wanted.bytes);
        free_[wanted.index] = first->next.read();
        return first;
    }

    void free_local(void* frame, size_class of) noexcept {
        block* item = new (frame) block;
        item->next.write(free_[of.index]);
        free_[of.index] = item;
        detail::poison(frame, of.bytes);
    }

    void free_remote(void* frame) noexcept { remote_.push(*new (frame) block); }

    void fail_after(std::uint64_t n) noexcept { fail_after_ = n; }
    frame_cache_stats stats() const noexcept { return stats_; }

private:
    void collect_remote() noexcept {
        for (block* each = remote_.take_all(); each != nullptr;) {
            block* next = each->next.read();
            const std::size_t bytes = span_of(each)->block_bytes;
            free_local(each, class_of(bytes));
            ++stats_.remote_frees;
            each = next;
        }
    }

    // A new span cut into blocks. Under ASan a poisoned block keeps its link: it is read after unpoisoning.
    block* refill(size_class wanted) {
        if (chunk_left_ == 0)
            take_chunk();
        auto* made = new (chunk_) span{this, wanted.bytes};
        std::byte* at = reinterpret_cast<std::byte*>(made) + span_head;
        std::byte* const end = reinterpret_cast<std::byte*>(made) + span_bytes;
        chunk_ += span_bytes;
        chunk_left_ -= span_bytes;
        ++stats_.spans;
        block* first = nullptr;
        block** link = &first;
        block* last = nullptr;
        for (; at + wanted.bytes <= end; at += wanted.bytes) {
            block* item = new (at) block;
            if (last == nullptr)
                *link = item;
            else
                last->next.write(item);
            last = item;
        }
        for (block* each = first; each != nullptr;) {
            block* next = each->next.read();
            detail::poison(each, wanted.bytes);
            each = next;
        }
        return first;
    }

    void take_chunk() {
        // Twice the size, to find an aligned part in it; the rest goes back.
        void* raw = mmap(nullptr, chunk_bytes + span_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (raw == MAP_FAILED)
            throw std::bad_alloc();
        auto* begin = static_cast<std::byte*>(raw);
        const std::size_t skip =
            (span_bytes - reinterpret_cast<std::uintptr_t>(begin) % span_bytes) % span_bytes;
        if (skip != 0)
            munmap(begin, skip);
        munmap(begin + skip + chunk_bytes, span_bytes - skip);
        chunk_ = begin + skip;
        chunk_left_ = chunk_bytes;
    }

    std::array<block*, class_count> free_{};
    std::byte* chunk_ = nullptr;
    std::size_t chunk_left_ = 0;
    std::uint64_t fail_after_ = 0;
    frame_cache_stats stats_;
    alignas(false_sharing_bytes) detail::basic_remote_frees<> remote_;
};

// Caches whose thread has ended. Never destroyed: frames may be freed while static objects go.
struct shelf {
    std::mutex mutex;
    std::vector<cache*> caches;
};

shelf& the_shelf() {
    static shelf* instance = new shelf;
    return *instance;
}

struct holder {
    cache* mine = nullptr;
    ~holder();
};

[[gnu::tls_model("initial-exec")]] thread_local cache* current = nullptr;
thread_local holder keeper;

holder::~holder() {
    if (mine == nullptr)
        return;
    current = nullptr;
    shelf& to = the_shelf();
    const std::lock_guard lock(to.mutex);
    to.caches.push_back(mine); // reserved when it was made
}

[[gnu::cold, gnu::noinline]] cache* make_current() {
    shelf& from = the_shelf();
    const std::lock_guard lock(from.mutex);
    if (from.caches.empty()) {
        static std::size_t made = 0;
        from.caches.reserve(++made);
        keeper.mine = new cache;
    } else {
        keeper.mine = from.caches.back();
        from.caches.pop_back();
    }
    current = keeper.mine;
    return current;
}

} // namespace

// noinline: see current_worker(). These are called from coroutines.
[[gnu::noinline]] void* allocate_frame(std::size_t bytes) {
    cache* mine = current != nullptr ? current : make_current();
    if (bytes > large_limit)
        return ::operator new(bytes);
    return mine->allocate(class_of(bytes));
}

[[gnu::noinline]] void free_frame(void* frame, std::size_t bytes) noexcept {
    if (bytes > large_limit) {
        ::operator delete(frame, bytes);
        return;
    }
    cache* const owner = span_of(frame)->owner;
    if (owner == current)
        owner->free_local(frame, class_of(bytes));
    else
        owner->free_remote(frame);
}

frame_cache_stats this_thread_frame_cache() noexcept {
    return current != nullptr ? current->stats() : frame_cache_stats{};
}

void fail_frame_allocation_after(std::uint64_t n) noexcept {
    (current != nullptr ? current : make_current())->fail_after(n);
}

} // namespace horae

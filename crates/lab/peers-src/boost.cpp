// The lab's loops on Boost.Fiber, written from its documentation.
//
//   peer POLICY CASE WORKERS SIZE
//
// One run for each line on standard input; each prints `CHECK NANOSECONDS`. Built with `-z now`,
// because binding a symbol at its first use takes more stack than these fibers have.

#include <boost/fiber/all.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace fibers = boost::fibers;
using std::uint64_t;

// The stack of a skynet fiber. 4 KiB, as in other programs, overflow here with two threads.
static const std::size_t small_stack = 8 * 1024;

template <typename F>
static fibers::fiber start(F &&f) {
    return fibers::fiber(fibers::launch::post, std::allocator_arg,
                         fibers::fixedsize_stack(small_stack), std::forward<F>(f));
}

static uint64_t by_join(uint64_t first, uint64_t leaves) {
    if (leaves == 1) return first;
    const uint64_t tenth = leaves / 10;
    fibers::fiber children[10];
    uint64_t results[10];
    for (uint64_t i = 0; i < 10; ++i)
        children[i] = start(
            [&results, i, first, tenth] { results[i] = by_join(first + i * tenth, tenth); });
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 10; ++i) {
        children[i].join();
        sum += results[i];
    }
    return sum;
}

static uint64_t by_detach(uint64_t first, uint64_t leaves) {
    if (leaves == 1) return first;
    const uint64_t tenth = leaves / 10;
    fibers::buffered_channel<uint64_t> results(16);
    for (uint64_t i = 0; i < 10; ++i)
        start([&results, i, first, tenth] {
            results.push(by_detach(first + i * tenth, tenth));
        }).detach();
    uint64_t sum = 0;
    for (int i = 0; i < 10; ++i) sum += results.value_pop();
    return sum;
}

static uint64_t by_async(uint64_t first, uint64_t leaves) {
    if (leaves == 1) return first;
    const uint64_t tenth = leaves / 10;
    fibers::future<uint64_t> results[10];
    for (uint64_t i = 0; i < 10; ++i)
        results[i] = fibers::async(fibers::launch::post, std::allocator_arg,
                                   fibers::fixedsize_stack(small_stack),
                                   [=] { return by_async(first + i * tenth, tenth); });
    uint64_t sum = 0;
    for (auto &result : results) sum += result.get();
    return sum;
}

// Runs `each` in two fibers with the numbers 0 and 1. Returns the sum of their results.
template <typename F>
static uint64_t pair(F each) {
    uint64_t done[2] = {0, 0};
    fibers::fiber a(fibers::launch::post, [&] { done[0] = each(0); });
    fibers::fiber b(fibers::launch::post, [&] { done[1] = each(1); });
    a.join();
    b.join();
    return done[0] + done[1];
}

static uint64_t yields(uint64_t n) {
    return pair([n](int) {
        for (uint64_t i = 0; i < n / 2; ++i) boost::this_fiber::yield();
        return n / 2;
    });
}

// Each holds one of three mutexes, takes the next one of the ring, and releases the one behind.
static uint64_t by_mutex(uint64_t n) {
    fibers::mutex ring[3];
    fibers::barrier ready(2);
    return pair([&, n](int me) {
        std::unique_lock<fibers::mutex> held(ring[me]);
        ready.wait();
        for (uint64_t i = 1; i <= n / 2; ++i) {
            std::unique_lock<fibers::mutex> next(ring[(me + i) % 3]);
            held = std::move(next);
        }
        return n / 2;
    });
}

static uint64_t by_condvar(uint64_t n) {
    fibers::mutex mutex;
    fibers::condition_variable changed;
    uint64_t turn = 0;
    return pair([&, n](int me) {
        std::unique_lock<fibers::mutex> held(mutex);
        for (uint64_t i = 0; i < n / 2; ++i) {
            while (turn % 2 != static_cast<uint64_t>(me)) changed.wait(held);
            ++turn;
            changed.notify_one();
        }
        return n / 2;
    });
}

static void use(const std::string &policy, unsigned workers) {
    if (policy == "stealing")
        fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(workers);
    else if (policy == "sharing")
        fibers::use_scheduling_algorithm<fibers::algo::shared_work>();
    else
        fibers::use_scheduling_algorithm<fibers::algo::round_robin>();
}

static uint64_t run(const std::string &name, uint64_t size) {
    if (name == "skynet-join") return by_join(0, size);
    if (name == "skynet-detach") return by_detach(0, size);
    if (name == "skynet-async") return by_async(0, size);
    if (name == "yield") return yields(size);
    if (name == "pingpong-mutex") return by_mutex(size);
    if (name == "pingpong-condvar") return by_condvar(size);
    std::cerr << "no case " << name << std::endl;
    std::exit(2);
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    const std::string policy = argv[1], name = argv[2];
    const unsigned workers = static_cast<unsigned>(std::stoul(argv[3]));
    const uint64_t size = std::stoull(argv[4]);

    fibers::mutex mutex;
    fibers::condition_variable ended;
    bool end = false;
    std::vector<std::thread> others;
    for (unsigned i = 1; i < workers; ++i)
        others.emplace_back([&] {
            use(policy, workers);
            std::unique_lock<fibers::mutex> held(mutex);
            ended.wait(held, [&] { return end; });
        });
    use(policy, workers);

    std::string line;
    while (std::getline(std::cin, line)) {
        const auto began = std::chrono::steady_clock::now();
        const uint64_t check = run(name, size);
        const auto elapsed = std::chrono::steady_clock::now() - began;
        std::cout << check << ' '
                  << std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count()
                  << std::endl;
    }
    {
        std::unique_lock<fibers::mutex> held(mutex);
        end = true;
    }
    ended.notify_all();
    for (auto &other : others) other.join();
}

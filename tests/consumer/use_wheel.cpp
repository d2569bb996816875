// Somebody's program with the wheel alone. Not written to our warnings: it must compile all the same.
#include <horae/wheel.hpp>

#include <cstdio>

int main(int argc, char** argv) {
    horae::timing_wheel<int> wheel;
    wheel.schedule(5, 1);
    wheel.cancel(wheel.schedule(6, 10));
    int sum = 0;
    size_t fired = wheel.advance(10, [&](auto id, auto deadline, int& payload) { sum += payload; });
    int count = fired;
    return count == 1 && sum == 1 ? (int)0.0 : 1;
}

// Somebody's program with the whole library: the headers and what was linked are of the same version.
#include <horae/horae.hpp>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
    horae::timing_wheel<int> wheel;
    wheel.schedule(5, 1);
    int fired = wheel.advance(10, [](auto id, auto deadline, int& payload) {});
    std::string version = std::to_string(HORAE_VERSION_MAJOR) + "." + std::to_string(HORAE_VERSION_MINOR) +
                          "." + std::to_string(HORAE_VERSION_PATCH);
    return fired == 1 && version == horae::version() ? (int)0.0 : 1;
}

// Tests the stamps with ../stamps.json, which furlong's own code made: g++ -std=c++17 -o stamps_test stamps_test.cpp && ./stamps_test.

#include "adapter.hpp"

#include <fstream>
#include <iostream>

int main() {
    std::ifstream file("../stamps.json");
    int tested = 0, wrong = 0;
    for (std::string line; std::getline(file, line);) {
        auto vector = adapter::parse(line);
        if (!vector.count("stamp")) continue;
        adapter::Stamp stamp{std::stoull(vector["stamp"][0], nullptr, 16)};
        auto number = std::uint32_t(std::stoull(vector["number"][0]));
        std::vector<unsigned char> message(std::stoull(vector["length"][0]));
        stamp.write_all(message.data(), message.size(), number);
        std::string bytes;
        for (auto byte : message) bytes += "0123456789abcdef"[byte >> 4], bytes += "0123456789abcdef"[byte & 15];
        bool holds = stamp.holds(message.data(), message.size(), number);
        message[0] ^= 1;
        bool is_right = holds && !stamp.holds(message.data(), message.size(), number) && bytes == vector["bytes"][0];
        if (!is_right) std::cout << "wrong: " << line << "\n         made " << bytes << "\n";
        ++tested, wrong += !is_right;
    }
    std::cout << tested << " stamps tested, " << wrong << " wrong\n";
    return wrong || !tested;
}

// Parses furlong's lines, which are flat JSON objects, and formats the replies.

#pragma once

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace adapter {

// A request: the members of a JSON object, each with its value or its array as text.
using Request = std::map<std::string, std::vector<std::string>>;

// Returns the text between two quotes; the opening quote is at `at`.
inline std::string unquoted(const std::string& line, std::size_t& at) {
    std::string text;
    for (++at; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] != '\\') text += line[at];
        else if (line[++at] == 'u') text += char(std::stoi(line.substr(at + 1, 4), nullptr, 16)), at += 4;
        else if (auto found = std::strchr("b\bf\fn\nr\rt\t", line[at]); found && std::isalpha(line[at])) text += found[1];
        else text += line[at];
    }
    ++at;
    return text;
}

// Parses a line of furlong, which is always valid.
inline Request parse(const std::string& line) {
    Request members;
    std::string key;
    int depth = 0;
    for (std::size_t at = 0; at < line.size();) {
        if (line[at] == '"') {
            auto text = unquoted(line, at);
            bool is_key = line[at] == ':';
            if (!is_key) members[key].push_back(text);
            else if (depth == 1) key = text;
            at += is_key;
        } else if (std::strchr("{[}],", line[at]) || std::isspace(line[at])) {
            depth += std::strchr("{[", line[at]) ? 1 : std::strchr("}]", line[at]) ? -1 : 0;
            ++at;
        } else {
            auto end = std::min(line.find_first_of(",]}", at), line.size());
            members[key].push_back(line.substr(at, end - at));
            at = end;
        }
    }
    return members;
}

inline std::string json_text(const std::string& text) {
    std::string line = "\"";
    for (unsigned char c : text) line += c == '"' || c == '\\' ? std::string{'\\', char(c)} : std::string(1, c < ' ' ? ' ' : c);
    return line + '"';
}

// Joins the items with commas, each formatted by `text`.
template <class Items, class Text> std::string list(const Items& items, Text text) {
    std::string line;
    for (auto& item : items) line += (line.empty() ? "" : ",") + text(item);
    return line;
}

}  // namespace adapter

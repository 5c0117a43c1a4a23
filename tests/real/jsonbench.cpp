// SPDX-License-Identifier: GPL-2.0
// jsonbench FILE [ROUNDS]: parse FILE, an array of objects, count its words in a map,
// group and sort the objects, change and print them, with the containers of C++.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
#include <nlohmann/json.hpp>

using nlohmann::json;

// Count each word in the names.
static std::map<std::string, int> count_words(const json &all)
{
	std::map<std::string, int> words;

	for (const json &one : all) {
		std::istringstream name(one["name"].get<std::string>());
		std::string word;

		while (name >> word)
			words[word]++;
	}
	return words;
}

// Sort what is in each category by the number of letters, then by name.
static std::size_t group(const json &all)
{
	std::unordered_map<std::string, std::vector<std::string>> groups;
	std::size_t sum = 0;

	for (const json &one : all)
		groups[one["category"]].push_back(one["name"]);
	for (auto &[category, names] : groups) {
		std::sort(names.begin(), names.end(),
			  [](const std::string &a, const std::string &b) {
				  return a.size() != b.size() ? a.size() < b.size() : a < b;
			  });
		sum += category.size() * names.front().size() + names.back().size();
	}
	return sum;
}

// Go through a large tree in order, again and again.
static long walk(const json &all)
{
	std::multimap<long, const json *> codes;
	long sum = 0;

	for (const json &one : all)
		codes.emplace(one["code"].get<long>() * 7919 % 65537, &one);
	for (int round = 0; round < 12; round++)
		for (const auto &[code, one] : codes)
			sum += code ^ round;
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? std::atoi(argv[2]) : 1;

	for (int round = 0; round < rounds; round++) {
		std::ifstream file(argv[1]);
		json all = json::parse(file);
		auto words = count_words(all);

		for (json &one : all) {
			one["words"] = words[one["name"].get<std::string>().substr(0, 5)];
			one["links"].push_back(round);
		}
		std::cout << words.size() << ' ' << group(all) << ' ' << walk(all) << ' '
			  << all.dump(1).size() << '\n';
	}
	return 0;
}

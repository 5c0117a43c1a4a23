// SPDX-License-Identifier: GPL-2.0
// yamlcpp FILE: parse FILE, a list of maps, count and change what is in them, print it.
#include <iostream>
#include <map>
#include <string>
#include <vector>
#include "yaml-cpp/yaml.h"

int main(int argc, char **argv)
{
	if (argc < 2)
		return 1;
	YAML::Node all = YAML::LoadFile(argv[1]);
	std::map<std::string, std::vector<int>> codes;
	YAML::Emitter emitter;

	for (YAML::Node one : all) {
		codes[one["category"].as<std::string>()].push_back(one["code"].as<int>());
		if (one["mirrored"].as<bool>())
			one["value"] = one["name"].as<std::string>().size();
		one["links"].push_back(one["code"]);
	}
	emitter << all << codes;
	std::cout << all.size() << ' ' << codes.size() << ' ' << emitter.size() << '\n';
	return 0;
}

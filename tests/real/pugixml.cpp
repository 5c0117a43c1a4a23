// SPDX-License-Identifier: GPL-2.0
// pugixml FILE: parse FILE, search it with XPath, sort and change its elements, print it.
#include <iostream>
#include <sstream>
#include <string>
#include "pugixml.hpp"

// Let each character name those that its decomposition names.
static int link(pugi::xml_document &document)
{
	int links = 0;

	for (pugi::xpath_node found : document.select_nodes("//character[links/link]")) {
		pugi::xml_node character = found.node();
		std::string names;

		for (pugi::xml_node link : character.child("links").children("link"))
			names += std::string(names.empty() ? "" : ", ") + link.text().get();
		character.append_attribute("links").set_value(names.c_str());
		character.remove_child("links");
		links++;
	}
	return links;
}

int main(int argc, char **argv)
{
	pugi::xml_document document;

	if (argc < 2 || !document.load_file(argv[1])) {
		std::cerr << "no document\n";
		return 1;
	}
	pugi::xpath_query
		sum("sum(//character[@category='Nd']/@value)"),
		letters("count(//character[starts-with(@category, 'L')][contains(name, 'WITH')])"),
		longest("//character[string-length(name) > 40 and position() mod 3 = 1]");
	pugi::xpath_node_set found = document.select_nodes(longest);

	found.sort();
	std::cout << sum.evaluate_number(document) << ' ' << letters.evaluate_number(document)
		  << ' ' << found.size() << ' ' << link(document);
	for (pugi::xml_node character : document.child("characters").children())
		if (character.attribute("code").as_int() % 7 == 0)
			character.prepend_copy(character.child("name")).set_name("copy");
	std::ostringstream text;

	document.save(text, " ");
	std::cout << ' ' << text.str().size() << '\n';
	return 0;
}

# Count words, fields and tags of a text, and sort the frequent words.
function sort(names, n,    i, j, name)
{
	for (i = 2; i <= n; i++) {
		name = names[i]
		for (j = i - 1; j && (count[names[j]] < count[name] || \
				      count[names[j]] == count[name] && names[j] > name); j--)
			names[j + 1] = names[j]
		names[j + 1] = name
	}
}

{
	line = $0
	tags += gsub(/<[^>]*>/, " ", line)
	gsub(/&[a-z]+;/, " ", line)
	n = split(tolower(line), words, /[^a-z]+/)
	for (i = 1; i <= n; i++)
		if (length(words[i]) > 3)
			count[words[i]]++
	fields += NF
	size += length($0)
	if ($1 ~ /^<h[1-4]>/)
		titles = titles sprintf("%5d %s\n", NR, substr(line, 1, 40))
}

END {
	for (word in count)
		if (count[word] > 20)
			names[++found] = word
	sort(names, found)
	for (i = 1; i <= 20; i++)
		printf "%-12s %5d\n", names[i], count[names[i]]
	print NR, fields, size, tags, found
	printf "%s", titles
}

# `make help`: targets with a `## description`, in sections that their names tell.
function section(name) {
	if (name ~ /^(bench-|nightly)/) return "Measure Assay"
	if (name ~ /^peers-/) return "Beside other programs"
	if (name ~ /^(torture|fuzz)/) return "Attack it"
	if (name ~ /^(help|setup|demo|clean)$/) return "Start here"
	return "Work on it"
}
BEGIN { count = split("Start here|Work on it|Measure Assay|Beside other programs|Attack it", sections, "|") }
/^[a-z][a-z0-9-]*:.*## / {
	name = $0; sub(/:.*/, "", name)
	words = $0; sub(/^[^#]*## /, "", words)
	lines[section(name)] = lines[section(name)] sprintf("  %-21s %s\n", name, words)
}
END { for (i = 1; i <= count; i++) printf "%s%s\n%s", (i > 1 ? "\n" : ""), sections[i], lines[sections[i]] }

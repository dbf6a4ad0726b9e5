package pages

import "regexp"

// imageTag finds the source of each image. Our documents are generated: this is no parser for others.
var imageTag = regexp.MustCompile(`<img\s[^>]*?src="([^"]+)"`)

// images lists the sources of a document's images, each once, in its order.
func images(document []byte) []string {
	var sources []string
	seen := map[string]bool{}
	for _, match := range imageTag.FindAllSubmatch(document, -1) {
		source := string(match[1])
		if !seen[source] {
			seen[source] = true
			sources = append(sources, source)
		}
	}
	return sources
}

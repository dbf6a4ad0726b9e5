package pages

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// imageTag finds the source of each image, and what says when it is asked for.
// Our documents are generated: this is no parser for others.
var imageTag = regexp.MustCompile(`<img\s[^>]*?src="([^"]+)"(?:[^>]*?data-after-ms="([^"]+)")?`)

// image is one of a document's images. It is asked for so long after all before it have come;
// negative: at once, with those before it.
type image struct {
	source string
	after  time.Duration
}

// images lists a document's images, each source once, in its order.
func images(document []byte) ([]image, error) {
	var found []image
	seen := map[string]bool{}
	for _, match := range imageTag.FindAllSubmatch(document, -1) {
		one := image{source: string(match[1]), after: -1}
		if said := string(match[2]); said != "" {
			ms, err := strconv.ParseFloat(said, 64)
			if err != nil || ms < 0 {
				return nil, fmt.Errorf("image %q: data-after-ms=%q is no time", one.source, said)
			}
			one.after = time.Duration(ms * float64(time.Millisecond))
		}
		if !seen[one.source] {
			seen[one.source] = true
			found = append(found, one)
		}
	}
	return found, nil
}

// batches parts images into those that are asked for together: one with a pause begins a new one.
func batches(all []image) [][]image {
	var found [][]image
	for index, one := range all {
		if index == 0 || one.after >= 0 {
			found = append(found, nil)
		}
		found[len(found)-1] = append(found[len(found)-1], one)
	}
	return found
}

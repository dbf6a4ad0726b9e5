package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cambrian/endpoint"
)

const document = `<html><img src="a.jpg" alt=""><img alt="" src="b/c.jpg"><img src="a.jpg"></html>`

func folder(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range map[string]string{"www/index.html": document, "www/a.jpg": "aaaa", "www/b/c.jpg": "cc", "secret": "s"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(home, "www")
}

func site(t *testing.T, folder string) *Site {
	t.Helper()
	site, err := NewSite(folder)
	if err != nil {
		t.Fatal(err)
	}
	return site
}

func ask(site *Site, path string) *http.Response {
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.URL.Path = path
	site.ServeHTTP(recorder, request)
	return recorder.Result()
}

func TestFilesTypesAndRefusals(t *testing.T) {
	s := site(t, folder(t))
	for path, want := range map[string]struct {
		status     int
		kind, body string
	}{
		"/":           {200, "text/html; charset=utf-8", document},
		"/index.html": {200, "text/html; charset=utf-8", document},
		"/b/c.jpg":    {200, "image/jpeg", "cc"},
		"/d.jpg":      {404, "", ""},
		"/../secret":  {404, "", ""},
		"/1000":       {404, "", ""},
	} {
		got := ask(s, path)
		body, _ := io.ReadAll(got.Body)
		if got.StatusCode != want.status || got.Header.Get("Content-Type") != want.kind || string(body) != want.body {
			t.Errorf("%s: %d %q %q, want %v", path, got.StatusCode, got.Header.Get("Content-Type"), body, want)
		}
	}
}

func TestGeneratedBodies(t *testing.T) {
	got := ask(site(t, ""), "/2500000")
	body, _ := io.ReadAll(got.Body)
	if len(body) != 2_500_000 || got.Header.Get("Content-Length") != "2500000" {
		t.Errorf("%d bytes, content-length %s", len(body), got.Header.Get("Content-Length"))
	}
}

func TestImagesInOrderAndOnce(t *testing.T) {
	got, err := images([]byte(document))
	if want := []image{{"a.jpg", -1}, {"b/c.jpg", -1}}; err != nil || !slices.Equal(got, want) {
		t.Error(got, err)
	}
}

const pausing = `<img src="a.jpg" alt=""><img src="b.jpg" alt="" data-after-ms="20">
<img src="c.jpg" alt=""><img src="d.jpg" alt="" data-after-ms="0.5">`

func TestAnImageWithAPauseBeginsANewBatch(t *testing.T) {
	found, err := images([]byte(pausing))
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, batch := range batches(found) {
		sizes = append(sizes, len(batch))
	}
	if !slices.Equal(sizes, []int{1, 2, 1}) || found[1].after != 20*time.Millisecond || found[3].after != 500*time.Microsecond {
		t.Error(sizes, found)
	}
}

func TestAPauseThatIsNoTimeIsRefused(t *testing.T) {
	if _, err := images([]byte(`<img src="a.jpg" data-after-ms="soon">`)); err == nil || !strings.Contains(err.Error(), "soon") {
		t.Error(err)
	}
}

// direct answers requests without a network.
type direct struct{ site *Site }

func (d direct) RoundTrip(request *http.Request) (*http.Response, error) {
	return ask(d.site, request.URL.Path), nil
}

func load(t *testing.T, folder string) ([]map[string]any, error) {
	t.Helper()
	var out bytes.Buffer
	loader := Loader{
		Emit: endpoint.NewEmitter(&out), HTTP: direct{site(t, folder)}, Protocol: "h2", Host: "cambrian.test",
		Read: func(body io.Reader) (int64, error) { return io.Copy(io.Discard, body) },
	}
	err := loader.Load(context.Background(), time.Now(), "/")
	var events []map[string]any
	for line := range strings.Lines(out.String()) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	return events, err
}

func TestALoadReportsEveryObject(t *testing.T) {
	events, err := load(t, folder(t))
	if err != nil || len(events) != 4 {
		t.Fatal(err, events)
	}
	for index, want := range []struct {
		path  string
		bytes float64
	}{{"/", float64(len(document))}, {"/a.jpg", 4}, {"/b/c.jpg", 2}} {
		if events[index]["path"] != want.path || events[index]["bytes"] != want.bytes || events[index]["status"] != 200.0 {
			t.Error(events[index])
		}
	}
	if events[3]["event"] != "load" || events[3]["load_ns"].(float64) < events[2]["end_ns"].(float64) {
		t.Error(events[3])
	}
}

func TestAMissingImageFailsTheLoad(t *testing.T) {
	www := folder(t)
	if err := os.Remove(filepath.Join(www, "a.jpg")); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, www); err == nil || !strings.Contains(err.Error(), "/a.jpg: status 404") {
		t.Error(err)
	}
}

func TestAPauseIsKept(t *testing.T) {
	www := folder(t)
	html := `<img src="a.jpg"><img src="b/c.jpg" data-after-ms="30">`
	if err := os.WriteFile(filepath.Join(www, "index.html"), []byte(html), 0o644); err != nil {
		t.Fatal(err)
	}
	events, err := load(t, www)
	if err != nil {
		t.Fatal(err)
	}
	if waited := events[2]["start_ns"].(float64) - events[1]["end_ns"].(float64); waited < 30e6 {
		t.Errorf("asked for after %.1f ms", waited/1e6)
	}
}

package endpointtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cambrian/endpoint"
)

const (
	pageImages   = 40
	patience     = 5 * time.Second
	pollInterval = 5 * time.Millisecond
)

// PageLoad loads a page of 40 images over loopback, and checks what both sides say.
func PageLoad(t *testing.T, cca, alpn string, server, client endpoint.Side) {
	t.Helper()
	www, wanted := writePage(t)
	certificate, key := WriteCertificate(t)
	address := FreeAddress(t)
	var serverOut, clientOut Output
	stop := make(chan os.Signal, 1)
	served := make(chan error, 1)
	go func() {
		served <- server([]string{"--listen", address, "--cca", cca, "--cert", certificate, "--key", key, "--alpn", alpn, "--www", www},
			endpoint.NewEmitter(&serverOut), stop)
	}()
	serverOut.Await(t, "ready")
	err := client([]string{"--connect", address, "--alpn", alpn, "--page", "/"}, endpoint.NewEmitter(&clientOut), make(chan os.Signal))
	if err != nil {
		t.Fatal(err)
	}
	stop <- syscall.SIGTERM
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if done := clientOut.Event(t, "done"); done["bytes"] != float64(wanted) || done["complete"] != true {
		t.Errorf("client's done event: %v, want %d bytes", done, wanted)
	}
	if done := serverOut.Event(t, "done"); done["bytes"] != float64(wanted) || done["complete"] != true {
		t.Errorf("server's done event: %v, want %d bytes", done, wanted)
	}
	if objects := clientOut.count("object"); objects != pageImages+1 {
		t.Errorf("%d objects, want %d", objects, pageImages+1)
	}
	if connections := serverOut.count("connected"); connections != 1 {
		t.Errorf("%d connections, want 1", connections)
	}
}

// writePage makes a folder with a document and its images, and says how many bytes they have.
func writePage(t *testing.T) (folder string, size int) {
	t.Helper()
	folder = t.TempDir()
	var document strings.Builder
	for number := range pageImages {
		name := fmt.Sprintf("%d.jpg", number)
		fmt.Fprintf(&document, "<img src=%q>\n", name)
		size += write(t, filepath.Join(folder, name), bytes.Repeat([]byte{byte(number)}, 1000*number))
	}
	return folder, size + write(t, filepath.Join(folder, "index.html"), []byte(document.String()))
}

func write(t *testing.T, path string, content []byte) int {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return len(content)
}

func (o *Output) count(name string) int {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return bytes.Count(o.lines.Bytes(), fmt.Appendf(nil, `"event":%q`, name))
}

// Await waits until an event of that name is there.
func (o *Output) Await(t *testing.T, name string) {
	t.Helper()
	for begun := time.Now(); o.count(name) == 0; time.Sleep(pollInterval) {
		if time.Since(begun) > patience {
			t.Fatalf("no %s event", name)
		}
	}
}

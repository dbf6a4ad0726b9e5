// Package endpointtest has what the tests of endpoints share.
package endpointtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"cambrian/endpoint"
)

// Output is what an endpoint writes; its own goroutine may still be writing.
type Output struct {
	mutex sync.Mutex
	lines bytes.Buffer
}

func (o *Output) Write(line []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.lines.Write(line)
}

// Event is the first event of that name; there must be one.
func (o *Output) Event(t *testing.T, name string) map[string]any {
	t.Helper()
	found := o.Events(t, name)
	if len(found) == 0 {
		t.Fatalf("no %s event in %q", name, o.lines.String())
	}
	return found[0]
}

// Events are all events of that name.
func (o *Output) Events(t *testing.T, name string) (found []map[string]any) {
	t.Helper()
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for line := range bytes.Lines(o.lines.Bytes()) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		if fields["event"] == name {
			found = append(found, fields)
		}
	}
	return found
}

// FreeAddress is ADDR:PORT on the loopback interface, where no UDP socket is bound.
func FreeAddress(t *testing.T) string {
	t.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	return socket.LocalAddr().String()
}

// HQTransfer fetches a few megabytes over loopback, and checks what both sides say and what is logged. It returns
// what the server said.
func HQTransfer(t *testing.T, cca string, server, client endpoint.Side) *Output {
	t.Helper()
	const wanted = 3_000_001
	certificate, key := WriteCertificate(t)
	log := filepath.Join(t.TempDir(), "transport.csv")
	address := FreeAddress(t)
	var serverOut, clientOut Output
	stop := make(chan os.Signal, 1)
	served := make(chan error, 1)
	go func() {
		served <- server([]string{"--listen", address, "--cca", cca, "--cert", certificate, "--key", key, "--transport-log", log},
			endpoint.NewEmitter(&serverOut), stop)
	}()
	err := client([]string{"--connect", address, "--bytes", strconv.Itoa(wanted), "--streams", "2"},
		endpoint.NewEmitter(&clientOut), make(chan os.Signal))
	if err != nil {
		t.Fatal(err)
	}
	stop <- syscall.SIGTERM
	if err := <-served; err != nil {
		t.Fatal(err)
	}

	confirmed := serverOut.Event(t, "cca")
	if confirmed["requested"] != cca || confirmed["confirmed"] != cca {
		t.Errorf("cca event: %v", confirmed)
	}
	done := clientOut.Event(t, "done")
	if done["bytes"] != float64(wanted) || done["complete"] != true || done["error"] != nil {
		t.Errorf("client's done event: %v", done)
	}
	if done := serverOut.Event(t, "done"); done["bytes"] != float64(wanted) || done["complete"] != true {
		t.Errorf("server's done event: %v", done)
	}
	text, err := os.ReadFile(log)
	if err != nil || bytes.Count(text, []byte(",ack,")) == 0 {
		t.Errorf("the transport log has no ack row: %v, %q", err, text)
	}
	return &serverOut
}

// WriteCertificate makes a self-signed certificate and its key, as PEM files.
func WriteCertificate(t *testing.T) (certificateFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(time.Hour),
		DNSNames:     []string{endpoint.DefaultServerName},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", certificate), write("key.pem", "PRIVATE KEY", private)
}

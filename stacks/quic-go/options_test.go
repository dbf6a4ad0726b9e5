package main

import (
	"strings"
	"testing"
)

func TestKnobs(t *testing.T) {
	server, err := parseServerOptions([]string{"--listen", "127.0.0.1:4433", "--cca", "cubic", "--cert", "c", "--key", "k",
		"--set", "initial_packet_bytes=1300", "--set", "path_mtu_discovery=false"})
	if err != nil {
		t.Fatal(err)
	}
	if server.transport.initialPacketBytes != 1300 || server.transport.pathMTUDiscovery {
		t.Errorf("got %+v", server)
	}
	client, err := parseClientOptions([]string{"--connect", "127.0.0.1:4433", "--alpn", "h3", "--set", "outstanding=3"})
	if err != nil {
		t.Fatal(err)
	}
	if client.outstanding != 3 || !client.transport.pathMTUDiscovery || client.Path != "" {
		t.Errorf("got %+v", client)
	}
}

func TestKnobsOutOfRange(t *testing.T) {
	for _, knob := range []string{"outstanding=0", "outstanding=9999", "initial_packet_bytes=1453", "path_mtu_discovery=maybe"} {
		_, err := parseClientOptions([]string{"--connect", "127.0.0.1:4433", "--alpn", "h3", "--set", knob})
		if name, _, _ := strings.Cut(knob, "="); err == nil || !(strings.Contains(err.Error(), name)) {
			t.Errorf("%s gave %v", knob, err)
		}
	}
}

package natsserver

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestRoom: messages are refused before the disk is full, until there is more room than that. A
// server whose disk was full has failed, and says so when there is room.
func TestRoom(t *testing.T) {
	const large, small = 1 << 40, 8 << 20 // disks, which have to have 64 MiB and 1 MiB left
	for name, looks := range map[string][]struct {
		total, left     uint64
		disabled        bool
		refuses, failed bool
	}{
		"a large disk": {
			{total: large, left: 64 << 20}, {total: large, left: 63 << 20, refuses: true}, {total: large, left: 64 << 20, refuses: true},
			{total: large, left: 81 << 20}, {total: large, left: 64 << 20},
		},
		"a small disk":      {{total: small, left: 1 << 20}, {total: small, left: 1<<20 - 1, refuses: true}, {total: small, left: 2 << 20}},
		"a full disk":       {{total: small, left: 0, refuses: true}, {total: small, left: 1 << 20, refuses: true}, {total: small, left: 2 << 20, failed: true}},
		"nearly full":       {{total: small, left: 64<<10 - 1, refuses: true}, {total: small, left: 4 << 20, failed: true}},
		"JetStream is gone": {{total: small, left: 4 << 20, disabled: true, failed: true}},
	} {
		var r room
		for i, l := range looks {
			refuses, failed := r.look(&vfs.DiskUsage{TotalBytes: l.total, AvailBytes: l.left}, !l.disabled)
			if refuses != l.refuses || failed != l.failed {
				t.Errorf("%s, look %d: refuses %v, failed %v", name, i, refuses, failed)
			}
		}
	}
}

// TestRefuse: a server that refuses messages keeps what it has, purges what is purged, and takes
// messages again.
func TestRefuse(t *testing.T) {
	said := make(chan string, 100)
	s, err := Start(Options{Store: t.TempDir(), Listen: "127.0.0.1:0", Warn: func(text string) { said <- text }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	nc, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s.>"}})
	if err != nil {
		t.Fatal(err)
	}
	publish := func() error {
		_, err := js.Publish(t.Context(), "s.a", []byte("message"))
		return err
	}
	if err := publish(); err != nil {
		t.Fatal(err)
	}
	disk := &vfs.DiskUsage{TotalBytes: 8 << 20, AvailBytes: 1 << 19}
	for range 2 {
		s.refuse(true, disk)
		if text := <-said; text != "the disk has 512 KiB left: messages wait until there are 1280 KiB" {
			t.Error(text)
		}
		if err := publish(); err == nil {
			t.Error("a message was taken")
		}
		if m, err := stream.GetLastMsgForSubject(t.Context(), "s.a"); err != nil || string(m.Data) != "message" {
			t.Errorf("%v, %v", m, err)
		}
		s.refuse(false, disk)
		for text := range said {
			if text == "the disk has room again: messages are taken" {
				break
			}
		}
		if err := publish(); err != nil {
			t.Error(err)
		}
	}
	s.refuse(true, disk)
	if err := stream.Purge(t.Context()); err != nil {
		t.Error(err)
	}
}

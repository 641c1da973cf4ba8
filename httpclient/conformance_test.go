package httpclient_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/conformance"
)

// decodedAnyway lists the broken bodies of the suite that are decoded all the same, each with the
// reason.
var decodedAnyway = map[string]string{
	"zstd/off0.bin.zst": "a match at offset 0 is corrupt (RFC 8878, section 3.1.1.5); the library reads it as offset 1, " +
		"and finding it takes a second pass over all sequences, a quarter of the decoding time. No encoder writes it.",
}

// TestCompressed decodes the test data of Scrapy, brotli and zstd: good bodies, broken
// ones, and bombs.
func TestCompressed(t *testing.T) {
	type compressed struct {
		ID       string `json:"id"`
		Kind     string `json:"kind"` // "ok", "error", "bomb"
		Encoding string `json:"encoding"`
		Bytes    []byte `json:"bytes_b64"`
		SHA256   string `json:"sha256"` // of the decoded body, where known
	}
	kinds := map[string]httpclient.Kind{"error": httpclient.KindEncoding, "bomb": httpclient.KindBomb}
	cases := conformance.Cases[compressed](t, "compress.jsonl")
	if len(cases) != 69 {
		t.Errorf("%d cases, want 69", len(cases))
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			over := playBoth
			if c.Kind == "bomb" { // seconds each; TestContentEncoding has smaller ones over all protocols
				over = play
			}
			over(t, httpclient.Options{MaxBody: 1 << 20}, func(s *site) {
				s.serve("/", response("Content-Encoding: "+c.Encoding+"\r\n", string(c.Bytes)))
			}, func(b *browser) {
				res, err := b.get("/")
				if reason := decodedAnyway[c.ID]; reason != "" {
					if err != nil {
						t.Errorf("%v: take it off the list: %s", err, reason)
						return
					}
					res.Close()
					return
				}
				if c.Kind != "ok" {
					expectKind(t, err, kinds[c.Kind])
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer res.Close()
				sum := sha256.Sum256(res.Body)
				if got := hex.EncodeToString(sum[:]); c.SHA256 != "" && got != c.SHA256 {
					t.Errorf("%d bytes with hash %s, want hash %s", len(res.Body), got, c.SHA256)
				}
				if c.SHA256 == "" && len(res.Body) == 0 && c.ID != "zstd/empty-block.zst" {
					t.Error("no body")
				}
			})
		})
	}
}

package check

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// mailError returns what is wrong with a mailto: URL (RFC 6068): each address of its path and of
// its to, cc and bcc fields must be one. A link without any address opens an empty message.
func mailError(u weburl.URL) error {
	text := strings.TrimPrefix(u.String(), "mailto:")
	text, _, _ = strings.Cut(text, "#")
	path, query, _ := strings.Cut(text, "?")
	lists := []string{path}
	for field := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(field, "=")
		switch strings.ToLower(name) {
		case "to", "cc", "bcc":
			lists = append(lists, value)
		}
	}
	for _, list := range lists {
		for encoded := range strings.SplitSeq(list, ",") { // a comma in an address is encoded
			address, err := url.PathUnescape(encoded)
			if err != nil {
				return fmt.Errorf("address %.100q: invalid percent-encoding", encoded)
			}
			if address = strings.TrimSpace(address); address == "" {
				if strings.TrimSpace(list) != "" {
					return errors.New("an empty address in a list")
				}
				continue
			}
			parsed, err := mail.ParseAddress(address)
			if err != nil || parsed.Address != address && parsed.Name == "" && !strings.HasPrefix(address, "<") && !strings.HasPrefix(address, `"`) {
				return fmt.Errorf("address %.100q, expected one such as someone@example.org", address)
			}
		}
	}
	return nil
}

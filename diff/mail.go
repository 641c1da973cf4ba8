package diff

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"path/filepath"
	"strings"
	"time"
)

// mostInMail bounds the changes of each kind in a message, unless a style does.
const mostInMail = 50

// writeMail writes a message (RFC 5322) that sendmail -t takes. Nothing from the Web is in its
// header but the words of its subject, encoded.
func writeMail(to io.Writer, r *Report, style Style) error {
	var head bytes.Buffer
	if style.To != "" {
		list, err := mail.ParseAddressList(style.To)
		if err != nil {
			return fmt.Errorf("address %.128q: %w", style.To, err)
		}
		var all []string
		for _, address := range list {
			all = append(all, address.String())
		}
		fmt.Fprintf(&head, "To: %s\r\n", strings.Join(all, ",\r\n "))
	}
	name := strings.TrimSuffix(filepath.Base(r.Summary.New.Path), ".weft")
	subject := plainLine(name + ": " + r.Summary.inWords())
	if len(subject) > 200 {
		subject = strings.ToValidUTF8(subject[:200], "") + "…"
	}
	fmt.Fprintf(&head, "Subject: %s\r\n", mime.QEncoding.Encode("utf-8", subject))
	now := style.Date
	if now.IsZero() {
		now = time.Now()
	}
	fmt.Fprintf(&head, "Date: %s\r\n", now.Format(time.RFC1123Z))
	sum := sha256.Sum256(fmt.Append(nil, now.UnixNano(), style.To, r.Summary))
	fmt.Fprintf(&head, "Message-ID: <%x@diff.weft.invalid>\r\n", sum[:16])
	head.WriteString("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n" +
		"Auto-Submitted: auto-generated\r\n\r\n")
	if _, err := to.Write(head.Bytes()); err != nil {
		return err
	}
	style.Clean, style.Color = plainLine, false
	if style.Limit == 0 {
		style.Limit = mostInMail
	}
	body := quotedprintable.NewWriter(to)
	if err := writeText(body, r, style); err != nil {
		return err
	}
	return body.Close()
}
